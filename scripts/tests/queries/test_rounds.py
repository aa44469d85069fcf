"""Does one client get every post of a keyword, and is every wrong answer told from a right one?"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rich.console import Console

from queries.fake_posts import FakePosts, Lies
from writepath.errors import AuditError
from writepath.load.dataset import Dataset
from writepath.measure import crash
from writepath.progress import Progress
from writepath.queries import answers, rounds
from writepath.queries.answers import Client
from writepath.queries.corpus import Corpus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from writepath.records.queries import Hits, Round, SearchMode

LINES = ("영화 굿굿", "한국영화", "재미 영화", "감동", "재미있다", "스토리 감동")
ASKED = ("영화", "감동", "없는말")
COUNT = 150


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "EVERY_MATCH", 40)
    monkeypatch.setattr(rounds, "WARM_UP_S", 0.0)


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.of(Dataset(name="t", sha256="0" * 64, lines=LINES), COUNT, ASKED, 1)


@pytest.fixture
def fake(corpus: Corpus) -> Iterator[FakePosts]:
    with FakePosts() as made:
        for _, body in corpus.documents.chunks():
            made.load(body)
        yield made


def progress() -> Progress:
    return Progress(console=Console(file=io.StringIO(), width=200))


def asked(fake: FakePosts, corpus: Corpus, mode: SearchMode = "substring") -> tuple[list[Round], list[Hits]]:
    orders = rounds.orders(ASKED, 2, 1, 1)
    with Client(fake.base_url) as client:
        return rounds.ask(corpus, mode, client, orders, progress())


def test_every_keyword_is_asked_in_every_round_and_the_first_round_is_cold(
    fake: FakePosts, corpus: Corpus
) -> None:
    made, hits = asked(fake, corpus)
    assert len(made) == 2 * 2 * len(ASKED)
    assert {(one.round, one.cold) for one in made} == {(1, True), (2, False)}
    whole = next(one for one in made if (one.keyword, one.kind) == ("영화", "every-match"))
    assert (whole.posts, whole.requests) == (75, 2)
    page = next(one for one in made if (one.keyword, one.kind) == ("영화", "first-page"))
    assert (page.posts, page.requests) == (20, 1)
    assert all(one.latency_ms > 0 for one in made)
    assert [(one.keyword, one.expected, one.found, one.missed, one.surplus) for one in hits] == [
        ("영화", 75, 75, 0, 0),
        ("감동", 50, 50, 0, 0),
        ("없는말", 0, 0, 0, 0),
    ]
    assert [one.as_word for one in hits] == [50, 50, 0]
    assert all(one.explained for one in hits)
    rounds.require_right(hits)


def test_a_search_by_words_that_finds_substrings_is_not_explained(fake: FakePosts, corpus: Corpus) -> None:
    _, hits = asked(fake, corpus, "native")
    assert [one.explained for one in hits] == [False, True, True]
    rounds.require_right(hits)  # its rule is the store's own: a finding, no failure


def test_a_search_by_words_that_leaves_out_compounds_is_explained(fake: FakePosts, corpus: Corpus) -> None:
    fake.lies = Lies(hide=frozenset({"한국영화"}))
    _, hits = asked(fake, corpus, "native")
    first = hits[0]
    assert (first.expected, first.found, first.missed, first.surplus, first.as_word) == (75, 50, 25, 0, 50)
    assert first.explained


@pytest.mark.parametrize(
    ("lies", "words"),
    [
        (Lies(hide=frozenset({"한국영화"})), "'영화': 50 counted, 25 of 75 missed, 0 too many"),
        (Lies(miscount=1), "'영화': 76 counted, 0 of 75 missed, 0 too many"),
    ],
)
def test_posts_that_are_missed_or_miscounted_are_named(
    fake: FakePosts, corpus: Corpus, lies: Lies, words: str
) -> None:
    fake.lies = lies
    _, hits = asked(fake, corpus)
    with pytest.raises(AuditError) as refused:
        rounds.require_right(hits)
    assert words in str(refused.value)


def test_a_post_that_comes_twice_is_one_too_many(fake: FakePosts, corpus: Corpus) -> None:
    fake.lies = Lies(repeat=True)
    with Client(fake.base_url) as client:
        found = answers.hits(client.every_match("영화"), "substring", corpus.oracle)
    assert (found.missed, found.surplus, found.explained) == (0, 2, False)  # of two pages


def test_a_post_of_other_content_is_missed_and_too_many(fake: FakePosts, corpus: Corpus) -> None:
    fake.posts[0]["content"] = "다른 영화"
    with Client(fake.base_url) as client:
        found = answers.hits(client.every_match("영화"), "substring", corpus.oracle)
    assert (found.missed, found.surplus, found.explained) == (1, 1, False)


def test_the_right_posts_in_another_order_are_not_right(fake: FakePosts, corpus: Corpus) -> None:
    fake.lies = Lies(oldest_first=True)
    _, hits = asked(fake, corpus)
    assert [one.missed + one.surplus for one in hits] == [0, 0, 0]
    with pytest.raises(AuditError, match="or in the wrong order"):
        rounds.require_right(hits)


@pytest.mark.parametrize(
    ("lies", "words"),
    [
        (Lies(refuse=True), "answered 503: the store is down"),
        (Lies(garble=True), "not a page of posts"),
        (Lies(no_total=True), "returned no total"),
        (Lies(endless=True), "does not end: it returned 5 pages"),
        (Lies(other_next=True), "in an unknown format"),
        (Lies(miscount_large=1), "the first page or its total differs from that of all matches"),
    ],
)
def test_an_answer_that_is_none_ends_the_rounds(
    fake: FakePosts, corpus: Corpus, lies: Lies, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MOST_PAGES", 5)
    fake.lies = lies
    with pytest.raises(AuditError) as refused:
        asked(fake, corpus)
    assert words in str(refused.value)


def test_a_server_that_is_gone_is_no_answer(corpus: Corpus) -> None:
    with FakePosts() as gone:
        url = gone.base_url
    with Client(url) as client:
        assert not client.holds(corpus.documents.post_id(0))
        with pytest.raises(AuditError, match="a search for '영화' got no answer"):
            client.first_page("영화")


def test_totals_at_rest_are_those_of_the_oracle_or_the_reading_ends(fake: FakePosts, corpus: Corpus) -> None:
    with Client(fake.base_url) as client:
        found, odd = rounds.totals(corpus, "substring", client, progress())
        assert found == {k.text: corpus.oracle.total(k.text, "substring") for k in corpus.keywords}
        assert odd == []
        fake.lies = Lies(miscount=2)
        with pytest.raises(AuditError, match=r"counts [0-9]+ posts, but [0-9]+ contain it"):
            rounds.totals(corpus, "substring", client, progress())


def test_totals_by_words_that_no_rule_explains_are_kept_with_their_hits(
    fake: FakePosts, corpus: Corpus
) -> None:
    with Client(fake.base_url) as client:
        found, odd = rounds.totals(corpus, "native", client, progress())
    assert found["영화"] == 75  # what it answers at rest is what it must answer under load
    assert {one.keyword: (one.found, one.explained) for one in odd} == {
        "영화": (75, False),
        "재미": (50, False),
    }


@dataclass
class Restarted:
    """A stack of two stores, ready at the third look; the path promises less until the second question."""

    events: list[str] = field(default_factory=list)
    stores: tuple[str, ...] = ("a", "b")
    levels: list[str] = field(default_factory=lambda: ["B", "A"])
    ready_after: int = 4

    def terminate(self, component: str) -> None:
        self.events.append(f"end {component}")

    def revive(self, component: str) -> None:
        self.events.append(f"start {component}")

    def is_ready(self, _component: str) -> bool:
        self.ready_after -= 1
        return self.ready_after < 0

    def durability(self) -> SimpleNamespace:
        self.events.append("promise?")
        return SimpleNamespace(level=self.levels.pop(0))


def restart(stack: Restarted, fake: FakePosts, post_id: str) -> None:
    rig: Any = SimpleNamespace(
        stack=stack,
        truth=stack,
        bench=SimpleNamespace(progress=progress()),
        spec=SimpleNamespace(variant=SimpleNamespace(level="A")),
    )
    with Client(fake.base_url) as client:
        rounds.restart(rig, post_id, client)


def test_stores_are_all_ended_before_any_starts_again_and_waited_for_until_the_promise_holds(
    fake: FakePosts, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crash, "POLL_S", 0.0)
    stack = Restarted()
    restart(stack, fake, corpus.documents.post_id(0))
    assert stack.events == ["end a", "end b", "start a", "start b", "promise?", "promise?"]


def test_a_path_that_does_not_come_back_is_an_error_in_time(
    fake: FakePosts, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crash, "POLL_S", 0.0)
    monkeypatch.setattr(crash, "READY_TIMEOUT_S", 0.2)
    with pytest.raises(AuditError, match="the application was not ready"):
        restart(Restarted(ready_after=0), fake, corpus.documents.post_id(COUNT))  # a post that nobody has


def test_each_round_asks_every_keyword_in_an_order_of_seed_and_block() -> None:
    made = rounds.orders(ASKED, 20, 1, 1)
    assert all(sorted(order) == sorted(ASKED) for order in made)
    assert len({tuple(order) for order in made}) > 1
    assert made == rounds.orders(ASKED, 20, 1, 1) != rounds.orders(ASKED, 20, 1, 2)


def test_cold_rounds_are_no_part_of_what_one_client_waits_where_there_are_others(
    fake: FakePosts, corpus: Corpus
) -> None:
    made, _ = asked(fake, corpus)
    warm = [one.latency_ms for one in made if one.kind == "first-page" and one.round == 2]
    assert rounds.first_page_ms(made) == pytest.approx(np.mean(warm))
    cold = [one for one in made if one.round == 1]
    assert rounds.first_page_ms(cold) > 0
