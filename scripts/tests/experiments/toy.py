"""The example kind of docs/adding-an-experiment.md, told by a test what happens while it measures."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.thought import Thought
from writepath.experiments.base import CellRun, Session


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
            raw = run.folder / "raw.json"
            raw.write_text(json.dumps(json.loads(raw.read_text()) | {"noisy": True}))


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
