"""Evidence and figures of searches at half of their capacity, alone and during writes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from writepath.analysis import load_rows, raw
from writepath.analysis.audit import ACKNOWLEDGED
from writepath.analysis.load_aggregates import SCHEDULED
from writepath.analysis.load_result import scalars_of
from writepath.analysis.steps import (
    COARSE,
    Tables,
    load_of,
    reduce_requests,
    requests_of,
    steady,
    wrong_totals,
)
from writepath.analysis.times import Times, times
from writepath.load.ledger import WRITE
from writepath.load.parquet import column_of, load_table, whole
from writepath.records.capacity_run import CapacityFacts
from writepath.records.load_facts import LoadFacts
from writepath.records.search_load import DuringWrites, DuringWritesFacts

ALONE, SEARCHES, WRITES = -1, -2, -3  # in the column `step`
FOLDERS = {ALONE: "alone", SEARCHES: "during-writes", WRITES: "writes"}
KEPT = ("answers", "latencies", "latency_sums", "scalars")
VISIBLE = "visible"  # a clock of the writes: from sending until a search found the post
SAMPLED = "visible_samples"  # a scalar of the writes


def reduce_during_writes(folder: Path, run: CapacityFacts, facts: DuringWritesFacts) -> dict[int, Tables]:
    """The tables of each load, by its place in the column `step`."""
    search = steady("load", facts.search_rate_per_s, facts.seconds)
    write = steady("load", facts.write_rate_per_s, facts.seconds)

    loads = {
        ALONE: load_of(run, facts.alone, search),
        SEARCHES: load_of(run, facts.searches, search),
        WRITES: load_of(run, facts.writes, write, operations=(WRITE,)),
    }
    return {place: _reduced(folder / FOLDERS[place], load) for place, load in loads.items()}


def _reduced(folder: Path, load: LoadFacts) -> Tables:
    tables = reduce_requests(folder, load)
    own = {name: tables[name] for name in KEPT}
    for name in ("latencies", "latency_sums"):
        own[name] = own[name].filter(pc.equal(column_of(own[name], "clock"), SCHEDULED))
    return _with_visible(own, folder, load) if (folder / raw.VISIBLE_FILE).is_file() else own


def _with_visible(tables: Tables, folder: Path, load: LoadFacts) -> Tables:
    """With the clock of visibility; sampled writes that were not acknowledged or never found have no time."""
    seen = load_table(folder / raw.VISIBLE_FILE)
    sequence, visible_at_us = whole(seen, "sequence"), whole(seen, "visible_at_us")
    rows = load_rows.of_raw(raw.tables(folder)["requests"], None, load.operations, reads=0)
    sampled = (rows.client == ACKNOWLEDGED) & np.isin(rows.sequence, sequence)
    found_us = visible_at_us[np.searchsorted(sequence, rows.sequence[sampled])]
    found = Times.of((found_us - rows.start_us[sampled])[found_us >= 0])
    sums = {name: getattr(found, name) for name in ("low_us", "high_us", "sum_us")}
    buckets, number = found.coarse(len(seen), COARSE)
    clock, phase = [VISIBLE] * len(buckets), [0] * len(buckets)
    more: dict[str, dict[str, Any]] = {
        "latencies": {"clock": clock, "phase": phase, "value_us": buckets, "count": number},
        "latency_sums": {"clock": [VISIBLE], "phase": [0], **{name: [us] for name, us in sums.items()}},
        "scalars": {"name": [SAMPLED], "value": [len(seen)]},
    }
    return {**tables, **{name: _appended(tables[name], pa.table(rows)) for name, rows in more.items()}}


def _appended(table: pa.Table, rows: pa.Table) -> pa.Table:
    return pa.concat_tables([table, rows.select(table.schema.names).cast(table.schema)])


def derive_during_writes(tables: Mapping[int, Tables], facts: DuringWritesFacts) -> DuringWrites:
    """tables: of each load, by its place."""
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
        wrong_answers=sum(wrong_totals(tables[place]) for place in (ALONE, SEARCHES)),
        warm_up_seconds=facts.warm_up_seconds,
    )
