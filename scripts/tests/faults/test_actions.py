"""A fault counts only where something else than its own call shows it."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from writepath.config import registry
from writepath.experiments.faults.actions import (
    CRASHES,
    Action,
    CrashLoop,
    FillDisk,
    Kill,
    KillUnderBacklog,
    Pause,
    Restart,
)
from writepath.experiments.faults.scene import FaultError, Scene
from writepath.experiments.faults.toxiproxy import Toxiproxy
from writepath.runtime.base import Stack
from writepath.runtime.deadman import Heal

JPA = registry.load(Path(__file__).resolve().parents[3]).variant("jpa")


@dataclass
class PlannedStack:
    """A stack whose parts do as a test says; what is asked of it is noted."""

    lives_now: dict[str, str] = field(default_factory=lambda: {"jpa-writer": "1-1", "jpa-writer-2": "2-1"})
    dies: bool = True
    falls_silent: bool = True
    left_bytes: int = 512
    done: list[str] = field(default_factory=list)
    components: tuple[str, ...] = ("jpa-writer",)
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


def scene(stack: PlannedStack) -> Scene:
    return Scene(
        variant=JPA,
        stack=cast("Stack", stack),
        toxiproxy=cast("Toxiproxy", None),
        broker_password="secret",
        stopped=threading.Event(),
    )


def after(action: Action) -> str:
    action.inject()
    action.heal()
    return action.proof()


def test_a_kill_is_proved_by_other_processes_all_of_them() -> None:
    stack = PlannedStack()
    assert after(Kill(scene(stack), "jpa-writer")) == "jpa-writer, jpa-writer-2: replaced by a new process"
    assert after(Kill(scene(PlannedStack(dies=False)), "jpa-writer")) == ""


def test_a_freeze_is_proved_by_silence_and_the_same_process() -> None:
    stack = PlannedStack()
    frozen = Pause(scene(stack), "jpa-writer")
    assert after(frozen) == "jpa-writer: no response while frozen, same process afterwards"
    assert (list(frozen.remedies()), stack.done) == (
        [("mend", "jpa-writer")],
        ["pause jpa-writer", "resume jpa-writer"],
    )
    assert after(Pause(scene(PlannedStack(falls_silent=False)), "jpa-writer")) == ""


def test_a_kill_under_backlog_needs_the_proofs_of_both_and_undoes_the_freeze() -> None:
    stack = PlannedStack(falls_silent=False)
    both = KillUnderBacklog(scene(stack), "jpa-writer", "postgres")
    assert list(both.remedies()) == [("mend", "postgres")]
    assert after(both) == ""
    assert stack.done == ["pause postgres", "kill jpa-writer", "resume postgres", "revive jpa-writer"]


def test_a_crash_loop_is_proved_only_if_each_crash_took_another_process() -> None:
    assert after(CrashLoop(scene(PlannedStack()), "jpa-writer")).startswith(f"{CRASHES} times: ")
    assert after(CrashLoop(scene(PlannedStack(dies=False)), "jpa-writer")) == ""


def test_a_full_disk_is_proved_by_what_is_left_and_freed_before_its_store_is_revived() -> None:
    stack = PlannedStack(dies=False)
    assert after(FillDisk(scene(stack), "postgres")) == "postgres: 512 bytes left on its disk"
    assert stack.done == ["fill postgres", "free postgres", "revive postgres"]
    assert after(FillDisk(scene(PlannedStack(dies=False, left_bytes=2 << 20)), "postgres")) == ""


def test_a_rolling_restart_ends_one_instance_after_the_other() -> None:
    stack = PlannedStack()
    assert after(Restart(scene(stack), "jpa-writer", rolling=True)).startswith(
        "jpa-writer, jpa-writer-2: replaced"
    )
    assert stack.done == [
        "terminate jpa-writer",
        "revive jpa-writer",
        "terminate jpa-writer-2",
        "revive jpa-writer",
    ]
    with pytest.raises(FaultError, match="needs INSTANCES=2"):
        Restart(scene(PlannedStack(lives_now={"jpa-writer": "1-1"})), "jpa-writer", rolling=True).inject()


def test_a_restart_ends_the_first_instance_alone() -> None:
    stack = PlannedStack()
    assert (
        after(Restart(scene(stack), "jpa-writer", rolling=False)) == "jpa-writer: replaced by a new process"
    )
    assert stack.done == ["terminate jpa-writer", "revive jpa-writer"]
