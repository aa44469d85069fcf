"""Every published figure and the result of every recorded raw run are given again, exactly."""

import json
from dataclasses import replace

import pytest

from golden import figures
from golden.figures import INDEXED, RAW, RESULTS, Figures, Key
from writepath.experiments import read
from writepath.report.model import Column, Table, row_of


def test_every_published_figure_is_given_again() -> None:
    assert figures.differences(figures.recorded(), figures.published()) == []


@pytest.mark.parametrize("kind", INDEXED)
def test_a_raw_run_gives_the_result_of_every_cell(kind: str) -> None:
    found = {cell.entry.folder: cell.problems for cell in read.raw(RAW / kind).all_cells}
    assert found == dict.fromkeys(found, ())
    assert found


@pytest.mark.parametrize("run", ["capacity", "search-capacity"])
def test_kept_steps_and_outputs_of_tools_give_the_result_of_their_cell(run: str) -> None:
    file = RAW / run / RESULTS
    recorded = json.loads(file.read_text(encoding="utf-8"))
    assert [*read.differences(recorded, figures.results(file), run)] == []


KEY = Key("default", "latency", "JPA", "p99_ms")


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        ({KEY: "8.93"}, {KEY: "8.94"}, [f"{KEY}: 8.93, now 8.94"]),
        ({KEY: "0"}, {}, [f"{KEY}: 0, now missing"]),
        ({}, {KEY: "–"}, [f"{KEY}: missing, now –"]),
    ],
)
def test_what_differs_is_said(before: Figures, now: Figures, words: list[str]) -> None:
    assert figures.differences(before, now) == words


def test_a_row_that_is_not_unique_is_refused() -> None:
    row = row_of("JPA", None)
    columns = (Column(key="variant", title="variant"), Column(key="p99_ms", title="p99"))
    table = Table(key="latency", title="", caption="", columns=columns, rows=(row,))
    assert figures.of_tables("default", [table]) == {KEY: "–"}
    with pytest.raises(ValueError, match="the row 'JPA' is not unique"):
        figures.of_tables("default", [replace(table, rows=(row, row))])
