"""A fault counts only where something else than its own call shows it."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from http_server import Answer, serving
from writepath.config import registry
from writepath.config.registry import Variant
from writepath.experiments.base import CellRun
from writepath.experiments.faults import actions
from writepath.experiments.faults.actions import CRASHES, Scene, Toxiproxy
from writepath.experiments.faults.catalogue import FAULTS
from writepath.runtime.base import Stack
from writepath.runtime.deadman import Heal

KNOWN = registry.load(Path(__file__).resolve().parents[3])
VARIANT = KNOWN.variant("rabbitmq-jpa")
CONSUMER, SECOND = "rabbitmq-consumer", "rabbitmq-consumer-2"
BOTH = f"{CONSUMER}, {SECOND}: replaced by a new process"


@dataclass
class PlannedStack:
    """A stack whose parts do as a test says; what is asked of it is noted."""

    lives_now: dict[str, str] = field(default_factory=lambda: {CONSUMER: "1-1", SECOND: "2-1"})
    dies: bool = True
    falls_silent: bool = True
    left_bytes: int = 512
    takes: bool = True  # a power cut, what was not flushed
    shards: str = ""  # host:port of who says where they are
    done: list[str] = field(default_factory=list)
    components: tuple[str, ...] = ("rabbitmq-producer", CONSUMER, "rabbitmq", "postgres")
    _frozen: bool = False

    def lives(self, _: str) -> Mapping[str, str]:
        return dict(self.lives_now)

    def is_ready(self, _: str) -> bool:
        return not (self._frozen and self.falls_silent)

    def kill(self, component: str) -> None:
        self.done.append(f"kill {component}")
        if self.dies:
            self._born, self.lives_now = self.lives_now, {}

    def terminate(self, _: str, name: str) -> None:
        self.done.append(f"terminate {name}")
        self._born, self.lives_now = self.lives_now, {k: v for k, v in self.lives_now.items() if k != name}

    def revive(self, component: str) -> None:
        self.done.append(f"revive {component}")
        if self.dies:
            gone = [name for name in self._born if name not in self.lives_now]
            self.lives_now = {n: f"{v}0" if n in gone else v for n, v in self._born.items()}

    def pause(self, component: str) -> None:
        self.done.append(f"pause {component}")
        self._frozen = True

    def resume(self, component: str) -> None:
        self.done.append(f"resume {component}")
        self._frozen = False

    def remedies(self, component: str) -> list[Heal]:
        return [("mend", component)]

    def fill_disk(self, component: str) -> int:
        self.done.append(f"fill {component}")
        return self.left_bytes

    def free_disk(self, component: str) -> None:
        self.done.append(f"free {component}")

    def cut_power(self, component: str) -> str:
        self.kill(component)
        self.done[-1] = f"cut {component}"
        return "gone" if self.takes else ""

    def address(self, _component: str, _port: int) -> str:
        return self.shards


def struck(fault: str, stack: PlannedStack, variant: Variant = VARIANT) -> tuple[str, list[Heal]]:
    """The proof of one fault that was done and undone, and what would undo it."""
    bench = SimpleNamespace(stopped=threading.Event())
    run = cast("CellRun", SimpleNamespace(cell=SimpleNamespace(variant=variant), bench=bench))
    scene = Scene(run=run, stack=cast("Stack", stack), toxiproxy=cast("Toxiproxy", None))
    with actions.struck(FAULTS[fault], scene, 1) as proof:
        pass
    return proof(), list(actions.remedies(FAULTS[fault], scene))


@pytest.mark.parametrize(
    ("fault", "planned", "proof", "done", "remedy"),
    [
        ("kill-consumer", {}, BOTH, [f"kill {CONSUMER}", f"revive {CONSUMER}"], None),
        (
            "pause-consumer",
            {},
            f"{CONSUMER}: no response while frozen, same process afterwards",
            [f"pause {CONSUMER}", f"resume {CONSUMER}"],
            CONSUMER,
        ),
        (
            "kill-consumer-backlog",
            {"falls_silent": False},
            "",  # it needs the proofs of both
            ["pause postgres", f"kill {CONSUMER}", "resume postgres", f"revive {CONSUMER}"],
            "postgres",
        ),
        (
            "crash-loop-consumer",
            {},
            f"{CRASHES} times: {BOTH}",
            [f"kill {CONSUMER}", f"revive {CONSUMER}"] * CRASHES,
            None,
        ),
        (
            "fill-disk-database",
            {"dies": False},
            "postgres: 512 bytes left on its disk",
            ["fill postgres", "free postgres", "revive postgres"],
            "postgres",
        ),
        (
            "power-cut-database",
            {},
            f"gone; {BOTH}",
            ["cut postgres", "resume postgres", "revive postgres"],
            "postgres",
        ),
        (
            "rolling-restart",
            {},
            BOTH,
            [f"terminate {CONSUMER}", "revive rabbitmq-producer", f"terminate {SECOND}", "revive rabbitmq-producer"],
            None,
        ),
        (
            "restart-consumer",
            {},
            f"{CONSUMER}: replaced by a new process",
            [f"terminate {CONSUMER}", f"revive {CONSUMER}"],
            None,
        ),
    ],
)  # fmt: skip
def test_a_fault_is_done_undone_and_proved(
    fault: str, planned: dict[str, Any], proof: str, done: list[str], remedy: str | None
) -> None:
    stack = PlannedStack(**planned)
    assert struck(fault, stack) == (proof, [("mend", remedy)] if remedy else [])
    assert stack.done == done


@pytest.mark.parametrize(
    ("fault", "planned"),
    [
        ("kill-consumer", {"dies": False}),
        ("crash-loop-consumer", {"dies": False}),
        ("pause-consumer", {"falls_silent": False}),
        ("fill-disk-database", {"dies": False, "left_bytes": 2 << 20}),
        ("power-cut-database", {"takes": False}),
        ("power-cut-database", {"dies": False}),
    ],
)
def test_a_fault_that_did_not_happen_has_no_proof(fault: str, planned: dict[str, Any]) -> None:
    assert struck(fault, PlannedStack(**planned))[0] == ""


def test_what_was_half_done_is_undone() -> None:
    stack = PlannedStack(dies=False)
    stack.is_ready = lambda _: 1 / 0  # type: ignore[assignment,method-assign,return-value]
    with pytest.raises(ZeroDivisionError):
        struck("kill-consumer-backlog", stack)
    assert stack.done == ["pause postgres", "resume postgres", f"revive {CONSUMER}"]


def test_the_power_of_a_broker_is_cut_while_nobody_takes_its_messages() -> None:
    stack = PlannedStack()
    _, remedies = struck("power-cut-broker", stack)
    assert stack.done == [
        f"pause {CONSUMER}",
        "cut rabbitmq",
        "resume rabbitmq",
        "revive rabbitmq",
        f"resume {CONSUMER}",
    ]
    assert remedies == [("mend", "rabbitmq"), ("mend", CONSUMER)]


@pytest.mark.parametrize(
    ("fault", "node"), [("kill-primary", "elasticsearch-2"), ("kill-replica", "elasticsearch")]
)
def test_of_two_nodes_the_one_is_killed_that_has_most_of_the_copies(fault: str, node: str) -> None:
    """Once no copy is missing: a kill may move all primaries to the other node, where they stay."""
    first, second = "elasticsearch", "elasticsearch-2"
    copies = [(first, "p"), *[(second, "p")] * 3, *[(first, "r")] * 3, (second, "r")]
    found = [{"node": name, "prirep": kind, "state": "STARTED"} for name, kind in copies]
    missing = [
        {"node": first, "prirep": "p", "state": "STARTED"},
        {"node": None, "prirep": "r", "state": "UNASSIGNED"},
    ]
    answers = iter([missing, found])
    with serving(lambda _: Answer(200, next(answers))) as url:
        components = ("elasticsearch-writer", first, second)
        stack = PlannedStack(components=components, shards=url.removeprefix("http://"))
        struck(fault, stack, KNOWN.variant("elasticsearch-8s1r"))
    assert stack.done == [f"kill {node}", f"revive {node}"]
