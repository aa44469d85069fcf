"""Does the comparison say what was planted, and stay out of what ranks?"""

import pytest

from report.planted_suite import Planted, report, report_of, suite, tables
from writepath.records.measures import Verdict
from writepath.report.comparison import compared
from writepath.report.model import Table, shown, texts

WOBBLE = (1.0, 1.01, 0.99, 1.005, 0.995, 1.002)
BLOCKS = len(WOBBLE)


def blocks() -> list[Planted]:
    """Six blocks; `slow` needs half as long again, `alike` and the A/A control what the baseline needs."""
    specs = []
    for block, wobble in enumerate(WOBBLE, 1):
        specs += [
            Planted(block=block, scale=wobble),
            Planted(block=block, scale=WOBBLE[-block], control=True),
            Planted(variant="slow", block=block, scale=wobble * 1.5 * WOBBLE[block - 3]),
            Planted(variant="alike", block=block, scale=wobble),
            Planted(variant="control", block=block, scale=1.4, control_of="jpa"),
        ]
    return specs


def comparison(specs: list[Planted]) -> Table:
    return tables(*specs, baseline="jpa")["comparison"]


def line(table: Table, variant: str, metric: str) -> list[str]:
    return next(
        values for values in (texts(table, row) for row in table.rows) if values[:2] == [variant, metric]
    )


def test_planted_ratios_have_their_word() -> None:
    table = comparison(blocks())
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


def test_the_answer_has_p99_and_processor_time_against_the_baseline() -> None:
    said = report(*blocks(), baseline="jpa").answer
    (p99,) = (one for one in said if one.startswith("p99 ÷ that of JPA in the same block: SLOW 1.50 (1.4"))
    assert p99.endswith("), slower; ALIKE 1.00 (0.993–1.01), same within 5 %.")
    assert any(one.startswith("CPU per 1,000 writes ÷ that of JPA") for one in said)


def test_too_few_blocks_or_a_baseline_alone_leave_the_comparison_out_of_the_answer() -> None:
    few = [one for one in blocks() if one.block < BLOCKS]
    for specs in (few, [one for one in blocks() if one.variant == "jpa"]):
        assert "comparison" in tables(*specs, baseline="jpa")
        assert "÷" not in " ".join(report(*specs, baseline="jpa").answer)


def test_the_a_a_control_has_rows_of_its_own_and_gives_the_resolution() -> None:
    table = comparison(blocks())
    assert line(table, "JPA (A/A control)", "median")[4] == "same within 5 %"
    assert "by the A/A control: median 3.00 %, p95 3.00 %, p99 3.00 %" in table.caption
    assert table.rows[-1].cells[0].text == "JPA (A/A control)"


def test_no_other_table_and_no_plot_has_the_a_a_control_or_a_slowed_one() -> None:
    with_control = report(*blocks(), baseline="jpa")
    ranked = [
        shown(row.cells[0], table.columns[0])
        for table in with_control.tables
        for row in table.rows
        if table.key not in ("comparison", "runs")
    ]
    assert not [title for title in ranked if "A/A" in title or "CONTROL" in title]
    plain = [spec for spec in blocks() if not spec.control and not spec.control_of]
    without = report(*plain, baseline="jpa")
    assert with_control.plots == without.plots
    own = {table.key: table for table in without.tables}
    for table in with_control.tables:
        if table.key not in ("comparison", "runs"):
            assert table == own[table.key]


def test_with_factors_every_level_is_compared_with_the_first_one_of_the_baseline() -> None:
    specs = []
    for block, wobble in enumerate(WOBBLE, 1):
        specs += [
            Planted(block=block, levels={"POOL_SIZE": "5"}, scale=wobble),
            Planted(block=block, levels={"POOL_SIZE": "5"}, scale=WOBBLE[-block], control=True),
            Planted(block=block, levels={"POOL_SIZE": "10"}, scale=1.5 * WOBBLE[block - 3]),
        ]
    table = comparison(specs)
    assert line(table, "JPA, POOL_SIZE=10", "median")[4] == "slower"
    assert "÷ that of JPA, POOL_SIZE=5 in the same block" in table.caption


def test_a_block_without_a_cell_that_counts_makes_no_pair() -> None:
    specs = blocks()
    bad = next(spec for spec in specs if spec.variant == "slow")
    bad.verdict = Verdict(status="invalid", reasons=("k6 was late",))
    found = line(comparison(specs), "SLOW", "median")
    assert found[3:5] == ["5", "not resolved"]
    assert found[-1] == "5 blocks are too few for the rank test (6 needed)"


def test_a_variant_that_serves_nothing_is_slower_without_a_ratio_to_name() -> None:
    specs = blocks()
    for spec in specs:
        if spec.variant == "slow":
            spec.unserved = 1200
    table = comparison(specs)
    assert line(table, "SLOW", "median")[2:5] == ["∞", "0", "slower"]
    assert line(table, "SLOW", "throughput")[2:5] == ["0", "0", "slower"]
    assert line(table, "SLOW", "CPU per 1,000 writes")[2:5] == ["–", "0", "not resolved"]


@pytest.mark.parametrize(("baseline", "repetitions"), [(None, BLOCKS), ("jpa", 1)])
def test_without_a_baseline_or_a_second_block_there_is_no_comparison(
    baseline: str | None, repetitions: int
) -> None:
    specs = [spec for spec in blocks() if spec.block <= repetitions]
    assert "comparison" not in tables(*specs, baseline=baseline)


def test_two_blocks_are_compared_and_said_to_be_too_few() -> None:
    table = comparison([spec for spec in blocks() if spec.block <= 2])
    few = "With 2 blocks no difference can be significant in a rank test: 6 blocks are needed."
    assert few in table.notes


def test_any_number_of_suite_runs_are_compared_with_the_first_in_per_cent_under_their_labels() -> None:
    read = [
        suite(Planted(), runtime="a"),
        suite(Planted(scale=1.5), runtime="b"),
        suite(Planted(scale=0.5), Planted(variant="only-here"), runtime="c"),
    ]
    figures, settings = compared(read, report_of, ("before", "after", "later"))
    assert [column.header for column in figures.columns[2:]] == [
        "A before", "B after", "B versus A (%)", "C later", "C versus A (%)",
    ]  # fmt: skip
    found = {row.cells[1].text: texts(figures, row) for row in figures.rows}
    assert found["p99 (ms)"] == ["JPA", "p99 (ms)", "119", "178", "50.0", "59.4", "-50.0"]
    assert "503" not in found  # the same everywhere
    assert figures.notes[0] == "Not in every suite run: ONLY-HERE."
    assert "ranges that overlap may be noise" in figures.notes[-1]
    assert [c.text for c in settings.rows[0].cells] == ["suite: runtime", "a", "b", "c"]
