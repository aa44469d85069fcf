"""Is every column of every table defined in docs/reading-results.md, and nothing that is gone?"""

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from faults.planted import TRIAL, suite
from faults.planted import result as result_of
from golden.figures import RAW, RESULTS
from planted_capacity import suite as capacity_suite
from planted_capacity import variant
from report import planted_reads, planted_suite
from report.planted_closed import limits, specs
from report.planted_suite import constant, report, report_of
from writepath.experiments import read
from writepath.experiments.registry import kind_of
from writepath.records import measures as result
from writepath.records.base import from_data
from writepath.records.capacity_run import CapacityResult
from writepath.records.warm_up import WarmUpFacts, WarmUpWindow
from writepath.report import faults
from writepath.report.comparison import compared
from writepath.report.model import Table

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = ROOT / "docs" / "reading-results.md"
ORDER = result.Order(overtaken_share=0.0, redelivered=0)
WARM_UP = WarmUpFacts(
    seconds=5.0,
    virtual_users=32,
    steady=True,
    windows=(WarmUpWindow(until_s=5.0, rate_per_s=400.0, cpu_us_per_request=500.0, median_ms=2.0),),
)
FAULTS = "Faults under load"  # its tables have no CSV: they are defined by the titles of their columns


def sections(text: str, heading: str) -> dict[str, str]:
    """Text by title, for all headings of one level."""
    parts = (part.partition("\n") for part in re.split(rf"^{heading} ", text, flags=re.MULTILINE)[1:])
    return {title: body for title, _, body in parts}


def document() -> dict[str, str]:
    """Its sections."""
    return sections(DOCUMENT.read_text(encoding="utf-8"), "##")


def defined() -> dict[str, list[str]]:
    """By section, the keys in the first column of its table."""
    found = {title: re.findall(r"^\| `([^`]+)` \|", body, re.MULTILINE) for title, body in document().items()}
    return {title: keys for title, keys in found.items() if keys}


def load_tables() -> list[Table]:
    """All that a load suite can have, with the first of one that climbs, and those of a comparison."""
    seen = {
        "time_to_visible_ms": constant(500.0), "visible_samples": 1200, "order": ORDER, "warm_up": WARM_UP,
    }  # fmt: skip
    specs = [
        spec
        for block in (1, 2)
        for spec in (
            planted_suite.Planted(block=block, changes=seen),
            planted_suite.Planted(block=block, control=True),
            planted_suite.Planted(variant="jpa-naive", block=block, naive_twin_of="jpa"),
        )
    ]
    data = planted_suite.suite(
        *specs, suite="original", baseline="jpa"
    )  # the one suite with a table of its own
    climbing = planted_suite.suite(planted_suite.Planted(changes=seen | {"climb": planted_suite.CLIMB}))
    return [report_of(climbing).table, *report_of(data).tables, *compared([data, data], report_of)]


def closed_tables() -> list[Table]:
    """All that a closed suite with factors can have."""
    conditions = report(*limits(), suite="proxy", baseline="jpa")
    threads = report(*specs(), suite="threads", baseline="jpa")
    first, *others = threads.tables
    return [first, *(table for table in conditions.tables if table.key in ("conditions", "causes")), *others]


def read_tables() -> list[list[Table]]:
    """All that a page of loads of reads can have, by page."""
    pages = (planted_reads.sessions(), planted_reads.points(), planted_reads.feed())
    return [[*page.tables] for page in pages]


def published_tables(*names: str) -> list[Table]:
    """Of published suites."""
    suites = [read.published(ROOT / "results" / "published" / name) for name in names]
    return [table for data in suites for table in kind_of(data.index.kind).report(data).tables]


def tables_of_searches() -> list[Table]:
    """All that a capacity suite of searches can have: it is not published, and one run of it is recorded."""
    saved = json.loads((RAW / "search-capacity" / RESULTS).read_text(encoding="utf-8"))
    results = [from_data(CapacityResult, one["result"], cell) for cell, one in saved.items()]
    runs = [(variant(name), results) for name in ("elasticsearch-1s0r", "jpa-bigram")]
    return [*kind_of("capacity").report(capacity_suite(runs)).tables]


def columns(built: Iterable[Table]) -> dict[str, list[str]]:
    """By title, their keys, without that of hosts."""
    return {
        table.title: [key for column in table.columns if (key := column.key) != "host"] for table in built
    }


def test_every_column_is_defined_and_nothing_else() -> None:
    built = load_tables()
    assert {table.key for table in built} >= {"clocks", "order", "twins", "comparison"}
    loads = {table.title: [column.key for column in table.columns] for table in (*closed_tables(), *built)}
    for table in (table for page in read_tables() for table in page):
        known = loads.setdefault(table.title, [])
        known += [column.key for column in table.columns if column.key not in known]
    others = [*tables_of_searches(), *published_tables("capacity", "search")]
    assert defined() == columns(others) | loads


def test_the_sections_of_a_load_suite_are_in_the_order_of_its_page() -> None:
    built = list(dict.fromkeys(table.title for table in load_tables()))
    assert [title for title in document() if title in built] == built
    own = [table.title for table in closed_tables() if table.title not in built]
    assert [title for title in document() if title in own] == own
    for page in read_tables():
        of_reads = [table.title for table in page if table.title not in (*built, *own)]
        assert [title for title in document() if title in of_reads] == of_reads


def test_every_column_of_the_fault_tables_is_defined_and_nothing_else() -> None:
    cell = result_of(TRIAL, fault="kill-consumer", order=ORDER)
    data = suite(
        ("Each variant", cell), ("jpa-async-commit", result_of(replace(TRIAL, lost=1), weakened=True))
    )
    built = [*faults.report(data).tables, faults.evidence(faults.struck(data))]
    titles = {
        title: re.findall(r"^\| ([^|]+) \|", body, re.MULTILINE)[1:]  # without the head
        for title, body in sections(document()[FAULTS], "###").items()
    }
    assert titles == {table.title: [column.title for column in table.columns] for table in built}


def test_every_definition_says_something() -> None:
    lines = [line for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert all(len(line.split(" | ")[1].strip()) > 3 for line in lines)
    assert all(line.count("|") == 5 for line in lines)  # key, definition, unit, source
