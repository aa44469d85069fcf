"""A real k6 asks what it is told to ask, compares each total with the expected one, and writes at the same time."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

import recording
from search.fake_posts import FakePosts, Lies
from writepath.config.registry import Phase
from writepath.load import k6, ledger
from writepath.load.corpus import Corpus, write_questions
from writepath.load.dataset import Dataset
from writepath.load.plan import arrival_plan, decode_id

ROOT = Path(__file__).resolve().parents[3]
RUN, WRITES_RUN = "0123456789abcde", "fedcba987654321"
LINES = ("영화 굿굿", "한국영화", "재미 & 100% 영화?", "감동", "재미있다", "스토리 감동")


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.of(Dataset(name="t", sha256="0" * 64, lines=LINES), 120, ("영화",), 1)


@pytest.fixture
def fake(corpus: Corpus) -> Iterator[FakePosts]:
    with FakePosts.of(corpus) as made:
        yield made


def searches(fake: FakePosts, corpus: Corpus, folder: Path, total: str = "exactly") -> k6.Load:
    """60 in 1.5 s."""
    folder.mkdir()
    totals = {k: corpus.total(k, "substring") for k in corpus.keywords}
    write_questions(corpus.drawn, totals, folder / "questions.json")
    return k6.Load(
        script=ROOT / "k6" / "scenarios" / "queries.js",
        target=fake.base_url,
        run_id=RUN,
        plan=arrival_plan([Phase(name="hold", seconds=1.5, from_per_s=40, to_per_s=40)]),
        content=folder / "questions.json",
        folder=folder,
        operation=ledger.SEARCH,
        variables={"BENCH_TOTAL": total},
    )


def test_questions_are_what_was_drawn_as_it_stands_in_a_url(corpus: Corpus, tmp_path: Path) -> None:
    totals = {keyword: number for number, keyword in enumerate(corpus.keywords)}
    write_questions(corpus.drawn, totals, tmp_path / "q.json")
    written = json.loads((tmp_path / "q.json").read_text(encoding="utf-8"))
    assert [unquote(one["keyword"]) for one in written] == list(corpus.drawn)
    assert all(one["total"] == totals[unquote(one["keyword"])] for one in written)
    assert all(one["keyword"].isascii() for one in written)


def test_every_search_is_asked_and_a_larger_total_is_right_only_where_posts_are_added(
    fake: FakePosts, corpus: Corpus, tmp_path: Path, prefix: list[str]
) -> None:
    wrong = {"wrong total": 60}
    for total, miscount, errors in (("exactly", 0, {}), ("at-least", 3, {}), ("at-least", -1, wrong)):
        fake.lies = Lies(miscount=miscount)
        result = k6.run(searches(fake, corpus, tmp_path / f"load{miscount}", total), [prefix])
        assert (result.complete, result.started, result.dropped) == (True, 60, 0)
        taken = ledger.read(result.ledger)
        assert (recording.by_status(taken), recording.by_error(taken)) == ({200: 60}, errors)


def test_a_wrong_total_is_an_error_of_its_own_and_no_answer(
    fake: FakePosts, corpus: Corpus, tmp_path: Path, prefix: list[str]
) -> None:
    fake.lies = Lies(hide=frozenset({"감동"}))
    result = k6.run(searches(fake, corpus, tmp_path / "load"), [prefix])
    taken = ledger.read(result.ledger)
    wrong = np.array([keyword == "감동" for keyword in corpus.drawn[:60]])
    assert 0 < wrong.sum() < 60
    assert (taken.records["error_code"] == np.where(wrong, ledger.WRONG_TOTAL, 0)).all()
    assert recording.by_error(taken) == {"wrong total": wrong.sum()}
    assert taken.acknowledged().tolist() == (~wrong).tolist()
    tail = ledger.Tail(result.ledger).poll()
    assert (tail.finished, tail.acknowledged) == (60, 60 - wrong.sum())


def test_writes_beside_searches_have_a_plan_a_ledger_and_counts_of_their_own(
    fake: FakePosts, corpus: Corpus, tmp_path: Path, prefix: list[str]
) -> None:
    folder = tmp_path / "writes"
    folder.mkdir()
    corpus.written.write(folder / "content.json")
    writes = k6.Load(
        script=ROOT / "k6" / "scenarios" / "beside.js",
        target=fake.base_url,
        run_id=WRITES_RUN,
        plan=arrival_plan([Phase(name="writes", seconds=1.5, from_per_s=20, to_per_s=20)]),
        content=folder / "content.json",
        folder=folder,
    )
    load = searches(fake, corpus, tmp_path / "load", "at-least")
    result = k6.run(dataclasses.replace(load, script=writes.script, beside=writes), [prefix])
    assert (result.complete, result.started) == (True, 60)
    beside = result.beside
    assert beside is not None
    assert (beside.complete, beside.started, beside.dropped) == (True, 30, 0)
    assert recording.by_error(ledger.read(result.ledger)) == {}
    assert recording.by_status(ledger.read(beside.ledger)) == {201: 30}
    written = [post for post in fake.posts if decode_id(post["id"]) == (WRITES_RUN, 7)]
    assert [post["content"] for post in written] == [corpus.written.content(7)]
