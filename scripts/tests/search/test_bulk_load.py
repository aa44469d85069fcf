"""After a bulk load all posts are in the store and found, or the error says in which way they are not."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from search.fake_posts import FakePosts, Lies
from writepath.errors import AuditError
from writepath.load.corpus import Corpus, Documents
from writepath.load.dataset import Dataset
from writepath.measure import read_back, searchable
from writepath.measure.inspector import Inspector
from writepath.measure.rows import content_hashes
from writepath.measure.searchable import Client
from writepath.progress import Progress
from writepath.records.search import Hits, SearchMode

DOCUMENTS = Documents(lines=("하나", "two", "셋 three"), count=25, run_id="0123456789abcde")
FOREIGN = {
    "id": "00000000-0000-8000-8000-000000000000",
    "content": "x",
    "createdAt": "2026-01-01T00:00:00.000Z",
}
BEYOND = {"id": DOCUMENTS.post_id(25), "content": "two", "createdAt": "2026-01-01T00:00:00.025Z"}


@contextmanager
def store(fake: FakePosts) -> Iterator[Inspector]:
    with fake:
        inspector = Inspector("app", [fake.inspector_url])
        try:
            yield inspector
        finally:
            inspector.close()


def progress(to: io.StringIO | None = None) -> Progress:
    return Progress(console=Console(file=to or io.StringIO(), width=200))


def test_posts_are_loaded_between_begin_and_finish_and_read_back_and_progress_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("writepath.progress.PLAIN_INTERVAL_S", 0.0)
    fake, said = FakePosts(), io.StringIO()
    with store(fake) as inspector:
        found = searchable.load(DOCUMENTS, inspector, progress(said))
    assert "load posts  25 of 25 posts" in said.getvalue()
    lines = content_hashes(DOCUMENTS.lines)
    hashes = lines[np.arange(25) % len(lines)]
    assert fake.heard == ["load/begin", "load", "load/finish", "posts", "sizes"]
    assert len(fake.posts) == found.documents == 25
    assert (found.build_seconds, found.settle_seconds) == (0.25, 0.5)
    assert (found.store_bytes, found.search_index_bytes, found.parts_bytes) == (4096, None, {"table": 4096})
    assert found.digest == DOCUMENTS.digest(hashes)
    assert found.seconds >= 0


@pytest.mark.parametrize(
    ("lies", "words"),
    [
        (Lies(lose=frozenset({3})), f"1 missing ({DOCUMENTS.post_id(3)})"),
        (Lies(lose=frozenset(range(5))), "5 missing"),
        (Lies(twice=frozenset({7})), f"1 stored twice ({DOCUMENTS.post_id(7)})"),
        (Lies(spoil=frozenset({2})), f"1 with different content ({DOCUMENTS.post_id(2)})"),
        (Lies(invent=(FOREIGN,)), f"1 foreign ({FOREIGN['id']})"),
        (Lies(invent=(BEYOND,)), f"1 unknown ({BEYOND['id']})"),
        (Lies(lose=frozenset({1}), twice=frozenset({2})), "1 missing"),
        (Lies(uncounted=1), "/inspector/load accepted 24 of 25 posts"),
        (Lies(sizes_off=-1), "/inspector/sizes counts 24 documents of 25 stored"),
    ],
)
def test_a_store_that_does_not_hold_what_was_loaded_is_not_searched(lies: Lies, words: str) -> None:
    with store(FakePosts(lies=lies)) as inspector, pytest.raises(AuditError) as refused:
        searchable.load(DOCUMENTS, inspector, progress())
    assert words in str(refused.value)


LINES = ("영화 굿굿", "한국영화", "재미 영화", "감동", "재미있다", "스토리 감동")
COUNT = 150


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.of(Dataset(name="t", sha256="0" * 64, lines=LINES), COUNT, ("영화",), 1)


@pytest.fixture
def fake(corpus: Corpus) -> Iterator[FakePosts]:
    with FakePosts.of(corpus) as made:
        yield made


@pytest.fixture
def client(fake: FakePosts, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setattr(searchable, "EVERY_MATCH", 40)
    with Client(fake.base_url) as made:
        yield made


def test_a_first_page_is_one_request_and_every_match_as_many_as_it_takes(client: Client) -> None:
    page, whole = client.first_page("영화"), client.every_match("영화")
    assert (len(page.ids), page.pages, page.total) == (20, 1, 75)
    assert (len(whole.ids), whole.pages, whole.total) == (75, 2, 75)
    assert page.ids == whole.ids[:20]
    assert page.duration_us > 0
    assert page.started_us < whole.started_us


@pytest.mark.parametrize(
    ("mode", "lies", "expected"),  # missed, surplus, explained
    [
        ("substring", Lies(), (0, 0, True)),
        ("substring", Lies(hide=frozenset({"한국영화"})), (25, 0, False)),
        ("substring", Lies(repeat=True), (0, 2, False)),  # one of each page
        ("substring", Lies(oldest_first=True), (0, 0, False)),
        ("native", Lies(), (0, 0, False)),  # a search by words finds no compounds
        ("native", Lies(hide=frozenset({"한국영화"})), (25, 0, True)),
    ],
)
def test_hits_are_explained_only_by_the_rule_of_the_mode(
    fake: FakePosts,
    corpus: Corpus,
    client: Client,
    mode: SearchMode,
    lies: Lies,
    expected: tuple[int, int, bool],
) -> None:
    fake.lies = lies
    found: Hits = searchable.hits_of(client.every_match("영화"), mode, corpus)
    assert (found.expected, found.as_word) == (75, 50)
    assert (found.missed, found.surplus, found.explained) == expected


def test_a_post_of_other_content_is_missed_and_too_many(
    fake: FakePosts, corpus: Corpus, client: Client
) -> None:
    fake.posts[0]["content"] = "다른 영화"
    found = searchable.hits_of(client.every_match("영화"), "substring", corpus)
    assert (found.missed, found.surplus, found.explained) == (1, 1, False)


def test_a_server_that_is_gone_is_no_answer(corpus: Corpus) -> None:
    with FakePosts() as gone:
        url = gone.base_url
    with Client(url) as client:
        assert not client.holds(corpus.documents.post_id(0))
        with pytest.raises(AuditError, match="a search for '영화' got no answer"):
            client.first_page("영화")


def test_totals_at_rest_are_those_of_the_oracle(corpus: Corpus, client: Client) -> None:
    found, unexplained = searchable.totals(corpus, "substring", client, progress())
    assert found == {k: corpus.total(k, "substring") for k in corpus.keywords}
    assert unexplained == ()


def test_totals_by_words_that_no_rule_explains_are_kept(corpus: Corpus, client: Client) -> None:
    found, unexplained = searchable.totals(corpus, "native", client, progress())
    assert found["영화"] == 75  # what it answers at rest is what it must answer under load
    assert {one.keyword: (one.found, one.explained) for one in unexplained} == {
        "영화": (75, False),
        "재미": (50, False),
    }


@dataclass
class Restarted:
    """A stack of two stores, ready at the third look; the path guarantees less until the second question."""

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
        self.events.append("level?")
        return SimpleNamespace(level=self.levels.pop(0))


def restart(stack: Any, client: Client, post_id: str) -> None:
    variant: Any = SimpleNamespace(level="A")
    searchable.restart(stack, stack, variant, post_id, client)


def test_stores_are_all_ended_before_any_starts_again_and_waited_for_until_the_guarantee_holds(
    corpus: Corpus, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_back, "POLL_S", 0.0)
    stack = Restarted()
    restart(stack, client, corpus.documents.post_id(0))
    assert stack.events == ["end a", "end b", "start a", "start b", "level?", "level?"]
    monkeypatch.setattr(read_back, "READY_S", 0.2)
    with pytest.raises(AuditError, match="the application was not ready"):
        restart(Restarted(ready_after=0), client, corpus.documents.post_id(COUNT))  # a post that nobody has
