"""What can be asked of a started variant, and how does it end? Its processes, logs and measures."""

from __future__ import annotations

import contextlib
import shutil
import signal
import threading
from typing import TYPE_CHECKING

from writepath import pidfile
from writepath.errors import StartError
from writepath.process import Daemon, stop_all
from writepath.runtime.masking import masked
from writepath.runtime.native import application, nginx
from writepath.runtime.native.addresses import LOOPBACK
from writepath.runtime.native.usage import Meter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from writepath.runtime.base import Usage
    from writepath.runtime.native.part import Part, Place


class NativeStack:
    """The processes of one started variant; implements `runtime.base.Stack`."""

    def __init__(self, folder: Path, places: Mapping[str, Place]) -> None:
        """Takes the stack's folder (removed by close) and, by component, where each is started."""
        self.components: Sequence[str] = tuple(places)
        self.places = places
        self.base_url = _base_url(places)
        self._folder = folder
        self._daemons: list[tuple[Part, Daemon]] = []
        self._meters = {name: Meter() for name in places}
        self._lock = threading.Lock()
        self._closed = False

    def start(self, part: Part, place: Place) -> None:
        """Starts one more process. StartError when the stack is being closed."""
        with self._lock:
            if self._closed:
                raise StartError(f"{part.name}: not started, the stack is being stopped")
            log = self._folder / f"{part.name}.log"
            log.touch()
            place.account.own(log)  # a program may open /dev/stderr again, by name
            daemon = Daemon(
                part.name,
                part.args,
                pid_folder=self._folder,
                log=log,
                env=part.env,
                cwd=place.folder,
                privileges=place.account.privileges,
                stop_signal=part.stop_signal,
                stop_seconds=part.stop_seconds,
                death_signal=part.death_signal,
            )
            self._daemons.append((part, daemon))

    def pids(self, component: str | None = None) -> list[int]:
        """Of the started processes (not their children), of one component or of all."""
        return [daemon.pid for part, daemon in self._daemons if component in (None, part.component)]

    def inspector_urls(self, service: str) -> Sequence[str]:
        """Base URLs of a service's inspectors, one an instance."""
        ports = application.inspector_ports(self.places[service])
        return [f"http://{LOOPBACK}:{port}/inspector" for port in ports]

    def usage(self) -> Mapping[str, Usage]:
        """By component."""
        processes = pidfile.everything()
        return {name: meter.read(self._living(name), processes) for name, meter in self._meters.items()}

    def _living(self, component: str) -> list[int]:
        """Only those: an ended one's pid may have a new bearer."""
        return [d.pid for part, d in self._daemons if part.component == component and d.exit_code() is None]

    def lost_components(self) -> Sequence[str]:
        """Components with a process that ended, and how."""
        lost = []
        for part, daemon in self._daemons:
            code = daemon.exit_code()
            if code is not None:
                lost.append(f"{part.name}: {_ending(code)}")
        return lost

    def dead(self) -> Daemon | None:
        """The first process that ended."""
        return next((daemon for _, daemon in self._daemons if daemon.exit_code() is not None), None)

    def tail(self, component: str) -> str:
        """The end of a component's logs."""
        return "\n".join(daemon.log_tail() for part, daemon in self._daemons if part.component == component)

    def save_logs(self, folder: Path) -> None:
        """Copies each process's log to folder/<component>[-<instance>].log."""
        folder.mkdir(parents=True, exist_ok=True)
        for _, daemon in self._daemons:
            if daemon.log.exists():
                shutil.copyfile(daemon.log, folder / daemon.log.name)

    def effective_settings(self) -> Mapping[str, Mapping[str, str]]:
        """By component, what it was started with; secrets masked."""
        found: dict[str, dict[str, str]] = {}
        for part, _ in self._daemons:
            found.setdefault(part.component, {}).update(masked(part.settings))
        return found

    def halt(self, component: str) -> None:
        """Kills every process of a component at once, as a crash would."""
        for part, daemon in self._daemons:
            if part.component == component:
                daemon.kill()

    def close(self) -> None:
        """Ends every process and removes the stack's folder."""
        with self._lock:
            self._closed = True
        stop_all([daemon for _, daemon in self._daemons])
        for part, daemon in self._daemons:
            if part.keeps and daemon.exit_code() != -signal.SIGKILL and part.keeps[0].exists():
                _keep(*part.keeps)
        shutil.rmtree(self._folder, ignore_errors=True)


def _base_url(places: Mapping[str, Place]) -> str:
    """Of the proxy; empty where none is started."""
    proxy = next((place for place in places.values() if place.service.image_name == "nginx"), None)
    return f"http://{LOOPBACK}:{nginx.port(proxy)}" if proxy else ""


def _keep(made: Path, kept: Path) -> None:
    """Copies under another name first: a half file must never be there under the real one."""
    whole = kept.with_name(f"{kept.name}.part")
    with contextlib.suppress(
        OSError
    ):  # a full disk, or a build that is gone: the next start is slow, not wrong
        shutil.copyfile(made, whole)
        whole.replace(kept)


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    name = signal.Signals(-code).name
    hint = " (out of memory?)" if code == -signal.SIGKILL else ""
    return f"was ended by {name}{hint}"
