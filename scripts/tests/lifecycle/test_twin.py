"""Does the baseline run twice in each block, survive a resume, and leave behind what the host can tell apart?"""

from __future__ import annotations

import io
import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from lifecycle import fakes
from lifecycle.fakes import FakeRuntime, dataset, suite, variant
from lifecycle.test_suite import interrupted_at_start
from writepath import result
from writepath.errors import UsageError
from writepath.progress import Progress
from writepath.result import Code
from writepath.run import drain, visible
from writepath.suite import power, suite_run
from writepath.suite.common import INTERRUPTED
from writepath.suite.suite_run import SuitePlan, blocks

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.result import SuiteResult


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drain, "QUIET_S", 0.0)
    monkeypatch.setattr(visible, "QUIET_S", 0.0)
    fakes.on_any_host(monkeypatch)
    short = replace(fakes.SCENARIO, warm_up=None, phases=(replace(fakes.SCENARIO.phases[0], seconds=0.3),))
    monkeypatch.setattr(fakes, "SCENARIO", short)


def plan(tmp_path: Path, *names: str, baseline: str | None = "a", **changed: object) -> SuitePlan:
    state = tmp_path / ".writepath"
    state.mkdir(exist_ok=True)
    asked = suite(*names, repetitions=2)
    known = SuitePlan(
        root=tmp_path,
        state=state,
        suite=replace(asked, baseline=variant(baseline) if baseline else None),
        variants=asked.variants,
        repetitions=2,
        seed=1,
        overrides={},
        dataset=dataset(),
        code=Code(commit="0" * 40, dirty=False),
        resumed=False,
    )
    return replace(known, **changed)  # type: ignore[arg-type]


def run(plan: SuitePlan, runtime: FakeRuntime) -> tuple[int, SuiteResult, str]:
    said = io.StringIO()
    code, folder = suite_run.run(plan, runtime, Progress(console=Console(file=said, width=500)))
    return code, result.load_suite(folder), said.getvalue()


def test_a_block_holds_the_baseline_twice_in_an_order_of_the_seed() -> None:
    variants = [variant(name) for name in "abcd"]
    drawn = blocks(variants, 20, 1, variants[0])
    assert all(Counter(block) == Counter(["a", "a@again", "b", "c", "d"]) for block in drawn)
    assert {block.index("a") < block.index("a@again") for block in drawn} == {True, False}
    assert drawn == blocks(variants, 20, 1, variants[0]) != blocks(variants, 20, 2, variants[0])


def test_the_twin_is_run_indexed_and_counted_in_a_folder_of_its_own(tmp_path: Path) -> None:
    code, index, said = run(plan(tmp_path, "a", "b"), FakeRuntime())
    assert (code, index.status, index.baseline, len(index.runs)) == (0, "finished", "a", 6)
    twins = [entry for entry in index.runs if entry.again]
    assert [entry.folder for entry in twins] == ["a@again/short/rep-01", "a@again/short/rep-02"]
    for entry in twins:
        assert result.load_run(tmp_path / "results" / "latest" / entry.folder).again
    assert "2 variants and the A/A control of a x 2" in said
    assert "run 6/6" in said


@pytest.mark.parametrize(
    ("changed", "names"),
    [({"baseline": None}, ("a", "b")), ({"repetitions": 1}, ("a", "b")), ({}, ("b", "c"))],
)
def test_no_twin_without_a_baseline_or_a_second_block(
    changed: dict[str, object], names: tuple[str, ...], tmp_path: Path
) -> None:
    asked = plan(tmp_path, *names, **changed)  # type: ignore[arg-type]
    assert asked.twin is None
    _, index, _ = run(asked, FakeRuntime())
    assert not any(name.endswith("@again") for block in index.blocks for name in block)


def test_resume_makes_the_twins_that_are_missing_and_no_run_twice(tmp_path: Path) -> None:
    code, before, _ = run(plan(tmp_path, "a", "b"), interrupted_at_start(4))
    assert (code, len(before.runs)) == (INTERRUPTED, 3)
    runtime = FakeRuntime()
    code, after, _ = run(plan(tmp_path, "a", "b", resumed=True), runtime)
    assert (code, runtime.starts, after.runs[:3]) == (0, 3, before.runs)
    made = [(result.cell_name(entry.variant, again=entry.again), entry.repetition) for entry in after.runs]
    assert made == [(name, number) for number, block in enumerate(after.blocks, 1) for name in block]


def test_resume_refuses_another_baseline(tmp_path: Path) -> None:
    run(plan(tmp_path, "a", "b"), interrupted_at_start(1))
    with pytest.raises(UsageError, match=r"the suite's baseline in suites.yaml differs .* was a, is now b"):
        run(plan(tmp_path, "a", "b", baseline="b", resumed=True), FakeRuntime())


def test_the_next_suite_is_told_what_the_last_a_a_pair_can_tell(tmp_path: Path) -> None:
    _, index, said = run(plan(tmp_path, "a"), FakeRuntime())
    assert power.UNKNOWN in said
    _, _, said = run(plan(tmp_path, "a", "b"), interrupted_at_start(1))
    assert "smallest detectable difference with 2 blocks of 0.3 s on this host:" in said
    assert f"from the A/A control of a, 2 blocks of short, {index.stamp}" in said
    assert "with fewer than 6 blocks no variant is called faster or slower" in said


def test_the_statement_is_the_arithmetic_of_what_is_kept(tmp_path: Path) -> None:
    _, index, _ = run(plan(tmp_path, "a"), FakeRuntime())
    host = result.load_run(tmp_path / "results" / "latest" / index.runs[0].folder).host
    assert host is not None
    state = tmp_path / ".writepath"
    kept = json.loads((state / power.FILE).read_text(encoding="utf-8"))
    kept["pairs"][0]["spreads"] = {"p95": 0.05}
    (state / power.FILE).write_text(json.dumps(kept), encoding="utf-8")
    said = power.statement(state, host, replace(index, repetitions=10))
    assert said.startswith(
        "smallest detectable difference with 10 blocks of 0.3 s on this host: 5.7 % in p95"
    )
    assert "nothing is called" not in said
    assert power.statement(state, replace(host, cores=host.cores + 1), index) == power.UNKNOWN
    assert power.statement(state, host, replace(index, runtime="docker")) == power.UNKNOWN
    (state / power.FILE).write_text("torn", encoding="utf-8")
    assert power.statement(state, host, index) == power.UNKNOWN
