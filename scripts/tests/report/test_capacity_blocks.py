"""Are blocks compared within themselves, whatever host each was made on?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from report.planted_capacity import Planted
from report.planted_paths import PATHS
from report.test_capacity_figures import bracket, column, figures_of, lines_of
from writepath.report.capacity_bounds import Capacity
from writepath.report.capacity_card import cards
from writepath.report.capacity_evidence import fingerprint
from writepath.report.capacity_figures import capacity_figures, times
from writepath.report.capacity_page import heading
from writepath.report.capacity_tables import capacity, costs

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.records import Resource
    from writepath.report.capacity_figures import CapacityFigures
    from writepath.report.model import Table

FASTER = (1000.0, 2000.0, 1500.0)  # what the plain path carries on three hosts
PLAIN = replace(PATHS[0], sustained_per_s=FASTER, noise_in_block=None)
OTHER = PATHS[2]


def on_three_hosts(root: Path, *carried_per_s: float) -> CapacityFigures:
    return figures_of(root, PLAIN, replace(OTHER, sustained_per_s=carried_per_s), twin=FASTER)


def test_a_path_that_sustains_more_in_every_block_is_more_though_blocks_differ_more(tmp_path: Path) -> None:
    figures = on_three_hosts(tmp_path, *(1.25 * per_s for per_s in FASTER))
    plain, other = (one.sustained.passed.values() for one in figures.variants)
    assert min(other) < max(plain)  # the ranges overlap
    assert any(line.startswith("Sustains more than JPA: Elastic") for line in lines_of(figures))


def test_a_path_that_sustains_more_in_most_blocks_only_is_within_noise(tmp_path: Path) -> None:
    figures = on_three_hosts(tmp_path, 1300.0, 1800.0, 1950.0)
    assert any(
        line.startswith("No measurable difference from JPA: Elasticsearch, 1 shard")
        for line in lines_of(figures)
    )


def test_a_path_that_sustains_more_in_every_block_but_in_one_by_noise_is_within_noise(
    tmp_path: Path,
) -> None:
    figures = on_three_hosts(tmp_path, *FASTER)
    plain = figures.variants[0].sustained
    by = {1: 1.25, 2: 1.02, 3: 1.25}
    assert figures.compare(_times(plain, by), plain) == "within noise"
    by[2] = 1.25
    assert figures.compare(_times(plain, by), plain) == "more"
    assert figures.compare(plain, _times(plain, by)) == "less"


def _times(plain: Capacity, by: dict[int, float]) -> Capacity:
    return Capacity(
        by_block={
            block: bracket(by[block] * per_s, 1.04 * by[block] * per_s)
            for block, per_s in plain.passed.items()
        }
    )


def test_the_ratio_to_the_baseline_is_of_the_same_block_with_its_interval(tmp_path: Path) -> None:
    figures = on_three_hosts(tmp_path, *(0.5 * per_s for per_s in FASTER))
    table = capacity(figures)
    plain, other = column(table, "by_baseline")
    assert plain == "–"
    assert other.startswith("0.5")
    assert "(" in other
    plain_, other_ = (one.sustained for one in figures.variants)
    found = times(other_, plain_)
    assert found.pairs == 3
    assert found.ratio == pytest.approx(0.5, rel=0.1)
    assert "highest passing rate ÷ that of JPA in the same block" in table.caption


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


def test_a_path_that_costs_more_in_every_block_costs_more_though_blocks_differ_more(tmp_path: Path) -> None:
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
    (cheapest,) = (line for line in lines if line.startswith("Lowest CPU time"))
    assert ": JPA, " in cheapest
    assert "no measurable difference" not in cheapest


def _slower(used: Resource, block: int) -> Resource:
    return replace(used, cpu_seconds=used.cpu_seconds * 3**block)


def test_hosts_are_named_with_their_blocks_where_they_differ(tmp_path: Path) -> None:
    one = figures_of(tmp_path / "one")
    several = figures_of(tmp_path / "several", hosts=("Testor 3000", "Testor 4000"))
    assert "native runtime on Testor 3000, 2 cores; load generator" in heading(one)
    assert "on Testor 3000, 2 cores (block 1) and Testor 4000, 2 cores (blocks 2, 3); load" in heading(
        several
    )
    assert [given.title.rpartition(" on ")[2] for given in cards(one.data)] == ["this host"]
    assert [given.title.rpartition(" on ")[2] for given in cards(several.data)] == [
        "Testor 3000, 2 cores", "Testor 4000, 2 cores",
    ]  # fmt: skip


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
