"""Starts variants without containers: local processes of the services that the compose file names."""

import itertools
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from writepath import pidfile, provision
from writepath.config.registry import Variant
from writepath.errors import SetupError, StartError, UsageError, WritepathError
from writepath.processors import Split
from writepath.provision import archives, golang, jdk, maven, state
from writepath.runtime import aot, network, topology
from writepath.runtime.native import host, recipes
from writepath.runtime.native.recipe import Place
from writepath.runtime.native.stack import NativeStack
from writepath.runtime.network import Addresses
from writepath.runtime.topology import Service, Topology

_numbers = itertools.count(1)
PORT_VARIABLE = "HTTP_PORT"
_READY_SECONDS = 120.0
_CHECK_SECONDS = 0.02


class NativeRuntime:
    """Local processes on loopback ports; implements `runtime.base.Runtime`."""

    name = "native"

    def __init__(self, root: Path, split: Split | None = None) -> None:
        """Root: the checkout whose docker-compose.yml describes the topology."""
        self.root, self.split = root.resolve(), split or Split.shared()
        self._runs = self.root / ".writepath" / "run"
        self._jars: Mapping[str, Path] | None = None

    def prepare(self, variants: Sequence[Variant], say: Callable[[str], None]) -> None:  # noqa: ARG002 all alike
        """Provisions what is missing, and builds the services."""
        provision.setup(self.root, say, self.name)
        self._jars = maven.build(self.root, say)

    @contextmanager
    def start(
        self,
        variant: Variant,
        *,
        overrides: Mapping[str, str],
        say: Callable[[str], None],
        only: Sequence[str] | None = None,
        profiles: Sequence[str] = (),
        small_disks: Mapping[str, int] | None = None,
    ) -> Iterator[NativeStack]:
        """A started, ready variant; its processes and data are gone afterwards, whatever happens."""
        on = [*variant.profiles, *profiles]
        known = self._topology(variant, on, overrides)
        active = known.active(on)
        if unknown := set(only or ()) - set(active):
            raise UsageError(
                f"{variant.name} has no {', '.join(sorted(unknown))}; it has {', '.join(active)}"
            )
        chosen = {name: service for name, service in active.items() if only is None or name in only}
        port = overrides.get(PORT_VARIABLE)
        with self.stack(known.services, chosen, variant.name, port, say, small_disks) as stack:
            yield stack

    @contextmanager
    def stack(
        self,
        services: Mapping[str, Service],
        active: Mapping[str, Service],
        name: str,
        proxy_port: str | None,
        say: Callable[[str], None],
        small_disks: Mapping[str, int] | None = None,
    ) -> Iterator[NativeStack]:
        """As start, for any choice of services."""
        sizes = small_disks or {}
        if unknown := set(sizes) - set(active):
            raise UsageError(f"a small disk for {', '.join(sorted(unknown))}: not started with {name}")
        runs_as = self._account()
        addresses = Addresses(services, active)
        _fix_proxy_port(active.values(), addresses, proxy_port)
        folder = pidfile.claim(self._runs / f"{name}-{os.getpid()}-{next(_numbers)}")
        folder.chmod(0o755)
        try:
            places = {
                each.name: Place(
                    root=self.root,
                    folder=runs_as.make_folder(folder / each.name),
                    service=each,
                    active=active,
                    addresses=addresses,
                    account=runs_as,
                    jars=self._built(each),
                )
                for each in active.values()
            }
            disks = {name: host.mount(places[name].folder, size, runs_as) for name, size in sizes.items()}
        except BaseException:
            host.remove(folder)
            raise
        stack = NativeStack(folder, places, disks, self.split)
        try:
            with stack.spread():
                seconds = _bring_up(stack, state.folder(self.root) / "failed-start")
            in_order = sorted(seconds.items(), key=lambda item: item[1])
            say(f"{name}: ready in " + ", ".join(f"{part} {duration:.1f} s" for part, duration in in_order))
            yield stack
        finally:
            stack.close()

    def untrained(self, variant: Variant) -> Sequence[str]:
        """Its applications that a training run would give a cache; none where the JDK has no such caches."""
        if jdk.find().numbers[0] < jdk.PREFERRED:
            return ()
        ours = {name: service for name, service in self._active(variant).items() if service.module}
        jars = {name: self._built(service)[service.module or ""] for name, service in ours.items()}
        return [name for name in ours if aot.find(jars[name].parent, ours[name].environment) is None]

    def make_cache(self, stack: NativeStack, component: str) -> None:
        """In a process of its own: Java would start a second one at its own end."""
        recipes.make_cache(stack.places[component])

    def versions(self, variant: Variant) -> Mapping[str, str]:
        """Of each part; applications tell theirs at /inspector/versions."""
        return dict(recipes.of(service).version() for service in self._active(variant).values())

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

    def _active(self, variant: Variant) -> dict[str, Service]:
        return self._topology(variant, variant.profiles, {}).active(variant.profiles)

    def _topology(self, variant: Variant, profiles: Sequence[str], more: Mapping[str, str]) -> Topology:
        derived = topology.derived(self.root, profiles, self.split)
        return topology.load(self.root, {**derived, **variant.settings, **more})

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


def _fix_proxy_port(active: Iterable[Service], addresses: Addresses, port: str | None) -> None:
    """A port that the user asked for; otherwise any free one."""
    if not port or port == "0":
        return
    for service in active:
        if service.image_name == "nginx" and not addresses.fix(
            service.name, int(service.environment["LISTEN"]), int(port)
        ):
            raise StartError(
                f"{PORT_VARIABLE}={port}: in use; choose another port, or omit it to use a free one"
            )


def _bring_up(stack: NativeStack, failed_logs: Path) -> dict[str, float]:
    """Starts all parts side by side; seconds until each answered, by component and step of the first write.

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
            for what, why_not in network.first_write(int(stack.base_url.rpartition(":")[2])):
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
    if waiting and waited_s > _READY_SECONDS:
        tail = stack.tail(waiting[0])
        quoted = f" The end of its log:\n{tail}" if tail else ""
        raise StartError(f"{waiting[0]}: not ready after {_READY_SECONDS:.0f} s.{quoted}")
