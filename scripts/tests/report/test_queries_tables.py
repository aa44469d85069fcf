"""Do rounds, ratios, hits, sizes, capacities and costs of planted searches come out as they were planted?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from report import planted_capacity
from report.planted_paths import PATHS
from report.planted_queries import KEYWORDS, VARIANTS, Planted
from writepath.analysis.saturation import RESOURCES
from writepath.report import queries_page
from writepath.report.capacity_figures import capacity_figures
from writepath.report.model import Row, Table, shown
from writepath.report.original import published_figures
from writepath.report.queries_cli import exit_code
from writepath.report.queries_figures import QueriesFigures, queries_figures
from writepath.report.render import files
from writepath.report.rows import AGAIN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from writepath.records.queries import Read


def figures_of(root: Path, **planted: Any) -> QueriesFigures:
    return queries_figures(Planted(root=root, **planted).data())


def table_of(figures: QueriesFigures, key: str) -> Table:
    return next(table for table in queries_page.tables(figures) if table.key == key)


def said(table: Table, row: Row) -> dict[str, str]:
    """By column, as it is shown."""
    cells = zip(row.cells, table.columns, strict=True)
    return {column.key: shown(cell, column) for cell, column in cells}


def lines(table: Table, **wanted: str) -> list[dict[str, str]]:
    """Rows in which these columns say this."""
    found = [said(table, row) for row in table.rows]
    return [one for one in found if all(one[key] == value for key, value in wanted.items())]


def changed(figures: QueriesFigures, name: str, change: Callable[[Read], Read]) -> QueriesFigures:
    """The same run, in which a variant's records are others."""
    reads = tuple(
        replace(found, read=change(found.read))
        if found.read.variant == name and not found.read.again
        else found
        for found in figures.data.reads
    )
    return queries_figures(replace(figures.data, reads=reads), figures.writes)


def test_each_round_is_told_and_the_cold_one_is_in_no_mean_of_warm_ones(tmp_path: Path) -> None:
    table = table_of(figures_of(tmp_path), "rounds")
    (line,) = lines(table, variant="JPA", keyword="스토리", measured="first page")
    assert [line[f"round_{number}_ms"] for number in (1, 2, 3)] == [
        "cold 180 (162–198)",
        "58.8 (52.9–64.7)",
        "61.2 (55.1–67.3)",
    ]
    assert line["warm_mean_ms"] == "60.0 (54.0–66.0)"
    assert line["mean_ms"] == "84.0 (75.6–92.4)"
    assert line["search_mode"] == "substring"


def test_first_pages_and_every_match_are_told_apart(tmp_path: Path) -> None:
    table = table_of(figures_of(tmp_path, blocks=1), "rounds")
    found = lines(table, variant="Elasticsearch, 1 shard", keyword="감동")
    assert [(one["measured"], one["warm_mean_ms"]) for one in found] == [
        ("original", "–"),
        ("first page", "4.00"),
        ("every match", "160"),
    ]


def test_the_originals_rounds_stand_beside_ours_as_they_were_written_up(tmp_path: Path) -> None:
    table = table_of(figures_of(tmp_path), "rounds")
    theirs = lines(table, measured="original")
    assert [(one["variant"], one["keyword"]) for one in theirs] == [
        (variant, keyword)
        for variant in (
            "Elasticsearch, 1 shard",
            "Elasticsearch, 8 shards",
            "Elasticsearch, 8 shards, 1 replica",
        )
        for keyword in KEYWORDS
    ]
    first = theirs[0]
    assert [first[f"round_{number}_ms"] for number in range(1, 6)] == [
        "11,441", "13,790", "14,279", "14,261", "15,168",
    ]  # fmt: skip
    assert (first["mean_ms"], first["search_mode"], first["warm_mean_ms"]) == ("13,787", "–", "–")


def test_the_originals_means_are_those_of_its_rounds_cut_to_whole_numbers() -> None:
    for variant in published_figures()["search"]["variants"].values():
        assert list(variant) == list(KEYWORDS)
        for one in variant.values():
            assert len(one["rounds_ms"]) == 5
            assert sum(one["rounds_ms"]) // 5 == one["mean_ms"]


def test_a_keyword_that_the_original_did_not_ask_has_no_line_of_it(tmp_path: Path) -> None:
    table = table_of(figures_of(tmp_path, keywords={"우주": 40}), "rounds")
    assert lines(table, measured="original") == []
    assert not any("original" in note for note in table.notes)


def test_variants_that_differ_in_one_setting_are_compared_block_by_block(tmp_path: Path) -> None:
    table = table_of(figures_of(tmp_path), "search_ratios")
    found = lines(table, keyword="영화")
    assert [(one["ratio_of"], one["ratio_by"], one["ratio_setting"]) for one in found] == [
        ("JPA, trigram index", "JPA", "POSTGRES_SEARCH_INDEX trigram vs. default"),
        ("Elasticsearch, 8 shards", "Elasticsearch, 1 shard", "ELASTICSEARCH_SHARDS 8 vs. 1"),
        ("Elasticsearch, 8 shards, 1 replica", "Elasticsearch, 8 shards", "ELASTICSEARCH_REPLICAS 1 vs. 0"),
        (
            "Elasticsearch, 1 shard, bigrams",
            "Elasticsearch, 1 shard",
            "ELASTICSEARCH_SEARCH_INDEX bigrams vs. default",
        ),
        (f"JPA{AGAIN}", "JPA", "none (A/A control)"),
    ]
    assert [one["ratio_first_page"].split(" ")[0] for one in found] == [
        "0.500",
        "0.800",
        "2.00",
        "2.00",
        "1.00",
    ]
    assert [one["ratio_pairs"] for one in found] == ["3"] * 5


def test_a_ratio_has_an_interval_where_blocks_differ_and_none_of_one_block(tmp_path: Path) -> None:
    several = lines(table_of(figures_of(tmp_path), "search_ratios"), keyword="재미")
    assert several[1]["ratio_every_match"] == "0.750 (0.714–0.788)"
    one = lines(table_of(figures_of(tmp_path, blocks=1), "search_ratios"), keyword="재미")
    assert one[1]["ratio_every_match"] == "0.750"


def test_the_originals_ratio_stands_beside_ours_where_it_had_both(tmp_path: Path) -> None:
    found = lines(table_of(figures_of(tmp_path), "search_ratios"), keyword="영화")
    assert [one["ratio_original"] for one in found] == ["–", "0.566", "1.43", "–", "–"]


def test_ratios_of_unequal_work_say_so(tmp_path: Path) -> None:
    found = lines(table_of(figures_of(tmp_path), "search_ratios"), keyword="영화")
    assert (found[0]["ratio_posts"], found[0]["search_mode"]) == ("the same, 15,000", "substring")
    assert (found[3]["ratio_posts"], found[3]["search_mode"]) == ("15,000 vs. 11,257", "substring vs. native")


def test_a_block_that_failed_makes_no_pair(tmp_path: Path) -> None:
    table = table_of(figures_of(tmp_path, failed=(("elasticsearch-8s0r", 2),)), "search_ratios")
    assert [one["ratio_pairs"] for one in lines(table, keyword="영화")] == ["3", "2", "2", "3", "3"]


def test_hits_say_what_a_search_by_words_misses(tmp_path: Path) -> None:
    table = table_of(figures_of(tmp_path), "hits")
    (words,) = lines(table, variant="Elasticsearch, 1 shard", keyword="영화")
    assert words == {
        "variant": "Elasticsearch, 1 shard", "search_mode": "native", "keyword": "영화", "hits_expected": "15,000",
        "hits_found": "11,257", "hits_recall_percent": "75.0", "hits_missed": "3,750", "hits_surplus": "7",
        "hits_as_word": "11,250", "hits_explained": "yes",
    }  # fmt: skip
    (every,) = lines(table, variant="JPA", keyword="영화")
    assert (every["hits_recall_percent"], every["hits_missed"], every["hits_surplus"]) == ("100", "0", "0")


def test_a_keyword_that_no_rule_explains_is_told_though_no_round_asked_for_it(tmp_path: Path) -> None:
    def odd(read: Read) -> Read:
        return replace(read, hits=(*read.hits, replace(read.hits[0], keyword="희한", explained=False)))

    figures = changed(figures_of(tmp_path), "elasticsearch-1s0r", odd)
    (line,) = lines(table_of(figures, "hits"), keyword="희한")
    assert line["hits_explained"] == "no, in 3 of 3"
    (valid,) = lines(table_of(figures, "search_validity"), variant="Elasticsearch, 1 shard (native)")
    assert valid["validity_hits"] == "12 of 15"
    assert exit_code(figures) == 1


def test_sizes_are_told_by_document(tmp_path: Path) -> None:
    table = table_of(figures_of(tmp_path), "loading")
    (plain,) = lines(table, variant="JPA")
    (trigram,) = lines(table, variant="JPA, trigram index")
    assert (plain["search_index"], plain["loaded_per_s"], plain["build_s"]) == ("none", "5,000", "–")
    assert (plain["store_mib"], plain["store_bytes_per_document"]) == ("20.0", "419")
    assert (plain["search_index_mib"], plain["index_bytes_per_document"]) == ("–", "–")
    assert (trigram["build_s"], trigram["index_bytes_per_document"]) == ("2.50", "105")
    assert trigram["store_parts"] == "posts 20.0 MiB, index 5.00 MiB"


def test_a_copy_kept_until_a_merge_is_told_of_where_there_is_one(tmp_path: Path) -> None:
    def kept(read: Read) -> Read:
        assert read.loading is not None
        return replace(read, loading=replace(read.loading, parts_bytes={"_recovery_source": 1 << 20}))

    figures = figures_of(tmp_path)
    assert not table_of(figures, "loading").notes
    (note,) = table_of(changed(figures, "elasticsearch-1s0r", kept), "loading").notes
    assert "until a merge removes it" in note


def test_capacity_is_that_of_the_holds_with_what_limits_it(tmp_path: Path) -> None:
    figures = figures_of(tmp_path)
    table = table_of(figures, "search_capacity")
    (line,) = lines(table, variant="JPA")
    carried = figures.carried.one("jpa")
    assert carried is not None
    assert 2200 < carried.sustained.per_s <= 2400
    assert line["searches_per_s"].startswith(f"{carried.sustained.per_s:,.0f} (")
    assert line["searches_limited_by"].startswith(RESOURCES["host-cpu"])
    assert (line["searches_bound"], line["search_mode"]) == ("measured ±5 %", "substring")
    assert "measured twice in each block" in table.notes[-1]


def test_tables_of_holds_name_the_mode(tmp_path: Path) -> None:
    figures = figures_of(tmp_path)
    for key in ("limited", "holds", "search_validity"):
        names = {said(table_of(figures, key), row)["variant"] for row in table_of(figures, key).rows}
        assert all("(substring)" in name or "(native)" in name for name in names), names


def test_every_other_table_has_a_column_of_the_mode(tmp_path: Path) -> None:
    without = {"limited", "holds", "search_validity", "fingerprint"}
    for table in queries_page.tables(figures_of(tmp_path)):
        assert ("search_mode" in [column.key for column in table.columns]) != (table.key in without)


def test_what_an_index_costs_writes_names_the_published_capacity_where_there_is_one(tmp_path: Path) -> None:
    figures = figures_of(tmp_path)
    nothing = table_of(figures, "index_cost")
    assert lines(nothing, variant="JPA")[0]["cost_sustained_per_s"] == "–"
    assert nothing.notes[0].startswith("No write capacity is published")
    writes = capacity_figures(planted_capacity.Planted(root=tmp_path / "writes", paths=PATHS[:1]).data())
    known = table_of(replace(figures, writes=writes), "index_cost")
    assert lines(known, variant="JPA")[0]["cost_sustained_per_s"] == "2,277 (2,277–2,378)"
    (line,) = lines(known, variant="JPA, trigram index")
    assert (line["cost_sustained_per_s"], line["cost_build_s"]) == ("–", "2.50")
    assert "Differences below 5 % are within noise" in known.notes[0]


def test_validity_says_whether_all_searched_the_same_posts(tmp_path: Path) -> None:
    same = table_of(figures_of(tmp_path), "search_validity")
    assert {said(same, row)["validity_posts"] for row in same.rows} == {"the same for all, dddddddd…"}
    figures = figures_of(tmp_path, digests={"jpa-trigram": "e" * 64})
    other = table_of(figures, "search_validity")
    (line,) = lines(other, variant="JPA, trigram index (substring)")
    assert line["validity_posts"] == "not the same for all, eeeeeeee…"
    assert exit_code(figures) == 1


def test_noise_and_failures_are_counted(tmp_path: Path) -> None:
    figures = figures_of(tmp_path, failed=(("jpa", 3),))
    table = table_of(figures, "search_validity")
    (line,) = lines(table, variant="JPA (substring)")
    assert (line["validity_reads"], line["validity_noise"], line["validity_unresolved"]) == (
        "2 of 3 finished",
        "1",
        "0",
    )
    assert line["validity_reads_lost"] == "block 3: postgres did not start"
    assert exit_code(figures) == 1
    assert exit_code(figures_of(tmp_path)) == 0


def test_the_fingerprint_names_index_mode_and_posts(tmp_path: Path) -> None:
    table = table_of(figures_of(tmp_path), "fingerprint")
    assert lines(table, fact="search index", fact_value="trigram")[0]["fact_variants"] == "jpa-trigram"
    assert lines(table, fact="posts")[0]["fact_value"].startswith("50,000")
    assert lines(table, fact="rounds")[0]["fact_value"] == "5 of each keyword: 영화, 스토리, 감동, 재미"
    assert lines(table, fact="processor")[0]["fact_variants"] == "all"


def test_of_one_variant_alone_there_is_nothing_to_compare(tmp_path: Path) -> None:
    figures = figures_of(tmp_path, variants=VARIANTS[:1], twin=False)
    keys = [table.key for table in queries_page.tables(figures)]
    assert "search_ratios" not in keys
    assert "no A/A control" in table_of(figures, "search_capacity").notes[-1]


def test_of_a_run_that_only_failed_there_is_its_validity(tmp_path: Path) -> None:
    failed = tuple((VARIANTS[0].name, block) for block in (1, 2, 3))
    figures = figures_of(tmp_path, variants=VARIANTS[:1], twin=False, failed=failed)
    assert [table.key for table in queries_page.tables(figures)] == ["search_validity", "fingerprint"]


HOSTILE = "<img src=x>|`a` [b](http://c)"


def test_keywords_and_titles_are_data_in_markdown_and_csv(tmp_path: Path) -> None:
    named = (replace(VARIANTS[0], title=HOSTILE), VARIANTS[1])
    figures = figures_of(tmp_path, variants=named, keywords={HOSTILE: 40, "=1+1": 3, "\x1b[31m": 1})
    links = queries_page.Links(assets="a", reading="r", raw="w", method="m", writes=None)
    page = queries_page.markdown(figures, queries_page.tables(figures), {}, links)
    assert "<img" not in page
    assert "`a`" not in page
    assert "](http://c)" not in page
    assert "\x1b" not in page
    for row in (line for line in page.splitlines() if line.startswith("| ")):
        assert "|" not in row.replace(" | ", "").removeprefix("| ").removesuffix(" |")
    text = files.csv(table_of(figures, "rounds"))
    assert "'=1+1" in text
    assert ",=1+1" not in text
