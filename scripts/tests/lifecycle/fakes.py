"""A runtime whose stack is the liar: tells each step it was asked for, in order."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lifecycle.liar import Liar, Lies
from writepath.analysis import verdict
from writepath.config import registry
from writepath.config.registry import Phase, Scenario, Variant, WarmUp
from writepath.errors import StartError
from writepath.load.dataset import Dataset
from writepath.processors import Split
from writepath.runtime.base import Runtime, Selection, Stack, Usage
from writepath.runtime.topology import Service

FAKE_K6 = Path(__file__).with_name("fake_k6.py")
QUIET = frozenset({"count", "pending", "prometheus", "commits", "info", "readiness", "visible"})
SCENARIO = Scenario(
    name="short",
    script="k6/scenarios/ramp.js",
    warm_up=WarmUp(virtual_users=2, for_seconds=0.1),
    phases=(Phase(name="sustained", seconds=0.5, from_per_s=100, to_per_s=100),),
)


def variant(name: str = "jpa") -> Variant:
    return Variant(
        name=name,
        title=name.upper(),
        family=name,
        profiles=(name,),
        ingress="app",
        inspector="app",
        acknowledges="stored",
    )


class Unharmed:
    """Base of a stack of which nothing is killed, frozen or filled: what nobody asks of it is not there."""

    stores: Sequence[str] = ()
    network = "host"
    is_spread = False

    def lives(self, component: str) -> Mapping[str, str]:
        return {component: "1-1"}

    @contextmanager
    def spread(self) -> Iterator[None]:
        self.is_spread = True
        yield
        self.is_spread = False


@dataclass(kw_only=True)
class FakeStack(Unharmed):
    """One component, the liar."""

    liar: Liar
    events: list[str]
    lost: tuple[str, ...] = ()
    used_s: float = 1.0
    stuck: str = ""  # "kill": it does not die; "ready": it does not come back

    def __post_init__(self) -> None:
        self.base_url = self.load_url = self.liar.base_url
        self.components: Sequence[str] = ("app",)
        self.stores: Sequence[str] = ("app",)

    def inspector_urls(self, _service: str) -> Sequence[str]:
        return (self.liar.inspector_url,)

    def usage(self) -> Mapping[str, Usage]:
        self.used_s += self.is_spread
        return {"app": Usage(cpu_seconds=self.used_s, rss_bytes=1000, write_bytes=10)}

    def lost_components(self) -> Sequence[str]:
        return self.lost

    def save_logs(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "app.log").write_text("said", encoding="utf-8")
        self.events.append("logs")

    def effective_settings(self) -> Mapping[str, Mapping[str, str]]:
        return {"app": {"LIES": "0", "WRITEPATH_TRACES": "none"}}

    def lives(self, component: str) -> Mapping[str, str]:
        return {component: str(self.liar.crashes)}

    def kill(self, component: str, name: str | None = None) -> None:  # noqa: ARG002 - one process
        self.events.append(f"kill {component}")
        if self.stuck == "kill":
            raise StartError(f"{component} does not die")
        self.liar.crash()

    def revive(self, component: str) -> None:
        self.events.append(f"revive {component}")
        self.liar.revive()

    def is_ready(self, component: str) -> bool:  # noqa: ARG002 - one component
        return self.stuck != "ready"


@dataclass(kw_only=True)
class FakeRuntime(Runtime):
    """`lies` by the number of the start, from 0; the last one stays."""

    events: list[str] = field(default_factory=list)
    lies: list[Lies] = field(default_factory=lambda: [Lies()])
    mode: str = "ok"
    start_error: str | None = None
    stop_error: Exception | None = None
    lost: tuple[str, ...] = ()
    stuck: str = ""
    powerless: str = "no loop device here"  # why no power can be cut
    interrupt_at: str | None = None  # the event that is answered with Ctrl-C
    starts: int = 0
    overrides: list[Mapping[str, str]] = field(default_factory=list)  # by start
    name: str = "fake"
    split: Split = field(default_factory=Split.shared)

    def prepare(self, _variants: Sequence[Variant], say: Callable[[str], None]) -> None:
        say("prepared")

    def caches(self, service: Service) -> Path:
        raise AssertionError(service)

    def stack(self, selection: Selection, say: Callable[[str], None]) -> AbstractContextManager[Stack]:
        raise AssertionError(selection, say)

    def untrained(self, variant: Variant) -> Sequence[str]:
        self.events.append(f"train {variant.name}")
        return ()

    def why_no_power_cut(self) -> str:
        return self.powerless

    def make_cache(self, stack: object, component: str) -> None:
        raise AssertionError(stack, component)

    @contextmanager
    def start(
        self,
        variant: Variant,
        *,
        overrides: Mapping[str, str],
        **_: Any,
    ) -> Iterator[Any]:
        self.heard("start")
        self.overrides.append(overrides)
        if self.start_error:
            raise StartError(f"{variant.name}: {self.start_error}")
        lies = self.lies[min(self.starts, len(self.lies) - 1)]
        self.starts += 1
        with Liar(lies=lies, on=self.heard_from_liar) as liar:
            try:
                yield FakeStack(liar=liar, events=self.events, lost=self.lost, stuck=self.stuck)
            finally:
                self.events.append("stop")
                if self.stop_error:
                    raise self.stop_error

    def heard(self, what: str) -> None:
        """One event; repeats of the last one are one."""
        if what not in QUIET and self.events[-1:] != [what]:
            self.events.append(what)
        if what == self.interrupt_at:
            raise KeyboardInterrupt

    def heard_from_liar(self, what: str) -> None:
        """In the server's thread: nothing may be raised here."""
        if what.partition("?")[0] not in QUIET and self.events[-1:] != [what]:
            self.events.append(what)

    def versions(self, _variant: Variant) -> Mapping[str, str]:
        return {"fake": "1"}

    def load_generator(self, _network: str) -> Sequence[Sequence[str]]:
        self.heard("k6")
        return [[sys.executable, str(FAKE_K6), self.mode]]

    def reap(self, _say: Callable[[str], None]) -> None:
        self.events.append("reap")


def on_any_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine that runs the tests does other work: no run of theirs is noise."""
    for limit in ("FOREIGN_LIMIT", "LATENESS_MS_LIMIT"):
        monkeypatch.setattr(verdict, limit, 60_000.0)
    for limit in ("STEAL_LIMIT", "THROTTLED_LIMIT", "SWAPPED_LIMIT", "CPU_SLOWER", "FSYNC_SLOWER"):
        monkeypatch.setattr(verdict, limit, 1e9)


def dataset() -> Dataset:
    return Dataset(name="embedded", sha256="0" * 64, lines=("하나", "two", "three"))


def suite(*names: str, repetitions: int = 1) -> registry.Suite:
    return registry.Suite(
        name="short",
        title="Short",
        kind="load",
        scenario=SCENARIO,
        repetitions=repetitions,
        variants=tuple(variant(name) for name in names),
    )
