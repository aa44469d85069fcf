"""Does a container serve? Asked from the host, by the port that it publishes, not by the engine's slow probes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

from writepath.runtime.native import probe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from writepath.runtime.docker.engine import Container

HTTP_PORT = 8080
INSPECTOR_PORT = 8081


def serves(container: Container) -> bool:
    """Whether it runs, is not frozen, and answers on the port it is known by (any, where it has none of these)."""
    if not container.running or container.paused:
        return False
    known = [port for port in _PROBES if port in container.published]
    return all(_PROBES[port](container, container.published[port]) for port in known)


def _answers(path: str) -> Callable[[Container, int], bool]:
    return lambda _container, port: probe.http_request("GET", port, path)[0] == httpx.codes.OK


def _session_begins(container: Container, port: int) -> bool:
    """A connection proves nothing: the engine's own proxy accepts it before the server does."""
    return probe.postgres_accepts(port, container.environment.get("POSTGRES_USER", "postgres"))


_PROBES: Mapping[int, Callable[[Container, int], bool]] = {
    HTTP_PORT: _answers("/nginx-health"),
    INSPECTOR_PORT: _answers("/inspector/ready"),
    5432: _session_begins,
    5672: lambda _container, port: probe.amqp_accepts(port),
    8474: _answers("/version"),
    9200: _answers("/_cluster/health?timeout=2s&master_timeout=2s"),
}
