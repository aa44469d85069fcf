"""Where does a service listen? Free loopback ports, written in place of every service:port of the topology."""

import random
import re
import socket
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from writepath.errors import StartError
from writepath.runtime.topology import Service

LOOPBACK = "127.0.0.1"
_LOWEST = 15000
_HIGHEST = 65000
_TRIES = 200
_given: set[int] = set()  # in this process, to any stack: one that starts beside it may not listen yet
_giving = threading.Lock()


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
        self._pattern = (
            re.compile(rf"(?<![\w.-])({names}):(\d{{2,5}})(?!\d)") if names else re.compile(r"(?!)")
        )
        self._ports: dict[tuple[str, str | int, int], int] = {}
        self._lock = threading.Lock()

    def port(self, service: str, name: str | int, instance: int = 0) -> int:
        """The loopback port that stands for a port of the service; the same one each time."""
        with self._lock:
            key = (service, name, instance)
            if key not in self._ports:
                self._ports[key] = free_port(set(self._ports.values()))
            return self._ports[key]

    def fix(self, service: str, name: str | int, port: int) -> bool:
        """Makes a port that somebody chose stand for one of the service's first instance; False where it is in use."""
        if not is_free(port):
            return False
        with self._lock:
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


def free_port(taken: set[int]) -> int:
    """A port nobody listens on or was given, outside the range that the client side of connections is taken from."""
    first, last = map(int, _client_range().split())
    choice = random.SystemRandom()
    for _ in range(_TRIES):
        port = choice.randrange(_LOWEST, _HIGHEST)
        with _giving:
            if not first <= port <= last and port not in taken | _given and is_free(port):
                _given.add(port)
                return port
    raise StartError(f"no free port on {LOOPBACK} found after {_TRIES} tries")


def _client_range() -> str:
    try:
        return Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii")
    except OSError:
        return "32768 60999"


def is_free(port: int) -> bool:
    """Whether nobody listens on it."""
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((LOOPBACK, port))
        except OSError:
            return False
        return True
