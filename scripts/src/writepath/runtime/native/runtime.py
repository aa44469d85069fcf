"""Starts variants without containers: local processes of the services that the compose file names."""

import itertools
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from writepath import pidfile, provision
from writepath.config.registry import Variant
from writepath.errors import SetupError, StartError, WritepathError
from writepath.provision import archives, golang, jdk, maven, state
from writepath.runtime import network, topology
from writepath.runtime.base import PROXY, PROXY_PORT, READY_S, Runtime, Selection
from writepath.runtime.native import host, power, recipes
from writepath.runtime.native.host import SmallDisk
from writepath.runtime.native.power import PowerDisk
from writepath.runtime.native.recipe import Place
from writepath.runtime.native.stack import NativeStack
from writepath.runtime.network import Addresses
from writepath.runtime.topology import Service

_numbers = itertools.count(1)
_CHECK_SECONDS = 0.02


class NativeRuntime(Runtime):
    """Local processes on loopback ports."""

    name = "native"
    _jars: Mapping[str, Path] | None = None

    @property
    def _runs(self) -> Path:
        return self.root / ".writepath" / "run"

    def prepare(self, variants: Sequence[Variant], say: Callable[[str], None]) -> None:  # noqa: ARG002 all alike
        """Provisions what is missing, and builds the services."""
        provision.setup(self.root, say)
        self._jars = maven.build(self.root, say)

    @contextmanager
    def stack(self, selection: Selection, say: Callable[[str], None]) -> Iterator[NativeStack]:
        """Started and ready; its processes and data are gone afterwards, whatever happens."""
        account = self._account()
        addresses = _addresses(selection)
        with ExitStack() as held:
            folder = pidfile.claim(self._runs / f"{selection.name}-{os.getpid()}-{next(_numbers)}")
            held.callback(host.remove, folder)
            folder.chmod(0o755)
            if None in selection.disks.values():
                held.enter_context(power.write_back_held_off(folder))
            places = {
                name: Place(
                    root=self.root,
                    folder=account.make_folder(folder / name),
                    service=service,
                    active=selection.active,
                    addresses=addresses,
                    account=account,
                    jars=self._built(service),
                )
                for name, service in selection.active.items()
            }
            disks = {name: _disk(places[name], size) for name, size in selection.disks.items()}
            stack = NativeStack(folder, places, disks, self.split)
            held.callback(stack.close)
            with stack.spread():
                seconds = _bring_up(stack, selection, state.folder(self.root) / "failed-start")
            in_order = sorted(seconds.items(), key=lambda item: item[1])
            parts = ", ".join(f"{part} {duration:.1f} s" for part, duration in in_order)
            say(f"{selection.name}: ready in {parts}")
            yield stack

    def why_no_power_cut(self) -> str:
        """By a trial, on a small disk."""
        folder = pidfile.claim(self._runs / f"power-cut-{os.getpid()}-{next(_numbers)}")
        try:
            return power.why_not(folder)
        finally:
            host.remove(folder)

    def untrained(self, variant: Variant) -> Sequence[str]:
        """None where the JDK has no such caches."""
        return super().untrained(variant) if jdk.find().numbers[0] >= jdk.PREFERRED else ()

    def caches(self, service: Service) -> Path:
        """Next to its jar."""
        return self._built(service)[service.module or ""].parent

    def make_cache(self, stack: NativeStack, component: str) -> None:
        """In a process of its own: Java would start a second one at its own end."""
        recipes.make_cache(stack.places[component])

    def versions(self, variant: Variant) -> Mapping[str, str]:
        """Of each part; applications tell theirs at /actuator/info."""
        active = self.services(variant.profiles, variant.settings)
        return dict(recipes.of(service).version() for service in active.values())

    def load_generator(self, _network: str) -> Sequence[Sequence[str]]:
        """The k6 binary, for each process."""
        return [[str(golang.K6.ensure(self.root, lambda _: None))]] * self.split.generators

    def reap(self, say: Callable[[str], None]) -> None:
        """Ends what killed runs of this checkout left behind, and removes its folders."""
        for folder in pidfile.stale(self._runs.glob("*")):
            ended = pidfile.reap(folder)
            if ended:
                say(f"cleaned up after a killed run: {', '.join(ended)}")
            host.remove(folder)

    def _built(self, service: Service) -> Mapping[str, Path]:
        """The jars as they were when this runtime was prepared, so that an edit does not change a running suite."""
        if service.module and self._jars is None:
            self._jars = maven.jars(self.root)
            if self._jars is None:
                raise SetupError("the built services are older than their sources; run `make setup`")
        return self._jars or {}

    def _account(self) -> host.Account:
        places = [state.folder(self.root), archives.postgres(self.root), jdk.find().java]
        return host.account(path for path in places if path.exists())


def _disk(place: Place, size: int | None) -> SmallDisk | PowerDisk:
    """A small one is below all files of the service, one whose power can be cut below its data alone."""
    if size is not None:
        return host.mount(place.folder, size, place.account)
    folder = place.account.make_folder(place.disk)
    return power.made(folder, place.folder.with_suffix(".ext4"), place.account)


def _addresses(selection: Selection) -> Addresses:
    """With the proxy's port where the user asked for one; all others are free ones."""
    found, proxy = Addresses(selection.services, selection.active), selection.active.get(PROXY)
    asked = proxy.published[PROXY_PORT] if proxy else ""
    if asked not in ("", topology.ANY_PORT) and not found.fix(PROXY, PROXY_PORT, int(asked)):
        raise StartError(
            f"{topology.PROXY_PORT}={asked}: in use; choose another port, or omit it to use a free one"
        )
    return found


def _bring_up(stack: NativeStack, selection: Selection, failed_logs: Path) -> dict[str, float]:
    """Starts all parts side by side; seconds until each answered, by component and step of the first requests.

    StartError names the component that failed and quotes the end of its log; all logs are then in failed_logs.
    """
    started = time.monotonic()
    seconds: dict[str, float] = {}

    def launch(place: Place) -> None:
        for part in recipes.of(place.service).launch(place):
            stack.start(part, place)

    def await_ready(waiting: dict[str, Callable[[], bool]]) -> None:
        while waiting:
            for name in [name for name, is_ready in waiting.items() if is_ready()]:
                seconds[name] = time.monotonic() - started
                del waiting[name]
            _refuse_failed(stack, [*waiting], time.monotonic() - started)
            time.sleep(_CHECK_SECONDS)

    try:
        with ThreadPoolExecutor(len(stack.places), thread_name_prefix="start") as pool:
            list(pool.map(launch, stack.places.values()))
        await_ready(
            {name: partial(recipes.of(place.service).is_ready, place) for name, place in stack.places.items()}
        )
        if stack.base_url and any(place.service.module for place in stack.places.values()):
            port = int(stack.base_url.rpartition(":")[2])
            for what, why_not in network.first_requests(port, selection.serves):
                await_ready({what: lambda ask=why_not: not ask()})  # type: ignore[misc]
    except WritepathError as error:
        shutil.rmtree(failed_logs, ignore_errors=True)
        stack.save_logs(failed_logs)
        raise type(error)(f"{error}\nAll logs: {failed_logs}") from error
    return seconds


def _refuse_failed(stack: NativeStack, waiting: Sequence[str], waited_s: float) -> None:
    """StartError where a process has ended, or one is still waited for after the longest time for a start."""
    dead = stack.dead()
    if dead is not None:
        lost = "; ".join(stack.lost_components())
        raise StartError(f"{lost} while starting. The end of its log:\n{dead.log_tail()}")
    if waiting and waited_s > READY_S:
        tail = stack.tail(waiting[0])
        quoted = f" The end of its log:\n{tail}" if tail else ""
        raise StartError(f"{waiting[0]}: not ready after {READY_S:.0f} s.{quoted}")
