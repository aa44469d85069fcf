"""Are the plots the same bytes for the same data, and well-formed whatever the text?"""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

from report.planted_suite import Planted, constant, report, suite
from writepath.experiments.load import sections
from writepath.records.measures import Verdict

LATER = {"durable_later": True, "durable_of_acknowledged_ms": constant(500.0)}


def drawn(*specs: Planted) -> dict[str, bytes]:
    return {plot.file: plot.svg for plot in report(*specs).plots}


def test_the_same_data_give_the_same_bytes() -> None:
    specs = (Planted(), Planted(variant="rabbitmq-jpa", changes=LATER, unserved=300))
    first, second = drawn(*specs), drawn(*specs)
    assert set(first) == {"latency-over-time.svg", "latency-percentiles.svg"}
    assert first == second
    assert not any(b"<dc:date>" in content for content in first.values())


def test_ids_are_numbers_and_no_hashes_of_what_a_processor_rounds() -> None:
    for content in drawn(Planted()).values():
        assert not re.search(rb'["#][a-z][0-9a-f]{10}["\)]', content)
        used = set(re.findall(rb'(?:url\(#|href="#)([mp]\d+)', content))
        assert used == set(re.findall(rb'id="([mp]\d+)"', content)) != set()


def test_hostile_titles_leave_a_well_formed_file() -> None:
    for content in drawn(Planted(title='<script>&"--> $x^$ ]]>')).values():
        root = ET.fromstring(content)  # noqa: S314 - our own output
        assert root.tag.endswith("svg")
        assert not any(element.tag.endswith("script") for element in root.iter())


def test_without_a_served_request_there_is_nothing_to_draw() -> None:
    failed = Planted(variant="x", failed="no start", verdict=Verdict(status="invalid"))
    assert drawn(Planted(unserved=1200), failed) == {}


def test_a_rank_at_infinity_is_drawn() -> None:
    assert b"not acknowledged" in drawn(Planted(unserved=700))["latency-percentiles.svg"]


def test_without_bands_the_percentiles_are_drawn_alone() -> None:
    data = suite(Planted())
    found = sections.report(replace(data, cells=(replace(data.cells[0], evidence=None),)))
    assert [plot.file for plot in found.plots] == ["latency-percentiles.svg"]


def test_a_closed_load_is_as_long_as_its_bands() -> None:
    assert set(drawn(Planted(closed=True))) == {"latency-over-time.svg", "latency-percentiles.svg"}
