"""Is no more claimed than the records carry: bounds as bounds, no order between them, one host per median?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from report.planted_capacity import Planted
from report.planted_paths import PATHS
from report.test_capacity_figures import bracket, column, figures_of, lines_of, with_brackets
from writepath.report import capacity_page
from writepath.report.capacity_bounds import Capacity, cell
from writepath.report.capacity_card import about, cards
from writepath.report.capacity_figures import by_host, capacity_figures
from writepath.report.capacity_plots import curves
from writepath.report.capacity_tables import capacity, confidence
from writepath.report.render import files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from writepath.records.capacity import Bracket
    from writepath.report.capacity_figures import CapacityFigures
    from writepath.report.model import Table

OTHER = "elasticsearch-1s0r"
MEASURED = [bracket(1000, 1040), bracket(1100, 1150), bracket(1200, 1250)]
LOWER = bracket(2000, 2090, at_least=True)
OPEN = bracket(2000, 2400)  # between two rates that are more than 5 % apart
UNFAILED = bracket(2000, None)
BELOW = bracket(None, 200)


def with_other(root: Path, *brackets: Bracket) -> CapacityFigures:
    figures = figures_of(root, PATHS[0], PATHS[2], twin=None)
    return with_brackets(with_brackets(figures, "jpa", *MEASURED), OTHER, *brackets)


@pytest.mark.parametrize("bound", [LOWER, OPEN, UNFAILED, BELOW])
def test_a_bound_in_any_block_leaves_order_and_ratio_unresolved(tmp_path: Path, bound: Bracket) -> None:
    figures = with_other(tmp_path, bracket(2000, 2090), bound, bracket(2000, 2090))
    plain, other = (one.sustained for one in figures.variants)
    assert figures.compare(other, plain) == figures.compare(plain, other) == "not resolved"
    assert column(capacity(figures), "by_baseline") == ["–", "not resolved"]
    assert any(note.startswith("Not resolved: ") for note in capacity(figures).notes)
    (line,) = (line for line in lines_of(figures) if "Elasticsearch, 1 shard" in line and "CPU" not in line)
    assert line.startswith("Not resolved against JPA: Elasticsearch, 1 shard (")
    figures = with_brackets(figures, OTHER, *[bracket(2000, 2090)] * 3)
    assert figures.compare(figures.variants[1].sustained, plain) == "more"
    assert column(capacity(figures), "by_baseline")[1].startswith("1.8")


def test_a_lower_bound_below_the_baseline_is_not_said_to_be_less(tmp_path: Path) -> None:
    lines = lines_of(with_other(tmp_path, *[bracket(500, 520, at_least=True)] * 3))
    assert any(line.startswith("Not resolved against JPA: Elastic") for line in lines)
    assert not any("less" in line.lower() or "No measurable difference" in line for line in lines)


def test_a_path_with_defaults_gets_no_ratio_from_bounds(tmp_path: Path) -> None:
    figures = with_brackets(figures_of(tmp_path, PATHS[0], PATHS[-1]), "jpa", *[LOWER] * 3)
    assert "JPA, as tutorials have it: ~1,000/s; not resolved against JPA." in lines_of(figures)


def test_a_control_of_bounds_resolves_nothing(tmp_path: Path) -> None:
    figures = with_brackets(figures_of(tmp_path), "jpa", *[LOWER] * 3)
    assert figures.twin_ratios == ()
    assert "A/A control: not resolved. The smallest detectable difference is not known." in (
        capacity(figures).notes
    )


def test_each_block_that_is_a_bound_says_so_and_the_median_too() -> None:
    def shown(*brackets: Bracket) -> tuple[str, str, float, tuple[str, str]]:
        given = Capacity(by_block=dict(enumerate(brackets, 1)))
        found = cell(given)
        assert found.figure is not None
        return given.confidence, found.prefix, found.figure.median, found.ends

    assert shown(*MEASURED) == ("measured ±5 %", "", 1100, ("", ""))
    assert shown(LOWER, LOWER, LOWER) == ("lower bound", "≥ ", 2000, ("≥ ", "≥ "))
    assert shown(*MEASURED[:2], LOWER) == ("measured ±5 %", "", 1100, ("", "≥ "))
    assert shown(BELOW, BELOW, BELOW) == ("upper bound", "< ", 200, ("< ", "< "))
    published = (BELOW, bracket(555.6, 607.5), bracket(649.7, None))
    assert shown(*published) == ("inconclusive (3 of 3)", "≥ ", 555.6, ("< ", "≥ "))


def test_an_inconclusive_rate_is_marked_in_the_summary() -> None:
    one, two = bracket(555.6, 607.5), bracket(649.7, None)
    assert about(Capacity(by_block={2: one, 3: two})) == "at least 600/s, inconclusive in 2 of 2 blocks"
    assert about(Capacity(by_block={1: bracket(None, 200)})) == "below 200/s"
    assert about(Capacity(by_block={1: LOWER})) == "at least 2,000/s"
    assert about(Capacity(by_block={1: bracket(None, None)})) == "not known, inconclusive in 1 of 1 block"


def test_a_baseline_that_the_generator_ended_does_not_claim_its_limit(tmp_path: Path) -> None:
    figures = with_brackets(figures_of(tmp_path, PATHS[0]), "jpa", *[LOWER] * 3)
    assert lines_of(figures)[0] == (
        "JPA (baseline): at least 2,000/s; the load generator may have been the limit."
    )


def test_a_share_of_a_bound_is_a_bound(tmp_path: Path) -> None:
    lower = with_brackets(figures_of(tmp_path), "jpa", *[LOWER] * 3)
    assert column(capacity(lower), "ceiling_share_percent")[0].startswith("≥ 11.1 (≥ 11.0–≥ 11.2")
    below = with_brackets(figures_of(tmp_path), "jpa", *[BELOW] * 3)
    assert column(capacity(below), "ceiling_share_percent")[0].startswith("< 1.11 (< 1.10–< 1.12")


def test_programs_see_that_a_rate_is_a_bound(tmp_path: Path) -> None:
    table = capacity(with_brackets(figures_of(tmp_path, PATHS[0]), "jpa", *[BELOW] * 3))
    header, row = (line.split(",") for line in files.csv(table).splitlines())
    assert "< 200" in row
    assert "sustained_per_s_shown" in header
    assert json.loads(files.json([table]))[0]["rows"][0]["sustained_per_s"]["shown"] == "< 200"


HOSTS = ("AMD EPYC", "Xeon")  # of block 1, and of blocks 2 and 3
FAR = replace(PATHS[0], sustained_per_s=(1000.0, 2000.0, 2050.0), noise_in_block=None)
QUEUE = replace(PATHS[1], sustained_per_s=(1000.0, 2000.0, 2050.0), burst_per_s=(1400.0, 2600.0, 2700.0))


def on_two_hosts(root: Path, **planted: Any) -> CapacityFigures:
    return figures_of(root, FAR, QUEUE, hosts=HOSTS, twin=(1000.0, 2000.0, 2000.0), **planted)


def numbers(table: Table, host: str) -> Iterator[tuple[float, float, int]]:
    for row in table.rows:
        if row.cells[0].text == host:
            for one in row.cells[1:]:
                if one.figure is not None:
                    yield one.figure.low, one.figure.high, one.figure.repetitions


def test_no_cell_holds_a_median_of_two_hosts(tmp_path: Path) -> None:
    figures = on_two_hosts(tmp_path)
    built = {table.key: table for table in capacity_page.tables(figures)}
    per_host = ("capacity", "limited", "cost", "overload", "ceiling_shares", "ceilings")
    for key in per_host:
        table = built[key]
        assert (table.columns[0].key, table.columns[0].title) == ("host", "host")
        assert {row.cells[0].text for row in table.rows} == {"AMD EPYC, 2 cores", "Xeon, 2 cores"}
        assert all(count == 1 for _, _, count in numbers(table, "AMD EPYC, 2 cores"))
        assert all(count <= 2 for _, _, count in numbers(table, "Xeon, 2 cores"))
    assert column(built["capacity"], "sustained_per_s")[0].startswith("1,0")
    assert column(built["capacity"], "sustained_per_s")[2].startswith(("1,9", "2,0"))
    for key in ("validity", "holds", "fingerprint"):
        assert "host" not in [one.key for one in built[key].columns]
    assert [given.title.rpartition(" on ")[2] for given in cards(figures.data)] == [
        "AMD EPYC, 2 cores", "Xeon, 2 cores",
    ]  # fmt: skip
    assert list(curves(by_host(figures.data))) == ["capacity-curves.svg", "capacity-curves-2.svg"]


def test_hosts_are_in_the_order_of_their_first_block_with_their_own_resolution(tmp_path: Path) -> None:
    found = by_host(on_two_hosts(tmp_path).data)
    assert [host for host, _ in found] == ["AMD EPYC, 2 cores", "Xeon, 2 cores"]
    assert [[one.search.block for one in own.variants[0].searches] for _, own in found] == [[1], [2, 3]]
    assert [[made.block for made in own.data.ceilings] for _, own in found] == [[1], [2, 3]]
    assert [confidence(own.variants[0]) for _, own in found] == ["measured ±5 %"] * 2


def test_one_host_has_no_column_of_hosts_and_failed_runs_make_none(tmp_path: Path) -> None:
    data = Planted(root=tmp_path, failed=(("jpa", 2),)).data()
    searches = tuple(
        replace(one, search=replace(one.search, host=None)) if one.search.outcome == "failed" else one
        for one in data.searches
    )
    figures = capacity_figures(replace(data, searches=searches))
    ((host, own),) = by_host(figures.data)
    assert (host, own) == ("Testor 3000, 2 cores", figures)
    assert not any(table.columns[0].key == "host" for table in capacity_page.tables(figures))


def test_records_without_a_host_are_of_an_unknown_one(tmp_path: Path) -> None:
    data = Planted(root=tmp_path).data()
    searches = tuple(
        replace(one, search=replace(one.search, host=None)) if one.search.block == 3 else one
        for one in data.searches
    )
    assert [host for host, _ in by_host(replace(data, searches=searches))] == [
        "Testor 3000, 2 cores", "unknown host",
    ]  # fmt: skip
