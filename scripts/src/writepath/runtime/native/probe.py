"""Does it answer? The smallest exchange that proves a server works, over plain sockets."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import struct
from typing import TYPE_CHECKING, Any

from writepath.runtime.native.addresses import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Iterator

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
