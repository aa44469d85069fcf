"""A series of suites: each a suite run of its own, with the options that it has, and continued where it was stopped."""

import json
from pathlib import Path

import pytest

from experiments.test_engine import interrupted
from experiments.toy import Toy, checkout, registered, suites_yaml
from writepath import cli
from writepath.config import registry
from writepath.errors import INTERRUPTED, UsageError
from writepath.experiments import engine, series
from writepath.experiments import plan as planning
from writepath.options import Asked, Call
from writepath.progress import FIRST_GUESS_OVERHEAD_S
from writepath.records.index import load_index

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = Call(root=ROOT, command="bench-all")
NAMES = ("first", "second", "third")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    return registered(monkeypatch)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with a series of three suites, the last of which is a closed load."""
    data = json.loads(suites_yaml("jpa", "rabbitmq-jpa"))
    users = {"script": "k6/scenarios/ramp.js", "virtual_users": 2, "seconds": 1}
    data["scenarios"]["users"] = users
    phases = data["scenarios"]["none"]["phases"]
    phases.append({**phases[0], "name": "another"})
    entry = data["suites"]["toys"]
    data["suites"] = dict.fromkeys(NAMES[:-1], entry) | {NAMES[-1]: {**entry, "scenario": "users"}}
    data["series"] = {"all-of-them": {"title": "All", "suites": [{"suite": name} for name in NAMES]}}
    return checkout(tmp_path, json.dumps(data))


def wp(root: Path, *words: str) -> int:
    return cli.run(["bench-all", "SUITE=all-of-them", *words], root)


def runs(root: Path) -> dict[str, int]:
    """Suite runs by suite."""
    return {name: len([*(root / "results" / name).glob("2*")]) for name in NAMES}


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Of suites and series as a whole."""
    lines = capsys.readouterr().out.splitlines()
    return [line for line in lines if line.startswith(("suite ", "series "))]


def test_each_suite_is_a_run_of_its_own_after_all_estimates_and_the_worst_exit_code_counts(
    root: Path, toy: Toy, capsys: pytest.CaptureFixture[str]
) -> None:
    toy.noisy = (3,)  # of the second suite
    assert wp(root, "RERUNS=0", "SEED=7") == 3
    assert runs(root) == dict.fromkeys(NAMES, 1)
    assert len(toy.measured) == 6
    assert {load_index(path.parent).seed for path in root.glob("results/*/2*/index.json")} == {7}
    lines = said(capsys)
    assert lines[:4] == [
        *(f"suite {name}: 2 cells, about 2 minutes" for name in NAMES),
        "series all-of-them: 3 suite runs, about 4 minutes",
    ]
    assert [line.split(",")[0].split(":")[0] for line in lines[4:]] == [f"suite {name}" for name in NAMES]


def test_an_option_goes_to_the_suites_that_have_it_and_is_said_of_the_others(
    root: Path, toy: Toy, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wp(root, "VARIANTS=jpa", "SECONDS=5", "RATE=7", "POOL_SIZE=5,10", "ROUNDS=4") == 0
    assert {name for name, _ in toy.measured} == {"jpa,POOL_SIZE=5", "jpa,POOL_SIZE=10"}
    found = {name: load_index(next((root / "results" / name).glob("2*"))) for name in NAMES}
    assert [found[name].settings for name in NAMES] == [{"RATE": "7"}, {"RATE": "7"}, {"SECONDS": "5"}]
    assert {index.params["thought_ms"] for index in found.values()} == {4}
    without = [line.partition("; ")[2] for line in said(capsys)[:3]]
    assert without == [
        f"without {word}, which it does not have" for word in ("SECONDS=5", "SECONDS=5", "RATE=7")
    ]


def test_an_option_that_no_suite_has_is_refused_before_anything_starts(root: Path, toy: Toy) -> None:
    for word, why in (("TRACES=x", "only `up` takes it"), ("VARIANTS=jap", "did you mean 'jpa'?")):
        with pytest.raises(UsageError, match=why):
            wp(root, word)
    assert (toy.measured, runs(root)) == ([], dict.fromkeys(NAMES, 0))


def test_what_was_stopped_is_continued_and_what_has_ended_is_not_run_again(
    root: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run of the third suite that is older than the series is none of it."""
    with pytest.raises(
        UsageError, match="RESUME=1: no suite run of 'first', with which 'all-of-them' begins"
    ):
        wp(root, "RESUME=1")
    with monkeypatch.context() as patch:
        patch.setattr(engine, "STAMP", "20260101T000000Z")
        assert cli.run(["bench-all", "SUITE=third"], root) == 0
    toy.before = interrupted(4)
    assert wp(root) == INTERRUPTED
    assert runs(root) == {"first": 1, "second": 1, "third": 1}
    before, toy.before = len(toy.measured), lambda _: None
    capsys.readouterr()
    assert wp(root, "RESUME=1") == 0
    assert runs(root) == {"first": 1, "second": 1, "third": 2}
    assert len(toy.measured) == before + 3
    assert said(capsys)[:3] == [
        "suite first: finished",
        "suite second: continued, at most 2 minutes",
        "suite third: 2 cells, about 2 minutes",
    ]
    with pytest.raises(UsageError, match="RESUME=1: every suite of 'all-of-them' has ended"):
        wp(root, "RESUME=1")


def test_an_estimate_counts_a_start_and_a_warm_up_for_each_stack_and_a_load_for_each_cell() -> None:
    plan = planning.plan(SHIPPED, Asked(suite="threads"))
    assert [len(group) for block in planning.groups(plan) for group in block].count(6) == 3 * 4
    stacks, cells = 3 * 5, 3 * 25
    assert plan.params.warm_up_seconds > series.UNTIL_STEADY_S
    per_stack_s = FIRST_GUESS_OVERHEAD_S + series.UNTIL_STEADY_S
    assert series.expected_seconds(plan) == stacks * per_stack_s + cells * plan.params.seconds


def test_cells_of_references_last_as_long_as_their_kind_says() -> None:
    plan = planning.plan(SHIPPED, Asked(suite="capacity", reps=1))
    assert plan.references is not None
    tools_s = plan.references.kind.load_seconds(plan.references.params)
    steps_s = plan.params.at_most_seconds - plan.params.warm_up_seconds
    each_s = FIRST_GUESS_OVERHEAD_S + series.UNTIL_STEADY_S + steps_s
    assert series.expected_seconds(plan) == len(plan.variants) * each_s + 3 * (
        FIRST_GUESS_OVERHEAD_S + tools_s
    )


def test_every_suite_of_a_shipped_series_takes_a_seed_and_repetitions() -> None:
    for name, one in registry.load(ROOT).series.items():
        lines = list[str]()
        plans = series.plans(SHIPPED, Asked(suite=name, reps=2, seed=5), lines.append)
        assert [plan.suite.name for plan in plans] == [member.suite for member in one.suites]
        assert {(plan.repetitions, plan.seed) for plan in plans} == {(2, 5)}
        assert len(lines) == len(plans) + 1
