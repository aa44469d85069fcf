"""Loopback ports: free ones, those that stand for the addresses of the compose file, and whether they answer."""

import contextlib
import http.client
import json
import random
import re
import socket
import struct
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from writepath.config.registry import Serves
from writepath.errors import StartError
from writepath.runtime.topology import Service

LOOPBACK = "127.0.0.1"
SECONDS = 3.0  # for an answer
_LOWEST = 15000
_HIGHEST = 65000
_TRIES = 200
_CLIENT_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_given: set[int] = set()  # in this process, to any stack: one that starts at the same time may not listen yet
_giving = threading.Lock()
READINESS = "/actuator/health/readiness"
_PATHS = {  # that a component answers with 200 when it serves, by the port it is known by
    8080: "/nginx-health",
    8081: READINESS,
    8474: "/version",
    9200: "/_cluster/health?timeout=2s&master_timeout=2s",
}
_POSTGRES, _RABBITMQ = 5432, 5672


def free_ports(count: int = 1) -> range:
    """Ports in a row that nobody listens on or was given, outside the range of the client side of connections."""
    first, last = map(int, _CLIENT_RANGE.read_text(encoding="ascii").split())
    choice = random.SystemRandom()
    for _ in range(_TRIES):
        start = choice.randrange(_LOWEST, _HIGHEST)
        row = range(start, start + count)
        with _giving:
            if all(not first <= port <= last and port not in _given and _is_free(port) for port in row):
                _given.update(row)
                return row
    raise StartError(f"no free port on {LOOPBACK} found after {_TRIES} tries")


def _is_free(port: int) -> bool:
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


class Addresses:
    """Host names and ports of the compose network, and the loopback ports that stand for them."""

    def __init__(self, services: Mapping[str, Service], active: Mapping[str, Service]) -> None:
        """services: all of the file, for values may name one that is off; active: those that are started."""
        self._hosts: dict[str, list[tuple[str, int]]] = {}  # host name -> (service, instance)
        for service in services.values():
            for host in (service.name, *service.aliases):
                known = self._hosts.setdefault(host, [])
                if service.name in active:
                    known.extend((service.name, instance) for instance in range(service.replicas))
        names = "|".join(re.escape(host) for host in sorted(self._hosts, key=len, reverse=True))
        self._pattern = re.compile(rf"(?<![\w.-])({names}):(\d{{2,5}})(?!\d)")
        self._ports: dict[tuple[str, str | int, int], int] = {}
        self._lock = threading.Lock()

    def port(self, service: str, name: str | int, instance: int = 0) -> int:
        """The loopback port that stands for a port of the service; the same one each time."""
        with self._lock:
            key = (service, name, instance)
            if key not in self._ports:
                self._ports[key] = free_ports()[0]
            return self._ports[key]

    def fix(self, service: str, name: str | int, port: int) -> bool:
        """Makes a chosen port stand for one of the service's first instance; False where it is in use."""
        if not _is_free(port):
            return False
        with self._lock, _giving:
            _given.add(port)
            self._ports[service, name, 0] = port
        return True

    def endpoints(self, host: str, port: int) -> Sequence[str]:
        """Every instance behind a host name, as 127.0.0.1:port."""
        behind = self._hosts[host] or [(host, 0)]  # nobody there: a port that nobody listens on
        return [f"{LOOPBACK}:{self.port(service, port, instance)}" for service, instance in behind]

    def rewrite(self, text: str) -> str:
        """Puts the first instance's address in place of every host:port of the network."""
        return self._pattern.sub(lambda match: self.endpoints(match[1], int(match[2]))[0], text)

    def rewrite_statements(self, text: str) -> str:
        """As rewrite, for `statement; statement;`: a statement that names a host is repeated for each instance."""
        statements = [statement.strip() for statement in text.split(";") if statement.strip()]
        return " ".join(f"{each};" for statement in statements for each in self._each_instance(statement))

    def _each_instance(self, statement: str) -> list[str]:
        match = self._pattern.search(statement)
        if match is None:
            return [statement]
        before, after = statement[: match.start()], statement[match.end() :]
        return [f"{before}{endpoint}{after}" for endpoint in self.endpoints(match[1], int(match[2]))]


def http_request(method: str, port: int, path: str, body: Any = None) -> tuple[int, bytes]:
    """Status and body; (0, b"") where there is no answer. No proxy of the environment comes between."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=SECONDS if body is None else 4 * SECONDS)
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
        payload = None if body is None else json.dumps(body).encode()
        connection.request(method, path, payload, {"Content-Type": "application/json"} if payload else {})
        response = connection.getresponse()
        return response.status, response.read()
    return 0, b""


def why_not(method: str, port: int, path: str, body: Any = None, *, wanted: int = 200) -> str:
    """What was answered in place of the wanted status, in words; empty where it was that."""
    status, said = http_request(method, port, path, body)
    return "" if status == wanted else f"{status or 'no'} answer {said[:300].decode(errors='replace')}"


def first_requests(port: int, serves: Serves) -> Iterator[tuple[str, Callable[[], str]]]:
    """Behind a proxy: a write, then its read-back, or a read. By step, what to ask until no reason is left."""
    if serves == "reads":
        yield "a read through the proxy", partial(why_not, "GET", port, "/api/feed")
        return
    post = str(uuid.uuid4())
    body = {"id": post, "content": "Is this path ready?"}
    yield "a write through the proxy", partial(why_not, "POST", port, "/api/posts", body, wanted=201)
    yield "the write's read-back", partial(why_not, "GET", port, f"/api/posts/{post}")


def serves(inside: int, port: int, environment: Mapping[str, str]) -> bool:
    """Whether a component answers behind a loopback port; inside: its own, by which it is known (any, if not known).

    A connection alone proves nothing: the Docker engine's own proxy accepts it before the server does.
    """
    if inside == _POSTGRES:
        # It asks for the password, rather than saying that it is starting up.
        options = b"user\0" + environment.get("POSTGRES_USER", "postgres").encode() + b"\0\0"
        return _first_byte(port, struct.pack("!II", 8 + len(options), 3 << 16) + options) == b"R"
    if inside == _RABBITMQ:
        # It begins the AMQP 0-9-1 handshake, with a method frame: connection.start.
        return _first_byte(port, b"AMQP\x00\x00\x09\x01") == b"\x01"
    return inside not in _PATHS or not why_not("GET", port, _PATHS[inside])


def listens(port: int) -> bool:
    """Whether a connection is accepted."""
    with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, port), timeout=SECONDS):
        return True
    return False


def _first_byte(port: int, greeting: bytes) -> bytes:
    """Of the answer to a greeting; nothing where there is none."""
    with (
        contextlib.suppress(OSError),
        socket.create_connection((LOOPBACK, port), timeout=SECONDS) as connection,
    ):
        connection.sendall(greeting)
        return connection.recv(1)
    return b""
