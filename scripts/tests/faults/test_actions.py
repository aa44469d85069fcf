"""A fault counts only where something else than its own call shows it."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from writepath.config import registry
from writepath.experiments.base import CellRun
from writepath.experiments.faults import actions
from writepath.experiments.faults.actions import CRASHES, Scene, Toxiproxy
from writepath.experiments.faults.catalogue import FAULTS
from writepath.runtime.base import Stack
from writepath.runtime.deadman import Heal

VARIANT = registry.load(Path(__file__).resolve().parents[3]).variant("rabbitmq-jpa")
CONSUMER, SECOND = "rabbitmq-consumer", "rabbitmq-consumer-2"
BOTH = f"{CONSUMER}, {SECOND}: replaced by a new process"


@dataclass
class PlannedStack:
    """A stack whose parts do as a test says; what is asked of it is noted."""

    lives_now: dict[str, str] = field(default_factory=lambda: {CONSUMER: "1-1", SECOND: "2-1"})
    dies: bool = True
    falls_silent: bool = True
    left_bytes: int = 512
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


def struck(fault: str, stack: PlannedStack) -> tuple[str, list[Heal]]:
    """The proof of one fault that was done and undone, and what would undo it."""
    bench = SimpleNamespace(stopped=threading.Event())
    run = cast("CellRun", SimpleNamespace(cell=SimpleNamespace(variant=VARIANT), bench=bench))
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
