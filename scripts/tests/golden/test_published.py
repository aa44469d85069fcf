"""Is every figure that was published before the rewrite given again? Words and layout of pages may differ."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from golden import published
from golden.compare import differences
from golden.published import Key
from writepath.report.model import Cell, Column, Row, Table, text

if TYPE_CHECKING:
    from golden.published import Figures


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


def test_another_figure_is_a_difference() -> None:
    assert differences({KEY: "8.93"}, {KEY: "8.94"}) == [f"{KEY}: 8.93, now 8.94"]


def test_a_missing_figure_is_a_difference() -> None:
    assert differences({KEY: "8.93"}, {}) == [f"{KEY}: 8.93, now missing"]


def test_a_column_of_zeros_may_be_left_out_but_not_one_zero_of_it() -> None:
    other = KEY._replace(row="RabbitMQ + JPA")
    assert differences({KEY: "0", other: "–"}, {}) == []
    assert differences({KEY: "0", other: "1"}, {other: "1"}) == [f"{KEY}: 0, now missing"]


def test_lateness_may_differ_by_its_rounding_and_no_more() -> None:
    late = KEY._replace(table="runs", column="lateness_p99_ms")
    assert differences({late: "1.41"}, {late: "1.43"}) == []
    assert differences({late: "1.41"}, {late: "1.45"}) != []


def test_a_row_that_is_not_unique_is_refused() -> None:
    row = Row(cells=(text("JPA"), Cell()))
    columns = (Column(key="variant", title="variant"), Column(key="p99_ms", title="p99"))
    table = Table(key="latency", title="", caption="", columns=columns, rows=(row,))
    assert published.of_tables("default", [table]) == {KEY: "–"}
    with pytest.raises(ValueError, match="the row 'JPA' is not unique"):
        published.of_tables("default", [replace(table, rows=(row, row))])
