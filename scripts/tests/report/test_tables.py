"""Do tables and their exports say what the figures say, whatever text is in them?"""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from rich.console import Console

from writepath import result
from writepath.report import escape, exports, used
from writepath.report.compare import compared
from writepath.report.figures import suite_figures
from writepath.report.model import Cell, Column, Row, Table, cell, number, shown, text
from writepath.report.raw import read_suite
from writepath.report.tables import tables
from writepath.report.terminal import print_tables

if TYPE_CHECKING:
    from pathlib import Path

    from report.conftest import RunSpec, SuiteSpec

HOSTILE = (
    "=1+1|\"'`<script>alert(1)</script>",
    "+cmd|' /C calc'!A0",
    "@x\ty\nz\r\x1b[31mred",
    "--> ]]> & *a* _b_ [c](https://example.org) $x$ ~~d~~ #e",
    "1. list\n# title",
)


def built(suite: SuiteSpec) -> dict[str, Table]:
    return {table.key: table for table in tables(suite_figures(read_suite(suite.write())))}


def line(table: Table, row: int = 0) -> list[str]:
    return [shown(one, column) for one, column in zip(table.rows[row].cells, table.columns, strict=True)]


def test_the_latency_table_has_the_planted_values(suite: SuiteSpec) -> None:
    table = built(suite)["latency"]
    assert line(table) == [
        "JPA", "flushed", "A", "1,200", "0", "0.100", "120", "60.0", "60.0", "114", "119", "60.0", "114", "119",
    ]  # fmt: skip
    heads = [column.header for column in table.columns]
    assert heads[1:5] == ["a 201 guarantees", "durability class", "scheduled", "not acknowledged"]
    assert heads[-1] == "p99 from scheduled time (ms)"


def test_resources_are_summed_and_divided_by_stored_rows(suite: SuiteSpec) -> None:
    table = built(suite)["resources"]
    assert line(table) == ["JPA", "all but k6", "9.00", "768", "24.0", "7.50", "20.0"]
    assert [shown(row.cells[1], table.columns[1]) for row in table.rows] == [
        "all but k6", "jpa-writer", "postgres", "k6",
    ]  # fmt: skip
    assert line(table, 3)[-1] == "–"
    assert "so CPU per write is higher here than in the capacity suite" in table.caption


def test_where_each_component_tells_what_it_wrote_the_disks_are_not_asked(
    suite: SuiteSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(used, "PROCESS_COUNTED", "another")
    table = built(suite)["resources"]
    assert [row[4] for row in (line(table, number) for number in range(4))] == ["12.0", "0", "12.0", "–"]


def test_writes_are_rows_stored(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    status = np.full(1200, 201)
    status[:600] = 503
    suite.runs = [run_spec(status=status)]
    assert line(built(suite)["resources"])[-2:] == ["15.0", "40.0"]


def test_the_audit_table_has_the_verdict(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    suite.runs = [run_spec(absent=(3, 4), verdict=result.Verdict(status="invalid", reasons=("2 lost",)))]
    table = built(suite)["audit"]
    values = dict(zip((column.key for column in table.columns), line(table), strict=True))
    assert (values["acknowledged"], values["stored"], values["lost"]) == ("1,200", "1,198", "2")
    assert values["verdict"] == "invalid"
    assert table.rows[0].mark == "invalid"


def test_repetitions_show_median_and_range(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    suite.repetitions = 3
    suite.runs = [
        run_spec(repetition=n, latency_ms=np.full(1200, float(value)))
        for n, value in ((1, 10), (2, 14), (3, 11))
    ]
    table = built(suite)["latency"]
    values = dict(zip((column.key for column in table.columns), line(table), strict=True))
    assert values["median_ms"] == "11.0 (10.0–14.0)"
    assert values["planned"] == "1,200"


def test_an_invalid_repetition_is_left_out_of_the_cells_and_named_among_the_runs(
    suite: SuiteSpec, run_spec: type[RunSpec]
) -> None:
    bad = result.Verdict(status="invalid", reasons=("k6 was late",))
    suite.repetitions = 2
    suite.runs = [run_spec(latency_ms=np.full(1200, 10.0)), run_spec(repetition=2, verdict=bad)]
    found = built(suite)
    assert line(found["latency"])[-1] == "10.0"
    assert found["latency"].rows[0].mark == ""
    assert [row.mark for row in found["runs"].rows] == ["", "invalid"]
    assert "k6 was late" in line(found["runs"], 1)[-1]


def test_a_later_durability_is_marked_and_explained(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    suite.runs = [run_spec(), run_spec(variant="rabbitmq-jpa", delay_ms=np.full(1200, 500.0))]
    found = built(suite)
    assert [row.cells[0].text for row in found["latency"].rows] == ["JPA", "RABBITMQ-JPA †"]
    assert "median 500, p95 500, p99 500" in found["latency"].notes[-1]
    throughput = found["throughput"]
    durable = [column.key for column in throughput.columns].index("durable_p99_ms")
    assert [line(throughput, row)[durable] for row in (0, 1)] == ["–", "500"]


def test_the_original_suite_is_compared_with_the_original_figures(suite: SuiteSpec) -> None:
    suite.suite = "original"
    table = built(suite)["original"]
    theirs, ours = line(table, 0), line(table, 1)
    assert theirs[:5] == ["JPA", "original", "66,433", "41,051", "2,976"]
    assert theirs[-5:] == ["70.1", "81,614.5", "86.5", "60,104.2", "67,472.8"]
    assert ours[:5] == ["JPA", "here", "1,200", "1,200", "1,200"]
    assert ours[-3:] == ["60.0", "114", "119"]
    assert "neither confirms nor refutes" in table.notes[-1]


def test_other_suites_are_not_compared_with_the_original(suite: SuiteSpec) -> None:
    assert "original" not in built(suite)


def test_the_fingerprint_merges_what_all_variants_share(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    suite.runs = [run_spec(), run_spec(variant="rabbitmq-jpa")]
    table = built(suite)["fingerprint"]
    facts = [line(table, row) for row in range(len(table.rows))]
    assert ["suite", "load", "ramp-up 10 s, 20/s; sustained 10 s, 100/s", "all"] in facts
    assert ["host", "processor", "Testor 3000, 2 cores", "all"] in facts


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, "0"), (0.12345, "0.123"), (1.005, "1.00"), (9.999, "10.0"), (99.95, "100"), (123.4, "123"),
        (999.9, "1,000"), (1234.5, "1,234"), (60104.2, "60,100"), (float("inf"), "∞"), (-3.21, "-3.21"),
    ],
)  # fmt: skip
def test_measured_values_have_three_or_four_significant_digits(value: float, expected: str) -> None:
    assert number(value) == expected


def test_counts_are_never_rounded() -> None:
    assert number(66433, exact=True) == "66,433"


def test_a_row_with_a_missing_cell_is_an_error() -> None:
    with pytest.raises(ValueError, match="1 cells for 2 columns"):
        Table(
            key="t", title="t", caption="", rows=(Row(cells=(text("x"),)),),
            columns=(Column(key="a", title="a"), Column(key="b", title="b")),
        )  # fmt: skip


def hostile_table() -> Table:
    columns = (Column(key="text", title="a|b"), Column(key="n_ms", title="n", unit="ms"))
    rows = tuple(Row(cells=(text(value), cell([-1.5, 2.5]))) for value in HOSTILE)
    return Table(key="t", title=HOSTILE[0], caption=HOSTILE[3], columns=columns, rows=rows, notes=HOSTILE)


def test_markdown_renders_hostile_text_as_itself() -> None:
    markdown = exports.markdown(hostile_table())
    table_lines = [row for row in markdown.splitlines() if row.startswith("|")]
    assert len(table_lines) == len(HOSTILE) + 2
    assert {row.count("|") for row in table_lines} == {3}
    assert "<" not in markdown
    assert "`" not in markdown
    assert "https:" not in markdown
    assert "\x1b" not in markdown
    assert len(re.findall(r"^#", markdown, re.MULTILINE)) == 1
    assert not re.search(r"(?<!\\)[\[\]*_~$]", markdown)


def test_csv_is_read_back_and_starts_no_formula() -> None:
    written = exports.csv(hostile_table())
    assert written.count("\r\n") >= len(HOSTILE) + 1
    rows = list(csv.reader(io.StringIO(written, newline="")))
    assert rows[0] == ["mark", "text", "n_ms", "n_ms_low", "n_ms_high"]
    for row, original in zip(rows[1:], HOSTILE, strict=True):
        assert row[1].lstrip("'")[:1] == original[:1]
        assert row[1][0] not in "=+-@\t\r\n"
        assert [float(value) for value in row[2:]] == [0.5, -1.5, 2.5]


def test_csv_says_infinity_and_nothing() -> None:
    columns = (Column(key="a", title="a"), Column(key="b", title="b"))
    row = Row(cells=(cell([float("inf")]), Cell()))
    assert exports.csv(Table(key="t", title="t", caption="", columns=columns, rows=(row,))).endswith(
        "\r\n,inf,\r\n"
    )


def test_json_has_every_row_with_units(suite: SuiteSpec) -> None:
    data = json.loads(exports.json(tuple(built(suite).values())))
    latency = next(table for table in data if table["key"] == "latency")
    assert {"key": "p99_ms", "title": "p99", "unit": "ms"} in latency["columns"]
    assert latency["rows"][0]["p99_ms"]["median"] == pytest.approx(118.8)
    assert latency["rows"][0]["variant"] == "JPA"


def test_the_terminal_gets_no_control_sequences_from_text() -> None:
    file = io.StringIO()
    print_tables([hostile_table()], Console(file=file, width=300, force_terminal=False))
    assert "\x1b" not in file.getvalue()
    assert "<script>alert(1)</script>" in file.getvalue()
    assert escape.terminal("a\x1b[2Jb") == "a[2Jb"


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_a_narrow_terminal_folds_no_figure(suite: SuiteSpec, run_spec: type[RunSpec], width: int) -> None:
    suite.suite = "original"
    suite.runs = [run_spec(variant=name) for name in ("jpa", "rabbitmq-jpa", "elasticsearch-8s1r")]
    file = io.StringIO()
    found = built(suite)
    for key in ("latency", "original", "answers", "throughput"):
        print_tables([found[key]], Console(file=file, width=width))
    printed = file.getvalue()
    assert printed.count("66,433") == 1
    assert printed.count("61,223.4") == 1
    assert printed.count(" 118.8") == 0
    assert "…" not in printed
    assert max(len(row) for row in printed.splitlines()) <= width
    for key in ("latency", "throughput"):
        for row, column in zip(found[key].rows[0].cells, found[key].columns, strict=True):
            assert re.search(rf"(^|\s){re.escape(shown(row, column))}(\s|$)", printed, re.MULTILINE)


def test_an_invalid_row_is_marked_in_the_terminal_with_its_reason(
    suite: SuiteSpec, run_spec: type[RunSpec]
) -> None:
    suite.runs = [run_spec(verdict=result.Verdict(status="invalid", reasons=("3 writes lost",)))]
    file = io.StringIO()
    print_tables(built(suite).values(), Console(file=file, width=300))
    assert "JPA (invalid)" in file.getvalue()
    assert "3 writes lost" in file.getvalue()


def test_compare_gives_per_cent_and_the_settings_that_differ(
    suite: SuiteSpec, run_spec: type[RunSpec], tmp_path: Path
) -> None:
    suite.runs = [run_spec(latency_ms=np.full(1200, 10.0))]
    a = suite_figures(read_suite(suite.write()))
    suite.root, suite.seed = tmp_path / "other", 2
    suite.runs = [run_spec(latency_ms=np.full(1200, 15.0))]
    b = suite_figures(read_suite(suite.write()))
    figures, settings = compared(a, b)
    rows = {
        row.cells[1].text: [shown(c, k) for c, k in zip(row.cells, figures.columns, strict=True)]
        for row in figures.rows
    }
    assert rows["p99 (ms)"] == ["JPA", "p99 (ms)", "10.0", "15.0", "50.0"]
    assert "503" not in rows
    assert [[c.text for c in row.cells] for row in settings.rows] == [["suite: seed", "1", "2"]]
    assert "One run per side cannot show" in figures.notes[-1]


def test_any_number_of_suite_runs_are_compared_with_the_first_under_their_labels(
    suite: SuiteSpec, run_spec: type[RunSpec], tmp_path: Path
) -> None:
    read = []
    for nth, value in enumerate((10.0, 15.0, 5.0), 1):
        suite.root, suite.seed = tmp_path / str(nth), nth
        suite.runs = [run_spec(latency_ms=np.full(1200, value))]
        suite.runs += [run_spec(variant="only-here")] if nth == 3 else []
        read.append(suite_figures(read_suite(suite.write())))
    figures, settings = compared(*read, labels=("before", "after", "later"))
    assert [column.header for column in figures.columns[2:]] == [
        "A before", "B after", "B versus A (%)", "C later", "C versus A (%)",
    ]  # fmt: skip
    rows = {(row.cells[1].text or ""): row for row in figures.rows}
    values = [shown(c, k) for c, k in zip(rows["p99 (ms)"].cells, figures.columns, strict=True)]
    assert values[2:] == ["10.0", "15.0", "50.0", "5.00", "-50.0"]
    assert figures.notes[0] == "Not in every suite run: only-here."
    assert [c.text for c in settings.rows[0].cells] == ["suite: seed", "1", "2", "3"]


def test_with_repetitions_on_both_sides_compare_has_intervals_and_words(
    suite: SuiteSpec, run_spec: type[RunSpec], tmp_path: Path
) -> None:
    read = []
    for nth, factor in enumerate((1.0, 1.5), 1):
        suite.root, suite.repetitions = tmp_path / str(nth), 4
        suite.runs = [
            run_spec(repetition=block, latency_ms=np.full(1200, 10.0 * factor * (1 + block / 500)))
            for block in (1, 2, 3, 4)
        ]
        read.append(suite_figures(read_suite(suite.write())))
    _, noise, _ = compared(*read)
    rows = {
        row.cells[2].text: [shown(c, k) for c, k in zip(row.cells, noise.columns, strict=True)]
        for row in noise.rows
    }
    median = rows["median"]
    assert median[0] == "JPA"
    assert median[3].startswith("1.50 (1.49–1.5")
    assert median[4:6] == ["at least 4 per side", "slower"]
    assert rows["throughput"][5] == "same within 5 %"
    assert "the interval does not cover them" in noise.notes[0]


def test_three_clocks_stand_side_by_side(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    never = np.full(1200, 900.0)
    never[:20] = np.nan
    suite.runs = [run_spec(delay_ms=np.full(1200, 500.0), visible_ms=never)]
    table = built(suite)["clocks"]
    assert line(table) == [
        "JPA †", "60.0", "114", "119", "500", "500", "500", "900", "900", "∞", "1,200", "50.0", "50.0",
    ]  # fmt: skip


def test_a_suite_run_from_before_visibility_was_measured_has_no_such_table(suite: SuiteSpec) -> None:
    assert not {"clocks", "order", "twins"} & set(built(suite))


def test_the_order_of_queue_paths_has_rows_of_queue_paths_alone(
    suite: SuiteSpec, run_spec: type[RunSpec]
) -> None:
    order = result.Order(inversions=7, overtaken_share=0.005, redelivered=3)
    suite.runs = [run_spec(), run_spec(variant="rabbitmq-jpa", order=order)]
    table = built(suite)["order"]
    assert [line(table, row) for row in range(len(table.rows))] == [["RABBITMQ-JPA", "7", "0.500", "3"]]


def test_a_weakened_control_is_in_no_table_that_ranks(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    suite.runs = [run_spec(), run_spec(variant="jpa-naive", naive_twin_of="jpa", absent=(3, 4))]
    found = built(suite)
    names = {key: {row.cells[0].text for row in table.rows} for key, table in found.items()}
    assert {key for key, own in names.items() if "JPA-NAIVE" in own} == {"twins", "runs"}
    assert names["twins"] == {"JPA-NAIVE"}
    twins = found["twins"]
    assert twins.title == "Weakened controls, not ranked"
    values = dict(zip((column.key for column in twins.columns), line(twins), strict=True))
    assert (values["twin_of"], values["acknowledged"], values["lost"]) == ("JPA", "1,200", "2")
