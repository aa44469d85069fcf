"""A cell to be measured: everything is real but the runtime and k6."""

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from rich.console import Console

from lifecycle import fakes
from writepath.analysis.evidence import FACTS_FILE, load_facts
from writepath.config.registry import Scenario, Suite, Variant
from writepath.experiments.base import Cell, CellRun, Session
from writepath.experiments.load.kind import LoadExperiment, measure, params_of
from writepath.load import parquet
from writepath.load.plan import new_run_id
from writepath.measure import host, read_back, truth, visible
from writepath.measure.host import CanaryCage
from writepath.measure.loading import Bench
from writepath.progress import Progress
from writepath.records import base
from writepath.records.load_facts import LoadFacts
from writepath.records.measures import Audit

Measure = Callable[[CellRun, Session], None]

REQUESTS_FILE = "requests.parquet"


CLOSED = Scenario(name="closed", script="k6/scenarios/ramp.js", virtual_users=3, seconds=0.5)


def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is waited for that is quiet anyway."""
    monkeypatch.setattr(read_back, "QUIET_S", 0.0)
    monkeypatch.setattr(visible, "QUIET_S", 0.0)
    monkeypatch.setattr(truth, "POLL_S", 0.01)


def bench(folder: Path, runtime: fakes.FakeRuntime, progress: Progress | None = None) -> Bench:
    content = folder / "content.json"
    content.write_text(json.dumps(fakes.dataset().lines), encoding="utf-8")
    return Bench(
        runtime=runtime,
        progress=progress or Progress(console=Console(file=io.StringIO())),
        cage=CanaryCage(folder=folder),
        host=host.host_facts(folder),
        content=content,
        pids=folder,
        root=folder,
    )


def cell_run(
    made: Bench,
    *,
    scenario: Scenario = fakes.SCENARIO,
    settings: Mapping[str, str] | None = None,
    of: Variant | None = None,
    name: str = "jpa",
    params: object = None,
) -> CellRun:
    own = of or fakes.variant()
    folder = made.root / name
    folder.mkdir()
    return CellRun(
        cell=Cell(name=name, variant=own, levels={}, block=1, position=1),
        suite=Suite(
            name="short", title="Short", kind="load", scenario=scenario, repetitions=1, variants=(own,)
        ),
        params=params or params_of(scenario),
        settings=settings or {},
        seed=1,
        dataset=fakes.dataset(),
        folder=folder,
        run_id=new_run_id(),
        bench=made,
    )


def measured(
    folder: Path,
    runtime: fakes.FakeRuntime,
    progress: Progress | None = None,
    by: Measure = measure,
    **asked: Any,
) -> CellRun:
    """A cell that was measured on a stack of its own; what ended it comes out."""
    run = cell_run(bench(folder, runtime, progress), **asked)
    with Session(run.bench) as session:
        by(run, session)
    return run


def facts_of(run: CellRun) -> LoadFacts:
    return base.from_data(LoadFacts, load_facts(run.folder), FACTS_FILE)


def requests_of(folder: Path) -> pa.Table:
    return parquet.load_table(folder / REQUESTS_FILE)


def audit_of(run: CellRun) -> Audit:
    """From the raw files and the facts alone."""
    kind = LoadExperiment()
    audit = kind.derive(kind.reduce(run.folder, run.bench.host)).audit
    assert audit is not None
    return audit
