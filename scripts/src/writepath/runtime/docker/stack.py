"""What can the runner ask of a variant that runs as containers, and do to it?"""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from writepath.errors import SetupError, StartError
from writepath.process import call, end_of
from writepath.processors import Split, listed
from writepath.runtime import network, topology
from writepath.runtime.base import (
    FILL,
    FILL_SECONDS,
    PROXY,
    PROXY_PORT,
    Meter,
    Selection,
    Stack,
    Usage,
    masked,
)
from writepath.runtime.deadman import Heal
from writepath.runtime.docker.compose import holder
from writepath.runtime.docker.engine import GENERATOR, KILLED, Container, Engine, told

_BEHIND_PROXY = "writer"  # the name by which the proxy looks up where to send
NO_POWER_CUT = (
    "a power cut is only possible in the native runtime: a container's data is on the engine's own disk;"
    " use RUNTIME=native, as root"
)
_STOP_SECONDS = 40
_BALLAST = ".writepath-ballast"
_PAGE_BYTES = 64 * 1024  # a file system in memory rounds its size up to a page, of at most so many


class DockerStack(Stack):
    """The containers of one started variant. Thread-safe."""

    def __init__(self, engine: Engine, project: str, selection: Selection, split: Split) -> None:
        """Asks the engine what runs."""
        self._engine = engine
        self.project, self.services, self.split = project, selection.active, split
        self.network = f"{project}_default"
        self.components: Sequence[str] = sorted(self.services)
        self.stores: Sequence[str] = [name for name in self.components if self.services[name].volumes]
        self._disks = {name: size for name, size in selection.disks.items() if size is not None}
        self._keepers = {name: engine.containers(project, holder(name))[0] for name in self._disks}
        self._pool = ThreadPoolExecutor(max_workers=8, thread_name_prefix="docker-stats")
        self._meters: dict[str, Meter] = {}
        self._lock = threading.Lock()  # no loss is looked for while a container is started on purpose
        self._containers = self._present()
        self._lives = {c.id: c.life for c in self._containers}
        self._ended: set[str] = set()  # on purpose
        self._losses: list[str] = []  # seen before the container was started again
        self._resolved = self._behind_proxy()
        proxied = PROXY in self.components
        self.base_url = f"http://{self.address(PROXY, PROXY_PORT)}" if proxied else ""
        self.load_url = f"http://{self.load_address(PROXY, PROXY_PORT)}" if proxied else ""

    def ports(self, component: str, inside: int) -> Sequence[int]:
        """Where it is published; they stay over a restart. StartError where it is not."""
        containers = self._of(component)
        if any(inside not in c.published for c in containers):
            raise StartError(
                f"{component} has not published port {inside}: {self.tails() or 'it publishes none'}"
            )
        return [c.published[inside] for c in containers]

    def load_address(self, component: str, port: int) -> str:
        """On the stack's network: a published port leads through a process of the engine, on any processor."""
        return f"{component}:{port}"

    def usage(self) -> Mapping[str, Usage]:
        """By component; the load generator's containers, of all loads so far, count as component `k6`."""
        owners = [(c.service, c.id, c.life) for c in self._containers]
        owners += [(GENERATOR, one, one) for one in self._engine.generators(self.project)]
        present: dict[str, dict[str, Usage]] = {name: {} for name in self._meters}
        used = self._pool.map(lambda owner: self._engine.usage(owner[1]), owners)
        for (component, _, life), usage in zip(owners, used, strict=True):
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

    @told()
    def save_logs(self, folder: Path) -> None:
        """Writes folder/<component>[-<instance>].log for each container."""
        folder.mkdir(parents=True, exist_ok=True)
        for container in self._containers:
            with (folder / f"{self._name(container)}.log").open("wb") as file:
                file.writelines(container.sdk.logs(stream=True, follow=False))

    def effective_settings(self) -> Mapping[str, Mapping[str, str]]:
        """By component: image, command, memory limit and our part of the environment; secrets masked."""
        return {c.service: self._settings(c) for c in self._containers}

    def lives(self, component: str) -> Mapping[str, str]:
        """Of its running containers: the first process and when it was started."""
        return {self._name(c): c.life for c in self._now(component) if c.running}

    def kill(self, component: str, name: str | None = None) -> None:
        """SIGKILL for every process in its containers; they have ended on return."""
        self._end(component, name, lambda c: c.kill())

    def terminate(self, component: str, name: str | None = None) -> None:
        """The signal by which its image wants to be stopped; StartError where it had to be killed after 40 s."""
        ended = self._end(component, name, lambda c: c.sdk.stop(timeout=_STOP_SECONDS))
        after = {c.id: c for c in self._now(component)}
        if killed := [c.name for c in ended if after[c.id].exit_code == KILLED]:
            raise StartError(f"{', '.join(killed)} did not end within {_STOP_SECONDS} s and was killed")

    @told()
    def revive(self, component: str) -> None:
        """Starts the same containers again; the proxy looks up the writers once more where an address has changed."""
        with self._lock:
            for container in self._now(component):
                if not container.running:
                    self._start(container)
            self._containers = self._present()
            self._lives |= {c.id: c.life for c in self._containers if c.service == component}
            self._update_proxy(component)

    def container_ids(self, component: str) -> Sequence[str]:
        """By which the engine knows them."""
        return [c.id for c in self._of(component)]

    @told()
    def pause(self, component: str, name: str | None = None) -> None:
        """Freezes the control groups of its containers."""
        for container in self._now(component, name):
            if not container.paused:
                container.sdk.pause()

    @told()
    def resume(self, component: str, name: str | None = None) -> None:
        """Lets what was frozen go on."""
        for container in self._now(component, name):
            if container.paused:
                container.sdk.unpause()

    @told()
    def let_jvms_use(self, processors: frozenset[int]) -> None:
        """By their cpusets, which stay over a restart."""
        for container in self._containers:
            if topology.counts_as_told(container.environment):
                container.sdk.update(cpuset_cpus=listed(processors))

    def is_ready(self, component: str) -> bool:
        """Whether all its containers run and answer, asked from the host: not by the engine's slow probes."""
        try:
            return all(self._pool.map(_serves, self._now(component)))
        except StartError:
            return False

    def remedies(self, component: str) -> Sequence[Heal]:
        """The engine's unpause; a disk lasts as long as its containers, which the next command removes."""
        return [("unpause", self._engine.host, container.id) for container in self._of(component)]

    def fill_disk(self, component: str) -> int:
        """Writes until nothing more fits; the bytes left. StartError, before a byte, on any other file system."""
        keeper, asked = self._keeper(component), self._disks[component]
        kind, size, _ = _disk_state(keeper)
        if kind != "tmpfs" or not asked <= size < asked + _PAGE_BYTES:
            raise StartError(
                f"{keeper.name}: {keeper.volumes[0]} is a {kind} of {size} bytes, not the small disk of {asked}; "
                "nothing was written"
            )
        _run(keeper, FILL)
        return _disk_state(keeper)[2]

    def free_disk(self, component: str) -> None:
        """Takes away what fill_disk wrote."""
        _run(self._keeper(component), 'rm -f "$0"')

    def flush_disk(self, component: str) -> None:
        """SetupError."""
        raise SetupError(f"{component}: {NO_POWER_CUT}")

    def cut_power(self, component: str) -> str:
        """SetupError."""
        raise SetupError(f"{component}: {NO_POWER_CUT}")

    @told()
    def tails(self) -> str:
        """The last lines of every container that does not run."""
        ended = [c for c in self._engine.containers(self.project) if c.loss]
        return "\n".join(
            f"{c.loss}; its log ends with\n{end_of(c.sdk.logs(tail=20).decode(errors='replace'), 20)}"
            for c in ended
        )

    def close(self) -> None:
        """Ends the threads; the containers are the runtime's to end."""
        self._pool.shutdown(cancel_futures=True)

    def _present(self) -> list[Container]:
        """The containers of the components, as they are now."""
        return [c for c in self._engine.containers(self.project) if c.service in self.components]

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

    @told()
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
        if container.loss and (container.oom_killed or container.id not in self._ended):
            self._losses.append(container.loss)
        self._ended.discard(container.id)
        container.sdk.start()

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
            for proxy in self._now(PROXY):
                if proxy.running:
                    proxy.sdk.kill("SIGHUP")

    def _settings(self, container: Container) -> dict[str, str]:
        inherited = self._engine.image_environment(container.image)
        own = {k: v for k, v in container.environment.items() if f"{k}={v}" not in inherited}
        return {
            "image": container.image,
            "command": " ".join(container.command),
            "memory_limit_bytes": str(container.memory_limit_bytes),
            **masked(own),
        }


def _serves(container: Container) -> bool:
    """Whether it runs, is not frozen, and answers on its published ports."""
    return (
        container.running
        and not container.paused
        and all(
            network.serves(inside, port, container.environment)
            for inside, port in container.published.items()
        )
    )


def _disk_state(keeper: Container) -> tuple[str, int, int]:
    """Kind, size and free bytes of the file system."""
    said = call(*("docker", "exec", keeper.id, "df", "-B1", "--output=fstype,size,avail", keeper.volumes[0]))
    kind, size, free_bytes = said.splitlines()[-1].split()
    return kind, int(size), int(free_bytes)


def _run(keeper: Container, script: str) -> None:
    ballast = f"{keeper.volumes[0]}/{_BALLAST}"
    call("docker", "exec", keeper.id, "sh", "-c", script, ballast, timeout_s=FILL_SECONDS)
