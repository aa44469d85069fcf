"""Does a search take its steps in order, on every way out, and is search.json there whatever happens?"""

from __future__ import annotations

import dataclasses
import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from lifecycle.fakes import SCENARIO, FakeRuntime, dataset, variant
from lifecycle.liar import Lies
from writepath.analysis import overload as stretches
from writepath.analysis import raw
from writepath.analysis.step_verdict import Judgement
from writepath.capacity import hold, search_run
from writepath.capacity.search import Step
from writepath.capacity.search_run import SearchSpec, execute
from writepath.errors import SetupError
from writepath.load import ledger, recorded
from writepath.measure import drain, host, quiet, truth
from writepath.measure.bench import Bench
from writepath.measure.host import CanaryCage
from writepath.progress import Progress
from writepath.records import Code
from writepath.records.capacity import Bracket, load_search, save_search

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from writepath.analysis.step_verdict import Evidence
    from writepath.records.capacity import Hold, Search

RATE = 100.0
STEPS = (
    Step(kind="ramp", rate_per_s=RATE, seconds=0.2),
    Step(kind="search", rate_per_s=RATE, seconds=0.3),
    Step(kind="confirm", rate_per_s=RATE, seconds=0.3),
)
PREPARED = ["start", "reset", "write", "posts", "durability", "k6", "write"]
RAMP = ["reset", "k6", "write", "saved"]
HOLD = ["reset", "k6", "write", "posts", "saved"]
OVERLOAD = ["reset", "k6", "write"]
STOPPED = ["logs", "stop", "saved"]


class Scripted:
    """A search whose steps are known beforehand, and of which whatever passes last is the capacity."""

    def __init__(self, **_: object) -> None:
        self.heard: list[Hold] = []

    def next(self) -> Step | None:
        return STEPS[len(self.heard)] if len(self.heard) < len(STEPS) else None

    def told(self, step: Step, made: Hold) -> None:
        assert (step.kind, step.rate_per_s) == (made.kind, made.rate_per_s)
        self.heard.append(made)

    def sustained(self) -> Bracket:
        passed = [made.rate_per_s for made in self.heard if made.kind != "ramp" and made.verdict == "pass"]
        return Bracket(
            last_pass_per_s=max(passed, default=None), first_fail_per_s=None, at_least=True, holds=len(passed)
        )

    def burst(self) -> Bracket:
        return self.sustained()

    @property
    def ended(self) -> str:
        return "every step was made"


def strict(evidence: Evidence) -> Judgement:
    """Whatever is broken fails; nothing else does, however small and slow this machine."""
    failed = bool(evidence.broken) or evidence.audit not in {None, "PASS"}
    return Judgement(
        verdict="fail" if failed else "pass", burst=failed, reasons=evidence.broken, generator_bound=False
    )


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeRuntime], Bench]:
    monkeypatch.setattr(drain, "QUIET_S", 0.0)
    monkeypatch.setattr(truth, "POLL_S", 0.01)
    monkeypatch.setattr(search_run, "Searcher", Scripted)
    monkeypatch.setattr(hold, "judge", strict)
    shorter = tuple((name, times, 0.2) for name, times, _ in stretches.STRETCHES)
    monkeypatch.setattr(stretches, "STRETCHES", shorter)

    def made(runtime: FakeRuntime) -> Bench:
        def telling(search: Search, folder: Path) -> None:
            save_search(search, folder)
            runtime.events.append("saved")

        monkeypatch.setattr(search_run, "save_search", telling)
        content = tmp_path / "content.json"
        content.write_text(json.dumps(dataset().lines), encoding="utf-8")
        return Bench(
            runtime=runtime,
            progress=Progress(console=Console(file=io.StringIO())),
            cage=CanaryCage(folder=tmp_path),
            host=host.facts(tmp_path),
            content=content,
            pids=tmp_path,
            root=tmp_path,
        )

    return made


def spec(tmp_path: Path, **changed: Any) -> SearchSpec:
    asked = SearchSpec(
        suite="capacity",
        variant=variant(),
        scenario=SCENARIO,
        block=2,
        position=3,
        again=True,
        seed=1,
        slo_ms=100.0,
        hold_seconds=0.3,
        overrides={"INSTANCES": "1"},
        dataset=dataset(),
        code=Code(commit="0" * 40, dirty=False),
        folder=tmp_path / "block-02",
    )
    return dataclasses.replace(asked, **changed)


def test_the_steps_come_in_order_and_each_hold_is_saved_before_the_next_begins(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench]
) -> None:
    runtime = FakeRuntime()
    found = execute(spec(tmp_path), bench(runtime))
    assert runtime.events == [*PREPARED, *RAMP, *HOLD, *HOLD, *OVERLOAD, *STOPPED]
    assert (found.outcome, found.error) == ("finished", None)
    assert load_search(tmp_path / "block-02") == found


def test_a_search_says_what_it_was_and_what_it_found(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench]
) -> None:
    found = execute(spec(tmp_path), bench(FakeRuntime()))
    assert (found.suite, found.variant, found.block, found.position, found.again) == (
        "capacity",
        "jpa",
        2,
        3,
        True,
    )
    assert (found.overrides, found.slo_ms, found.versions) == (
        {"INSTANCES": "1"},
        100.0,
        {"fake": "1", "liar": "1.0"},
    )
    assert found.durability is not None
    assert found.durability.level == "A"
    assert [(made.number, made.kind, made.audit) for made in found.holds] == [
        (1, "ramp", None),
        (2, "search", "PASS"),
        (3, "confirm", "PASS"),
    ]
    assert [made.requests.acknowledged for made in found.holds] == [20, 30, 30]
    assert [made.noise.before is not None for made in found.holds] == [False, True, True]
    assert found.sustained is not None
    assert found.sustained.last_pass_per_s == RATE
    assert found.overload is not None
    assert [phase.rate_per_s for phase in found.overload.phases] == [50.0, 200.0, 50.0]
    assert [phase.acknowledged for phase in found.overload.phases] == [10, 40, 10]


def test_every_load_leaves_its_raw_files_and_the_search_its_settings_and_logs(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench]
) -> None:
    execute(spec(tmp_path), bench(FakeRuntime()))
    folder = tmp_path / "block-02"
    for name, requests in (("hold-01", 20), ("hold-02", 30), ("hold-03", 30), ("overload", 60)):
        assert len(ledger.read(folder / name / ledger.FILE).records) == requests
        assert (folder / name / raw.SAMPLES_FILE).is_file()
        assert len(json.loads((folder / name / "plan.json").read_text(encoding="utf-8"))["run_id"]) == 15
        assert not (folder / name / recorded.FILE).exists()
    assert {"search.json", "settings.json", "logs"} <= {path.name for path in folder.iterdir()}


def test_a_lie_fails_its_hold_in_words_and_the_search_goes_on(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench]
) -> None:
    runtime = FakeRuntime(lies=[Lies(skip=frozenset({3}), double=frozenset({7}))])
    found = execute(spec(tmp_path), bench(runtime))
    assert [(made.verdict, made.audit) for made in found.holds] == [
        ("pass", None),
        ("fail", "FAIL"),
        ("fail", "FAIL"),
    ]
    assert found.holds[1].reasons == (
        "1 acknowledged writes are not in the store",
        "1 writes are stored more than once",
    )
    assert (found.outcome, found.overload) == ("finished", None)  # nothing passed that could be doubled
    assert "overload" not in runtime.events


@pytest.mark.parametrize(("quiet_again", "words"), [(True, ""), (False, "the host was noisy for")])
def test_after_noise_a_quiet_host_is_waited_for_before_the_next_hold(
    quiet_again: bool,
    words: str,
    tmp_path: Path,
    bench: Callable[[FakeRuntime], Bench],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runtime = FakeRuntime()
    made = bench(runtime)

    def wait(*_: object) -> bool:
        runtime.events.append("waited")
        return quiet_again

    def noisy(evidence: Evidence) -> Judgement:
        noise = evidence.kind != "ramp"  # both holds, and none comes after the second
        return dataclasses.replace(strict(evidence), verdict="noise" if noise else "pass")

    monkeypatch.setattr(quiet, "wait", wait)
    monkeypatch.setattr(hold, "judge", noisy)
    execute(spec(tmp_path), made)
    assert runtime.events == [*PREPARED, *RAMP, *HOLD, "waited", *HOLD, *STOPPED]
    assert isinstance(made.progress.console.file, io.StringIO)
    assert words in made.progress.console.file.getvalue()


@pytest.mark.parametrize(
    ("runtime", "events", "words", "holds"),
    [
        (FakeRuntime(start_error="port taken"), ["start", "saved"], "port taken", 0),
        (
            FakeRuntime(lies=[Lies(no_durability=True)]),
            [*PREPARED[:5], *STOPPED],
            "no durability level",
            0,
        ),
        (FakeRuntime(mode="die"), [*PREPARED[:6], *STOPPED], "the script raised an exception", 0),
        (
            FakeRuntime(lost=("app: ended with 137",)),
            [*PREPARED, *RAMP, *STOPPED],
            "component lost in step 1, at 100/s: app: ended with 137",
            1,
        ),
        (
            FakeRuntime(stop_error=SetupError("a container would not go")),
            [*PREPARED, *RAMP, *HOLD, *HOLD, *OVERLOAD, *STOPPED],
            "a container would not go",
            3,
        ),
        (
            FakeRuntime(stop_error=ZeroDivisionError("planted")),
            [*PREPARED, *RAMP, *HOLD, *HOLD, *OVERLOAD, *STOPPED],
            "unexpected ZeroDivisionError: planted",
            3,
        ),
    ],
    ids=["start", "durability", "generator", "lost", "stop", "unexpected"],
)
def test_a_failure_ends_the_search_with_its_reason_and_keeps_what_there_is(
    runtime: FakeRuntime,
    events: list[str],
    words: str,
    holds: int,
    tmp_path: Path,
    bench: Callable[[FakeRuntime], Bench],
) -> None:
    found = execute(spec(tmp_path), bench(runtime))
    assert runtime.events == events
    assert (found.outcome, len(found.holds)) == ("failed", holds)
    assert words in (found.error or "")
    assert load_search(tmp_path / "block-02") == found


def test_a_store_that_is_not_emptied_ends_the_search_in_time(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(truth, "EMPTY_TIMEOUT_S", 0.5)
    found = execute(spec(tmp_path), bench(FakeRuntime(lies=[Lies(keep_on_reset=3)])))
    assert found.outcome == "failed"
    assert "the store is not empty before the load: 20 rows" in (found.error or "")
    assert len(found.holds) == 1


def test_a_promise_below_the_declared_one_is_not_searched(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench]
) -> None:
    less = dataclasses.replace(variant(), level="")  # type: ignore[arg-type] # below which any level is
    runtime = FakeRuntime()
    found = execute(spec(tmp_path, variant=less), bench(runtime))
    assert runtime.events == [*PREPARED[:5], *STOPPED]
    assert "a 201 guarantees less than declared" in (found.error or "")


def test_ctrl_c_in_a_hold_saves_the_search_as_aborted_and_leaves_no_generator(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench]
) -> None:
    runtime = FakeRuntime(mode="hang")
    made = bench(runtime)

    class Impatient(Progress):
        def load(self, live: object) -> None:
            if live.acknowledged == 20:  # type: ignore[attr-defined]
                raise KeyboardInterrupt

    made = dataclasses.replace(made, progress=Impatient(console=Console(file=io.StringIO())))
    cold = dataclasses.replace(SCENARIO, warm_up=None)
    with pytest.raises(KeyboardInterrupt):
        execute(spec(tmp_path, scenario=cold), made)
    assert runtime.events[-3:] == STOPPED
    folder = tmp_path / "block-02"
    saved = load_search(folder)
    assert (saved.outcome, saved.error, saved.holds) == ("aborted", None, ())
    assert len(ledger.read(folder / "hold-01" / ledger.FILE).records) == 20
    assert (folder / "hold-01" / raw.SAMPLES_FILE).is_file()
    assert not (tmp_path / "k6.pid").exists()


@pytest.mark.parametrize(("at", "events"), [("start", ["start", "saved"]), ("k6", [*PREPARED[:6], *STOPPED])])
def test_ctrl_c_before_the_first_hold_is_saved_too(
    at: str, events: list[str], tmp_path: Path, bench: Callable[[FakeRuntime], Bench]
) -> None:
    runtime = FakeRuntime(interrupt_at=at)
    with pytest.raises(KeyboardInterrupt):
        execute(spec(tmp_path), bench(runtime))
    assert runtime.events == events
    assert load_search(tmp_path / "block-02").outcome == "aborted"
