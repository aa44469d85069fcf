"""Evidence and figures of searches at half of their capacity, alone and during writes."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from writepath.analysis import raw, stats
from writepath.analysis.load_aggregates import SCHEDULED
from writepath.analysis.load_result import scalars_of
from writepath.analysis.steps import COARSE, Tables, load_of, reduce_requests, requests_of
from writepath.analysis.times import Times, times
from writepath.load import ledger
from writepath.load.ledger import SEARCH, WRITE, WRONG_TOTAL
from writepath.load.parquet import column_of, whole
from writepath.records.capacity_run import CapacityFacts
from writepath.records.load_facts import PhaseFacts
from writepath.records.search_load import DuringWrites, DuringWritesFacts
from writepath.records.steps import SentFacts

ALONE, SEARCHES, WRITES = -1, -2, -3  # in the column `step`
FOLDERS = {ALONE: "alone", SEARCHES: "during-writes", WRITES: "writes"}
KEPT = ("answers", "latencies", "latency_sums", "scalars")
VISIBLE = "visible"  # a clock of the writes: from sending until a search found the post
SAMPLED = "visible_samples"  # a scalar of the writes


def reduce_during_writes(folder: Path, run: CapacityFacts, facts: DuringWritesFacts) -> dict[int, Tables]:
    """The tables of each load, by its place in the column `step`."""
    return {
        place: _reduced(place, folder / FOLDERS[place], run, sent, facts)
        for place, sent in _loads(facts).items()
    }


def _loads(facts: DuringWritesFacts) -> dict[int, SentFacts]:
    return {ALONE: facts.alone, SEARCHES: facts.searches, WRITES: facts.writes}


def _reduced(
    place: int, folder: Path, run: CapacityFacts, sent: SentFacts, facts: DuringWritesFacts
) -> Tables:
    operation = WRITE if place == WRITES else SEARCH
    rate = facts.write_rate_per_s if place == WRITES else facts.search_rate_per_s
    phase = PhaseFacts(name="load", seconds=facts.seconds, from_per_s=rate, to_per_s=rate)
    tables = reduce_requests(folder, replace(load_of(run, sent, (phase,)), operations=(operation,)))
    own = {name: tables[name] for name in KEPT}
    for name in ("latencies", "latency_sums"):
        clocks = np.array(column_of(own[name], "clock").to_pylist(), dtype=object)
        own[name] = own[name].filter(pa.array(clocks == SCHEDULED, pa.bool_()))
    visible = folder / raw.VISIBLE_FILE
    return _with_visible(own, folder, visible) if visible.is_file() else own


def _with_visible(tables: Tables, folder: Path, path: Path) -> Tables:
    """Sampled writes that were not acknowledged or never found have no time."""
    seen, taken = raw.read_visible(path), ledger.read(folder / ledger.FILE)
    records = taken.records[taken.outcomes() == ledger.Outcome.ACKNOWLEDGED]
    sampled = records[np.isin(records["seq"], seen.seq)]
    found_us = seen.visible_at_us[np.searchsorted(seen.seq, sampled["seq"])]
    value, count = np.unique((found_us - sampled["start_us"])[found_us >= 0], return_counts=True)
    return visible_tables(tables, value, count, len(seen.seq))


def visible_tables(
    tables: Tables, value_us: stats.Ints, count: stats.Ints, samples: int
) -> dict[str, pa.Table]:
    """The tables of the writes with the clock of visibility: distinct times, and how often each."""
    if not len(value_us):
        value_us, count = (np.empty(0, np.int64) for _ in range(2))
    ends = (int(value_us[0]), int(value_us[-1])) if len(value_us) else (0, 0)
    known = Times(
        value_us=value_us, count=count, low_us=ends[0], high_us=ends[1], sum_us=int((value_us * count).sum())
    )
    value, number = known.coarse(samples, COARSE)
    clock, phase = pa.array([VISIBLE] * len(value), pa.string()), np.zeros(len(value), np.int64)
    rows = pa.table({"clock": clock, "phase": phase, "value_us": value, "count": number})
    sums = {"low_us": [ends[0]], "high_us": [ends[1]], "sum_us": [known.sum_us]}
    sums_row = {"clock": [VISIBLE], "phase": [0], **sums}
    return {
        **tables,
        "latencies": _appended(tables["latencies"], rows),
        "latency_sums": _appended(tables["latency_sums"], pa.table(sums_row)),
        "scalars": _appended(tables["scalars"], pa.table({"name": [SAMPLED], "value": [samples]})),
    }


def _appended(table: pa.Table, rows: pa.Table) -> pa.Table:
    return pa.concat_tables([table, rows.select(table.schema.names).cast(table.schema)])


def derive_during_writes(
    of: Callable[[int], Mapping[str, pa.Table]], facts: DuringWritesFacts
) -> DuringWrites:
    """of: the tables of a load, by its place."""
    tables = {place: of(place) for place in FOLDERS}
    scalars = {place: scalars_of(own) for place, own in tables.items()}
    latency = {
        place: times(own, SCHEDULED).latency(scalars[place]["planned"]) for place, own in tables.items()
    }
    samples = scalars[WRITES].get(SAMPLED)
    visible = None if samples is None else times(tables[WRITES], VISIBLE).latency(samples)
    return DuringWrites(
        search_rate_per_s=facts.search_rate_per_s,
        write_rate_per_s=facts.write_rate_per_s,
        seconds=facts.seconds,
        alone_latency_ms=latency[ALONE],
        search_latency_ms=latency[SEARCHES],
        write_latency_ms=latency[WRITES],
        visible_ms_median=None if visible is None else visible.median,
        visible_ms_p95=None if visible is None else visible.p95,
        writes_acknowledged=requests_of(tables[WRITES], scalars[WRITES], facts.writes).acknowledged,
        writes_found=facts.writes_found,
        wrong_answers=sum(_wrong(tables[place]) for place in (ALONE, SEARCHES)),
        warm_up_seconds=facts.warm_up_seconds,
        rerun_host=facts.rerun_host,
    )


def _wrong(tables: Mapping[str, pa.Table]) -> int:
    codes, counts = (whole(tables["answers"], name) for name in ("error_code", "count"))
    return int(counts[codes == WRONG_TOTAL].sum())
