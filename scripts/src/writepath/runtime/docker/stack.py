"""What can the runner ask of a variant that runs as containers?"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from writepath.errors import StartError
from writepath.runtime.base import Usage
from writepath.runtime.masking import masked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from writepath.runtime.docker.engine import Container, Engine

HTTP_PORT = 8080
INSPECTOR_PORT = 8081


class DockerStack:
    """One started variant; implements `runtime.base.Stack`."""

    def __init__(self, engine: Engine, project: str, generator: str) -> None:
        """Asks the engine what runs; generator: the name that the load generator's container will have."""
        self._engine = engine
        self._project = project
        self._generator = generator
        self._containers = engine.containers(project)
        self._pool = ThreadPoolExecutor(max_workers=8, thread_name_prefix="docker-stats")
        self.components: Sequence[str] = sorted({c.service for c in self._containers})
        self.base_url = (
            f"http://127.0.0.1:{self._ports('nginx', HTTP_PORT)[0]}" if "nginx" in self.components else ""
        )

    def inspector_urls(self, service: str) -> Sequence[str]:
        """Base URLs of a service's inspectors, one an instance; StartError where the service has none."""
        return [f"http://127.0.0.1:{port}/inspector" for port in self._ports(service, INSPECTOR_PORT)]

    def inspected(self) -> list[str]:
        """Every inspector's base URL."""
        return [
            f"http://127.0.0.1:{c.published[INSPECTOR_PORT]}/inspector"
            for c in self._containers
            if INSPECTOR_PORT in c.published
        ]

    def usage(self) -> Mapping[str, Usage]:
        """By component; the load generator's container counts as component `k6` while it runs."""
        owners = [(c.service, c.id) for c in self._containers] + [("k6", self._generator)]
        used = self._pool.map(lambda owner: (owner[0], self._engine.usage(owner[1])), owners)
        total: dict[str, Usage] = {}
        for component, usage in used:
            if usage is not None:
                total[component] = _sum(total[component], usage) if component in total else usage
        return total

    def lost_components(self) -> Sequence[str]:
        """Containers that ended, restarted or were killed for memory, each with the reason in words."""
        now = {c.id: c for c in self._engine.containers(self._project)}
        gone = [f"{c.name} was removed" for c in self._containers if c.id not in now]
        return gone + [loss for c in now.values() if (loss := c.loss)]

    def save_logs(self, folder: Path) -> None:
        """Writes folder/<component>[-<instance>].log for each container."""
        folder.mkdir(parents=True, exist_ok=True)
        for container in self._containers:
            many = sum(c.service == container.service for c in self._containers) > 1
            name = f"{container.service}-{container.instance}" if many else container.service
            with (folder / f"{name}.log").open("wb") as file:
                file.writelines(self._engine.log(container.id))

    def effective_settings(self) -> Mapping[str, Mapping[str, str]]:
        """By component: image, command, memory limit and our part of the environment; secrets masked."""
        return {c.service: self._settings(c) for c in self._containers}

    def halt(self, component: str) -> None:
        """Ends a component at once, as a power cut would: for tests of what the others then answer."""
        for container in self._of(component):
            self._engine.kill(container.id)

    def tails(self, lines: int) -> str:
        """The last lines of every container that does not run."""
        ended = [c for c in self._engine.containers(self._project) if c.loss]
        return "\n".join(
            f"{c.loss}; its log ends with\n"
            + b"".join(self._engine.log(c.id, lines)).decode(errors="replace")
            for c in ended
        )

    def close(self) -> None:
        """Ends the threads; the containers are the runtime's to end."""
        self._pool.shutdown(cancel_futures=True)

    def _of(self, service: str) -> list[Container]:
        found = [c for c in self._containers if c.service == service]
        if not found:
            raise StartError(f"{service} is not part of this stack: {', '.join(self.components)}")
        return found

    def _ports(self, service: str, inside: int) -> list[int]:
        containers = self._of(service)
        if any(inside not in c.published for c in containers):
            raise StartError(
                f"{service} has not published port {inside}: {self.tails(20) or 'it publishes none'}"
            )
        return [c.published[inside] for c in containers]

    def _settings(self, container: Container) -> dict[str, str]:
        inherited = self._engine.image_environment(container.image)
        own = {k: v for k, v in container.environment.items() if f"{k}={v}" not in inherited}
        return {
            "image": container.image,
            "command": " ".join(container.command),
            "memory_limit_bytes": str(container.memory_limit_bytes),
            **masked(own),
        }


def _sum(one: Usage, other: Usage) -> Usage:
    known = [u.write_bytes for u in (one, other) if u.write_bytes is not None]
    return Usage(
        cpu_seconds=one.cpu_seconds + other.cpu_seconds,
        rss_bytes=one.rss_bytes + other.rss_bytes,
        write_bytes=sum(known) if known else None,
    )
