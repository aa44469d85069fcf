"""A capacity suite searches in the order of its seed, survives a failed search, and goes on where it was stopped."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from capacity.planted import hold
from lifecycle.fakes import FakeRuntime, dataset, variant
from writepath.capacity import suite
from writepath.capacity.suite import CEILINGS, CapacityPlan, Makers
from writepath.config.registry import Phase, Scenario, Suite
from writepath.errors import SetupError, UsageError
from writepath.experiments.shared import INTERRUPTED
from writepath.measure import host
from writepath.measure.facts import dataset_facts
from writepath.progress import Progress
from writepath.records import Code
from writepath.records.capacity import (
    CAPACITY_SCHEMA_VERSION,
    Bracket,
    CapacitySuite,
    Ceilings,
    Search,
    load_search,
    load_suite,
    save_search,
)
from writepath.suite.common import orders

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from writepath.capacity.search_run import SearchSpec
    from writepath.measure.bench import Bench

NAMES = ("a", "b", "c")
FOUND = Bracket(last_pass_per_s=1000.0, first_fail_per_s=1040.0, at_least=False, holds=6)
OPEN = replace(FOUND, first_fail_per_s=1400.0)
FIRST, SECOND = Code(commit="1" * 40, dirty=False), Code(commit="2" * 40, dirty=False)


@dataclass(kw_only=True)
class FakeSearches:
    """Ends as told, by the number of the search from 1."""

    brackets: Mapping[int, Bracket] = field(default_factory=dict)
    failing: tuple[int, ...] = ()
    noisy: tuple[int, ...] = ()
    interrupted: int | None = None
    tools_fail: bool = False
    clock_s: float = 0.0  # a search takes 100 s
    made: list[str] = field(default_factory=list)

    def execute(self, spec: SearchSpec, bench: Bench) -> Search:
        self.made.append(f"{spec.variant.name}{'@again' if spec.again else ''}")
        self.clock_s += 100.0
        number = len(self.made)
        bracket = self.brackets.get(number, FOUND)
        stopped, failed = number == self.interrupted, number in self.failing
        search = searched(spec, bench, bracket)
        if failed:
            search = replace(search, outcome="failed", error="planted", sustained=None, burst=None)
        if number in self.noisy:
            search = replace(search, holds=(hold(verdict="noise"),))
        if stopped:
            search = replace(search, outcome="aborted")
        spec.folder.mkdir(parents=True)
        save_search(search, spec.folder)
        if stopped:
            raise KeyboardInterrupt
        return search

    def ceilings(self, block: int, folder: Path, bench: Bench, _overrides: Mapping[str, str]) -> Ceilings:
        self.made.append(CEILINGS)
        if self.tools_fail:
            raise SetupError("no pgbench")
        folder.mkdir(parents=True)
        return Ceilings(
            schema_version=CAPACITY_SCHEMA_VERSION,
            block=block,
            started_at="",
            finished_at="",
            runtime=bench.runtime.name,
            ceilings=(),
        )


def searched(spec: SearchSpec, bench: Bench, bracket: Bracket) -> Search:
    return Search(
        schema_version=CAPACITY_SCHEMA_VERSION,
        run_id="0" * 15,
        suite=spec.suite,
        variant=spec.variant.name,
        title=spec.variant.title,
        family=spec.variant.family,
        acknowledges=spec.variant.acknowledges,
        block=spec.block,
        position=spec.position,
        again=spec.again,
        runtime=bench.runtime.name,
        seed=spec.seed,
        overrides=dict(spec.overrides),
        dataset=dataset_facts(spec.dataset),
        code=spec.code,
        slo_ms=spec.slo_ms,
        hold_seconds=spec.hold_seconds,
        started_at="",
        finished_at="",
        outcome="finished",
        error=None,
        sustained=bracket,
        burst=bracket,
        holds=(hold(),),
    )


def plan(tmp_path: Path, *names: str, **changed: object) -> CapacityPlan:
    state = tmp_path / ".writepath"
    state.mkdir(exist_ok=True)
    variants = tuple(variant(name) for name in names or NAMES)
    phase = Phase(name="hold", seconds=60, from_per_s=200, to_per_s=6000)
    known = CapacityPlan(
        root=tmp_path,
        state=state,
        suite=Suite(
            name="capacity",
            title="Capacity",
            scenario=Scenario(name="search", script="k6/scenarios/ramp.js", phases=(phase,)),
            repetitions=2,
            variants=variants,
            baseline=variants[0],
            kind="capacity",
            params={"slo_ms": 100.0},
        ),
        variants=variants,
        repetitions=2,
        seed=1,
        params=None,
        settings={},
        dataset=dataset(),
        code=FIRST,
        slo_ms=100.0,
        hold_seconds=60.0,
        compared=True,
        resumed=False,
    )
    return replace(known, **changed)  # type: ignore[arg-type]


def run(
    asked: CapacityPlan, fake: FakeSearches, to: io.StringIO | None = None
) -> tuple[int, CapacitySuite, Path]:
    makers = Makers(search=fake.execute, ceilings=fake.ceilings)
    progress = Progress(console=Console(file=to or io.StringIO(), width=200), clock=lambda: fake.clock_s)
    code, folder = suite.run(asked, FakeRuntime(), progress, makers)
    return code, load_suite(folder), folder


def test_a_block_holds_every_variant_the_baseline_again_and_the_tools_in_an_order_of_the_seed(
    tmp_path: Path,
) -> None:
    fake = FakeSearches()
    code, index, folder = run(plan(tmp_path), fake)
    assert (code, index.status, index.baseline) == (0, "finished", "a")
    everything = (*NAMES, "a@again", CEILINGS)
    assert index.blocks == orders(everything, 2, 1) != orders(everything, 2, 2)
    assert fake.made == [name for block in index.blocks for name in block]
    assert all(Counter(block) == Counter(everything) for block in index.blocks)
    assert sorted(index.ceilings) == ["@ceilings/block-01", "@ceilings/block-02"]
    (twin,) = (line for line in index.searches if line.again and line.block == 2)
    assert (twin.variant, twin.folder) == ("a", "a@again/block-02")
    assert load_search(folder / twin.folder).again
    assert (tmp_path / "results" / "latest").resolve() == folder.resolve()


def test_one_variant_alone_has_neither_twin_nor_tools(tmp_path: Path) -> None:
    _, index, _ = run(plan(tmp_path, "a", compared=False), FakeSearches())
    assert index.blocks == (("a",), ("a",))


def test_without_the_baseline_there_is_no_twin(tmp_path: Path) -> None:
    asked = plan(tmp_path)
    _, index, _ = run(replace(asked, variants=asked.variants[1:]), FakeSearches())
    assert all(Counter(block) == Counter(["b", "c", CEILINGS]) for block in index.blocks)


def test_a_failed_search_is_recorded_and_the_suite_goes_on(tmp_path: Path) -> None:
    said_to = io.StringIO()
    code, index, _ = run(plan(tmp_path, repetitions=1), FakeSearches(failing=(1,)), said_to)
    assert (code, index.status) == (1, "finished")
    assert Counter(line.outcome for line in index.searches) == {"failed": 1, "finished": 3}
    assert "FAILED  planted" in said_to.getvalue()


def test_a_search_without_an_answer_is_no_failure_and_no_success(tmp_path: Path) -> None:
    code, index, _ = run(plan(tmp_path, compared=False), FakeSearches(brackets={1: OPEN}))
    assert (code, index.status) == (3, "finished")


def test_tools_that_fail_leave_the_searches_and_their_exit_code(tmp_path: Path) -> None:
    code, index, _ = run(plan(tmp_path), FakeSearches(tools_fail=True))
    assert (code, index.ceilings, len(index.searches)) == (SetupError.exit_code, (), 8)
    fake = FakeSearches()
    code, index, _ = run(plan(tmp_path, resumed=True), fake)
    assert (code, len(index.ceilings), fake.made) == (0, 2, [CEILINGS, CEILINGS])


def test_ctrl_c_keeps_what_there_is_and_names_resume(tmp_path: Path) -> None:
    said_to = io.StringIO()
    code, index, folder = run(plan(tmp_path, compared=False), FakeSearches(interrupted=3), said_to)
    assert (code, index.status, len(index.searches)) == (INTERRUPTED, "aborted", 2)
    assert "2 of 6 are saved. Continue with RESUME=1." in said_to.getvalue()
    name = index.blocks[0][2]
    assert load_search(folder / name / "block-01").outcome == "aborted"


def test_resume_makes_what_is_missing_or_failed_and_each_search_says_which_code_made_it(
    tmp_path: Path,
) -> None:
    asked = plan(tmp_path, compared=False)
    _, before, folder = run(asked, FakeSearches(failing=(1,), interrupted=4))
    fake = FakeSearches()
    code, after, again = run(replace(asked, code=SECOND, resumed=True), fake)
    assert (code, again, after.status, after.stamp) == (0, folder, "finished", before.stamp)
    failed, *kept = before.searches
    assert [line for line in after.searches if line in before.searches] == kept
    order = [name for block in before.blocks for name in block]
    assert fake.made == [failed.variant, *order[3:]]
    assert after.code == FIRST
    by_code = Counter(load_search(folder / line.folder).code.commit for line in after.searches)
    assert by_code == {FIRST.commit: 2, SECOND.commit: 4}
    assert load_search(folder / f"{failed.folder}-replaced-1").error == "planted"
    assert load_search(folder / order[3] / "block-02-replaced-1").outcome == "aborted"


def test_a_search_left_to_noise_is_made_again(tmp_path: Path) -> None:
    run(plan(tmp_path, compared=False), FakeSearches(noisy=(2,)))
    fake = FakeSearches()
    code, after, _ = run(plan(tmp_path, compared=False, resumed=True), fake)
    order = [name for block in after.blocks for name in block]
    assert (code, fake.made, len(after.searches)) == (0, [order[1]], len(order))


def test_a_search_without_an_answer_is_a_finding_and_stays(tmp_path: Path) -> None:
    run(plan(tmp_path, compared=False), FakeSearches(brackets={1: OPEN}))
    with pytest.raises(UsageError, match=r"no suite run of 'capacity'.*missing, failed or noisy"):
        run(plan(tmp_path, compared=False, resumed=True), FakeSearches())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"seed": 2}, "SEED differs .* was 1, is now 2"),
        ({"repetitions": 3}, "REPS differs"),
        ({"settings": {"INSTANCES": "2"}}, "settings differs"),
        ({"slo_ms": 50.0}, "SLO_MS differs"),
        ({"hold_seconds": 30.0}, "HOLD_SECONDS differs"),
        ({"dataset": replace(dataset(), sha256="1" * 64)}, "DATASET differs"),
        ({"variants": (variant("a"),)}, "VARIANTS"),
        ({"compared": False}, "the content of a block"),
    ],
)
def test_resume_refuses_what_is_not_the_same(changed: dict[str, object], words: str, tmp_path: Path) -> None:
    run(plan(tmp_path), FakeSearches(interrupted=1))
    with pytest.raises(UsageError, match=words):
        run(plan(tmp_path, resumed=True, **changed), FakeSearches())


def test_a_full_disk_stops_the_suite_before_the_next_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "DISK_FREE_MIN_BYTES", 1 << 60)
    with pytest.raises(SetupError, match="GB are free"):
        run(plan(tmp_path), FakeSearches())
    assert load_suite(tmp_path / "results" / "latest").status == "aborted"


def test_time_left_is_guessed_from_holds_and_then_from_what_was_measured(tmp_path: Path) -> None:
    to = io.StringIO()
    run(plan(tmp_path, "a", compared=False), FakeSearches(), to)
    lines = [line for line in to.getvalue().splitlines() if line.startswith("cell ")]
    assert "(10:21 left, 20:42 for all cells)" in lines[0]  # twice 8 x (60 + 12) + 45 s
    assert "(1:40 left, 1:40 for all cells)" in lines[1]
