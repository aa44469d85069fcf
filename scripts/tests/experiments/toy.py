"""The example kind of docs/adding-an-experiment.md, told by a test what happens while it measures."""

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from experiments.thought import Thought
from lifecycle.fakes import FakeRuntime
from report import planted_documents
from writepath import commands
from writepath.experiments import registry
from writepath.experiments.base import CellRun, Session
from writepath.runtime.base import Runtime

PROJECT = Path(__file__).resolve().parents[3]
COPIED = ("variants.yaml", "docker-compose.yml", ".env", "k6/scenarios/ramp.js")


@dataclass
class Toy(Thought):
    """`noisy` says by measured cell, from 1, whether the host was noisy; `before` runs first in each measure."""

    noisy: Sequence[int] = ()
    before: Callable[[CellRun], None] = lambda _: None
    measured: list[tuple[str, int]] = field(default_factory=list)  # name and block, in the order they ran

    def measure(self, run: CellRun, session: Session) -> None:
        self.before(run)
        if run.cell.levels.get("VIRTUAL_USERS"):
            session.started(run)
        self.measured.append((run.cell.name, run.cell.block))
        super().measure(run, session)
        if len(self.measured) in self.noisy:
            disturb(run)


def disturb(run: CellRun) -> None:
    """The host was noisy while it measured."""
    raw = run.folder / "raw.json"
    raw.write_text(json.dumps(json.loads(raw.read_text()) | {"noisy": True}))


def registered(monkeypatch: pytest.MonkeyPatch) -> Toy:
    """The registry entry; the runtime starts nothing."""

    def ready(_held: ExitStack, *_: Any) -> Runtime:
        return FakeRuntime(name="native")

    kind = Toy()
    monkeypatch.setitem(registry.KINDS, "toy", kind)
    monkeypatch.setattr(commands, "_ready_runtime", ready)
    return kind


def checkout(folder: Path, suites: str) -> Path:
    """With these suites alone."""
    for name in COPIED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, folder / name)
    (folder / ".writepath").mkdir()
    planted_documents.write(folder)
    (folder / "suites.yaml").write_text(suites, encoding="utf-8")
    return folder


def suites_yaml(*variants: str, **more: Any) -> str:
    """suites.yaml with one suite of the kind."""
    phase = {"name": "sustained", "seconds": 1, "from_per_s": 1, "to_per_s": 1}
    scenario = {"script": "k6/scenarios/ramp.js", "phases": [phase]}
    entry = {
        "title": "Toy",
        "kind": "toy",
        "scenario": "none",
        "repetitions": 1,
        "variants": list(variants),
        "toy": {"thought_ms": 2.0},
    }
    return json.dumps({"scenarios": {"none": scenario}, "suites": {"toys": {**entry, **more}}})
