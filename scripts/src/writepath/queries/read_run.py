"""How does one variant's reading go? Load the posts, restart the stores, rounds, search for capacity, writes beside."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from writepath.capacity import kept
from writepath.capacity.kept import required
from writepath.capacity.search_run import SearchSpec, make_holds, require_promise, require_whole, verified
from writepath.errors import InvalidRunError, StartError, WritepathError
from writepath.queries import asking, loading, rounds
from writepath.queries import beside as besides
from writepath.queries.answers import Client
from writepath.queries.corpus import write_questions
from writepath.records.queries import QUERIES_SCHEMA_VERSION, Read, save_read

if TYPE_CHECKING:
    from writepath.capacity.rig import Rig
    from writepath.capacity.search import Searcher
    from writepath.measure.bench import Bench
    from writepath.queries.corpus import Corpus
    from writepath.records.queries import Beside, Hits, Loading, Round, SearchMode

SEARCH_INDEX = ("search_index", "store.search_index")  # of a service that stores; behind a queue
BY_WORDS = (
    "words"  # the one index whose searches are of words; all others find any text that holds the keyword
)
UNKNOWN = "unknown"  # until it is read back


@dataclass(frozen=True, kw_only=True)
class ReadSpec(SearchSpec):
    """One variant in one block, before its reading."""

    corpus: Corpus
    rounds: int


@dataclass(kw_only=True)
class Draft(kept.Draft):
    """A reading under way; read.json can be written at any moment."""

    spec: ReadSpec
    search_index: str = UNKNOWN
    loading: Loading | None = None
    hits: list[Hits] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    searcher: Searcher | None = None
    beside: Beside | None = None
    saved: Read | None = None

    @property
    def mode(self) -> SearchMode:
        """What a search of this variant finds."""
        return "native" if self.search_index == BY_WORDS else "substring"

    def save(self) -> Read:
        """Writes read.json; what it says."""
        self.saved = self.read()
        save_read(self.saved, self.spec.folder)
        return self.saved

    def read(self) -> Read:
        """As far as it is known now."""
        return Read(
            schema_version=QUERIES_SCHEMA_VERSION,
            mode=self.mode,
            search_index=self.search_index,
            loading=self.loading,
            hits=tuple(self.hits),
            rounds=tuple(self.rounds),
            capacity=self.searcher.sustained() if self.searcher is not None and self.holds else None,
            beside=self.beside,
            **self.facts(),
        )


def execute(spec: ReadSpec, bench: Bench) -> Read:
    """One reading from start to stop; read.json is there whatever happens. Only KeyboardInterrupt comes out."""
    state = Draft(spec=spec, bench=bench)
    with (
        kept.to_its_end(state, spec.folder),
        kept.rigged(spec, bench) as rig,
        Client(rig.stack.base_url) as client,
    ):
        _prepare(state, rig)
        state.save()
        _ask(state, rig, client)
    return required(state.saved)


def beside_again(found: Read, spec: ReadSpec, bench: Bench) -> Read:
    """The same reading, its searches beside writes made anew on a stack of their own that holds the same posts.

    What could not be made is said, and stays left to noise; read.json is changed when all is known.
    """
    capacity = required(found.capacity).last_pass_per_s
    try:
        with kept.rigged(spec, bench) as rig, Client(rig.stack.base_url) as client:
            state = Draft(spec=spec, bench=bench)
            _prepare(state, rig)
            _require_same_posts(found, state)
            meeting, _ = _meeting(state, rig, client)
            rounds.restart(rig, spec.corpus.documents.post_id(0), client)
            besides.warm_searches(required(capacity), meeting)
            made = besides.beside(required(capacity), meeting)
    except WritepathError as error:
        bench.progress.say(f"  searches with writes were not rerun: {error}")
        return found
    read = replace(found, beside=replace(made, host=bench.host, code=spec.code))
    save_read(read, spec.folder)
    return read


def _require_same_posts(found: Read, state: Draft) -> None:
    before, now = required(found.loading).digest, required(state.loading).digest
    if before != now:
        raise InvalidRunError(f"the store has different posts now (digest {now[:8]}…, was {before[:8]}…)")


def _prepare(state: Draft, rig: Rig) -> None:
    """Proved to write, emptied, and filled with the posts that are searched."""
    state.durability, state.versions = verified(rig)
    require_promise(state.durability, rig.spec.variant)
    state.search_index = _search_index(rig)
    rig.bench.progress.phase("empty")
    rig.truth.empty()
    documents = state.spec.corpus.documents
    state.loading = loading.load(documents, rig.truth.store, rig.bench.progress)


def _search_index(rig: Rig) -> str:
    """As the store that is searched says itself. StartError where it does not."""
    settings = rig.truth.store.durability().settings
    found = next((settings[name] for name in SEARCH_INDEX if name in settings), None)
    if found is None:
        raise StartError(
            f"{rig.truth.store.service}: /inspector/durability does not name the search index,"
            " so the expected results are unknown"
        )
    return found


def _ask(state: Draft, rig: Rig, client: Client) -> None:
    """One client first, then many."""
    spec, corpus, progress = state.spec, state.spec.corpus, rig.bench.progress
    meeting, odd = _meeting(state, rig, client)
    rounds.restart(rig, corpus.documents.post_id(0), client)
    orders = rounds.orders(corpus.asked, spec.rounds, spec.seed, spec.block)
    state.rounds, hits = rounds.ask(corpus, state.mode, client, orders, progress)
    state.hits = [*hits, *odd]
    state.save()
    _say(state, rig)
    rounds.require_right(state.hits)
    require_whole(rig, "during the rounds")
    state.searcher = asking.searcher(spec, rounds.first_page_ms(state.rounds))
    asked = asking.searching(rig, meeting.questions, added_meanwhile=False)
    make_holds(state.searcher, asked, state.holds, state.save)
    capacity = state.searcher.sustained().last_pass_per_s
    if capacity is not None:
        state.beside = besides.beside(capacity, meeting)


def _meeting(state: Draft, rig: Rig, client: Client) -> tuple[besides.Meeting, list[Hits]]:
    """With every keyword's total, as it must be found; and the hits that no rule explains."""
    corpus, questions = state.spec.corpus, state.spec.folder / asking.QUESTIONS_FILE
    totals, odd = rounds.totals(corpus, state.mode, client, rig.bench.progress)
    write_questions(corpus.drawn, totals, questions)
    return besides.Meeting(rig=rig, corpus=corpus, mode=state.mode, questions=questions, client=client), odd


def _say(state: Draft, rig: Rig) -> None:
    """What is odd about the answers, and what one client waited."""
    progress = rig.bench.progress
    progress.say(
        f"  one client waited {rounds.first_page_ms(state.rounds):.1f} ms for a first page on average"
    )
    for one in state.hits:
        if not one.explained:
            progress.say(
                f"  '{one.keyword}' finds {one.found:,} posts; our model of the index expects others"
            )
