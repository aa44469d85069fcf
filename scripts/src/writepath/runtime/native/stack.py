"""A started variant of local processes: its logs, losses and use, what can be done to it, and its end."""

import shutil
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from writepath import pidfile, poll
from writepath.errors import StartError
from writepath.process import Daemon, stop_all
from writepath.processors import Split
from writepath.runtime import network, topology
from writepath.runtime.base import PROXY, PROXY_PORT, Meter, Stack, Usage, masked
from writepath.runtime.deadman import Heal
from writepath.runtime.native import quota, recipes, usage
from writepath.runtime.native.host import SmallDisk
from writepath.runtime.native.power import PowerDisk
from writepath.runtime.native.recipe import Part, Place
from writepath.runtime.network import LOOPBACK

D = TypeVar("D", SmallDisk, PowerDisk)
ORDERLY_SECONDS = 40.0
_PORT_SECONDS = 10.0


@dataclass(kw_only=True)
class Started:
    """One part, and the daemon that it runs as; another one after each revival."""

    part: Part
    place: Place
    daemon: Daemon
    excused: bool = False  # its end was, or may be, our doing
    falls: list[str] = field(default_factory=list)  # ends that were not, before it was started again

    def excuse(self) -> None:
        """What ends it from now on is our doing; not what has ended it already."""
        if self.daemon.exit_code() is None:
            self.excused = True

    def losses(self) -> list[str]:
        """In words: every end that was not our doing, and one after which it was not started again."""
        code = self.daemon.exit_code()
        if code is None:
            return list(self.falls)
        why = "was stopped and not restarted" if self.excused else _ending(code)
        return [*self.falls, f"{self.daemon.name}: {why}"]

    def revive(self, launch: Callable[[Part, Place], Daemon]) -> bool:
        """Restarts it if it has ended; whether it had."""
        code = self.daemon.exit_code()
        if code is None:
            return False
        if not self.excused:
            self.falls.append(f"{self.daemon.name}: {_ending(code)}, and was restarted")
        self.daemon.kill()  # what it left behind: a worker that outlived its master holds the port
        self.daemon = launch(self.part, self.place)
        self.excused = False
        return True

    def await_end(self, seconds: float) -> None:
        """Waits until the signal that asks it has ended it; StartError where it does not."""
        try:
            self.daemon.wait(seconds)
        except TimeoutError as error:
            raise StartError(
                f"{self.daemon.name}: still running {seconds:.0f} s after {self.part.orderly_signal.name}. "
                f"End of its log:\n{self.daemon.log_tail()}"
            ) from error
        self.daemon.kill()

    def await_port(self) -> None:
        """Until the port is open that the next part needs, where it needs one."""
        port = self.part.opens_port
        if port is not None and not poll.until(lambda: network.listens(port), _PORT_SECONDS, every_s=0.01):
            raise StartError(
                f"{self.daemon.name}: does not listen on {LOOPBACK}:{port} after {_PORT_SECONDS:.0f} s"
            )


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    hint = " (out of memory?)" if code == -signal.SIGKILL else ""
    return f"was ended by {signal.Signals(-code).name}{hint}"


class NativeStack(Stack):
    """The processes of one started variant."""

    network = "host"

    def __init__(
        self,
        folder: Path,
        places: Mapping[str, Place],
        disks: Mapping[str, SmallDisk | PowerDisk],
        split: Split,
    ) -> None:
        """Takes the folder for logs and pid files and, by component, where each is started."""
        self.components: Sequence[str] = tuple(places)
        self.stores: Sequence[str] = tuple(name for name, place in places.items() if place.service.volumes)
        self.places, self.split = places, split
        proxied = PROXY in places
        self.base_url = self.load_url = f"http://{self.address(PROXY, PROXY_PORT)}" if proxied else ""
        self._folder, self._disks = folder, disks
        self._of_jvms = split.system
        self._started: list[Started] = []
        self._groups: dict[str, Path] = {}  # by process that has a quota, the list of its control group
        self._meters = {name: Meter() for name in places}
        self._lock = threading.Lock()  # of the list and of starting; never held while something is awaited
        self._closed = False

    def start(self, part: Part, place: Place) -> None:
        """Starts one more process; returns once the next one may be. StartError when the stack is being closed."""
        with self._lock:
            started = Started(part=part, place=place, daemon=self._launch(part, place))
            self._started.append(started)
        started.await_port()

    def _launch(self, part: Part, place: Place) -> Daemon:
        name = f"{place.service.name}{part.suffix}"
        if self._closed:
            raise StartError(f"{name}: not started, the stack is being stopped")
        log = self._folder / f"{name}.log"
        log.touch()
        place.account.own(log)  # a program may open /dev/stderr again, by name
        return Daemon(
            name,
            part.args,
            pid_folder=self._folder,
            log=log,
            env=part.env,
            cwd=place.folder,
            privileges=place.account.privileges,
            stop_signal=part.stop_signal,
            stop_seconds=part.stop_seconds,
            death_signal=part.death_signal,
            processors=self._of_jvms
            if topology.counts_as_told(place.service.environment)
            else self.split.system,
            group=self._group(name, place.service.cpus),
        )

    def _group(self, name: str, cpus: float) -> Path | None:
        """Of each process its own, which a revived one gets again; None: no quota."""
        if cpus and name not in self._groups:
            self._groups[name] = quota.made(self._folder, name, cpus)
        return self._groups.get(name)

    def _all(self, component: str | None = None) -> list[Started]:
        """In the order in which they were started."""
        with self._lock:
            return [each for each in self._started if component in (None, each.place.service.name)]

    def _chosen(self, component: str, name: str | None = None) -> list[Started]:
        """What a fault is for; StartError where there is no such process."""
        known = self._all(component)
        found = [each for each in known if (each.daemon.name == name if name else not each.part.helper)]
        if not found:
            has = ", ".join(each.daemon.name for each in known) or f"only {', '.join(self.components)}"
            raise StartError(f"{name or component}: no process of this stack; it has {has}")
        return found

    def pids(self, component: str | None = None) -> list[int]:
        """Of the started processes (not their children), of one component or of all."""
        return [each.daemon.pid for each in self._all(component)]

    def ports(self, component: str, inside: int) -> Sequence[int]:
        """Of each instance; StartError where there is no such component."""
        if component not in self.places:
            raise StartError(f"{component} is not part of this stack: {', '.join(self.components)}")
        return self.places[component].ports(inside)

    def usage(self) -> Mapping[str, Usage]:
        """By component."""
        processes = pidfile.everything()
        found = {}
        for name, meter in self._meters.items():
            # Of the living only: an ended one's pid may have a new bearer.
            living = [each.daemon.pid for each in self._all(name) if each.daemon.exit_code() is None]
            found[name] = usage.read(meter, living, processes)
        return found

    def lost_components(self) -> Sequence[str]:
        """Components with a process that ended, and how; not those that were stopped and restarted on purpose."""
        return [loss for each in self._all() for loss in each.losses()]

    def dead(self) -> Daemon | None:
        """The first process that ended."""
        return next((each.daemon for each in self._all() if each.daemon.exit_code() is not None), None)

    def tail(self, component: str) -> str:
        """The end of a component's logs."""
        return "\n".join(each.daemon.log_tail() for each in self._all(component))

    def save_logs(self, folder: Path) -> None:
        """Copies each process's log to folder/<component>[-<instance>].log."""
        folder.mkdir(parents=True, exist_ok=True)
        for each in self._all():
            shutil.copyfile(each.daemon.log, folder / each.daemon.log.name)

    def effective_settings(self) -> Mapping[str, Mapping[str, str]]:
        """By component, what it was started with; secrets masked."""
        found: dict[str, dict[str, str]] = {}
        for each in self._all():
            found.setdefault(each.place.service.name, {}).update(masked(each.part.settings))
        return found

    def lives(self, component: str) -> Mapping[str, str]:
        """By name, `<pid>-<start ticks>` of its processes that run or stand still."""
        lives = {each.daemon.name: each.daemon.life for each in self._all(component) if not each.part.helper}
        return {name: life for name, life in lives.items() if life is not None}

    def kill(self, component: str, name: str | None = None) -> None:
        """Kills its processes, or the one of that name, with their children at once, as a crash would."""
        for each in self._chosen(component, name):
            each.excuse()
            each.daemon.kill()

    def terminate(self, component: str, name: str | None = None) -> None:
        """Asks it to end, as its container's engine would, and waits until it has."""
        chosen = self._chosen(component, name)
        for each in chosen:
            each.excuse()
            each.daemon.ask_to_stop(each.part.orderly_signal)
        deadline = time.monotonic() + ORDERLY_SECONDS
        for each in chosen:
            each.await_end(max(deadline - time.monotonic(), 0.0))

    def revive(self, component: str) -> None:
        """Restarts its processes that have ended, in the original order, with the same data, ports and settings."""
        self._chosen(component)
        for each in self._all(component):
            with self._lock:
                revived = each.revive(self._launch)
            if revived:
                each.await_port()

    def pause(self, component: str, name: str | None = None) -> None:
        """Stops it and all its children where they are."""
        for each in self._chosen(component, name):
            each.daemon.freeze()

    def resume(self, component: str, name: str | None = None) -> None:
        """Lets it go on."""
        for each in self._chosen(component, name):
            each.daemon.thaw()

    def let_jvms_use(self, processors: frozenset[int]) -> None:
        """Those that run, and those that are started from now on."""
        with self._lock:
            self._of_jvms = processors
        for each in self._all():
            if topology.counts_as_told(each.place.service.environment):
                each.daemon.let_use(processors)

    def remedies(self, component: str) -> Sequence[Heal]:
        """SIGCONT for each of its processes and their families; the ballast's removal."""
        found: list[Heal] = [("continue", life) for life in self.lives(component).values()]
        disk = self._disks.get(component)
        return [*found, ("remove", str(disk.ballast))] if isinstance(disk, SmallDisk) else found

    def is_ready(self, component: str) -> bool:
        """Whether every process of it runs and answers."""
        if any(each.daemon.exit_code() is not None for each in self._chosen(component)):
            return False
        place = self.places[component]
        return recipes.of(place.service).is_ready(place)

    def fill_disk(self, component: str) -> int:
        """Fills the small file system below its data; the bytes left free."""
        small = self._disk(component, SmallDisk)
        for each in self._all(component):
            each.excuse()  # a store may end itself when it cannot write
        return small.fill()

    def free_disk(self, component: str) -> None:
        """Takes away what filled it."""
        self._disk(component, SmallDisk).ballast.unlink(missing_ok=True)

    def flush_disk(self, component: str) -> None:
        """Of the file system below its data."""
        self._disk(component, PowerDisk).flush()

    def cut_power(self, component: str) -> str:
        """Freezes it, keeps what its disk has, and kills it."""
        disk = self._disk(component, PowerDisk)
        return disk.cut(partial(self.pause, component), partial(self.kill, component))

    def _disk(self, component: str, kind: type[D]) -> D:
        found = self._disks.get(component)
        if not isinstance(found, kind):
            raise StartError(f"{component}: its data is not on {kind.kind}")
        return found

    def close(self) -> None:
        """Ends every process."""
        with self._lock:
            self._closed = True
        stop_all([each.daemon for each in self._all()])
