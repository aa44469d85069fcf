"""A small HTTP server on loopback whose answers are a function of the requests."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Request(NamedTuple):
    """What was sent."""

    method: str
    path: str  # with its query
    body: bytes
    headers: Mapping[str, str]


class Answer(NamedTuple):
    """content: bytes, or data that is sent as JSON."""

    status: int
    content: object = b""
    headers: Mapping[str, str] = {}


@contextmanager
def serving(answer: Callable[[Request], Answer | None]) -> Iterator[str]:
    """Its base URL, while it serves. Where the answer is None, the connection is closed without one."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else a body waits 40 ms for the acknowledgement of its headers

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            found = answer(Request(self.command, self.path, body, dict(self.headers)))
            if found is None:
                self.close_connection = True
                return
            content = (
                found.content if isinstance(found.content, bytes) else json.dumps(found.content).encode()
            )
            self.send_response(found.status)
            for name, value in {"Content-Length": str(len(content)), **found.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815 - the name is http.server's

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 1024
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """A client that was killed is part of a test."""

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def exposed(values: Mapping[str, float], prefix: str = "writepath_") -> bytes:
    """Metrics in Prometheus's format."""
    return "".join(
        f"# TYPE {prefix}{name} gauge\n{prefix}{name} {value}\n" for name, value in values.items()
    ).encode()
