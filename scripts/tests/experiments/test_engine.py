"""The engine with a kind that starts no stack: order, index, reruns, resume, exit codes."""

import io
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from experiments.thought import ThoughtParams
from experiments.toy import Toy
from lifecycle.fakes import FakeRuntime, dataset, suite
from writepath.config.settings import Factor
from writepath.errors import INTERRUPTED, SetupError, StartError, UsageError, worst
from writepath.experiments import control, engine, plan, read, registry
from writepath.experiments.base import CellRun, Plan, References
from writepath.experiments.plan import order_of
from writepath.measure import host
from writepath.processors import Split
from writepath.progress import Progress
from writepath.records.cell import load_cell
from writepath.records.index import Index, load_index, save_index
from writepath.records.measures import Code

NAMES = ("a", "b", "c")
POOL = Factor(name="POOL_SIZE", scope="stack", levels=("5", "10"))
USERS = Factor(name="VIRTUAL_USERS", scope="load", levels=("1", "2", "4"))


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    kind = Toy()
    monkeypatch.setitem(registry.KINDS, "toy", kind)
    return kind


def planned(tmp_path: Path, *names: str, **changed: object) -> Plan:
    asked = replace(suite(*names), kind="toy")
    known = Plan(
        root=tmp_path,
        suite=asked,
        kind=Toy(),
        params=ThoughtParams(thought_ms=2.0),
        variants=asked.variants,
        repetitions=1,
        seed=1,
        settings={},
        dataset=dataset(),
        code=Code(commit="0" * 40, dirty=False, digest="0" * 64),
        resumed=False,
    )
    known.state.mkdir(parents=True, exist_ok=True)
    return replace(known, **changed)  # type: ignore[arg-type]


def run(asked: Plan, kind: Toy, runtime: FakeRuntime | None = None) -> tuple[int, Index]:
    progress = Progress(console=Console(file=io.StringIO()))
    code, folder = engine.run(replace(asked, kind=kind), runtime or FakeRuntime(), progress)
    return code, load_index(folder)


def interrupted(at: int) -> Callable[[CellRun], None]:
    """Ctrl-C comes in the measure of that number, from 1."""
    calls = iter(range(1, 100))

    def before(_run: CellRun) -> None:
        if next(calls) == at:
            raise KeyboardInterrupt

    return before


def test_the_page_of_a_suite_run_has_each_cell_once_it_has_ended_and_the_terminal_prints_its_address(
    tmp_path: Path,
) -> None:
    console = Console(file=io.StringIO(), width=40)
    page = tmp_path / "results/latest/index.html"

    def shown() -> tuple[str, int]:
        text = (page.parent / "site/data.js").read_text(encoding="utf-8")
        (suite,) = json.loads(text.removeprefix("writepath(").removesuffix(");\n"))["suites"]
        return suite["status"], len(suite["evidence"])

    seen = list[tuple[str, int]]()
    kind = Toy(before=lambda _: seen.append(shown()))
    engine.run(replace(planned(tmp_path, *NAMES), kind=kind), FakeRuntime(), Progress(console=console))
    assert [*seen, shown()] == [("running", 0), ("running", 1), ("running", 2), ("finished", 3)]
    assert page.is_file()
    assert page.as_uri() in console.file.getvalue()  # type: ignore[attr-defined]


def test_every_block_has_every_cell_once_in_an_order_of_the_seed_alone(tmp_path: Path) -> None:
    first, again, other = (
        order_of(planned(tmp_path, *"abcdefgh", repetitions=3, seed=seed)) for seed in (1, 1, 2)
    )
    assert first == again != other
    assert all(Counter(block) == Counter("abcdefgh") for block in first)
    assert len(set(first)) == 3


def test_applications_are_trained_before_the_first_cell_where_a_cell_asks_for_their_cache(
    tmp_path: Path, toy: Toy
) -> None:
    factor = Factor(name="AOT_CACHE", scope="stack", levels=("none", "trained"))
    asked, second = {"AOT_CACHE": "trained"}, suite("c").variants[0]
    for name, changed, trained in (
        ("plain", {}, []),
        ("asked", {"settings": asked}, ["train a", "train b"]),
        ("pair", {"settings": asked, "second": second}, ["train c", "train a", "train b"]),
        ("varied", {"factors": (factor,)}, ["train a", "train b"]),
    ):
        runtime = FakeRuntime()
        run(planned(tmp_path / name, "a", "b", **changed), toy, runtime)
        assert [event for event in runtime.events if event.startswith("train")] == trained
        assert runtime.events[: len(trained)] == trained


def test_levels_multiply_and_cells_that_share_a_stack_run_one_after_the_other(tmp_path: Path) -> None:
    (block,) = plan.groups(planned(tmp_path, "a", "b", factors=(POOL, USERS)))
    assert sorted(len(group) for group in block) == [3, 3, 3, 3]
    assert len({cell.name for group in block for cell in group}) == 12
    for group in block:
        assert len({(cell.variant.name, cell.levels["POOL_SIZE"]) for cell in group}) == 1
        assert sorted(cell.levels["VIRTUAL_USERS"] for cell in group) == ["1", "2", "4"]


def test_cells_that_differ_only_in_a_factor_of_the_load_share_one_start(tmp_path: Path, toy: Toy) -> None:
    runtime = FakeRuntime()
    code, index = run(planned(tmp_path, "a", factors=(POOL, USERS)), toy, runtime)
    assert (code, len(index.cells), runtime.starts) == (0, 6, 2)
    cell = load_cell(tmp_path / "results/latest/a,POOL_SIZE=5,VIRTUAL_USERS=4/block-01")
    assert cell.settings == {"POOL_SIZE": "5", "VIRTUAL_USERS": "4"} == cell.levels


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (StartError("planted"), 11, "planted"),
        (
            ZeroDivisionError("planted"),
            10,
            "unexpected ZeroDivisionError: planted; the stack trace is in error.log",
        ),
    ],
)
def test_a_failed_cell_does_not_stop_the_suite_and_decides_the_exit_code(
    error: Exception, code: int, reason: str, tmp_path: Path, toy: Toy
) -> None:
    def fails_once(_run: CellRun) -> None:
        if not toy.measured:
            toy.measured.append(("failed", 0))
            raise error

    toy.before = fails_once
    ended, index = run(planned(tmp_path, *NAMES), toy)
    assert [cell.outcome for cell in index.cells] == ["failed", "finished", "finished"]
    assert (ended, index.cells[0].reasons) == (code, (f"failed: {reason}",))
    trace = tmp_path / "results" / "latest" / index.cells[0].folder / "error.log"
    assert trace.is_file() == (code == 10)


def test_a_failure_in_a_group_leaves_its_other_cells_to_a_fresh_stack(tmp_path: Path, toy: Toy) -> None:
    runtime = FakeRuntime()

    def fails_second(_run: CellRun) -> None:
        if len(toy.measured) == 1:
            toy.measured.append(("failed", 0))
            raise StartError("planted")

    toy.before = fails_second
    _, index = run(planned(tmp_path, "a", factors=(USERS,)), toy, runtime)
    assert [cell.outcome for cell in index.cells] == ["finished", "failed", "finished"]
    assert runtime.starts == 2


def test_ctrl_c_in_a_group_keeps_its_finished_cells(tmp_path: Path, toy: Toy) -> None:
    toy.before = interrupted(3)
    code, index = run(planned(tmp_path, "a", factors=(USERS,)), toy)
    assert (code, [cell.outcome for cell in index.cells]) == (INTERRUPTED, ["finished", "finished"])


def test_resume_runs_only_what_is_missing_in_the_same_folder(tmp_path: Path, toy: Toy) -> None:
    """Also after a commit that leaves the measuring code alone."""
    toy.before = interrupted(2)
    code, before = run(planned(tmp_path, *NAMES), toy)
    assert (code, before.status, len(before.cells)) == (INTERRUPTED, "aborted", 1)
    again, later = Toy(), Code(commit="1" * 40, dirty=True, digest="0" * 64)
    code, after = run(planned(tmp_path, *NAMES, resumed=True, code=later), again)
    assert (code, after.status, after.stamp) == (0, "finished", before.stamp)
    assert after.cells[0] == before.cells[0]
    assert [name for name, _ in again.measured] == list(before.order[0][1:])
    assert tuple(cell.name for cell in after.cells) == after.order[0]
    assert (tmp_path / "results" / "latest").resolve().name == after.stamp


def test_resume_reruns_an_unknown_cell_and_keeps_the_first(tmp_path: Path, toy: Toy) -> None:
    _, before = run(planned(tmp_path, *NAMES), toy)
    folder = tmp_path / "results" / "latest"
    noisy = replace(before.cells[1], verdict="unknown", exit_code=3)
    save_index(replace(before, cells=(before.cells[0], noisy, before.cells[2])), folder)
    again = Toy()
    code, after = run(planned(tmp_path, *NAMES, resumed=True), again)
    assert (code, len(again.measured), len(after.cells)) == (0, 1, 3)
    assert load_cell(folder / f"{noisy.folder}-replaced-1").variant == noisy.variant


@pytest.mark.parametrize(
    ("noisy", "reruns", "last", "replaced"),
    [((2,), 2, "valid", 1), ((2, 3), 2, "valid", 2), ((2, 3, 4), 2, "unknown", 2), ((2,), 0, "unknown", 0)],
)
def test_a_noisy_cell_is_rerun_at_the_end_of_its_block_as_often_as_was_asked_for(
    noisy: tuple[int, ...], reruns: int, last: str, replaced: int, tmp_path: Path, toy: Toy
) -> None:
    toy.noisy = noisy
    code, index = run(planned(tmp_path, "a", "b", reruns=reruns), toy)
    assert [cell.verdict for cell in index.cells] == ["valid", last]
    assert [cell.replaced for cell in index.cells] == [0, replaced]
    assert index.cells[1].position == 2 + replaced
    assert code == {"valid": 0, "unknown": 3}[last]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"seed": 2}, "SEED differs .* was 1, is now 2"),
        ({"repetitions": 2}, "REPS differs"),
        ({"settings": {"INSTANCES": "2"}}, "settings differs"),
        ({"factors": (POOL,)}, "factors differs"),
        (
            {"params": ThoughtParams(thought_ms=3.0)},
            r"of the load differs .* was {'thought_ms': 2.0}, is now {'thought_ms': 3.0}",
        ),
        ({"code": Code(commit="0" * 40, dirty=False, digest="1" * 64)}, "the code that measures differs"),
        ({"variants": suite("a").variants}, "VARIANTS"),
        ({"dataset": replace(dataset(), sha256="1" * 64)}, "DATASET differs"),
    ],
)
def test_resume_refuses_what_is_not_the_same(
    changed: dict[str, object], words: str, tmp_path: Path, toy: Toy
) -> None:
    toy.before = interrupted(1)
    run(planned(tmp_path, *NAMES), toy)
    with pytest.raises(UsageError, match=words):
        run(planned(tmp_path, *NAMES, resumed=True, **changed), Toy())


def test_resume_continues_the_newest_suite_run_with_the_same_options(
    tmp_path: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day, seed in enumerate((1, 1, 2), 1):
        monkeypatch.setattr(engine, "STAMP", f"2026010{day}T000000Z")
        toy.before = interrupted(2)
        run(planned(tmp_path, *NAMES, seed=seed), toy)
    toy.before = lambda _: None
    code, index = run(planned(tmp_path, *NAMES, seed=1, resumed=True), toy)
    assert (code, index.stamp) == (0, "20260102T000000Z")


def test_resume_on_another_split_is_refused(tmp_path: Path, toy: Toy) -> None:
    toy.before = interrupted(1)
    run(planned(tmp_path, *NAMES), toy)
    other = FakeRuntime(split=Split(generator=frozenset({1}), system=frozenset({0}), asked="split"))
    with pytest.raises(UsageError, match=r"PROCESSORS differs .* was shared, is now split \(1 \+ 1\)"):
        run(planned(tmp_path, *NAMES, resumed=True), Toy(), other)


def test_resume_without_an_unfinished_suite_run_is_an_error(tmp_path: Path, toy: Toy) -> None:
    run(planned(tmp_path, "a"), toy)
    with pytest.raises(UsageError, match="no suite run of 'short'"):
        run(planned(tmp_path, "a", resumed=True), toy)


def test_a_full_disk_stops_the_suite_before_the_next_cell(
    tmp_path: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "DISK_FREE_MIN_BYTES", 1 << 60)
    with pytest.raises(SetupError, match="GB are free"):
        run(planned(tmp_path, "a"), toy)
    assert load_index(tmp_path / "results" / "latest").status == "aborted"


@pytest.mark.parametrize(
    ("codes", "expected"), [([], 0), ([0, 3], 3), ([3, 1, 0], 1), ([1, 11, 3], 11), ([12, 11], 12)]
)
def test_the_worst_exit_code_counts(codes: list[int], expected: int) -> None:
    assert worst(iter(codes)) == expected


def test_references_of_another_kind_run_in_each_block_and_are_given_apart(
    tmp_path: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Toy()
    monkeypatch.setattr(other, "kind", "other")
    monkeypatch.setitem(registry.KINDS, "other", other)
    params = ThoughtParams(thought_ms=7.0)
    references = References(suite=replace(suite("b", "z"), name="others"), kind=other, params=params)
    asked = planned(tmp_path, "a", "b", repetitions=2, references=references)
    other.before = interrupted(3)
    assert run(asked, toy)[0] == INTERRUPTED
    other.before = lambda _: None
    code, index = run(replace(asked, resumed=True), toy)
    assert code == 0
    assert all(Counter(block) == Counter(("a", "b", "b@other", "z@other")) for block in index.order)
    assert index.references is not None
    assert (index.references.kind, index.references.params) == ("other", {"thought_ms": 7.0})
    data = read.raw(tmp_path / "results" / "latest")
    assert {(cell.record.kind, cell.record.variant) for cell in data.cells} == {("toy", "a"), ("toy", "b")}
    assert {cell.entry.name for cell in data.references} == {"b@other", "z@other"}
    assert {cell.result and cell.result.thought_ms for cell in data.references} == {7.125, 7.25}
    assert not [problem for cell in data.all_cells for problem in cell.problems]
    assert [row.variant.name for row in data.rows] == ["a", "b"]
    with pytest.raises(UsageError, match="no suite run of 'short'"):
        run(replace(asked, resumed=True), toy)


def test_the_baseline_runs_twice_in_each_block_and_gives_the_smallest_detectable_difference(
    tmp_path: Path, toy: Toy
) -> None:
    asked = planned(tmp_path, "a", "b", repetitions=2)
    _, index = run(replace(asked, suite=replace(asked.suite, baseline=asked.variants[0])), toy)
    assert all(Counter(block) == Counter(("a", "b", "a@again")) for block in index.order)
    assert Counter(cell.role for cell in index.cells) == {"measured": 4, "A/A control": 2}
    state = tmp_path / ".writepath"
    host = load_cell(tmp_path / "results" / "latest" / index.cells[0].folder).host
    assert host is not None
    kept = json.loads((state / control.FILE).read_text(encoding="utf-8"))
    assert (kept["pairs"][0]["baseline"], kept["pairs"][0]["blocks"]) == ("a", 2)
    kept["pairs"][0]["spreads"] = {"p95": 0.05}
    (state / control.FILE).write_text(json.dumps(kept), encoding="utf-8")
    said = control.statement(state, host, replace(index, repetitions=10))
    assert said.startswith("smallest detectable difference with 10 blocks on this host: 5.7 % in p95")
    assert f"from the A/A control of a, 2 blocks of short, {index.stamp}" in said
    assert "with fewer than" in control.statement(state, host, index)
    assert control.statement(state, replace(host, cores=host.cores + 1), index) == control.UNKNOWN
    assert control.statement(state, host, replace(index, runtime="docker")) == control.UNKNOWN
    (state / control.FILE).write_text("torn", encoding="utf-8")
    assert control.statement(state, host, index) == control.UNKNOWN
