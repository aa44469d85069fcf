"""A capacity run of searches on a store that can be told to lie, with a real k6: steps, then searches during writes."""

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console

import planted_steps
from experiments.planted_cell import bench, cell_run
from lifecycle.fakes import on_any_host, variant
from planted_steps import CANARY, QUIET, strict
from search.fake_posts import FakePosts, Lies
from search.fake_store import Runtime
from writepath.analysis import steps
from writepath.config.registry import Phase, Scenario, Suite
from writepath.errors import UsageError
from writepath.experiments.base import Session
from writepath.experiments.capacity import kind as capacity_kind
from writepath.experiments.capacity import searches
from writepath.experiments.capacity.searches import found, undisturbed
from writepath.experiments.warm_path import Step
from writepath.load.corpus import Corpus
from writepath.load.dataset import Dataset, generate
from writepath.load.plan import encode_id
from writepath.measure import host, searchable, visible
from writepath.measure.searchable import Client
from writepath.progress import Progress
from writepath.provision import golang
from writepath.records.capacity_run import CapacityResult
from writepath.records.steps import Bracket, SentFacts

ROOT = Path(__file__).resolve().parents[3]
RUN, WRITES = "fedcba987654321", 60
LINES = ("영화 굿굿", "한국영화", "재미 영화", "감동", "재미있다", "스토리 감동")
KIND = capacity_kind.CapacityExperiment()
PHASE = Phase(name="step", seconds=1, from_per_s=2, to_per_s=4000)
SUITE = Suite(
    name="search-capacity",
    title="Searches",
    kind="capacity",
    scenario=Scenario(name="search-steps", script="k6/scenarios/queries.js", phases=(PHASE,)),
    repetitions=1,
    variants=(variant(),),
    params={"operation": "search", "slo_ms": 500, "documents": 1000},
)


class OneStep:
    """40/s, and that is sustained."""

    ended = ""

    def __init__(self, *, start_per_s: float, **_: object) -> None:
        assert start_per_s > 1  # a quarter of what one client reached
        self.step: Step | None = Step(kind="bisection", rate_per_s=40.0, seconds=1.0)

    def told(self, *_: object) -> None:
        self.step = None

    def bracket(self) -> Bracket:
        return Bracket(
            highest_passing_per_s=40.0, lowest_failing_per_s=None, lower_bound=True, steps=1,
            interval_per_s=(40.0, 75.0),
        )  # fmt: skip


def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lies: Lies) -> tuple[CapacityResult, Runtime, Path]:
    on_any_host(monkeypatch)
    monkeypatch.setattr(capacity_kind, "Stepper", OneStep)
    monkeypatch.setattr(steps, "judge", strict)
    monkeypatch.setattr(searches, "ONE_CLIENT_WARM_UP_S", 0.0)
    monkeypatch.setattr(searches, "WARM_UP_S", 1.0)
    monkeypatch.setattr(searches, "REQUESTS", 1)
    monkeypatch.setattr(visible, "QUIET_S", 0.2)
    runtime = Runtime(lies=[lies], generator=(str(golang.K6.ensure(ROOT, print)),))
    used = bench(tmp_path, runtime, Progress(console=Console(file=io.StringIO(), width=300)))  # type: ignore[arg-type]
    made = replace(
        cell_run(used, params=KIND.params_of(SUITE, {})),
        suite=SUITE,
        dataset=generate(1, 200),
        bench=replace(used, root=ROOT),
    )
    with Session(made.bench) as session:
        KIND.measure(made, session)
    return KIND.derive(KIND.reduce(made.folder, host.host_facts(tmp_path))), runtime, made.folder


def test_searches_are_measured_alone_and_during_writes_and_every_write_is_searched_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, runtime, folder = run(tmp_path, monkeypatch, Lies())
    assert (result.operation, result.verdict.status) == ("search", "valid")
    assert [(step.audit, step.requests.acknowledged) for step in result.steps] == [(None, 40)]
    assert result.searches is not None
    assert (result.searches.data_set.mode, result.searches.data_set.loading.documents) == ("substring", 1000)
    during = result.searches.during_writes
    assert during is not None
    assert (during.search_rate_per_s, during.write_rate_per_s, during.seconds) == (20.0, 50.0, 1.0)
    assert during.writes_found == during.writes_acknowledged == 50
    assert (during.wrong_answers, during.warm_up_seconds) == (0, 2.0)
    assert during.alone_latency_ms.max is not None
    assert during.search_latency_ms.max is not None
    kept = {path.name for path in folder.iterdir() if path.is_dir()}
    assert kept == {"step-01", "alone", "during-writes", "writes", "logs"}  # nothing of the warm-up
    assert runtime.events == ["start", "logs", "stop"]


def test_writes_that_no_search_finds_and_wrong_totals_make_the_run_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lie begins with the writes: all searches before are right."""
    result, *_ = run(tmp_path, monkeypatch, Lies(forget_writes=True))
    assert result.verdict.status == "invalid"
    assert result.verdict.reasons == ("0 of 50 acknowledged writes were found",)


@pytest.mark.parametrize(("operation", "documents"), [("search", None), ("write", 1000)])
def test_only_searches_have_a_number_of_posts(operation: str, documents: int | None) -> None:
    params = {"operation": operation, "slo_ms": 500} | ({} if documents is None else {"documents": documents})
    with pytest.raises(UsageError, match=r"documents=.* \(DOCS\) with operation"):
        KIND.params_of(Suite(**{**vars(SUITE), "params": params}), {})


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.of(Dataset(name="t", sha256="0" * 64, lines=LINES), 300, (), 1)


@pytest.fixture
def fake(corpus: Corpus) -> Iterator[FakePosts]:
    """All writes stored, behind 300 posts."""
    with FakePosts.of(corpus) as made:
        for sequence in range(WRITES):
            post = {"id": encode_id(RUN, sequence), "content": corpus.written.content(sequence)}
            made.posts.append({**post, "createdAt": "2027-01-01T00:00:00.000Z"})
        yield made


def written(*unanswered: int) -> NDArray[np.int64]:
    """Sequences of the acknowledged writes."""
    return np.setdiff1d(np.arange(WRITES), unanswered)


def sent(steal_share: float = 0.0) -> SentFacts:
    return planted_steps.sent(withheld=replace(QUIET, steal_share=steal_share))


@pytest.mark.parametrize("page", [7, 1000])
def test_all_writes_are_found_over_as_many_pages_as_it_takes(
    fake: FakePosts, corpus: Corpus, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searchable, "EVERY_MATCH", page)
    with Client(fake.base_url) as client:
        assert found(RUN, written(), corpus, "substring", client) == WRITES


def test_a_write_that_a_search_misses_is_not_found_unless_it_has_no_201(
    fake: FakePosts, corpus: Corpus
) -> None:
    ids = {encode_id(RUN, sequence) for sequence in (3, 10, 11)}
    fake.posts = [post for post in fake.posts if post["id"] not in ids]
    with Client(fake.base_url) as client:
        assert found(RUN, written(), corpus, "substring", client) == WRITES - 3
        assert found(RUN, written(3), corpus, "substring", client) == WRITES - 1 - 2


@pytest.mark.parametrize(("noisy", "made", "left"), [(0, 1, False), (2, 3, False), (9, 4, True)])
def test_a_noisy_load_is_retried_on_a_quiet_host_at_most_three_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noisy: int, made: int, *, left: bool
) -> None:
    waits: list[object] = []
    monkeypatch.setattr(searches, "wait_for_quiet", waits.append)
    said: list[str] = []
    bench = SimpleNamespace(progress=SimpleNamespace(say=said.append))
    path: Any = SimpleNamespace(run=SimpleNamespace(folder=tmp_path, bench=bench, canary=lambda: CANARY))
    loads: list[int] = []

    def send() -> tuple[SentFacts, None]:
        (tmp_path / "alone").mkdir()
        loads.append(len(loads) + 1)
        return sent(0.03 if len(loads) <= noisy else 0.0), None

    _, _, noise = undisturbed(path, send, "alone")
    assert (len(loads), len(waits), len(said), bool(noise)) == (made, made - 1, made - 1, left)
    assert {one.name for one in tmp_path.iterdir()} == {
        "alone",
        *(f"alone-noise-{number}" for number in range(1, made)),
    }
