"""Are blocks compared within themselves, whatever host each was made on?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from report.planted_capacity import Planted
from report.planted_paths import PATHS
from report.test_capacity_figures import column, figures_of, lines_of
from writepath.report.capacity_card import card
from writepath.report.capacity_evidence import fingerprint
from writepath.report.capacity_figures import capacity_figures
from writepath.report.capacity_page import heading
from writepath.report.capacity_tables import capacity, costs

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.report.capacity_figures import CapacityFigures
    from writepath.report.model import Table
    from writepath.result import Resource

FASTER = (1000.0, 2000.0, 1500.0)  # what the plain path carries on three hosts
PLAIN = replace(PATHS[0], sustained_per_s=FASTER, noise_in_block=None)
OTHER = PATHS[2]


def on_three_hosts(root: Path, *carried_per_s: float) -> CapacityFigures:
    return figures_of(root, PLAIN, replace(OTHER, sustained_per_s=carried_per_s), twin=FASTER)


def test_a_path_that_carries_more_in_every_block_is_no_tie_though_hosts_differ_more(tmp_path: Path) -> None:
    figures = on_three_hosts(tmp_path, *(1.25 * per_s for per_s in FASTER))
    plain, other = (one.sustained.last_pass for one in figures.variants)
    assert plain is not None
    assert other is not None
    assert other.low < plain.high  # the ranges overlap
    assert any(line.startswith("Above, if the row must be stored") for line in lines_of(figures))


def test_a_path_that_carries_more_in_most_blocks_only_is_a_tie(tmp_path: Path) -> None:
    figures = on_three_hosts(tmp_path, 1300.0, 1800.0, 1950.0)
    assert any(line.startswith("A tie with JPA: Elasticsearch, 1 shard") for line in lines_of(figures))


def test_a_path_that_carries_more_in_every_block_but_in_one_by_what_chance_gives_is_a_tie(
    tmp_path: Path,
) -> None:
    figures = on_three_hosts(tmp_path, *FASTER)
    plain, other = (one.sustained for one in figures.variants)
    by = {1: 1.25, 2: 1.02, 3: 1.25}
    more = replace(other, by_block={block: by[block] * per_s for block, per_s in plain.by_block.items()})
    assert figures.tie(more, plain)
    by[2] = 1.25
    more = replace(other, by_block={block: by[block] * per_s for block, per_s in plain.by_block.items()})
    assert not figures.tie(more, plain)


def test_a_path_that_carried_nothing_in_a_block_is_still_less_in_every_block(tmp_path: Path) -> None:
    figures = on_three_hosts(tmp_path, 500.0, 900.0, 700.0)
    none = replace(figures.variants[1].sustained, by_block={1: 0.0, 2: 900.0, 3: 700.0})
    assert not figures.tie(none, figures.variants[0].sustained)


def test_the_ratio_to_the_baseline_is_of_the_same_block_with_its_interval(tmp_path: Path) -> None:
    figures = on_three_hosts(tmp_path, *(0.5 * per_s for per_s in FASTER))
    table = capacity(figures)
    plain, other = column(table, "by_baseline")
    assert plain == "–"
    assert other.startswith("0.5")
    assert "(" in other
    found = figures.by_baseline(figures.variants[1])
    assert found is not None
    assert found.pairs == 3
    assert found.ratio == pytest.approx(0.5, rel=0.1)
    assert "last pass by that of JPA in the same block" in table.caption


def test_of_one_block_there_is_a_ratio_and_no_interval(tmp_path: Path) -> None:
    figures = on_three_hosts(tmp_path / "three", *(0.5 * per_s for per_s in FASTER))
    one = capacity_figures(Planted(root=tmp_path / "one", paths=(PLAIN, OTHER), blocks=1).data())
    assert "(" in column(capacity(figures), "by_baseline")[1]
    assert "(" not in column(capacity(one), "by_baseline")[1]


def test_a_rate_that_was_not_passed_in_every_block_compares_nobody(tmp_path: Path) -> None:
    figures = on_three_hosts(tmp_path, *FASTER)
    passed = [
        {hold.rate_per_s for hold in found.search.holds if hold.verdict == "pass"}
        for one in figures.variants
        for found in one.searches
    ]
    assert figures.common_rates_per_s
    assert all(set(figures.common_rates_per_s) <= own for own in passed)
    assert max(figures.common_rates_per_s) <= min(FASTER)
    assert "2,000/s" not in column(costs(figures), "cost_rate")


def test_a_path_that_costs_more_in_every_block_is_no_tie_though_hosts_differ_more(tmp_path: Path) -> None:
    alike = [replace(path, sustained_per_s=(1500.0,) * 3) for path in (PLAIN, OTHER)]  # but their costs
    figures = figures_of(tmp_path, *alike)
    searches = tuple(
        replace(
            found,
            search=replace(
                found.search,
                holds=tuple(
                    replace(
                        hold,
                        resources={
                            name: _slower(one, found.search.block) for name, one in hold.resources.items()
                        },
                    )
                    for hold in found.search.holds
                ),
            ),
        )
        for found in figures.data.searches
    )
    lines = lines_of(capacity_figures(replace(figures.data, searches=searches)))
    (cheapest,) = (line for line in lines if line.startswith("Cheapest"))
    assert ": JPA with " in cheapest
    assert "a tie" not in cheapest


def _slower(used: Resource, block: int) -> Resource:
    return replace(used, cpu_seconds=used.cpu_seconds * 3**block)


def test_hosts_are_named_with_their_blocks_where_they_differ(tmp_path: Path) -> None:
    one = figures_of(tmp_path / "one")
    several = figures_of(tmp_path / "several", hosts=("Testor 3000", "Testor 4000"))
    assert "native runtime on Testor 3000, 2 cores, load generator" in heading(one)
    assert "on Testor 3000, 2 cores (block 1) and Testor 4000, 2 cores (blocks 2, 3), load" in heading(
        several
    )
    assert card(one).title.endswith("on this host?")
    assert card(several).title.endswith("on these hosts?")


def test_the_fingerprint_says_which_block_was_made_on_which_host(tmp_path: Path) -> None:
    one = fingerprint(figures_of(tmp_path / "one"))
    several = fingerprint(figures_of(tmp_path / "several", hosts=("Testor 3000", "Testor 4000")))
    assert _of(one, "processor") == [("Testor 3000, 2 cores", "all")]
    assert _of(several, "processor") == [
        ("Testor 3000, 2 cores", "block 1"), ("Testor 4000, 2 cores", "block 2, block 3"),
    ]  # fmt: skip
    assert _of(several, "memory") == [("8.00 GiB", "all")]


def _of(table: Table, what: str) -> list[tuple[str, str]]:
    facts, values, of = (column(table, key) for key in ("fact", "fact_value", "fact_variants"))
    return [(value, those) for fact, value, those in zip(facts, values, of, strict=True) if fact == what]
