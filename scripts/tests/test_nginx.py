"""The proxy goes on to another instance only where nothing of a write was sent: never is one sent twice."""

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPResponse
from pathlib import Path

import httpx
import pytest

from writepath import poll, provision
from writepath.analysis.proxy_errors import causes
from writepath.measure.inspector import plain_client
from writepath.measure.truth import proxy_gauges
from writepath.process import Daemon
from writepath.provision import packages
from writepath.runtime import network, topology
from writepath.runtime.native import recipes

pytestmark = pytest.mark.native
ROOT = Path(__file__).resolve().parents[2]
SECONDS = 20.0
WRITES = 60


class Instance:
    """One upstream; answers each POST with 201, or reads it whole and breaks the connection."""

    def __init__(self, *, breaks: bool = False, waits: threading.Event | None = None) -> None:
        self.received: list[str] = []
        self.connections = 0
        self._breaks = breaks
        self._waits = waits  # answers nothing before
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._socket.getsockname()[1])
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._open.append(connection)
            self.connections += 1
            threading.Thread(target=self._served, args=(connection,), daemon=True).start()

    def _served(self, connection: socket.socket) -> None:
        with contextlib.suppress(ConnectionError):  # the proxy has gone
            self._serve(connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as stream:
            while line := stream.readline():
                length = 0
                while (header := stream.readline()) not in {b"\r\n", b""}:
                    name, _, value = header.partition(b":")
                    length = int(value) if name.lower() == b"content-length" else length
                body = stream.read(length).decode()
                if line.startswith(b"POST"):
                    self.received.append(body)
                if self._breaks:
                    return
                if self._waits is not None:
                    self._waits.wait(SECONDS)
                connection.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")

    def end(self) -> None:
        """Refuses new connections and breaks those that are open."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for each in self._open:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:  # broken already
                continue


@contextmanager
def proxy(
    folder: Path,
    ports: list[int],
    changed: Callable[[str], str] = str,
    settings: Mapping[str, str] | None = None,
) -> Iterator[httpx.Client]:
    """The project's template before these instances."""
    provision.setup(ROOT, print, only={"packages"})
    with socket.create_server(("127.0.0.1", 0)) as free:
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    upstream = " ".join(f"server 127.0.0.1:{port} max_fails=0;" for port in ports)
    given = topology.load(ROOT, settings or {}).services["nginx"].environment
    text = recipes.nginx_configuration(ROOT, {**given, "LISTEN": listen, "UPSTREAM": upstream}, folder)
    assert "worker_processes 1;" in text  # or the limit of connections is a multiple
    (folder / "nginx.conf").write_text(changed(text), encoding="utf-8")
    daemon = Daemon(
        "nginx",
        [
            *recipes.limited(int(given["NGINX_OPEN_FILES"])),
            packages.NGINX.installed(),
            *("-p", folder, "-c", folder / "nginx.conf", "-e", "stderr", "-g", "daemon off;"),
        ],
        pid_folder=folder,
        log=folder / "nginx.log",
    )
    try:
        port = int(listen.rpartition(":")[2])
        assert poll.until(lambda: not network.why_not("GET", port, "/nginx-health"), SECONDS), (
            daemon.log_tail()
        )
        with httpx.Client(base_url=f"http://{listen}", timeout=SECONDS, trust_env=False) as client:
            yield client
    finally:
        daemon.stop()


def statuses(client: httpx.Client, start: int = 0) -> list[int]:
    return [client.post("/api/posts", content=str(n)).status_code for n in range(start, start + WRITES)]


def refused() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def test_a_write_that_was_read_is_not_repeated_when_its_connection_breaks(tmp_path: Path) -> None:
    whole, breaking = Instance(), Instance(breaks=True)
    with proxy(tmp_path, [whole.port, breaking.port]) as client:
        found = statuses(client)
    assert set(found) == {201, 502}
    assert len(breaking.received) == found.count(502) > 0
    assert len(whole.received) == found.count(201)
    assert sorted(whole.received + breaking.received, key=int) == [str(n) for n in range(WRITES)]
    whole.end()
    breaking.end()


def test_the_experiment_would_see_a_repeated_write(tmp_path: Path) -> None:
    whole, breaking = Instance(), Instance(breaks=True)
    allow = "proxy_next_upstream error non_idempotent;"
    with proxy(
        tmp_path,
        [whole.port, breaking.port],
        lambda text: text.replace("proxy_next_upstream error;", allow),
    ) as client:
        assert set(statuses(client)) == {201}
    assert set(breaking.received) & set(whole.received)
    whole.end()
    breaking.end()


def test_an_instance_that_ends_and_refuses_connections_costs_no_write(tmp_path: Path) -> None:
    stays, leaves = Instance(), Instance()
    with proxy(tmp_path, [stays.port, leaves.port]) as client:
        assert set(statuses(client)) == {201}
        assert leaves.received
        leaves.end()
        assert set(statuses(client, WRITES)) == {201}
    received = stays.received + leaves.received
    assert sorted(received, key=int) == [str(n) for n in range(2 * WRITES)]
    stays.end()


@pytest.mark.parametrize(
    ("request_line", "headers", "status"),
    [
        ("TRACE /api/posts HTTP/1.1", "", 405),
        ("GET /inspector/count HTTP/1.1", "", 404),
        ("POST /api/posts HTTP/1.1", f"Content-Length: {1 << 20}\r\n", 413),
        ("GET /api/posts?keyword=" + "a" * 70_000 + " HTTP/1.1", "", 414),
        ("GET /api/posts HTTP/1.1", "X: " + "a" * 70_000 + "\r\n", 431),
        ("GET /api/posts HTTP/1.1", "Content-Length: 1\r\nContent-Length: 2\r\n", 400),
        ("GET /api/posts HTTP/1.1", "Host: again\r\n", 400),
        ("nonsense", "", 400),
        ("POST /api/posts HTTP/1.1", "Transfer-Encoding: gzip\r\n", 501),
        ("GET /api/posts HTTP/1.1", "", 502),
        ("GET /api/posts HTTP/3.0", "", 505),
    ],
)
def test_what_the_proxy_itself_refuses_is_a_problem_too(
    request_line: str, headers: str, status: int, tmp_path: Path
) -> None:
    with proxy(tmp_path, [refused()]) as client:
        place = client.base_url.host, client.base_url.port or 0
        with socket.create_connection(place, timeout=SECONDS) as connection:
            connection.sendall(f"{request_line}\r\nHost: x\r\n{headers}\r\n".encode())
            answer = HTTPResponse(connection)
            answer.begin()
            problem = json.loads(answer.read())
    assert (answer.status, problem["status"]) == (status, status)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["Allow"] == ("GET, HEAD, POST" if status == 405 else None)


def test_the_status_page_counts_what_is_open_of_what_may_be(tmp_path: Path) -> None:
    one, limit = Instance(), {"NGINX_WORKER_CONNECTIONS": "64"}
    with proxy(tmp_path, [one.port], settings=limit) as client:
        before = proxy_gauges(client)
        assert before["connections_max"] == 64
        assert before["connections_refused"] == 0
        with httpx.Client(base_url=client.base_url, trust_env=False) as other:
            assert other.post("/api/posts", content="1").status_code == 201
            after = proxy_gauges(client)
        assert after["connections_open"] == before["connections_open"] + 1
        assert after["connections_idle"] >= 1
    one.end()


@pytest.mark.parametrize(("keepalive", "connections"), [("0", WRITES), ("16", 1)])
def test_without_keepalive_every_request_has_a_connection_to_the_application(
    keepalive: str, connections: int, tmp_path: Path
) -> None:
    one = Instance()
    with proxy(tmp_path, [one.port], settings={"NGINX_KEEPALIVE": keepalive}) as client:
        assert set(statuses(client)) == {201}
    assert one.connections == connections
    one.end()


def crowd(client: httpx.Client, number: int, ended: threading.Event) -> None:
    """So many clients at once, each with a request under way, until all have begun; their connections are kept open."""
    address = (client.base_url.host, client.base_url.port or 0)
    request = b"POST /api/posts HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n1"
    with contextlib.ExitStack() as kept:
        for _ in range(number):
            connection = kept.enter_context(socket.create_connection(address, timeout=SECONDS))
            with contextlib.suppress(OSError):  # refused already
                connection.sendall(request)
        ended.wait(SECONDS)


FULL = "worker_connections are not enough"
FILES = "Too many open files"
LIMITS: list[tuple[dict[str, str], set[str]]] = [
    ({"NGINX_WORKER_CONNECTIONS": "64"}, {FULL}),
    (
        {"NGINX_WORKER_RLIMIT_NOFILE": "0", "NGINX_OPEN_FILES": "128"},
        {f"accept4() failed: {FILES}", f"socket() failed: {FILES} while connecting to upstream"},
    ),
    ({"NGINX_WORKER_RLIMIT_NOFILE": "128"}, {f"accept4() failed: {FILES}"}),
    ({"NGINX_WORKER_RLIMIT_NOFILE": "1024", "NGINX_OPEN_FILES": "128"}, set()),  # the worker's replaces it
    ({"NGINX_WORKER_RLIMIT_NOFILE": "0"}, set()),
]


@pytest.mark.parametrize(("settings", "expected"), LIMITS)
def test_each_limit_is_a_cause_in_the_log_and_no_limit_is_none(
    settings: dict[str, str], expected: set[str], tmp_path: Path
) -> None:
    ended = threading.Event()
    slow, log = Instance(waits=ended), tmp_path / "nginx.log"

    def found() -> set[str]:
        return {*causes(log.read_text(encoding="utf-8"))}

    def told() -> bool:
        """Also by "…, reusing connections", those of clients whose request is not there yet."""
        return all(any(text in cause for cause in found()) for text in expected)

    with proxy(tmp_path, [slow.port], settings=settings) as client:
        many = threading.Thread(target=crowd, args=(client, 150, ended))
        many.start()
        try:
            if expected:
                assert poll.until(told, SECONDS), found()
            else:
                assert poll.until(lambda: slow.connections > 128, SECONDS)  # more than the smaller limit
                assert not [cause for cause in found() if FULL in cause or FILES in cause]
        finally:
            ended.set()
            many.join()
    slow.end()


def test_an_application_that_is_gone_is_a_cause(tmp_path: Path) -> None:
    with proxy(tmp_path, [refused()]) as client:
        assert set(statuses(client)) == {502}
    found = causes((tmp_path / "nginx.log").read_text(encoding="utf-8"))
    assert found == {"connect() failed: Connection refused while connecting to upstream": WRITES}


def test_a_proxy_that_is_gone_or_has_no_such_page_tells_nothing(tmp_path: Path) -> None:
    with plain_client(1, f"http://127.0.0.1:{refused()}") as client:
        assert proxy_gauges(client) == {}
    without: Callable[[str], str] = lambda text: text.replace("stub_status;", "return 404;")  # noqa: E731
    with proxy(tmp_path, [refused()], without) as client:
        assert proxy_gauges(client) == {}
