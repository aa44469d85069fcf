"""Is every figure that was published before the rewrite given again? Words and layout of pages may differ."""

from dataclasses import replace

import pytest

from golden import published
from golden.compare import differences
from golden.published import Figures, Key
from writepath.report.model import Cell, Column, Row, Table, text


@pytest.fixture(scope="module")
def now() -> Figures:
    return published.collect(published.ROOT)


def test_every_published_figure_is_given_again(now: Figures) -> None:
    assert differences(published.load(), now) == []


def test_the_file_has_every_page() -> None:
    assert {key.page for key in published.load()} == {
        *("default", "original", "smoke"),
        *("capacity", "index-cost", "search"),
        *("faults/native", "faults/docker", published.FRONT),
    }


KEY = Key("default", "latency", "JPA", "p99_ms")
OTHER, LATE = KEY._replace(row="RabbitMQ + JPA"), KEY._replace(table="runs", column="lateness_p99_ms")


@pytest.mark.parametrize(
    ("golden", "now", "words"),
    [
        ({KEY: "8.93"}, {KEY: "8.94"}, [f"{KEY}: 8.93, now 8.94"]),
        ({KEY: "8.93"}, {}, [f"{KEY}: 8.93, now missing"]),
        ({KEY: "0", OTHER: "–"}, {}, []),  # a column of zeros may be left out, but not one zero of it
        ({KEY: "0", OTHER: "1"}, {OTHER: "1"}, [f"{KEY}: 0, now missing"]),
        ({LATE: "1.41"}, {LATE: "1.43"}, []),  # by its rounding and no more
        ({LATE: "1.41"}, {LATE: "1.45"}, [f"{LATE}: 1.41, now 1.45"]),
    ],
)
def test_what_differs_is_said(golden: Figures, now: Figures, words: list[str]) -> None:
    assert differences(golden, now) == words


def test_a_row_that_is_not_unique_is_refused() -> None:
    row = Row(cells=(text("JPA"), Cell()))
    columns = (Column(key="variant", title="variant"), Column(key="p99_ms", title="p99"))
    table = Table(key="latency", title="", caption="", columns=columns, rows=(row,))
    assert published.of_tables("default", [table]) == {KEY: "–"}
    with pytest.raises(ValueError, match="the row 'JPA' is not unique"):
        published.of_tables("default", [replace(table, rows=(row, row))])
