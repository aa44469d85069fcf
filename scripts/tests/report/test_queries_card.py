"""Do the sentences of the card of searches say what was planted, with its ties, and no more than chance lets them?"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from report.planted_queries import VARIANTS, Planted
from report.test_queries_tables import changed, figures_of, table_of
from writepath.report import queries_page
from writepath.report.queries_card import card
from writepath.report.queries_figures import QueriesFigures, queries_figures

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from writepath.records import Latency
    from writepath.records.queries import Read


def line(figures: QueriesFigures, begin: str) -> str:
    """The one that begins so."""
    (found,) = (one.text for one in card(figures).lines if one.text.startswith(begin))
    return found


def twin_changed(figures: QueriesFigures, change: Callable[[Read], Read]) -> QueriesFigures:
    """The same run with another A/A twin."""
    reads = tuple(
        replace(found, read=change(found.read)) if found.read.again else found for found in figures.data.reads
    )
    return queries_figures(replace(figures.data, reads=reads))


def slower(read: Read, times: float) -> Read:
    return replace(read, rounds=tuple(replace(one, latency_ms=one.latency_ms * times) for one in read.rounds))


def searching_beside(read: Read, latency: Latency, per_s: float = 50.0) -> Read:
    assert read.beside is not None
    return replace(read, beside=replace(read.beside, search_latency_ms=latency, search_rate_per_s=per_s))


def test_each_mode_says_who_carries_most_and_what_the_others_do(tmp_path: Path) -> None:
    assert line(figures_of(tmp_path), "Every post") == (
        "Every post that contains a keyword: highest measured rate with JPA, trigram index (~2,900/s);"
        " lower with JPA (~2,200/s) and Elasticsearch, 1 shard, bigrams (~1,000/s)."
    )


def test_words_say_how_little_of_the_posts_they_return(tmp_path: Path) -> None:
    assert line(figures_of(tmp_path), "The posts that the store's own word search finds") == (
        "The posts that the store's own word search finds: highest measured rate with Elasticsearch, 8 shards"
        " (~1,600/s);"
        " lower with Elasticsearch, 1 shard (~1,400/s) and Elasticsearch, 8 shards, 1 replica (~590/s)."
        " They return 75 % of the posts that contain the keyword."
    )


def test_who_carries_as_much_as_the_first_is_in_a_tie_with_it(tmp_path: Path) -> None:
    alike = tuple(replace(one, per_s=VARIANTS[3].per_s) if one is VARIANTS[2] else one for one in VARIANTS)
    found = line(figures_of(tmp_path, variants=alike), "The posts that the store's own word search finds")
    assert ": highest measured rate with Elasticsearch, 1 shard (~1," in found
    assert (
        " and Elasticsearch, 8 shards (~1,600/s) (no measurable difference);"
        " lower with Elasticsearch, 8 shards, 1 replica"
    ) in found


def test_a_ratio_that_the_twin_has_as_well_is_no_difference(tmp_path: Path) -> None:
    figures = figures_of(tmp_path)
    assert line(figures, "JPA, trigram index compared with JPA") == (
        "JPA, trigram index compared with JPA: first pages take 0.5 (영화), 0.5 (스토리), 0.5 (감동) and 0.5 (재미)"
        " times as long."
    )
    noisy = twin_changed(figures, lambda read: slower(read, 2.1))
    assert line(noisy, "JPA, trigram index compared with JPA") == (
        "JPA, trigram index compared with JPA: no measurable difference for 영화, 스토리, 감동 and 재미."
    )
    assert "no measurable difference" not in line(figures, "Elasticsearch, 8 shards, 1 replica compared with")


def test_what_the_twin_makes_of_ratios_is_said_above_their_table(tmp_path: Path) -> None:
    def wobbling(read: Read) -> Read:
        times = {True: 0.5, False: 1.25}
        rounds = (
            replace(one, latency_ms=one.latency_ms * times[one.keyword == "감동"]) for one in read.rounds
        )
        return replace(read, rounds=tuple(rounds))

    found = table_of(twin_changed(figures_of(tmp_path), wobbling), "search_ratios")
    assert found.notes[-1].endswith(
        "took 0.500 to 1.25 times as long. Ratios from 0.500 to 2.00 are within noise."
    )
    alone = table_of(figures_of(tmp_path, twin=False), "search_ratios")
    assert alone.notes[-1].endswith("the smallest detectable difference is not known.")


def test_variants_that_find_other_posts_are_not_compared(tmp_path: Path) -> None:
    begun = [one.text.partition(":")[0] for one in card(figures_of(tmp_path)).lines]
    assert "Elasticsearch, 8 shards compared with Elasticsearch, 1 shard" in begun
    assert not any(one.startswith("Elasticsearch, 1 shard, bigrams compared with") for one in begun)


def test_without_a_twin_nobody_is_called_faster(tmp_path: Path) -> None:
    lines = card(figures_of(tmp_path, twin=False)).lines
    assert lines
    assert not any(" compared with " in one.text and "first pages take" in one.text for one in lines)


def test_what_writes_beside_do_to_searches_is_told_by_p99_and_by_the_median_of_few(tmp_path: Path) -> None:
    figures = figures_of(tmp_path)
    assert line(figures, "Searches at half") == (
        "Searches at half of each path's maximum rate during 50 writes/s, p99 within 100 ms: JPA, trigram index"
        " (median 18 ms),"
        " Elasticsearch, 1 shard (median 3 ms), Elasticsearch, 8 shards (median 2.4 ms), Elasticsearch, 8 shards,"
        " 1 replica (median 4.8 ms) and Elasticsearch, 1 shard, bigrams (median 6 ms);"
        " p99 above 100 ms: JPA (median 36 ms)."
    )
    found = next(one.read for one in figures.data.reads if one.read.variant == "jpa")
    assert found.beside is not None
    late = replace(found.beside.search_latency_ms, median=90.0, p99=100.1)
    lost = changed(figures, "jpa", lambda read: searching_beside(read, late))
    assert line(lost, "Searches at half").endswith("p99 above 100 ms: JPA (median 90 ms).")
    unserved = replace(late, median=None, p99=None)
    lost = changed(figures, "jpa", lambda read: searching_beside(read, unserved))
    assert line(lost, "Searches at half").endswith("p99 above 100 ms: JPA (median ∞).")
    few = replace(late, p99=None)
    kept = changed(figures, "jpa", lambda read: searching_beside(read, few, per_s=2.0))
    assert "p99 above" not in line(kept, "Searches at half")


def test_the_fastest_and_the_slowest_bulk_load_count_their_index(tmp_path: Path) -> None:
    assert line(figures_of(tmp_path), "Bulk load") == (
        "Bulk load with index and copies: fastest JPA with 4,300 posts/s, slowest JPA, trigram index"
        " with 3,600 posts/s."
    )


def test_every_line_links_to_the_records_it_rests_on(tmp_path: Path) -> None:
    planted = Planted(root=tmp_path)
    folder, figures = planted.write(), queries_figures(planted.data())
    links = queries_page.Links(assets=".", reading="r", method="m", raw=str(folder), writes=None)
    page = queries_page.markdown(figures, (), {}, links)
    section = page.partition("## Summary: keyword search")[2]
    linked = [re.findall(r"\]\(([^)]+)\)", one) for one in section.splitlines() if one.startswith("- ")]
    assert len(linked) == len(card(figures).lines)
    assert all(
        hrefs and all(any(folder.joinpath(href).glob("*/read.json")) for href in hrefs) for hrefs in linked
    )


def test_a_run_of_which_nothing_finished_has_an_empty_card(tmp_path: Path) -> None:
    planted = Planted(root=tmp_path)
    data = replace(planted.data(), reads=())
    assert card(queries_figures(data)).lines == ()
