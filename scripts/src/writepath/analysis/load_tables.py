"""Evidence of a load, and what follows from it without a rule: reduce_load() of the raw tables, bands() for the plot.

Up to ROWS_MAX requests the evidence has a row for each of them, else counts and histograms; derive_load() of
load_result.py makes the first into the second, so that each figure has one implementation.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from writepath.analysis import load_rows, usage
from writepath.analysis.audit_classes import ACKNOWLEDGED
from writepath.analysis.evidence import Evidence
from writepath.analysis.load_aggregates import US_PER_MS, aggregated
from writepath.analysis.load_rows import NO_TIME, column_of, whole
from writepath.analysis.stats import Bands
from writepath.records.base import from_data, to_data
from writepath.records.load_facts import LoadFacts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from writepath.analysis.load_rows import Parts, Rows
    from writepath.analysis.stats import Floats

ROWS_MAX = 100_000  # requests of a cell
REQUESTS, STORED, SAMPLES, VISIBLE, UNEXPECTED = "requests", "stored", "samples", "visible", "unexpected"
SAMPLES_SCHEMA = pa.schema(
    [("at_us", pa.int64()), ("component", pa.string()), ("metric", pa.string()), ("value", pa.float64())]
)


def reduce_load(raw: Mapping[str, Parts], facts: LoadFacts) -> Evidence:
    """What is published of a load. raw: by name the parts of a table: requests; stored, samples and visible if any."""
    rows = load_rows.of_raw(raw[REQUESTS], raw.get(STORED), facts.operations, len(facts.reads))
    tables = {UNEXPECTED: rows.unexpected}
    samples = [part.cast(SAMPLES_SCHEMA) for part in raw.get(SAMPLES, ())]
    tables[SAMPLES] = usage.needed(pa.concat_tables([SAMPLES_SCHEMA.empty_table(), *samples]))
    if VISIBLE in raw:
        tables[VISIBLE] = _visible(pa.concat_tables(raw[VISIBLE]), rows, facts)
    if len(rows.sequence) <= ROWS_MAX:
        tables[REQUESTS] = load_rows.published(rows, facts.operations)
    else:
        tables |= aggregated(rows, facts, exact=False)
    return Evidence(tables=tables, facts=to_data(facts))


def facts_of(evidence: Evidence) -> LoadFacts:
    """The facts; UsageError where they are not of a load."""
    return from_data(LoadFacts, dict(evidence.facts), "facts.json")


def aggregates(evidence: Evidence, facts: LoadFacts) -> Mapping[str, pa.Table]:
    """The tables of load_aggregates.py, of requests that the evidence has rows of, or has summed up."""
    if REQUESTS not in evidence.tables:
        return evidence.tables
    rows = load_rows.of_published(evidence.tables[REQUESTS], evidence.tables[UNEXPECTED], facts.operations)
    return aggregated(rows, facts, exact=True)


def bands(evidence: Evidence) -> Bands:
    """By second of the scheduled send time, of a closed load by second of the start: latency of the 201s."""
    table = aggregates(evidence, facts_of(evidence))["seconds"]
    planned, served = whole(table, "planned"), whole(table, "served")
    return Bands(
        second=np.arange(len(planned), dtype=np.int64),
        median=_ms(table, "median_us"),
        p95=_ms(table, "p95_us"),
        max=_ms(table, "max_us"),
        served=served,
        unserved=planned - served,
    )


def _ms(table: pa.Table, name: str) -> Floats:
    known = column_of(table, name).is_valid().to_numpy()
    return np.where(known, whole(table, name) / US_PER_MS, math.nan)


def _visible(table: pa.Table, rows: Rows, facts: LoadFacts) -> pa.Table:
    """With each write's start, null where it was not acknowledged; ascending by sequence."""
    table = table.sort_by("sequence").select(["sequence", "not_before_us", "visible_at_us"])
    places = load_rows.places(rows.sequence, whole(table, "sequence"))
    found = places[places >= 0]
    own = rows.only(np.isin(np.arange(len(rows.sequence)), found))
    acknowledged = own.client([operation.served for operation in facts.operations]) == ACKNOWLEDGED
    start_us = np.full(len(table), NO_TIME)
    start_us[places >= 0] = np.where(acknowledged, own.start_us, NO_TIME)
    return table.add_column(1, "start_us", pa.array(start_us, mask=start_us == NO_TIME))
