"""How a suite of sessions finds its rate, and what its loads send."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest

from experiments.planted_cell import bench, cell_run
from lifecycle import fakes
from writepath.config import registry
from writepath.config.settings import CONDITION, known, parse
from writepath.errors import LoadError, UsageError
from writepath.experiments import plan
from writepath.experiments.base import CellRun
from writepath.experiments.load import reads
from writepath.experiments.load.kind import LoadExperiment
from writepath.experiments.load.reads import FindRate, found_rates, rate_of, sent
from writepath.options import Asked, Call
from writepath.records.load_facts import FoundRate

ROOT = Path(__file__).resolve().parents[3]
ASKED = FindRate(first_per_s=20, highest_per_s=1000, seconds=60)
LIMIT_PER_S, NEW_LIMIT_PER_S = 100.0, 80.0


class NoSession:
    """A stack that is never started."""

    settings: ClassVar[list[dict[str, str]]] = []

    def __init__(self, _bench: object) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def started(self, run: CellRun) -> tuple[int, None]:
        self.settings.append(dict(run.settings))
        return len(self.settings), None


@pytest.fixture
def cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., CellRun]:
    """Cells of suite pool; a request fails above 100 sessions/s, on the second and later stacks above 80."""

    def step(_run: object, stack: int, _truth: object, rate_per_s: float, _seconds: float) -> FoundRate:
        limit_per_s = LIMIT_PER_S if stack == 1 else NEW_LIMIT_PER_S
        return FoundRate(rate_per_s=rate_per_s, sessions=1, timed_out=0, failed=int(rate_per_s > limit_per_s))

    monkeypatch.setattr(reads, "_step", step)
    monkeypatch.setattr(reads, "Session", NoSession)
    monkeypatch.setattr(NoSession, "settings", [])
    suite = registry.load(ROOT).suite("pool")
    scenario = replace(suite.load, warm_up=None)
    made = replace(bench(tmp_path, fakes.FakeRuntime()), root=tmp_path)

    def one(condition: str) -> CellRun:
        settings = {**suite.settings, **(suite.conditions or {})[condition]}
        run = cell_run(made, name=condition, scenario=scenario, of=suite.variants[0], settings=settings)
        run.suite = replace(suite, scenario=scenario)
        run.cell = replace(run.cell, levels={CONDITION: condition})
        run.folder = run.folder / "block-01"
        run.folder.mkdir()
        return run

    return one


def test_a_rate_is_found_in_large_steps_then_small_ones_then_down_to_what_a_new_stack_serves(
    cell: Callable[..., CellRun],
) -> None:
    steps = found_rates(cell("driver"), ASKED)
    assert [(one.rate_per_s, one.failed) for one in steps] == [
        (20.0, 0), (30.0, 0), (45.0, 0), (67.5, 0), (101.2, 1), (79.0, 0), (92.4, 0),
        (92.4, 1), (79.0, 0),
    ]  # fmt: skip
    assert rate_of(steps) == 79.0


def test_a_rate_is_found_once_a_suite_run_on_the_stack_of_its_baseline(cell: Callable[..., CellRun]) -> None:
    first = found_rates(cell("far-too-large-idle-0"), ASKED)
    assert found_rates(cell("formula"), ASKED) == first
    settings, *_ = NoSession.settings
    assert len(NoSession.settings) == 3
    assert (settings["POOL_SIZE"], settings["IN_FLIGHT_MAX"]) == ("10", "16384")
    assert "POOL_MIN_IDLE" not in settings


def test_a_first_rate_at_which_requests_fail_is_refused_with_what_to_set(
    cell: Callable[..., CellRun],
) -> None:
    steps = found_rates(cell("boot"), replace(ASKED, first_per_s=200))
    assert len(steps) == 1
    with pytest.raises(LoadError, match=r"requests failed at 200 sessions/s already; set a lower"):
        rate_of(steps)


def test_sessions_are_drawn_by_the_seed_from_the_users_of_the_data(cell: Callable[..., CellRun]) -> None:
    run = cell("boot")
    run.bench = replace(run.bench, root=ROOT)
    first = sent(run).read_text(encoding="utf-8")
    assert sent(run).read_text(encoding="utf-8") == first
    session = json.loads(first)[0]
    name = session["body"]["name"]
    assert session["body"]["password"] == name.replace("user", "password")
    assert 1 <= int(name.removeprefix("user-")) <= 10_000
    assert len(session["lists"]) == 5
    run.seed += 1
    assert sent(run).read_text(encoding="utf-8") != first


def planned(suite: str, *words: str, variants: Any = None) -> Any:
    given = parse(words, known(ROOT))
    return plan.plan(
        Call(root=ROOT, command="bench-all"), Asked(suite=suite, variants=variants, settings=given)
    )


@pytest.mark.parametrize(
    ("suite", "words", "variants", "said"),
    [
        ("pool", (), ("jpa",), "VARIANTS=jpa: serves writes, and 'pool' sends reads"),
        ("smoke", (), ("jpa-reader",), "VARIANTS=jpa-reader: serves reads, and 'smoke' sends writes"),
        ("capacity", (), ("jpa-reader",), "VARIANTS=jpa-reader: serves reads, and 'capacity' sends writes"),
        ("smoke", ("RATE_TIMES=2",), None, "RATE_TIMES=2: 'smoke' does not find its rate; use RATE_SCALE"),
        (
            "feed",
            ("AOT_CACHE=trained",),
            None,
            "AOT_CACHE=trained: the training run writes, and 'feed' sends reads",
        ),
    ],
)
def test_what_a_suite_of_reads_cannot_use_is_refused(
    suite: str, words: tuple[str, ...], variants: Any, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        planned(suite, *words, variants=variants)


def test_only_an_open_load_of_sessions_finds_its_rate() -> None:
    suite = registry.load(ROOT).suite("pool")
    closed = replace(suite, scenario=registry.load(ROOT).scenarios["closed-feed"])
    with pytest.raises(
        UsageError, match=r"suites.pool.load.find_rate: 'closed-feed' is no open load of sessions"
    ):
        LoadExperiment().params_of(closed, {})
