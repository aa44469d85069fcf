"""Does a suite make its runs in the order of its seed, survive a failed one, and go on where it was stopped?"""

from __future__ import annotations

import io
import itertools
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from lifecycle import fakes
from lifecycle.fakes import FakeRuntime, dataset, suite, variant
from lifecycle.liar import Lies
from writepath import result
from writepath.errors import SetupError, UsageError
from writepath.progress import Progress
from writepath.result import Code
from writepath.run import crash, drain, host, visible, withheld
from writepath.run.withheld import Withheld
from writepath.suite import suite_run
from writepath.suite.common import INTERRUPTED, worst
from writepath.suite.suite_run import SuitePlan, blocks

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.result import SuiteResult
    from writepath.run.withheld import Counters

NAMES = ("a", "b", "c")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drain, "QUIET_S", 0.0)
    monkeypatch.setattr(visible, "QUIET_S", 0.0)
    fakes.on_any_host(monkeypatch)
    short = replace(fakes.SCENARIO, warm_up=None, phases=(replace(fakes.SCENARIO.phases[0], seconds=0.1),))
    monkeypatch.setattr(fakes, "SCENARIO", short)


def plan(tmp_path: Path, *names: str, **changed: object) -> SuitePlan:
    state = tmp_path / ".writepath"
    state.mkdir(parents=True, exist_ok=True)
    asked = suite(*names)
    known = SuitePlan(
        root=tmp_path,
        state=state,
        suite=asked,
        variants=asked.variants,
        repetitions=1,
        seed=1,
        overrides={},
        dataset=dataset(),
        code=Code(commit="0" * 40, dirty=False),
        resumed=False,
    )
    return replace(known, **changed)  # type: ignore[arg-type]


def run(plan: SuitePlan, runtime: FakeRuntime) -> tuple[int, SuiteResult]:
    code, folder = suite_run.run(plan, runtime, Progress(console=Console(file=io.StringIO())))
    return code, result.load_suite(folder)


def test_every_block_holds_every_variant_once_in_an_order_of_the_seed_alone() -> None:
    variants = [variant(name) for name in "abcdefgh"]
    first, again, other = blocks(variants, 3, 1), blocks(variants, 3, 1), blocks(variants, 3, 2)
    assert first == again != other
    assert all(Counter(block) == Counter("abcdefgh") for block in first)
    assert len(set(first)) == 3


def test_a_suite_indexes_every_run_and_links_the_newest(tmp_path: Path) -> None:
    code, index = run(plan(tmp_path, "a", "b"), FakeRuntime())
    assert (code, index.status, len(index.runs)) == (0, "finished", 2)
    assert tuple(run.variant for run in index.runs) == index.blocks[0]
    latest = tmp_path / "results" / "latest"
    assert latest.is_symlink()
    for entry in index.runs:
        assert result.load_run(latest / entry.folder).variant == entry.variant


def test_a_failed_run_does_not_stop_the_suite_and_decides_the_exit_code(tmp_path: Path) -> None:
    runtime = FakeRuntime(lies=[Lies(), Lies(keep_on_reset=1), Lies(skip=frozenset({1}))])
    code, index = run(plan(tmp_path, *NAMES), runtime)
    assert [(entry.outcome, entry.verdict) for entry in index.runs] == [
        ("finished", "valid"),
        ("failed", "invalid"),
        ("finished", "invalid"),
    ]
    assert (code, index.status) == (11, "finished")


def test_ctrl_c_keeps_the_finished_runs_and_marks_the_suite_aborted(tmp_path: Path) -> None:
    code, index = run(plan(tmp_path, *NAMES), interrupted_at_start(2))
    assert (code, index.status, len(index.runs)) == (INTERRUPTED, "aborted", 1)


def test_resume_makes_only_the_missing_runs_in_the_same_folder(tmp_path: Path) -> None:
    _, before = run(plan(tmp_path, *NAMES), interrupted_at_start(2))
    runtime = FakeRuntime()
    code, after = run(plan(tmp_path, *NAMES, resumed=True), runtime)
    assert (code, after.status, after.stamp) == (0, "finished", before.stamp)
    assert after.runs[0] == before.runs[0]
    assert tuple(entry.variant for entry in after.runs) == before.blocks[0]
    assert runtime.starts == 2


def test_resume_makes_a_failed_run_again(tmp_path: Path) -> None:
    runtime = interrupted_at_start(3)
    runtime.lies = [Lies(keep_on_reset=1), Lies()]
    run(plan(tmp_path, *NAMES), runtime)
    code, after = run(plan(tmp_path, *NAMES, resumed=True), FakeRuntime())
    assert (code, [entry.outcome for entry in after.runs]) == (0, ["finished"] * 3)


def test_resume_makes_an_unknown_run_again_and_keeps_the_first(tmp_path: Path) -> None:
    _, before = run(plan(tmp_path, *NAMES), FakeRuntime())
    folder = tmp_path / "results" / "latest"
    noisy = replace(before.runs[1], verdict="unknown", exit_code=3)
    result.save_suite(replace(before, runs=(before.runs[0], noisy, before.runs[2])), folder)
    runtime = FakeRuntime()
    code, after = run(plan(tmp_path, *NAMES, resumed=True), runtime)
    assert (code, runtime.starts, len(after.runs)) == (0, 1, 3)
    assert result.load_run(folder / f"{noisy.folder}-replaced-1").variant == noisy.variant


@pytest.mark.parametrize(
    ("noisy", "verdicts", "replaced"),
    [((2,), ["valid", "valid"], 1), ((2, 3), ["valid", "valid"], 2), ((2, 3, 4), ["valid", "unknown"], 2)],
    ids=["once", "twice", "always"],
)
def test_a_run_that_noise_spoilt_is_made_again_at_the_end_of_its_block_at_most_twice(
    noisy: tuple[int, ...],
    verdicts: list[str],
    replaced: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    number = itertools.count(1)

    def between(*_: Counters) -> Withheld:
        swapped = fakes.TOO_MUCH if next(number) in noisy else 0
        return Withheld(steal_share=None, throttled_share=None, swapped_pages=swapped)

    monkeypatch.setattr(withheld, "between", between)
    code, index = run(plan(tmp_path, "a", "b"), FakeRuntime())
    first, second = index.blocks[0]
    assert [(entry.variant, entry.verdict) for entry in index.runs] == list(
        zip((first, second), verdicts, strict=True)
    )
    assert [entry.replaced for entry in index.runs] == [0, replaced]
    assert index.runs[1].position == 2 + replaced
    assert code == {"valid": 0, "unknown": 3}[verdicts[1]]
    place = tmp_path / "results" / "latest" / index.runs[1].folder
    kept = [result.load_run(place.with_name(f"{place.name}-replaced-{k + 1}")) for k in range(replaced)]
    assert ["swapped" in one.verdict.reasons[0] for one in kept] == [True] * replaced


def test_as_many_reruns_are_made_as_were_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spoilt = Withheld(steal_share=None, throttled_share=None, swapped_pages=fakes.TOO_MUCH)
    monkeypatch.setattr(withheld, "between", lambda *_: spoilt)
    for reruns in (0, 3):
        runtime = FakeRuntime()
        _, index = run(plan(tmp_path / str(reruns), "a", reruns=reruns), runtime)
        assert (runtime.starts, index.runs[0].replaced) == (1 + reruns, reruns)


def test_a_run_that_was_not_seen_for_another_reason_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crash, "READY_TIMEOUT_S", 0.5)
    runtime = FakeRuntime(lies=[Lies(cut_again=True)])
    _, index = run(plan(tmp_path, "a"), runtime)
    assert (index.runs[0].verdict, runtime.starts, index.runs[0].replaced) == ("unknown", 1, 0)


def test_resume_keeps_an_invalid_run(tmp_path: Path) -> None:
    run(plan(tmp_path, "a"), FakeRuntime(lies=[Lies(skip=frozenset({1}))]))
    with pytest.raises(UsageError, match="no suite run of"):
        run(plan(tmp_path, "a", resumed=True), FakeRuntime())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"seed": 2}, "SEED differs .* was 1, is now 2"),
        ({"repetitions": 2}, "REPS differs"),
        ({"overrides": {"INSTANCES": "2"}}, "settings differs"),
        ({"code": Code(commit="1" * 40, dirty=False)}, "the version of Writepath differs"),
        ({"variants": (variant("a"),)}, "VARIANTS"),
        ({"dataset": replace(dataset(), sha256="1" * 64)}, "DATASET differs"),
    ],
)
def test_resume_refuses_what_is_not_the_same(changed: dict[str, object], words: str, tmp_path: Path) -> None:
    run(plan(tmp_path, *NAMES), interrupted_at_start(1))
    with pytest.raises(UsageError, match=words):
        run(plan(tmp_path, *NAMES, resumed=True, **changed), FakeRuntime())


def test_resume_without_an_unfinished_suite_is_an_error(tmp_path: Path) -> None:
    run(plan(tmp_path, "a"), FakeRuntime())
    with pytest.raises(UsageError, match="no suite run of 'short'"):
        run(plan(tmp_path, "a", resumed=True), FakeRuntime())


def test_a_full_disk_stops_the_suite_before_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "DISK_FREE_MIN_BYTES", 1 << 60)
    with pytest.raises(SetupError, match="GB are free"):
        run(plan(tmp_path, "a"), FakeRuntime())
    assert result.load_suite(tmp_path / "results" / "latest").status == "aborted"


@pytest.mark.parametrize(
    ("codes", "expected"), [([], 0), ([0, 3], 3), ([3, 1, 0], 1), ([1, 11, 3], 11), ([12, 11], 12)]
)
def test_the_worst_exit_code_counts(codes: list[int], expected: int) -> None:
    assert worst(iter(codes)) == expected


def test_the_index_says_which_variant_is_a_tutorial_of_which(tmp_path: Path) -> None:
    asked = plan(tmp_path, "a", "b")
    first, second = asked.variants
    _, index = run(replace(asked, variants=(first, replace(second, tutorial_of="a"))), FakeRuntime())
    assert [variant.tutorial_of for variant in index.variants] == [None, "a"]


def interrupted_at_start(number: int) -> FakeRuntime:
    """Ctrl-C comes when the runtime is asked for this start, from 1."""

    class Interrupted(FakeRuntime):
        def heard(self, what: str) -> None:
            super().heard(what)
            if what == "start" and self.starts == number - 1:
                raise KeyboardInterrupt

    return Interrupted()
