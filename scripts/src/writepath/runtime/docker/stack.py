"""What can the runner ask of a variant that runs as containers, and do to it?"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from writepath.errors import StartError
from writepath.process import call
from writepath.processors import Split, listed
from writepath.runtime import network, topology
from writepath.runtime.base import FILL_BYTES_PER_S, Meter, Usage, masked
from writepath.runtime.deadman import Heal
from writepath.runtime.docker.compose import holder
from writepath.runtime.docker.engine import KILLED, Container, Engine, told

PROXY = "nginx"
HTTP_PORT = 8080
INSPECTOR_PORT = 8081
_BEHIND_PROXY = "writer"  # the name by which the proxy looks up where to send
_STOP_SECONDS = 40
_PATHS = {  # that a component answers with 200 when it serves, by the port it is known by
    HTTP_PORT: "/nginx-health",
    INSPECTOR_PORT: "/inspector/ready",
    8474: "/version",
    9200: "/_cluster/health?timeout=2s&master_timeout=2s",
}

BALLAST = ".writepath-ballast"
_PAGE_BYTES = 64 * 1024  # a file system in memory rounds its size up to a page, of at most so many
_FILL_SECONDS = 60
_STEPS_PER_S = 10
_FILL = (  # each ends when nothing more fits: the steps, and what fills the rest
    f"(while dd if=/dev/zero bs={FILL_BYTES_PER_S // _STEPS_PER_S} count=1; do sleep {1 / _STEPS_PER_S}; done;"
    ' cat /dev/zero) >"$0" 2>/dev/null || true'
)


class DockerStack:
    """One started variant; implements `runtime.base.Stack`. Thread-safe."""

    def __init__(
        self,
        engine: Engine,
        project: str,
        generators: Sequence[str],
        stores: Sequence[str],
        small_disks: Mapping[str, int],
        split: Split,
    ) -> None:
        """Asks the engine what runs; generators: the names that the load generator's containers will have."""
        self._engine = engine
        self.project = project
        self._generators, self._split = generators, split
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
        proxied = PROXY in self.components
        self.base_url = f"http://{self.address(PROXY, HTTP_PORT)}" if proxied else ""
        self.load_url = f"http://{self.load_address(PROXY, HTTP_PORT)}" if proxied else ""
        self.network = f"{project}_default"

    def inspector_urls(self, service: str) -> Sequence[str]:
        """Base URLs of a service's inspectors, one an instance; StartError where the service has none."""
        return [f"http://127.0.0.1:{port}/inspector" for port in self._ports(service, INSPECTOR_PORT)]

    def inspector_ports(self) -> list[int]:
        """Of all services."""
        ports = (c.published.get(INSPECTOR_PORT) for c in self._containers)
        return [port for port in ports if port is not None]

    def usage(self) -> Mapping[str, Usage]:
        """By component; the load generator's containers, of all loads so far, count as component `k6`."""
        owners = [(c.service, c.id, c.life) for c in self._containers]
        # By id: each load's have the same names.
        owners += [("k6", one, one) for one in self._engine.ids(self._generators)]
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

    @contextmanager
    def spread(self) -> Iterator[None]:
        """While it lasts, its JVMs may use the load generator's processors too."""
        self._let_use(self._split.all)
        try:
            yield
        finally:
            self._let_use(self._split.system)

    @told()
    def _let_use(self, processors: frozenset[int]) -> None:
        for container in self._containers:
            if topology.counts_as_told(container.environment):
                container.sdk.update(cpuset_cpus=listed(processors))

    def is_ready(self, component: str) -> bool:
        """Whether all its containers run and answer."""
        try:
            return all(self._pool.map(_serves, self._now(component)))
        except StartError:
            return False

    def address(self, component: str, port: int) -> str:
        """Where its first instance's port is published; it stays over a restart."""
        return f"127.0.0.1:{self._ports(component, port)[0]}"

    def load_address(self, component: str, port: int) -> str:
        """On the stack's network: a published port leads through a process of the engine, on any processor."""
        return f"{component}:{port}"

    def remedies(self, component: str) -> Sequence[Heal]:
        """The engine's unpause; a disk lasts as long as its containers, which the next command removes."""
        return [("unpause", self._engine.host, container.id) for container in self._of(component)]

    def fill_disk(self, component: str) -> int:
        """Fills its small disk; the bytes left free. StartError where it has none."""
        return _fill(self._keeper(component), self._disks[component])

    def free_disk(self, component: str) -> None:
        """Takes away what fill_disk wrote."""
        _free(self._keeper(component))

    @told()
    def tails(self) -> str:
        """The last lines of every container that does not run."""
        ended = [c for c in self._engine.containers(self.project) if c.loss]
        return "\n".join(
            f"{c.loss}; its log ends with\n{c.sdk.logs(tail=20).decode(errors='replace')}" for c in ended
        )

    def close(self) -> None:
        """Ends the threads; the containers are the runtime's to end."""
        self._pool.shutdown(cancel_futures=True)

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
        if container.service == PROXY and not self._behind_proxy():
            raise StartError(f"{PROXY} exits immediately unless {_BEHIND_PROXY} is running: start that first")
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

    def _ports(self, service: str, inside: int) -> list[int]:
        containers = self._of(service)
        if any(inside not in c.published for c in containers):
            raise StartError(
                f"{service} has not published port {inside}: {self.tails() or 'it publishes none'}"
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


def _serves(container: Container) -> bool:
    """Whether it runs, is not frozen, and answers on the port it is known by (any, where it has none of these).

    From the host, not by the engine's slow probes. A connection alone proves nothing: the engine's own proxy accepts
    it before the server does.
    """
    return (
        container.running
        and not container.paused
        and all(_answers(container, inside, port) for inside, port in container.published.items())
    )


def _answers(container: Container, inside: int, port: int) -> bool:
    if inside in _PATHS:
        return not network.why_not("GET", port, _PATHS[inside])
    if inside == 5432:  # noqa: PLR2004 PostgreSQL's
        return network.postgres_accepts(port, container.environment.get("POSTGRES_USER", "postgres"))
    return inside != 5672 or network.amqp_accepts(port)  # noqa: PLR2004 RabbitMQ's


def _fill(keeper: Container, size_bytes: int) -> int:
    """Writes until nothing more fits; the bytes left. StartError, before a byte, on any other file system."""
    kind, size, _ = _disk_state(keeper)
    if kind != "tmpfs" or not size_bytes <= size < size_bytes + _PAGE_BYTES:
        raise StartError(
            f"{keeper.name}: {_place(keeper)} is a {kind} of {size} bytes, not the small disk of {size_bytes}; "
            "nothing was written"
        )
    _run(keeper, _FILL)
    return _disk_state(keeper)[2]


def _free(keeper: Container) -> None:
    """Takes away what fill wrote."""
    _run(keeper, 'rm -f "$0"')


def _disk_state(keeper: Container) -> tuple[str, int, int]:
    """Kind, size and free bytes of the file system."""
    said = call("docker", "exec", keeper.id, "df", "-B1", "--output=fstype,size,avail", _place(keeper))
    kind, size, free_bytes = said.splitlines()[-1].split()
    return kind, int(size), int(free_bytes)


def _run(keeper: Container, script: str) -> None:
    ballast = f"{_place(keeper)}/{BALLAST}"
    call("docker", "exec", keeper.id, "sh", "-c", script, ballast, timeout_s=_FILL_SECONDS)


def _place(keeper: Container) -> str:
    return keeper.volumes[0]
