"""A capacity run: its load steps in order on every way out, with the facts of each saved before the next begins."""

import dataclasses
import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from experiments.planted_cell import at_once, measured, requests_of
from lifecycle.fakes import SCENARIO, FakeRuntime, suite, variant
from lifecycle.liar import Lies
from planted_steps import strict
from writepath.analysis import capacity, raw, steps
from writepath.analysis.capacity import facts_of
from writepath.analysis.evidence import save_facts
from writepath.errors import StartError, UsageError
from writepath.experiments import warm_path
from writepath.experiments.capacity import stepper
from writepath.experiments.capacity.kind import CapacityExperiment, CapacityParams
from writepath.experiments.capacity.stepper import MOST_REPEATS
from writepath.measure import host, truth
from writepath.progress import Progress
from writepath.records.capacity_run import CapacityResult
from writepath.records.steps import LoadStep

RATE = 100.0
PREPARED = ["start", "saved", "reset", "write", "posts", "durability", "k6", "write", "saved"]
RAMP = ["reset", "k6", "write", "saved"]
STEP = ["reset", "k6", "write", "posts", "saved"]
OVERLOAD = ["saved", "reset", "k6", "write", "saved"]
STOPPED = ["logs", "stop"]
KIND = CapacityExperiment()
CAPACITY = {"operation": "write", "slo_ms": 100.0}


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once(monkeypatch)
    monkeypatch.setattr(stepper, "REQUESTS", 0)  # a step is as short as the scenario says
    monkeypatch.setattr(steps, "judge", strict)
    shorter = tuple((name, times, 0.2) for name, times, _ in capacity.STRETCHES)
    monkeypatch.setattr(capacity, "STRETCHES", shorter)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs it on a runtime, whose events then tell when facts were saved."""

    def made(runtime: FakeRuntime, progress: Progress | None = None, **asked: Any) -> CapacityResult:

        def telling(facts: Any, folder: Path) -> None:
            save_facts(facts, folder)
            runtime.events.append("saved")

        monkeypatch.setattr(warm_path, "save_facts", telling)
        params = KIND.params_of(dataclasses.replace(suite("jpa"), kind="capacity", params=CAPACITY), {})
        run = measured(tmp_path, runtime, progress, by=KIND.measure, params=params, **asked)
        return KIND.derive(KIND.reduce(run.folder, host.host_facts(tmp_path)))

    return made


def test_the_steps_come_in_order_and_each_is_saved_before_the_next_begins(tmp_path: Path, run: Any) -> None:
    runtime = FakeRuntime()
    found = run(runtime)
    assert runtime.events == [*PREPARED, *RAMP, *STEP, *OVERLOAD, *STOPPED]
    assert [(step.number, step.kind, step.audit) for step in found.steps] == [
        (1, "ramp", None),
        (2, "bisection", "PASS"),
    ]
    assert [step.requests.acknowledged for step in found.steps] == [50, 50]
    assert [step.noise.before is not None for step in found.steps] == [False, True]
    assert (found.sustained.highest_passing_per_s, found.verdict.status) == (RATE, "valid")
    assert found.overload is not None
    assert [(phase.rate_per_s, phase.acknowledged) for phase in found.overload.phases] == [
        (50.0, 10),
        (200.0, 40),
        (50.0, 10),
    ]
    folder = tmp_path / "jpa"
    for name, requests in (("step-01", 50), ("step-02", 50), ("overload", 60)):
        files = {file.name for file in (folder / name).iterdir()}
        assert files >= {"requests.parquet", raw.SAMPLES_FILE, "plan.json", "k6.log"}
        assert "ledger.rec" not in files
        assert len(requests_of(folder / name)) == requests
        assert len(json.loads((folder / name / "plan.json").read_text(encoding="utf-8"))["run_id"]) == 15


def test_a_lie_fails_its_step_in_words_and_nothing_is_doubled(run: Any) -> None:
    runtime = FakeRuntime(lies=[Lies(skip=frozenset({3}), double=frozenset({7}))])
    found = run(runtime)
    first, *others = [(step.verdict, step.audit) for step in found.steps]
    assert first == ("pass", None)
    assert set(others) == {("fail", "FAIL")}
    assert found.steps[1].reasons == (
        "the store does not match the acknowledged writes (audit FAIL)",
        "1 acknowledged writes are not in the store",
        "1 writes are stored more than once",
    )
    assert (found.overload, found.verdict.status) == (None, "invalid")


@pytest.mark.parametrize(("quiet_again", "words"), [(True, ""), (False, "the host was noisy for")])
def test_after_noise_a_quiet_host_is_waited_for_before_the_next_step(
    quiet_again: bool, words: str, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = FakeRuntime()
    said = io.StringIO()

    def wait(*_: object) -> bool:
        runtime.events.append("waited")
        return quiet_again

    def noisy(step: LoadStep, *_: object, **__: object) -> LoadStep:
        return dataclasses.replace(step, verdict="pass" if step.kind == "ramp" else "noise")

    monkeypatch.setattr(host, "wait_until_quiet", wait)
    monkeypatch.setattr(steps, "judge", noisy)
    found = run(runtime, Progress(console=Console(file=said)))
    waited = [*STEP, "waited"] * MOST_REPEATS
    assert runtime.events == [*PREPARED, *RAMP, *waited, *STEP, "saved", *STOPPED]
    assert words in said.getvalue()
    assert (found.verdict.status, found.verdict.noise) == ("unknown", True)


@pytest.mark.parametrize(
    ("runtime", "words"),
    [
        (
            FakeRuntime(lost=("app: ended with 137",)),
            "component lost in step 1, at 100/s: app: ended with 137",
        ),
        (
            FakeRuntime(lies=[Lies(keep_on_reset=3)]),
            "the store is not empty before the load: 50 rows",
        ),
    ],
)
def test_what_ends_a_run_is_said_and_its_steps_stay(
    runtime: FakeRuntime, words: str, tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(truth, "EMPTY_TIMEOUT_S", 0.5)
    with pytest.raises(StartError, match=words):
        run(runtime)
    assert runtime.events[-2:] == STOPPED
    assert len(facts_of(tmp_path / "jpa").steps) == 1


def test_a_promise_below_the_declared_one_is_not_measured(run: Any) -> None:
    less = dataclasses.replace(variant(), level="")  # type: ignore[arg-type] # below which any level is
    with pytest.raises(StartError, match="a 201 guarantees less than declared"):
        run(FakeRuntime(), of=less)


def test_ctrl_c_in_a_step_keeps_what_was_sent_and_leaves_no_generator(tmp_path: Path, run: Any) -> None:
    class Impatient(Progress):
        def load(self, live: Any) -> None:
            if live.acknowledged >= 20:
                raise KeyboardInterrupt

    runtime = FakeRuntime(mode="hang")
    cold = dataclasses.replace(SCENARIO, warm_up=None)
    with pytest.raises(KeyboardInterrupt):
        run(runtime, Impatient(console=Console(file=io.StringIO())), scenario=cold)
    assert runtime.events[-2:] == STOPPED
    folder = tmp_path / "jpa/step-01"
    assert len(requests_of(folder)) >= 20
    assert (folder / raw.SAMPLES_FILE).is_file()
    assert not (tmp_path / "k6.pid").exists()


def test_options_and_the_scenario_make_the_parameters() -> None:
    asked = dataclasses.replace(suite("jpa"), kind="capacity", params={**CAPACITY, "begins_per_s": 50})
    found = KIND.params_of(asked, {"slo_ms": 250, "step_seconds": 10})
    assert found == CapacityParams(
        operation="write",
        scenario="short",
        script="k6/scenarios/ramp.js",
        slo_ms=250.0,
        step_seconds=10.0,
        lowest_per_s=100.0,
        highest_per_s=100.0,
        documents=None,
        begins_per_s=50.0,
        warm_up_users=2,
        warm_up_for_s=0.1,
        at_most_seconds=480.0,
    )
    phases = SCENARIO.phases * 2
    two = dataclasses.replace(asked, scenario=dataclasses.replace(SCENARIO, phases=phases))
    for wrong, words in (
        (two, "'short' has 2 phases"),
        (dataclasses.replace(asked, scenario=None), "needs a `scenario`"),
        (
            dataclasses.replace(asked, params={**CAPACITY, "operation": "erase"}),
            '"erase": Input should be',
        ),
    ):
        with pytest.raises(UsageError, match=words):
            KIND.params_of(wrong, {})
