"""Does it answer? The smallest exchange that proves a server works, over plain sockets."""

import contextlib
import http.client
import json
import socket
import struct
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from writepath.runtime.native.addresses import LOOPBACK

SECONDS = 3.0


def http_request(method: str, port: int, path: str, body: Any = None) -> tuple[int, bytes]:
    """Status and body; (0, b"") where there is no answer. No proxy of the environment comes between."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=SECONDS if body is None else 4 * SECONDS)
    try:
        payload = None if body is None else json.dumps(body).encode()
        connection.request(method, path, payload, {"Content-Type": "application/json"} if payload else {})
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()


def why_not(method: str, port: int, path: str, body: Any = None, *, wanted: int = 200) -> str:
    """What was answered in place of the wanted status, in words; empty where it was that."""
    status, said = http_request(method, port, path, body)
    return "" if status == wanted else f"{status or 'no'} answer {said[:300].decode(errors='replace')}"


def first_write(port: int) -> Iterator[tuple[str, Callable[[], str]]]:
    """Behind a proxy: one post that is acknowledged, then found. By step, what to ask until no reason is left."""
    post = str(uuid.uuid4())
    body = {"id": post, "content": "Is this path ready?"}
    yield "a write through the proxy", partial(why_not, "POST", port, "/api/posts", body, wanted=201)
    yield "the write's read-back", partial(why_not, "GET", port, f"/api/posts/{post}")


def listens(port: int) -> bool:
    """Whether a connection is accepted."""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=SECONDS):
            return True
    except OSError:
        return False


def postgres_accepts(port: int, user: str) -> bool:
    """Whether a session may begin: the server asks for the password, rather than saying that it is starting up."""
    options = b"user\0" + user.encode() + b"\0\0"
    with contextlib.suppress(OSError), _connected(port) as connection:
        connection.sendall(struct.pack("!II", 8 + len(options), 3 << 16) + options)
        return connection.recv(1) == b"R"
    return False


def amqp_accepts(port: int) -> bool:
    """Whether the broker begins the AMQP 0-9-1 handshake."""
    with contextlib.suppress(OSError), _connected(port) as connection:
        connection.sendall(b"AMQP\x00\x00\x09\x01")
        return connection.recv(1) == b"\x01"  # a method frame: connection.start
    return False


@contextlib.contextmanager
def _connected(port: int) -> Iterator[socket.socket]:
    with socket.create_connection((LOOPBACK, port), timeout=SECONDS) as connection:
        yield connection
