"""Does every format say what the tables say, whatever text is in them, and is a page laid out for its reader?"""

import csv
import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from report.planted_suite import Planted, report
from report.planted_suite import tables as load_tables
from writepath.analysis.stats import Spread
from writepath.records.measures import Verdict
from writepath.report import render
from writepath.report.model import Cell, Column, Report, Table, cell, counted, number, row_of, shown
from writepath.report.terminal import print_report, print_tables

HOSTILE = (
    "=1+1|\"'`<script>alert(1)</script>",
    "+cmd|' /C calc'!A0",
    "@x\ty\nz\r\x1b[31mred",
    "--> ]]> & *a* _b_ [c](https://example.org) $x$ ~~d~~ #e",
    "1. list\n# title",
)
INVALID = Verdict(status="invalid", reasons=("3 writes lost",))


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


def test_the_mean_of_several_counts_is_rounded_and_a_quoted_figure_is_not() -> None:
    requests, mean = (
        Column(key="n", title="executed", exact=True),
        Spread(median=13491.33, low=3191.25, high=23791.41, repetitions=3),
    )
    assert shown(Cell(figure=mean), requests) == "13,490 (3,191–23,790)"
    assert shown(Cell(figure=mean, exact=True), requests) == "13,491.33 (3,191.25–23,791.41)"
    assert shown(cell([13491, 13492, 13493]), requests) == "13,492 (13,491–13,493)"


def test_a_row_with_a_missing_cell_is_an_error() -> None:
    with pytest.raises(ValueError, match="1 cells for 2 columns"):
        Table(
            key="t", title="t", caption="", rows=(row_of("x"),),
            columns=(Column(key="a", title="a"), Column(key="b", title="b")),
        )  # fmt: skip


def hostile_table() -> Table:
    columns = (Column(key="text", title="a|b"), Column(key="n_ms", title="n", unit="ms"))
    rows = tuple(row_of(value, cell([-1.5, 2.5])) for value in HOSTILE)
    return Table(key="t", title=HOSTILE[0], caption=HOSTILE[3], columns=columns, rows=rows, notes=HOSTILE)


def test_markdown_renders_hostile_text_as_itself() -> None:
    table = hostile_table()
    page = Report(title=HOSTILE[3], answer=HOSTILE, facts=HOSTILE[0], picture=None, table=table, details=())
    markdown = render.markdown(page)
    table_lines = [row for row in markdown.splitlines() if row.startswith("|")]
    assert len(table_lines) == len(HOSTILE) + 2
    assert {row.count("|") for row in table_lines} == {3}
    assert "<" not in markdown
    assert markdown.count("`") == 2  # those of the template
    assert "https:" not in markdown
    assert "\x1b" not in markdown
    assert re.findall(r"^#+ ", markdown, re.MULTILINE) == ["# ", "## ", "## "]
    assert not re.search(r"(?<!\\)[\[\]*_~$]", markdown)


def test_csv_is_read_back_and_starts_no_formula() -> None:
    written = render.csv(hostile_table())
    assert written.count("\r\n") >= len(HOSTILE) + 1
    rows = list(csv.reader(io.StringIO(written, newline="")))
    assert rows[0] == ["mark", "text", "n_ms", "n_ms_low", "n_ms_high"]
    for row, original in zip(rows[1:], HOSTILE, strict=True):
        assert row[1].lstrip("'")[:1] == original[:1]
        assert row[1][0] not in "=+-@\t\r\n"
        assert [float(value) for value in row[2:]] == [0.5, -1.5, 2.5]


def test_csv_says_infinity_and_nothing() -> None:
    columns = (Column(key="a", title="a"), Column(key="b", title="b"))
    row = row_of(float("inf"), None)
    assert render.csv(Table(key="t", title="t", caption="", columns=columns, rows=(row,))).endswith(
        "\r\n,inf,\r\n"
    )


def test_the_terminal_gets_no_control_sequences_from_text() -> None:
    file = io.StringIO()
    print_tables([hostile_table()], Console(file=file, width=300, force_terminal=False))
    assert "\x1b" not in file.getvalue()
    assert "<script>alert(1)</script>" in file.getvalue()
    assert render.one_line("a\x1b[2Jb") == "a[2Jb"


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_a_narrow_terminal_folds_no_figure(width: int) -> None:
    specs = [Planted(variant=name) for name in ("jpa", "rabbitmq-jpa", "elasticsearch-8s1r")]
    found = load_tables(*specs, suite="original")
    file = io.StringIO()
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


def test_the_terminal_has_the_answer_first_and_marks_an_invalid_row_with_its_reason() -> None:
    file = io.StringIO()
    print_report(report(Planted(verdict=INVALID)), Console(file=file, width=300))
    lines = file.getvalue().splitlines()
    assert lines[:2] == [
        "A suite",
        "No cell has valid figures; the table of runs has the reasons. No acknowledged write was lost.",
    ]
    assert "JPA (invalid)" in file.getvalue()
    assert "3 writes lost" in file.getvalue()


def test_columns_without_information_are_dropped_and_named() -> None:
    columns = tuple(
        Column(key=key, title=title, exact=True)
        for key, title in (("variant", "variant"), ("a", "zeros"), ("b", "dashes"), ("c", "some"))
    )
    rows = tuple(row_of(name, 0, None, value) for name, value in (("x", 0), ("y", 3)))
    own, words = render.trimmed(Table(key="t", title="t", caption="", columns=columns, rows=rows))
    assert [column.key for column in own.columns] == ["variant", "c"]
    assert words == "0 in every row: zeros. No value in any row: dashes."
    assert [shown(row.cells[1], own.columns[1]) for row in own.rows] == ["0", "3"]


def test_files_keep_the_columns_that_a_page_drops(tmp_path: Path) -> None:
    render.save(tmp_path, report(Planted()))
    header = (tmp_path / "answers.csv").read_text(encoding="utf-8").splitlines()[0]
    assert "status_503" in header
    page = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "0 in every row: 4xx, 500, 502, 503, 504, other status" in page
    assert "| 503 |" not in page
    assert {path.name for path in tmp_path.iterdir()} >= {
        "report.md", "report.html", "result.csv", "latency-percentiles.svg",
    }  # fmt: skip


def test_a_page_opens_with_its_answer_then_a_picture_then_a_table_of_seven_columns() -> None:
    made = report(Planted(), Planted(variant="b", scale=3.0))
    links = {"assets": "default", "reading": "../reading-results.md", "raw": "../raw"}
    parts = render.markdown(made, links).split("\n\n")
    assert parts[0] == "# Results: A suite"
    assert parts[1].startswith("Time until the 201 at up to 100/s: median 60.0 to 180 ms")
    assert parts[2] == (
        "![Percentiles of accept latency: median, p95 and p99 of each variant](default/latency-percentiles.svg)"
    )
    assert parts[3] == "## Time until the 201"
    header = parts[5].splitlines()[0]
    assert header.startswith("| variant | durability class | acknowledged of scheduled | median (ms)")
    assert len(header.split(" | ")) <= 7
    page = "\n".join(parts)
    assert "[How to read this page](../reading-results.md). [Raw data](../raw)." in page
    assert page.count("<details>") == page.count("</details>") == len(made.details)
    assert "\n\n\n" not in "\n\n".join(parts)


class Page(HTMLParser):
    """Tags in the order they open, and every address in an attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        own = dict(attrs)
        self.addresses += [own[name] or "" for name in ("href", "src", "xlink:href") if name in own]
        if "id" in own:
            self.ids.append(own["id"] or "")


def test_the_html_page_is_one_file_without_scripts_or_outside_files() -> None:
    text = render.html(report(Planted(title=HOSTILE[0]), Planted(variant="b")), {"reading": "reading.md"})
    page = Page()
    page.feed(text)
    assert not {"script", "iframe", "object"} & set(page.tags)
    assert [one for one in page.addresses if not one.startswith(("#", "data:"))] == ["reading.md"]
    assert "url(http" not in text
    assert "@import" not in text
    assert len(page.ids) == len(set(page.ids))
    assert page.tags.index("p") < page.tags.index("img") < page.tags.index("table")
    assert page.tags.count("img") == 2
    assert "prefers-color-scheme: dark" in text
    assert "&lt;script&gt;" in text


def test_a_section_of_several_tables_has_their_headings() -> None:
    made = report(Planted())
    first, *others = made.details
    both = replace(first, tables=(*first.tables, *others[0].tables))
    page = render.markdown(replace(made, details=(both,)))
    assert f"### {others[0].tables[0].title}" in page


def test_one_is_singular_and_thousands_are_separated() -> None:
    assert [counted(count, "log-in") for count in (0, 1, 1054)] == ["0 log-ins", "1 log-in", "1,054 log-ins"]
