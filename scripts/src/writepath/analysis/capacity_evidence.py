"""Evidence of a capacity run: few tables with all load steps and the overload, each row with its step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from writepath.analysis import overload as stretches
from writepath.analysis.capacity_overload import plan_of, recovered_limit_ms
from writepath.analysis.during_writes import reduce_during_writes
from writepath.analysis.evidence import FACTS_FILE, Evidence, load_facts
from writepath.analysis.load_rows import column_of, whole
from writepath.analysis.step_evidence import (
    RAMP_METRICS,
    folder_of,
    load_of,
    phases_of,
    reduce_requests,
    reduce_samples,
    reduce_step,
)
from writepath.analysis.step_result import sampled_figures
from writepath.load import ledger
from writepath.records import base
from writepath.records.capacity_run import CapacityFacts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from writepath.analysis.step_evidence import Tables
    from writepath.records import Host

STEP, OVERLOAD = "step", 0  # the column, and its value in rows of the overload
OVERLOAD_FOLDER = "overload"
HOPS, RECOVERY, SAMPLES = "hops", "recovery", "samples"
UNITS = 1e6  # of a sample's value, in evidence
QUEUE = ("queue_ready", "queue_unacknowledged")
WORDS = ("component", "metric")
OF_OVERLOAD = (HOPS, RECOVERY)  # tables without steps


def reduce_capacity(folder: Path, host: Host) -> Evidence:
    """What is published of a capacity run's raw files. host: with what the canaries measured."""
    run = facts_of(folder)
    tables: dict[int, Tables] = {}
    steps = []
    for step in run.steps:
        own = reduce_step(folder_of(folder, step.number), run, step)
        known = None
        if step.kind == "ramp":
            known = sampled_figures(own, run, step, host.cores)
            own[SAMPLES] = only(own[SAMPLES], RAMP_METRICS)
        steps.append(replace(step, sampled=known))
        tables[step.number] = own
    others: dict[str, pa.Table] = {}
    if run.overload is not None:
        tables[OVERLOAD], others = _reduce_overload(folder / OVERLOAD_FOLDER, run)
    if run.searches is not None and run.searches.during_writes is not None:
        tables |= reduce_during_writes(folder, run, run.searches.during_writes)
    facts = replace(run, steps=tuple(steps), host=host)
    return Evidence(tables=joined(tables) | others, facts=base.to_data(facts))


def facts_of(folder: Path) -> CapacityFacts:
    """What only the running system knew; UsageError where the file is missing or broken."""
    return base.from_data(CapacityFacts, load_facts(folder), str(folder / FACTS_FILE))


def only(samples: pa.Table, metrics: tuple[str, ...]) -> pa.Table:
    """The samples of these metrics."""
    return samples.filter(pc.is_in(column_of(samples, "metric"), pa.array(metrics)))


def _reduce_overload(folder: Path, run: CapacityFacts) -> tuple[Tables, dict[str, pa.Table]]:
    """The tables that it has in common with a step, and its own: errors by hop, and how fast p95 recovered."""
    if run.overload is None:
        raise AssertionError("the run has an overload")
    plan = plan_of(run.overload.capacity_per_s)
    load = load_of(run, run.overload.sent, phases_of(plan))
    common = reduce_requests(folder, load, exact_ms=(run.slo_ms,))
    samples = reduce_samples(folder)
    ours = pc.or_(
        pc.is_in(column_of(samples, "metric"), pa.array(QUEUE)),
        pc.equal(column_of(samples, "component"), "k6"),
    )
    asked = stretches.asked_of(plan, ledger.read(folder / ledger.FILE))
    failed = asked.hop != stretches.NOT_FAILED
    pairs = np.stack([asked.stretch[failed], asked.hop[failed]])
    (phase, hop), count = np.unique(pairs, axis=1, return_counts=True)
    own = {
        HOPS: pa.table({"phase": phase, "hop": pa.array(stretches.HOPS).take(pa.array(hop)), "count": count})
    }
    limit_ms = recovered_limit_ms(common, plan)
    if limit_ms is not None:
        own[RECOVERY] = pa.table({"within": stretches.by_cell(plan, asked.within(limit_ms))})
    return common | {SAMPLES: samples.filter(ours)}, own


def joined(tables: Mapping[int, Tables]) -> dict[str, pa.Table]:
    """One table of all steps' tables of a name; moments and values of samples as differences, which are small."""
    found: dict[str, list[pa.Table]] = {}
    for step, own in sorted(tables.items()):
        for name, table in own.items():
            packed = _differences(table) if name == SAMPLES else table
            numbered = packed.add_column(0, STEP, pa.array(np.full(len(packed), step, np.int64)))
            found.setdefault(name, []).append(numbered)
    return {name: pa.concat_tables(parts) for name, parts in found.items()}


def split(tables: Tables, step: int) -> dict[str, pa.Table]:
    """The tables of one step."""
    own = {
        name: table.filter(pc.equal(column_of(table, STEP), step)).drop_columns([STEP])
        for name, table in tables.items()
        if name not in OF_OVERLOAD
    }
    return own | {SAMPLES: _accumulated(own[SAMPLES])}


def _differences(samples: pa.Table) -> pa.Table:
    """Each row's from the row before; values in millionths."""
    value = np.rint(column_of(samples, "value").to_numpy() * UNITS).astype(np.int64)
    changes = {"at_us": np.diff(whole(samples, "at_us"), prepend=0), "value": np.diff(value, prepend=0)}
    return pa.table({**{name: column_of(samples, name) for name in WORDS}, **changes})


def _accumulated(packed: pa.Table) -> pa.Table:
    at_us, value = (np.cumsum(whole(packed, name)) for name in ("at_us", "value"))
    words = {name: column_of(packed, name) for name in WORDS}
    return pa.table({"at_us": at_us, **words, "value": value / UNITS})
