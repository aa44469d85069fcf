"""Do capacities, ties, limits and costs of a planted run come out as they were planted?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from report.planted_capacity import LADDER, NEAREST, Planted
from report.planted_paths import PATHS, Path_
from writepath import records as result
from writepath.analysis.saturation import RESOURCES
from writepath.records import capacity as records
from writepath.records.capacity import unresolved
from writepath.report.capacity_card import card
from writepath.report.capacity_ceilings import share, shares
from writepath.report.capacity_cost import cost, p99_at, passed_at
from writepath.report.capacity_evidence import holds, validity
from writepath.report.capacity_figures import CapacityFigures, capacity_figures
from writepath.report.capacity_raw import CapacityData
from writepath.report.capacity_tables import capacity, costs, limit_in_words, limited, overload
from writepath.report.model import Table, shown
from writepath.report.render.files import csv

if TYPE_CHECKING:
    from pathlib import Path


def figures_of(root: Path, *paths: Path_, **planted: Any) -> CapacityFigures:
    return capacity_figures(Planted(root=root, paths=paths or PATHS, **planted).data())


def column(table: Table, key: str) -> list[str]:
    """By row, as it is shown."""
    index = [column.key for column in table.columns].index(key)
    return [shown(row.cells[index], table.columns[index]) for row in table.rows]


def lines_of(figures: CapacityFigures) -> list[str]:
    return [line.text for line in card(figures).lines]


def with_brackets(figures: CapacityFigures, name: str, *brackets: records.Bracket) -> CapacityFigures:
    """The same run, in which a variant's searches came to other brackets, block by block."""
    given = iter(brackets)
    searches = tuple(
        replace(found, search=replace(found.search, sustained=(one := next(given)), burst=one))
        if found.search.variant == name and not found.search.again
        else found
        for found in figures.data.searches
    )
    data = figures.data
    return capacity_figures(CapacityData(suite=data.suite, searches=searches, ceilings=data.ceilings))


def bracket(last: float | None, first: float | None, *, at_least: bool = False) -> records.Bracket:
    return records.Bracket(last_pass_per_s=last, first_fail_per_s=first, at_least=at_least, holds=5)


def test_capacity_is_the_median_of_the_blocks_last_passes(tmp_path: Path) -> None:
    figures = with_brackets(
        figures_of(tmp_path), "jpa", bracket(1000, 1050), bracket(1200, 1260), bracket(1100, 1150)
    )
    assert column(capacity(figures), "sustained_per_s")[0] == "1,100 (1,000–1,200)"
    assert column(capacity(figures), "first_fail_per_s")[0] == "1,150 (1,050–1,260)"


def test_a_search_that_the_generator_ended_is_a_lower_bound_only_where_the_median_rests_on_it(
    tmp_path: Path,
) -> None:
    figures = figures_of(tmp_path)
    highest = with_brackets(
        figures, "jpa", bracket(1000, 1050), bracket(1200, None, at_least=True), bracket(1100, 1150)
    )
    lowest = with_brackets(
        figures, "jpa", bracket(1000, None, at_least=True), bracket(1200, 1260), bracket(1100, 1150)
    )
    assert column(capacity(highest), "sustained_per_s")[0] == "1,100 (1,000–≥ 1,200)"
    assert column(capacity(lowest), "sustained_per_s")[0] == "≥ 1,100 (≥ 1,000–1,200)"
    assert column(capacity(lowest), "capacity_bound")[0] == "lower bound"


def test_a_path_that_failed_at_its_lowest_rate_is_below_it(tmp_path: Path) -> None:
    figures = with_brackets(figures_of(tmp_path), "jpa", *[bracket(None, 200)] * 3)
    assert column(capacity(figures), "sustained_per_s")[0] == "< 200"
    assert column(capacity(figures), "capacity_bound")[0] == "upper bound"
    assert lines_of(figures)[0] == "JPA (baseline): below 200/s; the lowest rate tried failed."


def test_paths_of_which_neither_sustains_more_in_every_block_have_no_measurable_difference(
    tmp_path: Path,
) -> None:
    given = card(figures_of(tmp_path))
    tie = next(line for line in given.lines if line.text.startswith("No measurable difference"))
    assert tie.text == "No measurable difference from JPA: Elasticsearch, 1 shard (~2,300/s)."
    assert any(note.startswith("No measurable difference: neither path is ahead") for note in given.notes)
    assert {folder.split("/")[0] for folder in tie.folders} == {"jpa", "elasticsearch-1s0r"}


def test_two_capacities_are_within_noise_where_the_control_differs_as_much(tmp_path: Path) -> None:
    paths = (PATHS[0], replace(PATHS[2], sustained_per_s=(2700.0, 2720.0, 2710.0)))
    quiet = figures_of(tmp_path / "quiet", *paths)
    noisy = figures_of(tmp_path / "noisy", *paths, twin=(3000.0, 2300.0, 2400.0))
    assert not any("No measurable difference" in line for line in lines_of(quiet))
    assert any(line.startswith("No measurable difference from JPA") for line in lines_of(noisy))
    assert noisy.resolution > 0.15


def test_without_a_twin_the_resolution_is_said_to_be_unknown(tmp_path: Path) -> None:
    figures = figures_of(tmp_path, twin=None)
    assert capacity(figures).notes[-1].startswith("There is no A/A control")


def test_the_summary_names_the_baseline_then_the_queue_and_its_delay(tmp_path: Path) -> None:
    lines = lines_of(figures_of(tmp_path))
    assert lines[0].startswith("JPA (baseline): ~2,200/s. p99 at this rate: ")
    assert f"bottleneck above it: {RESOURCES['host-cpu']}." in lines[0]
    assert "Sustains more than JPA: RabbitMQ + JPA † (~2,900/s)." in lines
    burst = next(
        line for line in lines if line.startswith("RabbitMQ + JPA †, in bursts of 20 s: at least 4,000/s")
    )
    assert "The backlog grows; the last row is stored " in burst
    assert burst.endswith(" s after the burst.")
    assert lines[-1] == "Above 3,000/s: not known; 3 of 21 capacity runs did not find an upper limit."


def test_a_queue_is_never_named_without_its_footnote(tmp_path: Path) -> None:
    given = card(figures_of(tmp_path))
    for line in given.lines:
        assert line.text.count("RabbitMQ + JPA") == line.text.count("RabbitMQ + JPA †")
    assert given.notes[0].startswith("† The 201 is sent before")


def test_a_summary_that_ends_at_a_lower_bound_says_that_more_is_not_known(tmp_path: Path) -> None:
    figures = figures_of(tmp_path, PATHS[0])
    lines = lines_of(with_brackets(figures, "jpa", *[bracket(3000, None, at_least=True)] * 3))
    assert lines[0] == "JPA (baseline): at least 3,000/s; no higher rate failed."
    assert lines[-1] == "Above 3,000/s: not known; 3 of 6 capacity runs did not find an upper limit."


def test_a_summary_ends_at_the_highest_rate_of_any_run_the_controls_included(tmp_path: Path) -> None:
    lines = lines_of(figures_of(tmp_path, PATHS[0], twin=(2200.0, 2900.0, 2300.0)))
    assert lines[-1] == "Above ~2,800/s: no path sustained it on this host."
    queue = figures_of(tmp_path / "queue", PATHS[1])
    ended = lines_of(with_brackets(queue, PATHS[1].name, *[bracket(9000, None, at_least=True)] * 3))
    assert ended[-1] == "Above 9,000/s: not known; 3 of 6 capacity runs did not find an upper limit."


def test_a_queue_that_gains_nothing_is_said_to(tmp_path: Path) -> None:
    slow = replace(PATHS[1], sustained_per_s=(900.0,) * 3, burst_per_s=(900.0,) * 3)
    lines = lines_of(figures_of(tmp_path, PATHS[0], slow))
    assert any(line.startswith("Sustains less than JPA: RabbitMQ + JPA † (~") for line in lines)


def test_a_path_with_the_same_guarantee_that_sustains_more_is_named_for_it(tmp_path: Path) -> None:
    fast = replace(PATHS[2], sustained_per_s=(3600.0,) * 3)
    lines = lines_of(figures_of(tmp_path, PATHS[0], fast))
    assert any(line.startswith("Sustains more than JPA: Elasticsearch, 1 shard (~3,5") for line in lines)


def test_a_path_with_defaults_is_a_reference_and_ranks_nowhere_else(tmp_path: Path) -> None:
    lines = lines_of(figures_of(tmp_path))
    assert [line for line in lines if "as tutorials" in line] == [
        "JPA, as tutorials have it: ~1,000/s; 0.48 × JPA."
    ]


def test_a_path_with_defaults_that_guarantees_less_says_so(tmp_path: Path) -> None:
    careless = replace(PATHS[-1], level="C")
    line = next(line for line in lines_of(figures_of(tmp_path, PATHS[0], careless)) if "as tutorials" in line)
    assert line.endswith("Its 201 guarantees less: durability class C, not A.")


def test_a_run_that_ended_before_its_limit_was_known_is_inconclusive(tmp_path: Path) -> None:
    figures = with_brackets(
        figures_of(tmp_path), "jpa", bracket(1000, 1300), bracket(1200, 1260), bracket(1100, 1150)
    )
    assert column(capacity(figures), "capacity_bound")[0] == "inconclusive (1 of 3)"
    assert "Inconclusive: the run ended before its limit was known to 5 %." in capacity(figures).notes


def test_where_no_run_is_inconclusive_no_note_says_so(tmp_path: Path) -> None:
    assert not [note for note in capacity(figures_of(tmp_path)).notes if note.startswith("Inconclusive")]


def test_a_first_fail_that_no_hold_found_lies_above_those_of_other_blocks(tmp_path: Path) -> None:
    figures = with_brackets(
        figures_of(tmp_path), "jpa", bracket(None, 200), bracket(556, 608), bracket(650, None)
    )
    assert column(capacity(figures), "first_fail_per_s")[0] == "608 (200–∞)"


def test_without_the_tools_there_is_no_share_and_no_table_of_it(tmp_path: Path) -> None:
    figures = figures_of(tmp_path, ceilings=())
    assert column(capacity(figures), "ceiling_share_percent")[0] == "–"
    assert shares(figures) is None


def test_each_line_names_searches_that_are_there(tmp_path: Path) -> None:
    figures = figures_of(tmp_path)
    known = {found.folder for found in figures.data.searches}
    for line in card(figures).lines:
        assert line.folders
        assert set(line.folders) <= known


def test_the_ramp_and_noise_are_in_no_capacity(tmp_path: Path) -> None:
    figures = figures_of(tmp_path)
    made = [hold for found in figures.data.of("jpa") for hold in found.counted]
    assert {hold.kind for hold in made} == {"search", "confirm"}
    assert all(hold.verdict != "noise" for hold in made)


def test_the_bottleneck_is_the_most_frequent_first_resource_at_the_lowest_failing_rate(
    tmp_path: Path,
) -> None:
    jpa = figures_of(tmp_path).variants[0]
    assert limit_in_words(jpa.limited) == f"{RESOURCES['host-cpu']}, 6 of 6"
    assert jpa.limited.first is not None
    assert jpa.limited.first.evidence == "jpa-writer used 1.42 of 2 cores"


def test_where_nothing_was_at_its_limit_what_came_nearest_is_told_with_its_evidence(tmp_path: Path) -> None:
    figures = figures_of(tmp_path)
    words = f"none saturated; highest use: {RESOURCES['host-cpu']}"
    assert column(capacity(figures), "capacity_limited_by")[3] == words
    told = limited(figures)
    (row,) = (one for one in range(len(told.rows)) if column(told, "limited_by")[one] == words)
    assert column(told, "limited_evidence")[row] == NEAREST.evidence


def test_a_failure_the_generator_could_explain_says_so_first(tmp_path: Path) -> None:
    figures = figures_of(tmp_path)
    found = column(capacity(figures), "capacity_limited_by")[4]
    assert found.startswith("load generator (suspected); ")


def test_common_rates_are_those_that_most_variants_passed(tmp_path: Path) -> None:
    figures = figures_of(tmp_path)
    assert set(figures.common_rates_per_s) >= {500.0, 1000.0, 2000.0}
    assert column(costs(figures), "cost_rate").count("500/s") == len(PATHS)


def test_cost_is_of_writes_stored_and_without_the_generator(tmp_path: Path) -> None:
    jpa = figures_of(tmp_path).variants[0]
    used = cost(passed_at(jpa, LADDER[1]))
    assert used.cpu_s is not None
    assert used.cpu_s.median == pytest.approx(PATHS[0].cpu_ms)
    late = p99_at(jpa, LADDER[1])
    assert late is not None
    assert late.repetitions == 3


def test_bytes_that_the_runtime_cannot_tell_are_no_figure(tmp_path: Path) -> None:
    jpa = figures_of(tmp_path).variants[0]
    unknown = [
        [
            replace(
                hold,
                resources=hold.resources
                | {"nginx": result.Resource(cpu_seconds=1.0, rss_peak_bytes=1, write_bytes=None)},
            )
            for hold in own
        ]
        for own in passed_at(jpa, LADDER[1])
    ]
    assert cost(unknown).written_mib is None
    assert cost(unknown).cpu_s is not None


def test_where_no_bytes_are_known_there_is_no_column_of_them(tmp_path: Path) -> None:
    figures = figures_of(tmp_path, PATHS[0])
    known = [column.key for column in costs(figures).columns]
    data = figures.data
    searches = tuple(
        replace(
            found,
            search=replace(
                found.search,
                holds=tuple(
                    replace(hold, resources={"app": replace(hold.resources["app"], write_bytes=None)})
                    for hold in found.search.holds
                ),
            ),
        )
        for found in data.searches
    )
    unknown = costs(capacity_figures(replace(data, searches=searches)))
    assert [column.key for column in unknown.columns] == known[:-1]


def test_a_share_is_of_the_lowest_ceiling_and_of_the_brokers_in_the_same_block(tmp_path: Path) -> None:
    figures = figures_of(tmp_path)
    queue = figures.variants[1]
    for accepting, carried, ceiling_per_s in ((False, queue.sustained, 22_100), (True, queue.burst, 30_900)):
        found = share(figures, queue, accepting=accepting).figure
        assert found is not None
        by_block = [
            100 * per_s / (ceiling_per_s * (1 + block / 100)) for block, per_s in carried.passed.items()
        ]
        assert (found.low, found.median, found.high) == pytest.approx(tuple(sorted(by_block)))


def test_an_unstable_hold_is_called_so_in_words(tmp_path: Path) -> None:
    table = holds(figures_of(tmp_path))
    said = list(zip(column(table, "hold_result"), column(table, "hold_why"), strict=True))
    unstable = [why for result_, why in said if result_ == "fail, passes as a burst"]
    assert unstable
    assert all(why.startswith("unstable: after 60 min the queue holds") for why in unstable)


def test_noise_is_counted_and_what_was_not_made_again_is_apart(tmp_path: Path) -> None:
    figures = figures_of(tmp_path)
    assert column(validity(figures), "validity_noise")[0] == "1"
    assert column(validity(figures), "validity_unresolved")[0] == "0"
    found = next(one for one in figures.data.searches if any(h.verdict == "noise" for h in one.search.holds))
    spoilt = next(i for i, hold in enumerate(found.search.holds) if hold.verdict == "noise")
    assert unresolved(found.search.holds) == ()
    assert len(unresolved(found.search.holds[: spoilt + 1])) == 1


def test_a_failed_search_is_named_and_gives_no_figure(tmp_path: Path) -> None:
    figures = figures_of(tmp_path, failed=(("jpa", 2),))
    assert column(validity(figures), "validity_lost")[0] == "block 2: postgres did not start"
    assert len(figures.variants[0].searches) == 2


def test_overload_says_errors_by_hop_and_when_it_is_back(tmp_path: Path) -> None:
    table = overload(figures_of(tmp_path))
    assert table is not None
    assert column(table, "overload_errors")[0] == "application 141,000 (50.0 %)"
    assert column(table, "overload_back_s")[0] == "2.50 s"
    assert column(table, "overload_drained_s")[:2] == ["–", "12.0 s"]


def test_a_table_can_be_read_on_by_a_program(tmp_path: Path) -> None:
    lines = csv(capacity(figures_of(tmp_path))).splitlines()
    assert lines[0].startswith(
        "mark,variant,capacity_acknowledges,capacity_class,sustained_per_s,sustained_per_s_low"
    )
    assert len(lines) == len(PATHS) + 1
