"""Are the plots the same bytes for the same data, and well-formed whatever the text?"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import numpy as np

from writepath import result
from writepath.report.figures import suite_figures
from writepath.report.plots import plots
from writepath.report.raw import read_suite

if TYPE_CHECKING:
    from report.conftest import RunSpec, SuiteSpec


def test_the_same_data_give_the_same_bytes(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    suite.runs = [run_spec(), run_spec(variant="rabbitmq-jpa", delay_ms=np.full(1200, 500.0), dropped=300)]
    figures = suite_figures(read_suite(suite.write()))
    first, second = plots(figures), plots(figures)
    assert set(first) == {"latency-over-time.svg", "latency-percentiles.svg"}
    assert first == second
    assert not any(b"<dc:date>" in content for content in first.values())


def test_hostile_titles_leave_a_well_formed_file(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    suite.runs = [run_spec(title='<script>&"--> $x^$ ]]>')]
    for content in plots(suite_figures(read_suite(suite.write()))).values():
        root = ET.fromstring(content)  # noqa: S314 - our own output
        assert root.tag.endswith("svg")
        assert not any(element.tag.endswith("script") for element in root.iter())


def test_without_a_served_request_there_is_nothing_to_draw(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    suite.runs = [
        run_spec(status=np.full(1200, 503)),
        run_spec(variant="x", failed="no start", verdict=result.Verdict(status="invalid")),
    ]
    assert plots(suite_figures(read_suite(suite.write()))) == {}


def test_a_rank_at_infinity_is_drawn(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    suite.runs = [run_spec(dropped=700)]
    drawn = plots(suite_figures(read_suite(suite.write())))
    assert b"not acknowledged" in drawn["latency-percentiles.svg"]
