"""Are search runs of two hosts kept apart, and are bounds of their rates given no rank?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from report.planted_queries import VARIANTS
from report.test_capacity_figures import bracket
from report.test_queries_card import line
from report.test_queries_tables import changed, figures_of, lines, table_of
from writepath.report.queries_card import cards
from writepath.report.queries_figures import QueriesFigures, by_host, queries_figures

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.records.queries import Read

PER_HOST = (
    "rounds",
    "search_ratios",
    "hits",
    "loading",
    "search_capacity",
    "limited",
    "beside_writes",
    "index_cost",
)
HERE, THERE = "Testor 3000, 2 cores", "Testor 4000, 2 cores"


def elsewhere(read: Read) -> Read:
    assert read.host is not None
    return replace(read, host=replace(read.host, cpu_model="Testor 4000"))


def on_two_hosts(root: Path) -> QueriesFigures:
    """Block 1 on another host than blocks 2 and 3."""
    figures = figures_of(root)
    reads = tuple(
        replace(found, read=elsewhere(found.read)) if found.read.block == 1 else found
        for found in figures.data.reads
    )
    return queries_figures(replace(figures.data, reads=reads))


def test_no_cell_holds_a_median_of_two_hosts(tmp_path: Path) -> None:
    figures = on_two_hosts(tmp_path)
    for key in PER_HOST:
        table = table_of(figures, key)
        assert table.columns[0].key == "host"
        assert {row.cells[0].text for row in table.rows} == {HERE, THERE}
        for row in table.rows:
            most = 1 if row.cells[0].text == THERE else 2
            assert all(one.figure.repetitions <= most for one in row.cells if one.figure is not None)
    for key in ("search_validity", "holds", "fingerprint"):
        assert table_of(figures, key).columns[0].key != "host"
    assert [given.title.rpartition(" on ")[2] for given in cards(figures)] == [THERE, HERE]
    assert [host for host, _ in by_host(figures)] == [THERE, HERE]


def test_one_host_has_no_column_of_hosts(tmp_path: Path) -> None:
    figures = figures_of(tmp_path)
    assert not any(table_of(figures, key).columns[0].key == "host" for key in PER_HOST)
    ((_, own),) = by_host(figures)
    assert own.data.reads == figures.data.reads


def test_searches_during_writes_that_were_rerun_elsewhere_are_in_no_median_of_their_record(
    tmp_path: Path,
) -> None:
    def later(read: Read) -> Read:
        assert read.beside is not None
        if read.block != 1:
            return read
        return replace(read, beside=replace(read.beside, host=elsewhere(read).host))

    figures = changed(figures_of(tmp_path), "jpa", later)
    table = table_of(figures, "beside_writes")
    (there,) = lines(table, host=THERE)
    assert there["variant"] == "JPA"
    (here,) = (row for row in table.rows if (row.cells[0].text, row.cells[1].text) == (HERE, "JPA"))
    assert {one.figure.repetitions for one in here.cells if one.figure is not None} == {2}
    (cost,) = (row for row in table_of(figures, "index_cost").rows if row.cells[0].text == "JPA")
    late = cost.cells[5].figure
    assert late is not None
    assert late.repetitions == 2


def test_a_bound_has_no_rank_among_searches(tmp_path: Path) -> None:
    def bound(read: Read) -> Read:
        return replace(read, capacity=bracket(5000, 7000)) if read.block == 1 else read

    found = line(changed(figures_of(tmp_path), VARIANTS[1].name, bound), "Every post")
    assert found.startswith(
        "Every post that contains a keyword: not resolved for JPA, trigram index (~3,000/s, inconclusive in"
        " 1 of 3 blocks); highest measured rate with JPA (~2,200/s); lower with "
    )
