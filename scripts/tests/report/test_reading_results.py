"""Is every column of every table defined in docs/reading-results.md, and nothing that is gone?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from report import planted_queries
from report.planted_capacity import Planted
from writepath import result
from writepath.report import capacity_page, queries_page
from writepath.report.capacity_figures import capacity_figures
from writepath.report.compare import compared
from writepath.report.figures import suite_figures
from writepath.report.queries_figures import queries_figures
from writepath.report.raw import read_suite
from writepath.report.tables import BUILDERS, tables

if TYPE_CHECKING:
    from report.conftest import RunSpec, SuiteSpec

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "reading-results.md"


def defined() -> dict[str, list[str]]:
    """By section, the names in the first column of its table."""
    sections = re.split(r"^## ", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    found = {
        section.splitlines()[0]: re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)
        for section in sections
    }
    return {title: names for title, names in found.items() if names}


def test_every_column_is_defined_and_nothing_else(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    suite.suite = "original"  # the one suite with a table of its own
    order = result.Order(inversions=0, overtaken_share=0.0, redelivered=0)
    suite.baseline, suite.repetitions, suite.runs = "jpa", 2, []
    for block in (1, 2):
        suite.runs += [
            run_spec(repetition=block, visible_ms=np.full(1200, 500.0), order=order),
            run_spec(repetition=block, again=True),
            run_spec(variant="jpa-naive", repetition=block, naive_twin_of="jpa"),
        ]
    figures = suite_figures(read_suite(suite.write()))
    built = [*tables(figures), *compared(figures, figures)]
    assert len(built) == len(BUILDERS) + 3
    searched = capacity_page.tables(capacity_figures(Planted(root=suite.root).data()))
    assert len(searched) == len(capacity_page.BUILDERS)
    found = queries_page.tables(queries_figures(planted_queries.Planted(root=suite.root).data()))
    assert len(found) == len(queries_page.BUILDERS)
    built += [*searched, *found]
    assert defined() == {table.title: [column.key for column in table.columns] for table in built}


def test_every_definition_says_something() -> None:
    lines = [line for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert all(len(line.split(" | ")[1].strip()) > 3 for line in lines)
