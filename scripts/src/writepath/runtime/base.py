"""The contract between the runner and whatever starts a variant, and what both runtimes do alike."""

import re
import secrets
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from writepath.config.registry import Serves, Variant
from writepath.errors import UsageError
from writepath.processors import Split
from writepath.runtime import aot, topology
from writepath.runtime.deadman import Heal
from writepath.runtime.network import LOOPBACK
from writepath.runtime.topology import Service

READY_S = 300.0  # of a component that starts, at most: a busy host with two cores; most serve after 20
PROXY = "nginx"
PROXY_PORT, INSPECTOR_PORT = 8080, 8081  # in the compose file; each application has an inspector
_FILL_BYTES_PER_S = 100 << 20  # a runaway log's: a store that watches its free space sees it shrink
_STEPS_PER_S = 10
FILL = (  # a shell's, with the file to write; each ends when nothing more fits: the steps, and what fills the rest
    f"(while dd if=/dev/zero bs={_FILL_BYTES_PER_S // _STEPS_PER_S} count=1; do sleep {1 / _STEPS_PER_S}; done;"
    ' cat /dev/zero) >"$0" 2>/dev/null || true'
)
FILL_SECONDS = 60.0
# By component: the bytes of a small file system of its own, which can be filled; None: of one whose power can be cut.
Disks: TypeAlias = Mapping[str, int | None]
MASK = "***"
_SECRET = re.compile(r"PASS(WORD|WD)?$|PASS(WORD)?_|SECRET|TOKEN|COOKIE|CREDENTIAL|API_?KEY", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"(?<=://)([^:/@\s]+):[^@/\s]+(?=@)")


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Cumulative use of one component (all its instances and their child processes) since it started."""

    cpu_seconds: float
    rss_bytes: int
    write_bytes: int | None  # None where this runtime cannot tell


@dataclass
class Meter:
    """One component's use over all its lives: what ended ones have used stays counted."""

    cpu_seconds: dict[Hashable, float] = field(default_factory=dict)  # by life of a process or container
    written: dict[Hashable, int] = field(default_factory=dict)

    def read(self, present: Mapping[Any, Usage]) -> Usage:
        """By life, what each uses now; a figure never falls."""
        for life, usage in present.items():
            self.cpu_seconds[life] = max(self.cpu_seconds.get(life, 0.0), usage.cpu_seconds)
            if usage.write_bytes is not None:
                self.written[life] = max(self.written.get(life, 0), usage.write_bytes)
        return Usage(
            cpu_seconds=sum(self.cpu_seconds.values()),
            rss_bytes=sum(usage.rss_bytes for usage in present.values()),
            write_bytes=sum(self.written.values()) if self.written else None,
        )


def masked(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings with every secret's value replaced."""
    return {
        key: MASK if _SECRET.search(key) else _IN_ADDRESS.sub(rf"\1:{MASK}", value)
        for key, value in sorted(settings.items())
    }


class Stack(Protocol):
    """One started variant, ready for load: a real request through the proxy succeeded."""

    base_url: str  # of the proxy: http://127.0.0.1:PORT
    load_url: str  # the same, as the load generator reaches it
    network: str  # of Docker's, on which a container reaches all components: "host", or the stack's own
    components: Sequence[str]  # compose service names
    stores: Sequence[str]  # those that keep data: with a named volume
    split: Split
    inspector_token: str = ""  # another one for each stack: what changes data through an inspector needs it

    def ports(self, component: str, inside: int) -> Sequence[int]:
        """The loopback ports, one an instance, that stand for a port of the compose file."""

    def address(self, component: str, port: int) -> str:
        """`127.0.0.1:PORT` behind which its first instance listens on a port of the compose file."""
        return f"{LOOPBACK}:{self.ports(component, port)[0]}"

    def load_address(self, component: str, port: int) -> str:
        """As address, for the load generator."""
        return self.address(component, port)

    def inspector_urls(self, service: str) -> Sequence[str]:
        """Base URLs of a service's inspectors, one an instance: http://runner:TOKEN@127.0.0.1:PORT/inspector."""
        host = f"runner:{self.inspector_token}@{LOOPBACK}"
        return [f"http://{host}:{port}/inspector" for port in self.ports(service, INSPECTOR_PORT)]

    def usage(self) -> Mapping[str, Usage]:
        """By component; cheap enough to be called each second."""

    def lost_components(self) -> Sequence[str]:
        """Components that ended, restarted or were killed for memory since the start, each with a reason in words."""

    def save_logs(self, folder: Path) -> None:
        """Writes each component's log to folder/<component>[-<instance>].log."""

    def effective_settings(self) -> Mapping[str, Mapping[str, str]]:
        """By component, the environment and flags it was started with; secrets masked."""

    def lives(self, component: str) -> Mapping[str, str]:
        """Its running or paused processes: name (`component[-instance]`) to an identity no other process ever has."""

    def kill(self, component: str, name: str | None = None) -> None:
        """SIGKILL for all its processes or the named one, with their children, as a crash would; gone on return."""

    def terminate(self, component: str, name: str | None = None) -> None:
        """SIGTERM, and waits until it has ended in order; StartError where it does not within 40 s."""

    def revive(self, component: str) -> None:
        """Restarts its ended processes, with the same data, ports and settings. Does not wait until it serves."""

    def pause(self, component: str, name: str | None = None) -> None:
        """Freezes it with all its children (SIGSTOP, a frozen control group): connections stay, nothing is answered."""

    def resume(self, component: str, name: str | None = None) -> None:
        """Lets what was frozen go on; nothing where nothing is frozen."""

    def remedies(self, component: str) -> Sequence[Heal]:
        """What would undo a pause or a full disk of it without this process."""

    @contextmanager
    def spread(self) -> Iterator[None]:
        """While it lasts, its JVMs may use the load generator's processors too: they start and compile faster."""
        self.let_jvms_use(self.split.all)
        try:
            yield
        finally:
            self.let_jvms_use(self.split.system)

    def let_jvms_use(self, processors: frozenset[int]) -> None:
        """Moves those that are told how many processors to count on; the others stay on the system's."""

    def is_ready(self, component: str) -> bool:
        """Whether every process of it serves; quick, and False for any failure to reach it."""

    def fill_disk(self, component: str) -> int:
        """Fills the small file system its data was put on at the start, at a runaway log's pace; the bytes left."""

    def free_disk(self, component: str) -> None:
        """Takes away what fill_disk wrote; nothing where nothing is filled."""

    def flush_disk(self, component: str) -> None:
        """Has all that is written so far reach the disk its data was put on at the start, whose power can be cut."""

    def cut_power(self, component: str) -> str:
        """Kills it, and leaves of its data what had been flushed. The proof in words; empty: there is none."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What is started as one stack."""

    name: str
    services: Mapping[str, Service]  # of the compose file: values may name one that is off
    active: Mapping[str, Service]  # those that are started
    profiles: Sequence[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict)  # variables of the compose file
    disks: Disks = field(default_factory=dict)
    serves: Serves = "writes"  # what the proxy is asked for at the start


class Runtime(Protocol):
    """`native` or `docker`, for one checkout."""

    name: str
    root: Path
    split: Split
    settings: Mapping[str, str]  # the user's for all stacks, as images

    def __init__(
        self, root: Path, split: Split | None = None, settings: Mapping[str, str] | None = None
    ) -> None:
        """Root: the checkout whose docker-compose.yml describes the topology. settings: the user's, images too."""
        self.root, self.split = root.resolve(), split or Split.shared()
        self.settings = settings or {}

    def prepare(self, variants: Sequence[Variant], say: Callable[[str], None]) -> None:
        """Everything that must be there before a start: packages, images, jars, caches. Idempotent, fast when warm."""

    @contextmanager
    def start(
        self,
        variant: Variant,
        *,
        overrides: Mapping[str, str],
        say: Callable[[str], None],
        only: Sequence[str] | None = None,
        profiles: Sequence[str] = (),
        disks: Disks | None = None,
    ) -> Iterator[Stack]:
        """Starts every part side by side, yields when ready, always stops and removes state on exit.

        overrides are compose variables (INSTANCES, POOL_SIZE, ...); only limits it to some services (for tests);
        profiles are started in addition to the variant's own; disks gives a component's data a separate file system.
        SetupError where this machine allows no such file system.
        """
        on, asked = [*variant.profiles, *profiles], disks or {}
        settings = {
            **topology.derived(self.root, on, self.split, {**variant.settings, **overrides}),
            **variant.settings,
            topology.PROXY_PORT: topology.ANY_PORT,
            topology.INSPECTOR_TOKEN: secrets.token_hex(16),
            **overrides,
        }
        known = topology.load(self.root, settings)
        active = known.active(on)
        chosen = {name: service for name, service in active.items() if only is None or name in only}
        keep = [name for name, service in chosen.items() if service.volumes]
        if unknown := set(asked) - set(keep):
            raise UsageError(
                f"disks: {', '.join(sorted(unknown))} keeps no data; components that do: {', '.join(keep)}"
            )
        selection = Selection(
            name=variant.name,
            services=known.services,
            active=chosen,
            profiles=on,
            settings=settings,
            disks=asked,
            serves=variant.serves,
        )
        with self.stack(selection, say) as stack:
            stack.inspector_token = settings[topology.INSPECTOR_TOKEN]
            yield stack

    def stack(self, selection: Selection, say: Callable[[str], None]) -> AbstractContextManager[Stack]:
        """As start, for any choice of services."""

    def variables(self, profiles: Sequence[str], settings: Mapping[str, str]) -> dict[str, str]:
        """Of the compose file: derived ones, these, and the user's."""
        given = {**settings, **self.settings}
        return {**topology.derived(self.root, profiles, self.split, given), **given}

    def services(self, profiles: Sequence[str], settings: Mapping[str, str]) -> dict[str, Service]:
        """Those that the profiles switch on, with these settings and the user's."""
        return topology.load(self.root, self.variables(profiles, settings)).active(profiles)

    def caches(self, service: Service) -> Path:
        """The folder of an application's ahead-of-time caches."""

    def untrained(self, variant: Variant) -> Sequence[str]:
        """Its applications without an ahead-of-time cache of this build, where there can be one."""
        active = self.services(variant.profiles, variant.settings)
        ours = {name: service for name, service in active.items() if service.module}
        return [name for name, one in ours.items() if aot.find(self.caches(one), one.environment) is None]

    def make_cache(self, stack: Any, component: str) -> None:
        """From what it has recorded on a stack of `aot.TRAINING` until it ended in order."""

    def why_no_power_cut(self) -> str:
        """Why a store's disk cannot lose its power here, in words; empty where it can."""

    def versions(self, variant: Variant) -> Mapping[str, str]:
        """Versions of each component in use."""

    def load_generator(self, network: str) -> Sequence[Sequence[str]]:
        """Command prefixes that run k6 on a stack's network: one, or one for each processor that only k6 has."""

    def reap(self, say: Callable[[str], None]) -> None:
        """Ends what an earlier, killed runner of this checkout left behind; only what it provably started."""
