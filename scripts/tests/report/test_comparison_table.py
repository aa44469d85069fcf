"""Does the comparison say what was planted, and stay out of what ranks?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from writepath import result
from writepath.errors import UsageError
from writepath.report import publish
from writepath.report.compare_words import letters
from writepath.report.figures import suite_figures
from writepath.report.model import Row, Table, shown
from writepath.report.plots import plots
from writepath.report.raw import read_suite
from writepath.report.tables import tables

if TYPE_CHECKING:
    from report.conftest import RunSpec, SuiteSpec

WOBBLE = (1.0, 1.01, 0.99, 1.005, 0.995, 1.002)
BLOCKS = len(WOBBLE)


@pytest.fixture
def compared(suite: SuiteSpec, run_spec: type[RunSpec]) -> SuiteSpec:
    """Six blocks; `slow` needs half as long again, `alike` and the twin what the baseline needs."""
    plain = run_spec().latency_ms
    suite.baseline, suite.repetitions, suite.runs = "jpa", BLOCKS, []
    for block, wobble in enumerate(WOBBLE, 1):
        again = plain * WOBBLE[-block]
        suite.runs += [
            run_spec(repetition=block, latency_ms=plain * wobble),
            run_spec(repetition=block, latency_ms=again, again=True),
            run_spec(variant="slow", repetition=block, latency_ms=plain * wobble * 1.5 * WOBBLE[block - 3]),
            run_spec(variant="alike", repetition=block, latency_ms=plain * wobble),
            run_spec(variant="control", repetition=block, latency_ms=plain * 1.4, control_of="jpa"),
        ]
    return suite


def built(suite: SuiteSpec) -> dict[str, Table]:
    return {table.key: table for table in tables(suite_figures(read_suite(suite.write())))}


def line(table: Table, variant: str, metric: str) -> list[str]:
    return next(
        values for values in (said(table, row) for row in table.rows) if values[:2] == [variant, metric]
    )


def said(table: Table, row: Row) -> list[str]:
    return [shown(one, column) for one, column in zip(row.cells, table.columns, strict=True)]


def test_planted_ratios_have_their_word(compared: SuiteSpec) -> None:
    table = built(compared)["comparison"]
    slow, alike = line(table, "SLOW", "median"), line(table, "ALIKE", "median")
    assert slow[2].startswith("1.50 (1.4")
    assert slow[3:5] == ["6", "slower"]
    assert alike[2].startswith("1.00 (0.99")
    assert alike[3:5] == ["6", "same within 5 %"]
    assert line(table, "SLOW", "throughput")[4] == "same within 5 %"
    assert line(table, "SLOW", "CPU per 1,000 writes")[4] == "same within 5 %"
    assert line(table, "CONTROL", "p95")[4] == "slower"
    assert [column.header for column in table.columns] == [
        "variant", "metric", "× baseline", "pairs", "verdict", "smallest detectable difference (%)", "reason",
    ]  # fmt: skip


def test_the_a_a_pair_has_rows_of_its_own_and_gives_the_resolution(compared: SuiteSpec) -> None:
    table = built(compared)["comparison"]
    own = line(table, "JPA (A/A control)", "median")
    assert own[4] == "same within 5 %"
    assert "by the A/A control: median 3.00 %, p95 3.00 %, p99 3.00 %" in table.caption
    assert table.rows[-1].cells[0].text == "JPA (A/A control)"


def test_no_other_table_and_no_plot_has_the_twin_or_the_control(compared: SuiteSpec) -> None:
    with_twin = built(compared)
    figures = suite_figures(read_suite(compared.root / "results/default" / compared.stamp))
    drawn = plots(figures)
    titles = [shown(row.cells[0], table.columns[0]) for table in with_twin.values() for row in table.rows]
    ranked = [
        title
        for table in with_twin.values()
        for title in _titles(table)
        if table.key not in ("comparison", "runs")
    ]
    assert not [title for title in ranked if "A/A" in title or "CONTROL" in title]
    assert titles.count("JPA (A/A control)") == 7 + BLOCKS  # its rows of the comparison, its runs
    compared.runs = [spec for spec in compared.runs if not spec.again and not spec.control_of]
    compared.stamp = "20260103T030405Z"
    without = built(compared)
    for key in ("latency", "phases", "answers", "throughput", "resources", "audit"):
        assert with_twin[key] == without[key]
    assert drawn == plots(suite_figures(read_suite(compared.root / "results/default" / compared.stamp)))


def _titles(table: Table) -> list[str]:
    return [shown(row.cells[0], table.columns[0]) for row in table.rows]


def test_a_block_without_a_run_that_counts_makes_no_pair(
    compared: SuiteSpec, run_spec: type[RunSpec]
) -> None:
    bad = run_spec(
        variant="slow",
        repetition=1,
        verdict=result.Verdict(status="invalid", reasons=("k6 was late",)),
    )
    compared.runs = [s for s in compared.runs if (s.variant, s.repetition) != ("slow", 1)] + [bad]
    found = line(built(compared)["comparison"], "SLOW", "median")
    assert found[3:5] == ["5", "not resolved"]
    assert found[-1] == "5 blocks are too few for the rank test (6 needed)"


def test_a_variant_that_serves_nothing_is_slower_without_a_ratio_to_name(
    compared: SuiteSpec, run_spec: type[RunSpec]
) -> None:
    failed = np.full(1200, 503)
    compared.runs = [spec for spec in compared.runs if spec.variant != "slow"] + [
        run_spec(variant="slow", repetition=block, status=failed) for block in range(1, BLOCKS + 1)
    ]
    table = built(compared)["comparison"]
    assert line(table, "SLOW", "median")[2:5] == ["∞", "0", "slower"]
    assert line(table, "SLOW", "throughput")[2:5] == ["0", "0", "slower"]
    assert line(table, "SLOW", "CPU per 1,000 writes")[2:5] == ["–", "0", "not resolved"]


@pytest.mark.parametrize(("baseline", "repetitions"), [(None, BLOCKS), ("jpa", 1)])
def test_without_a_baseline_or_a_second_block_there_is_no_comparison(
    compared: SuiteSpec, baseline: str | None, repetitions: int
) -> None:
    compared.baseline, compared.repetitions = baseline, repetitions
    compared.runs = [spec for spec in compared.runs if spec.repetition <= repetitions]
    assert "comparison" not in built(compared)


def test_two_blocks_are_compared_and_said_to_be_too_few(compared: SuiteSpec) -> None:
    compared.repetitions = 2
    compared.runs = [spec for spec in compared.runs if spec.repetition <= 2]
    table = built(compared)["comparison"]
    assert (
        "With 2 blocks no difference can be significant in a rank test: 6 blocks are needed." in table.notes
    )


def test_a_suite_with_a_twin_is_published_whole_and_derives_again(compared: SuiteSpec) -> None:
    publish.publish(compared.root, compared.write())
    assert publish.differences(compared.root) == []
    page = (compared.root / "docs/results/default.md").read_text(encoding="utf-8")
    assert "## Compared with the baseline" in page
    compared.runs = [spec for spec in compared.runs if not (spec.again and spec.repetition == 3)]
    compared.stamp = "20260103T030405Z"
    with pytest.raises(UsageError, match="missing: jpa@again, repetition 3"):
        publish.publish(compared.root, compared.write())


def test_after_26_suite_runs_letters_are_doubled() -> None:
    assert letters(3) == ("A", "B", "C")
    assert letters(29)[24:] == ("Y", "Z", "AA", "AB", "AC")
    assert len(set(letters(1000))) == 1000
