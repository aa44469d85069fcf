"""What can the runner ask of a variant that runs as containers, and do to it?"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import httpx

from writepath.errors import StartError
from writepath.runtime.docker import disk
from writepath.runtime.docker.engine import KILLED
from writepath.runtime.docker.override import holder
from writepath.runtime.docker.serving import HTTP_PORT, INSPECTOR_PORT, serves
from writepath.runtime.docker.usage import Meter
from writepath.runtime.masking import masked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from writepath.runtime.base import Usage
    from writepath.runtime.docker.engine import Container, Engine

PROXY = "nginx"
_BEHIND_PROXY = "writer"  # the name by which the proxy looks up where to send
_STOP_SECONDS = 40


class DockerStack:
    """One started variant; implements `runtime.base.Stack`. Thread-safe."""

    def __init__(
        self,
        engine: Engine,
        project: str,
        generator: str,
        stores: Sequence[str],
        small_disks: Mapping[str, int],
    ) -> None:
        """Asks the engine what runs; generator: the name that the load generator's container will have."""
        self._engine = engine
        self.engine_host = engine.host
        self.project = project
        self._generator = generator
        self._disks = small_disks
        self._keepers = {name: engine.containers(project, holder(name))[0] for name in small_disks}
        self._pool = ThreadPoolExecutor(max_workers=8, thread_name_prefix="docker-stats")
        self._meters: dict[str, Meter] = {}
        self._lock = threading.Lock()  # no loss is looked for while a container is started on purpose
        self._containers = self._present()
        self._lives = {c.id: c.life for c in self._containers}
        self._ended: set[str] = set()  # on purpose
        self._losses: list[str] = []  # seen before the container was started again
        self._resolved = self._behind_proxy()
        self.components: Sequence[str] = sorted({c.service for c in self._containers})
        self.stores: Sequence[str] = [name for name in stores if name in self.components]
        self.base_url = f"http://{self.address(PROXY, HTTP_PORT)}" if PROXY in self.components else ""

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
        owners = [(c.service, c.id, c.life) for c in self._containers] + [("k6", self._generator, "")]
        present: dict[str, dict[str, Usage]] = {}
        for (component, _, life), usage in zip(owners, self._pool.map(self._used, owners), strict=True):
            if usage is not None:
                present.setdefault(component, {})[life] = usage
        return {name: self._meters.setdefault(name, Meter()).read(lives) for name, lives in present.items()}

    def lost_components(self) -> Sequence[str]:
        """Containers that ended, or started again though nobody revived them, each with the reason in words."""
        with self._lock:
            now = {c.id: c for c in self._engine.containers(self.project)}
            lost = [f"{c.name} was removed" for c in self._containers if c.id not in now]
            lost += [loss for c in now.values() if (loss := self._loss(c))]
            return list(dict.fromkeys([*self._losses, *lost]))

    def save_logs(self, folder: Path) -> None:
        """Writes folder/<component>[-<instance>].log for each container."""
        folder.mkdir(parents=True, exist_ok=True)
        for container in self._containers:
            with (folder / f"{self._name(container)}.log").open("wb") as file:
                file.writelines(self._engine.log(container.id))

    def effective_settings(self) -> Mapping[str, Mapping[str, str]]:
        """By component: image, command, memory limit and our part of the environment; secrets masked."""
        return {c.service: self._settings(c) for c in self._containers}

    def lives(self, component: str) -> Mapping[str, str]:
        """Of its running containers: the first process and when it was started."""
        return {self._name(c): c.life for c in self._now(component) if c.running}

    def kill(self, component: str, name: str | None = None) -> None:
        """SIGKILL for every process in its containers; they have ended on return."""
        self._end(component, name, lambda c: self._engine.kill(c.id))

    def terminate(self, component: str, name: str | None = None) -> None:
        """The signal by which its image wants to be stopped; StartError where it had to be killed after 40 s."""
        ended = self._end(component, name, lambda c: self._engine.stop(c.id, _STOP_SECONDS))
        after = {c.id: c for c in self._now(component)}
        if killed := [c.name for c in ended if after[c.id].exit_code == KILLED]:
            raise StartError(f"{', '.join(killed)} did not end within {_STOP_SECONDS} s and was killed")

    def revive(self, component: str) -> None:
        """Starts the same containers again; the proxy looks up the writers once more where an address has changed."""
        with self._lock:
            for container in self._now(component):
                if not container.running:
                    self._start(container)
            self._containers = self._present()
            self._lives |= {c.id: c.life for c in self._containers if c.service == component}
            self._update_proxy(component)

    def container_ids(self, component: str, name: str | None = None) -> Sequence[str]:
        """By which the engine knows them: for whoever undoes a fault when this process is gone."""
        return [c.id for c in self._of(component, name)]

    def pause(self, component: str, name: str | None = None) -> None:
        """Freezes the control groups of its containers."""
        for container in self._now(component, name):
            if not container.paused:
                self._engine.pause(container.id)

    def resume(self, component: str, name: str | None = None) -> None:
        """Lets what was frozen go on."""
        for container in self._now(component, name):
            if container.paused:
                self._engine.unpause(container.id)

    def is_ready(self, component: str) -> bool:
        """Whether all its containers run and answer."""
        try:
            return all(self._pool.map(serves, self._now(component)))
        except httpx.TransportError:
            return False

    def address(self, component: str, port: int) -> str:
        """Where its first instance's port is published; it stays over a restart."""
        return f"127.0.0.1:{self._ports(component, port)[0]}"

    def remedies(self, component: str) -> Sequence[Mapping[str, Any]]:
        """The engine's unpause; a disk lasts as long as its containers, which the next command removes."""
        return [
            {"unpause": {"engine": self._engine.host, "container": container.id}}
            for container in self._of(component)
        ]

    def fill_disk(self, component: str) -> int:
        """Fills its small disk; the bytes left free. StartError where it has none."""
        return disk.fill(self._keeper(component), self._disks[component])

    def free_disk(self, component: str) -> None:
        """Takes away what fill_disk wrote."""
        disk.free(self._keeper(component))

    def tails(self, lines: int) -> str:
        """The last lines of every container that does not run."""
        ended = [c for c in self._engine.containers(self.project) if c.loss]
        return "\n".join(
            f"{c.loss}; its log ends with\n"
            + b"".join(self._engine.log(c.id, lines)).decode(errors="replace")
            for c in ended
        )

    def close(self) -> None:
        """Ends the threads; the containers are the runtime's to end."""
        self._pool.shutdown(cancel_futures=True)

    def _used(self, owner: tuple[str, str, str]) -> Usage | None:
        return self._engine.usage(owner[1])

    def _present(self) -> list[Container]:
        """The containers of the components, as they are now."""
        keepers = {c.id for c in self._keepers.values()}
        return [c for c in self._engine.containers(self.project) if c.id not in keepers]

    def _of(self, service: str, name: str | None = None) -> list[Container]:
        """Its containers, or the named one, as they were last seen."""
        found = [c for c in self._containers if c.service == service and name in {None, self._name(c)}]
        if not found:
            known = ", ".join(self._name(c) for c in self._containers)
            raise StartError(f"{name or service} is not part of this stack: {known}")
        return found

    def _now(self, service: str, name: str | None = None) -> list[Container]:
        """As they are now."""
        ids = {c.id for c in self._of(service, name)}
        return [c for c in self._engine.containers(self.project, service) if c.id in ids]

    def _name(self, container: Container) -> str:
        many = sum(c.service == container.service for c in self._containers) > 1
        return f"{container.service}-{container.instance}" if many else container.service

    def _keeper(self, component: str) -> Container:
        if component not in self._keepers:
            raise StartError(
                f"{component} was not started with a small disk: {', '.join(self._keepers) or 'no component was'}"
            )
        return self._keepers[component]

    def _loss(self, container: Container) -> str | None:
        if container.loss:
            return container.loss
        if container.life != self._lives.get(container.id, container.life):
            return f"{container.name} ended and was restarted from outside"
        return None

    def _end(self, component: str, name: str | None, by: Callable[[Container], None]) -> list[Container]:
        """Ends what runs of it, side by side; those that it ended."""
        with self._lock:
            chosen = self._now(component, name)
            self._losses += [c.loss for c in chosen if c.loss and c.id not in self._ended]
            running = [c for c in chosen if c.running]
            self._ended |= {c.id for c in running}
        list(self._pool.map(by, running))
        return running

    def _start(self, container: Container) -> None:
        if container.service == PROXY and not self._behind_proxy():
            raise StartError(f"{PROXY} exits immediately unless {_BEHIND_PROXY} is running: start that first")
        if container.loss and (container.oom_killed or container.id not in self._ended):
            self._losses.append(container.loss)
        self._ended.discard(container.id)
        self._engine.start(container.id)

    def _behind_proxy(self) -> set[str]:
        return {c.address for c in self._present() if c.running and _BEHIND_PROXY in c.aliases}

    def _update_proxy(self, revived: str) -> None:
        """A container that is started again may get another address; the proxy asks for addresses once.

        It is told to only where it would send to a wrong place, as it closes resting connections for that.
        """
        behind = self._behind_proxy()
        if revived == PROXY:
            self._resolved = behind
        elif behind - self._resolved and PROXY in self.components:
            self._resolved = behind
            for proxy in self._of(PROXY):
                self._engine.signal(proxy.id, "SIGHUP")

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
