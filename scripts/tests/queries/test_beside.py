"""Is every write counted as found that every search finds which must, and no other?"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from queries.fake_posts import FakePosts
from writepath.analysis.noise import Withheld
from writepath.config.registry import Phase
from writepath.load.dataset import Dataset
from writepath.load.ledger import RECORD, Ledger
from writepath.load.plan import ArrivalPlan, arrival_plan, encode_id
from writepath.queries import answers, beside
from writepath.queries.answers import Client
from writepath.queries.beside import Meeting, Written, found
from writepath.queries.corpus import Corpus
from writepath.records import Canary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RUN = "fedcba987654321"
WRITES = 60
LINES = ("영화 굿굿", "한국영화", "재미 영화", "감동", "재미있다", "스토리 감동")


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.of(Dataset(name="t", sha256="0" * 64, lines=LINES), 300, ("영화",), 1)


@pytest.fixture
def fake(corpus: Corpus) -> Iterator[FakePosts]:
    """All writes stored, behind 300 posts."""
    with FakePosts() as made:
        for _, body in corpus.documents.chunks():
            made.load(body)
        for sequence in range(WRITES):
            post = {"id": encode_id(RUN, sequence), "content": corpus.written.content(sequence)}
            made.posts.append({**post, "createdAt": "2027-01-01T00:00:00.000Z"})
        yield made


def written(*unanswered: int) -> Written:
    records = np.zeros(WRITES, RECORD)
    records["seq"] = np.arange(WRITES)
    records["status"] = 201
    records["status"][list(unanswered)] = 503
    plan = arrival_plan([Phase(name="writes", seconds=1, from_per_s=WRITES, to_per_s=WRITES)])
    return Written(run_id=RUN, plan=plan, taken=Ledger(records=records), dropped=0, seen=None)


def count(fake: FakePosts, corpus: Corpus, load: Written, tmp_path: Path) -> int:
    with Client(fake.base_url) as client:
        rig: Any = SimpleNamespace(truth=SimpleNamespace(count=lambda: len(fake.posts)))
        meeting = Meeting(rig=rig, corpus=corpus, mode="substring", questions=tmp_path / "q", client=client)
        return found(load, meeting)


@pytest.mark.parametrize("page", [7, 1000])
def test_all_writes_are_found_over_as_many_pages_as_it_takes(
    fake: FakePosts, corpus: Corpus, tmp_path: Path, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "EVERY_MATCH", page)
    assert count(fake, corpus, written(), tmp_path) == WRITES


def test_a_write_that_a_search_misses_is_not_found(fake: FakePosts, corpus: Corpus, tmp_path: Path) -> None:
    ids = {encode_id(RUN, sequence) for sequence in (3, 10, 11)}
    fake.posts = [post for post in fake.posts if post["id"] not in ids]
    assert count(fake, corpus, written(), tmp_path) == WRITES - 3


def test_a_write_without_its_201_is_not_missed(fake: FakePosts, corpus: Corpus, tmp_path: Path) -> None:
    fake.posts = [post for post in fake.posts if post["id"] != encode_id(RUN, 3)]
    assert count(fake, corpus, written(3), tmp_path) == WRITES - 1


def test_writes_are_warm_before_searches_join_them_at_the_rates_that_are_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[tuple[float, float]] = []

    def load(_: object, searches: Any, folder: Path, writes: Any) -> None:
        folder.mkdir()
        made.append((searches.phases[0].from_per_s, writes.plan.phases[0].from_per_s))

    def writes(_: object, plan: ArrivalPlan, name: str) -> Any:
        (tmp_path / name).mkdir()
        return SimpleNamespace(plan=plan)

    monkeypatch.setattr(beside, "load", load)
    monkeypatch.setattr(beside, "_writes", writes)
    monkeypatch.setattr(beside, "_mixed", lambda _: None)
    progress = SimpleNamespace(phase=lambda _: None)
    spec = SimpleNamespace(folder=tmp_path, slo_ms=500.0)
    meeting: Any = SimpleNamespace(rig=SimpleNamespace(spec=spec, bench=SimpleNamespace(progress=progress)))
    for rate_per_s in (138.3, 0.5):
        beside._warm_up(meeting, rate_per_s)  # noqa: SLF001 - what it leaves out shows in figures alone
    assert made == [(1.0, 200.0), (138.3, 50.0), (0.5, 200.0), (0.5, 50.0)]
    assert list(tmp_path.iterdir()) == []


class Loads:
    """A rig whose loads are spoilt as often as it is told, and what was done with them."""

    def __init__(self, folder: Path, spoilt: int) -> None:
        self.left, self.said, self.waits, self.made = spoilt, list[str](), 0, 0
        self.folder = folder
        canary = Canary(
            fsync_ms_p50=0.5,
            fsync_ms_p99=1.0,
            cpu_ms=50.0,
            steal_share=0.0,
            load_average_1m=0.0,
            disk_free_bytes=1,
        )
        self.rig: Any = SimpleNamespace(
            spec=SimpleNamespace(folder=folder),
            bench=SimpleNamespace(
                cage=SimpleNamespace(measure=lambda: canary), progress=SimpleNamespace(say=self.said.append)
            ),
        )

    def wait(self, rig: object) -> None:
        assert rig is self.rig
        self.waits += 1

    def make(self) -> tuple[Any, str]:
        (self.folder / "alone").mkdir()
        (self.folder / "alone" / "number").write_text(str(self.made))
        self.made += 1
        spoilt, self.left = self.left > 0, self.left - 1
        taken = Withheld(steal_share=0.03 if spoilt else 0.0, throttled_share=None, swapped_pages=0)
        return SimpleNamespace(withheld=taken), f"load {self.made}"


@pytest.mark.parametrize(("spoilt", "made", "noisy"), [(0, 1, False), (2, 3, False), (9, 4, True)])
def test_a_load_that_noise_spoilt_is_made_again_on_a_quiet_host_at_most_three_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoilt: int, made: int, noisy: bool
) -> None:
    loads = Loads(tmp_path, spoilt)
    monkeypatch.setattr(beside, "wait_for_quiet", loads.wait)
    _, more, noise = beside.undisturbed(loads.rig, loads.make, "alone")
    assert (more, loads.made, loads.waits, len(loads.said)) == (f"load {made}", made, made - 1, made - 1)
    assert bool(noise) is noisy
    kept = {path.name: (path / "number").read_text() for path in tmp_path.iterdir()}
    assert kept == {
        **{f"alone-noise-{number}": str(number - 1) for number in range(1, made)},
        "alone": str(made - 1),
    }
