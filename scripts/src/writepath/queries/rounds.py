"""How long does one client wait for a keyword's posts? Rounds of keywords, right after the stores' restart."""

from __future__ import annotations

import itertools
import random
import time
from typing import TYPE_CHECKING

from writepath.errors import AuditError
from writepath.measure import crash
from writepath.queries import answers
from writepath.records.queries import Hits, Round, RoundKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from writepath.capacity.rig import Rig
    from writepath.progress import Progress
    from writepath.queries.answers import Answer, Client
    from writepath.queries.corpus import Corpus
    from writepath.records.queries import SearchMode

ONE = 1
SECOND = 2
WARM_UP_S = 20.0  # by one client: a store that is a Java program is as slow to start as an application


def totals(
    corpus: Corpus, mode: SearchMode, client: Client, progress: Progress
) -> tuple[dict[str, int], list[Hits]]:
    """What a search for each of the load's keywords counts, on a store at rest; it warms the application, too.

    And hits of those that no rule of ours explains. AuditError where a substring search counts others than the oracle.
    """
    progress.phase("totals")
    found: dict[str, int] = {}
    odd: list[Hits] = []
    began = time.monotonic()
    for number, keyword in enumerate(corpus.keywords, 1):
        total = client.first_page(keyword.text, ONE).total
        ruled = corpus.oracle.total(keyword.text, mode)
        if total != ruled and mode == "substring":
            raise AuditError(
                f"a search for '{keyword.text}' counts {total:,} posts, but {ruled:,} contain it;"
                " its response time would be that of a different search"
            )
        if total != ruled:
            odd.append(answers.hits(client.every_match(keyword.text), mode, corpus.oracle))
        found[keyword.text] = total
        progress.piece(number, len(corpus.keywords), "keywords", time.monotonic() - began)
    return found, odd


def restart(rig: Rig, known_id: str, client: Client) -> None:
    """Ends every store in order and starts it again: its own caches are empty, the kernel's page cache is not.

    Returns when the path is as before: it answers for a post by its id, which searches nothing, and with every copy in
    place. AuditError where that takes more than 90 s.
    """
    rig.bench.progress.phase("restart the stores")
    crash.restart(rig.stack, lambda: client.holds(known_id) and _promises(rig))


def _promises(rig: Rig) -> bool:
    try:
        return rig.truth.durability().level <= rig.spec.variant.level
    except AuditError:
        return False


def ask(
    corpus: Corpus, mode: SearchMode, client: Client, orders: Sequence[Sequence[str]], progress: Progress
) -> tuple[list[Round], list[Hits]]:
    """orders: by round, the keywords as they are asked. Of each keyword one line of hits: the first unexplained.

    Checked while no clock runs. AuditError where a first page is not the beginning of all matches.
    """
    rounds: list[Round] = []
    hits: dict[str, Hits] = {}
    for number, order in enumerate(orders, 1):
        if number == SECOND:
            warm_up(corpus, client, progress)
        progress.phase(f"round {number}")
        for keyword in order:
            page, whole = client.first_page(keyword), client.every_match(keyword)
            rounds += [_round(page, "first-page", number), _round(whole, "every-match", number)]
            if not answers.begins(page, whole):
                raise AuditError(
                    f"a search for '{keyword}': the first page or its total differs from that of all matches"
                )
            if keyword not in hits or hits[keyword].explained:
                hits[keyword] = answers.hits(whole, mode, corpus.oracle)
    return rounds, [hits[keyword] for keyword in corpus.asked]


def warm_up(corpus: Corpus, client: Client, progress: Progress) -> None:
    """After the cold round: first pages and large ones, of the keywords that the load asks for; nothing is kept."""
    progress.phase("warm-up")
    ends = time.monotonic() + WARM_UP_S
    for keyword in itertools.cycle(corpus.drawn):
        client.first_page(keyword)
        client.page(keyword, None)
        if time.monotonic() >= ends:
            return


def orders(keywords: Sequence[str], rounds: int, seed: int, block: int) -> list[list[str]]:
    """By round, all keywords; of the seed alone, so that no keyword always meets the coldest store."""
    drawn = random.Random(f"writepath:rounds:{seed}:{block}")  # noqa: S311 - an order, not a secret
    return [drawn.sample(keywords, len(keywords)) for _ in range(rounds)]


def first_page_ms(rounds: Sequence[Round]) -> float:
    """Mean of the rounds that are not cold, where there are some."""
    pages = [one for one in rounds if one.kind == "first-page"]
    took = [one.latency_ms for one in pages if not one.cold] or [one.latency_ms for one in pages]
    return sum(took) / len(took)


def require_right(hits: Sequence[Hits]) -> None:
    """AuditError where a search for any text that holds the keyword found other posts than those."""
    wrong = [
        f"'{one.keyword}': {one.found:,} counted, {one.missed:,} of {one.expected:,} missed, {one.surplus:,} too many"
        for one in hits
        if one.mode == "substring" and not one.explained
    ]
    if wrong:
        raise AuditError(f"searches found the wrong posts, or in the wrong order: {'; '.join(wrong)}")


def _round(answer: Answer, kind: RoundKind, number: int) -> Round:
    return Round(
        keyword=answer.keyword,
        kind=kind,
        round=number,
        cold=number == 1,
        latency_ms=answer.latency_ms,
        requests=answer.pages,
        posts=len(answer.ids),
    )
