"""Does the site's data have every figure of a suite's tables, with the cells that it rests on?"""

import json
import math
from typing import Any

import jsonschema
import pytest

from faults.planted import TRIAL
from faults.planted import result as fault_result
from faults.planted import suite as fault_suite
from planted_capacity import bracket, run, variant
from planted_capacity import suite as capacity_suite
from planted_steps import HOST
from report.planted_suite import PLANNED, Planted, constant, suite
from writepath.experiments.capacity.sections import report as capacity_report
from writepath.experiments.load.sections import report as load_report
from writepath.records.schema import ROOT
from writepath.records.site import Figure, SiteRow, SiteSuite, SiteTable
from writepath.report import faults, site
from writepath.report.data import SuiteData, host_name
from writepath.report.model import shown

SCHEMA = json.loads((ROOT / "schemas/site.schema.json").read_text(encoding="utf-8"))
HOSTILE = "</script><script>alert(1)</script> é"


def exported(data: SuiteData[Any], report: Any = load_report) -> SiteSuite:
    files = {cell.entry.folder: ("cell.json",) for cell in data.all_cells}
    return site.suite_of("planted", data, report(data), "raw/planted/", files)


def table(of: SiteSuite, key: str) -> SiteTable:
    return next(one for one in of.tables if one.key == key)


def figure(row: SiteRow, of: SiteTable, key: str) -> str | Figure:
    return row.cells[[column.key for column in of.columns].index(key)]


def test_every_cell_of_every_table_is_as_the_page_has_it() -> None:
    data = suite(Planted(), Planted(variant="b", scale=3.0))
    report, found = load_report(data), exported(data)
    assert [one.key for one in found.tables] == [one.key for one in report.tables]
    for ours, theirs in zip(found.tables, report.tables, strict=True):
        said = [[one if isinstance(one, str) else one.shown for one in row.cells] for row in ours.rows]
        assert said == [
            [shown(*pair) for pair in zip(row.cells, theirs.columns, strict=True)] for row in theirs.rows
        ]


def test_a_figure_has_its_numbers_and_the_cells_that_it_rests_on() -> None:
    levels = ({"POOL_SIZE": "5"}, {"POOL_SIZE": "10"})
    specs = [Planted(levels=own, block=block, scale=float(block)) for own in levels for block in (1, 2)]
    data = suite(*specs, repetitions=2)
    found = exported(data)
    latency = table(found, "latency")
    first, second = latency.rows
    assert figure(first, latency, "p99_ms") == Figure(
        shown="178 (119–238)", value=178.2, low=118.8, high=237.6, bound=False, interval=False
    )
    assert (first.variant, first.path, first.durability) == ("jpa", "jpa,POOL_SIZE=5", "A")
    cells = [
        [(found.evidence[at].name, found.evidence[at].block) for at in row.evidence]
        for row in (first, second)
    ]
    assert cells == [[(name, 1), (name, 2)] for name in ("jpa,POOL_SIZE=5", "jpa,POOL_SIZE=10")]
    kept = found.evidence[0]
    assert (kept.verdict, kept.guarantees, kept.files) == ("valid", {"fsync": "on"}, ("cell.json",))
    assert kept.folder == f"raw/planted/{data.cells[0].entry.folder}/"


def test_rows_of_single_cells_are_evidence_and_rows_of_paths_are_not() -> None:
    found = exported(suite(Planted(), Planted(control=True), baseline="jpa"))
    runs, latency = table(found, "runs"), table(found, "latency")
    assert (runs.single, latency.single) == (True, False)
    assert [row.evidence for row in runs.rows] == [(0,), (1,)]
    assert [row.evidence for row in latency.rows] == [(0,)]


def test_what_is_infinite_or_absent_has_no_number() -> None:
    found = exported(suite(Planted(unserved=PLANNED // 2, changes={"queue_peak": None})))
    latency, throughput = table(found, "latency"), table(found, "throughput")
    assert figure(latency.rows[0], latency, "p99_ms") == Figure(
        shown="∞", value=None, low=None, high=None, bound=False, interval=False
    )
    assert figure(throughput.rows[0], throughput, "queue_peak") == "–"


def test_bounds_are_marked_and_rows_rest_on_cells_of_their_path() -> None:
    lower, measured = bracket(2000, 2090, lower_bound=True), bracket(1000, 1040)
    data = capacity_suite([(variant("jpa"), [run(lower)]), (variant("b"), [run(measured)])])
    found = exported(data, capacity_report)
    main = table(found, "capacity")
    bounds = {row.variant: figure(row, main, "sustained_per_s") for row in main.rows}
    assert {name: isinstance(one, Figure) and one.bound for name, one in bounds.items()} == {
        "jpa": True,
        "b": False,
    }
    assert main.resolution == pytest.approx(0.05)
    hosts = [{found.evidence[at].host for at in row.evidence} for row in main.rows]
    assert hosts == [{host_name(HOST)}] * 2
    assert table(found, "steps").single
    assert table(found, "limited").rows[0].variant == "jpa"


def test_fault_tables_of_several_paths_are_one_that_names_the_path() -> None:
    held = fault_result(TRIAL)
    found = exported(fault_suite(("jpa", held), ("rabbitmq-jpa", held)), faults.report)
    (grouped,) = [one for one in found.tables if one.title == "Fault by fault"]
    assert [row.cells[:2] for row in grouped.rows] == [
        ("JPA", "kill -9 of the database"),
        ("RabbitMQ + JPA", "kill -9 of the database"),
    ]
    assert (grouped.names, grouped.columns[0].path) == (2, True)
    assert all(row.evidence for row in grouped.rows)


def test_the_script_is_one_call_with_data_of_the_schema_whatever_its_texts_are() -> None:
    infinite = {"accept_latency_ms": constant(math.inf)}
    text = site.script([exported(suite(Planted(title=HOSTILE, changes=infinite)))])
    assert text.startswith("writepath(")
    assert text.endswith(");\n")
    data = json.loads(text.removeprefix("writepath(").removesuffix(");\n"))
    jsonschema.Draft202012Validator(SCHEMA).validate(data)
    assert data["suites"][0]["variants"][0]["title"] == HOSTILE
