"""Is a record believed that full samples give, if not in whole milliseconds, and one that none give not?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from capacity.planted import hold
from capacity.planted_hold import ORIGIN_US
from writepath.analysis.histogram import of
from writepath.analysis.saturation import limited_by
from writepath.records import Latency
from writepath.records.capacity import LimitedBy, Saturated
from writepath.report.hold_values import HoldData
from writepath.report.hold_verify import of_latency, of_limit

if TYPE_CHECKING:
    from writepath.analysis.samples import Series
    from writepath.records.capacity import Hold

CORES = 2
NOTHING = of((), 0)
SECONDS = 30


def sampled(seed: int) -> tuple[Series, Series]:
    """A host that is 90 % busy, more or less: as it was sampled, and as a file keeps it."""
    draw = np.random.default_rng(seed)
    at_us = ORIGIN_US + 500_000 + 1_000_000 * np.arange(SECONDS) + draw.integers(-400, 400, SECONDS)
    total = CORES * np.arange(SECONDS, dtype=np.float64)
    busy = np.cumsum(CORES * draw.normal(0.9, 0.04, SECONDS).round(3))
    full = {("host", "total_seconds"): (at_us, total), ("host", "busy_seconds"): (at_us, busy)}
    kept = {key: ((at_us + 500) // 1000 * 1000, value) for key, (at_us, value) in full.items()}
    return full, kept


def data_of(series: Series) -> HoldData:
    return HoldData(
        from_us=ORIGIN_US, seconds=float(SECONDS), answers={}, planned=NOTHING, accept=NOTHING, late=NOTHING,
        answered_us=0, durable_us=None, stored=None, held=None, series=series,
    )  # fmt: skip


def made(series: Series) -> Hold:
    """What a search would have recorded of these samples."""
    quiet = hold()
    return replace(quiet, limited_by=limited_by(data_of(series).within, CORES, quiet.generator))


@pytest.fixture
def edge() -> tuple[Hold, HoldData]:
    """A record that the samples of its file do not give as they are: a fraction of a millisecond decided."""
    for seed in range(1000):
        full, kept = sampled(seed)
        record, data = made(full), data_of(kept)
        assert record.limited_by is not None
        derived = limited_by(data.within, CORES, record.generator)
        if (derived.first is None) != (record.limited_by.first is None):
            return record, data
    raise AssertionError("no such samples in 1,000")


def test_what_a_fraction_of_a_millisecond_decided_is_believed(edge: tuple[Hold, HoldData]) -> None:
    record, data = edge
    assert list(of_limit(record, data, CORES)) == []


def test_what_no_fraction_gives_is_found(edge: tuple[Hold, HoldData]) -> None:
    record, data = edge
    disk = Saturated(resource="disk", component="host", evidence="a disk was never idle")
    (found,) = of_limit(replace(record, limited_by=LimitedBy(first=disk)), data, CORES)
    assert found.startswith("limited_by=disk of host ≠ ")


def test_what_came_nearest_is_looked_at_where_a_record_tells_it() -> None:
    _, kept = sampled(0)
    at_us, total = kept["host", "total_seconds"]
    half = {**kept, ("host", "busy_seconds"): (at_us, total / 2)}
    record, data = made(half), data_of(half)
    assert record.limited_by is not None
    assert record.limited_by.nearest is not None
    assert list(of_limit(record, data, CORES)) == []
    older = replace(record, limited_by=LimitedBy(first=None))
    assert list(of_limit(older, data, CORES)) == []
    told = replace(record.limited_by.nearest, evidence="the host's 2 processors were 85% busy")
    (found,) = of_limit(replace(record, limited_by=LimitedBy(first=None, nearest=told)), data, CORES)
    assert found.startswith("limited_by evidence 'the host's 2 processors were 85% busy' ≠ ")


def test_a_time_that_is_a_little_before_its_plan_is_none() -> None:
    times = of([0.0] * 20, 20)
    latency = Latency(min=-0.051, mean=0.0, median=0.0, p95=None, p99=None, max=0.0)
    assert list(of_latency("planned_latency_ms", latency, times, tail=True)) == []
