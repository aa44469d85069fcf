"""Derives every figure of the recorded raw runs in `raw/<kind>` from their raw files.

`figures.json` next to them has what the code of commit 9f69ca1 recorded of the same runs: the records as they were
saved (`records`, by the cell's folder) and the figures of every table (`tables`). What only the running system knew
(canaries, exit codes, what the host withheld) is taken from there, in kind `load` from facts.json. The raw files were
converted once, when their formats changed: times to whole microseconds, exactly.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from golden.published import Figures, Key, of_tables
from writepath.analysis.faults import trials_of
from writepath.analysis.stats import US_PER_MS
from writepath.experiments import read
from writepath.experiments.registry import kind_of
from writepath.records.base import from_data, to_data
from writepath.records.faults import FaultFacts
from writepath.records.measures import Host
from writepath.report import faults

RAW = Path(__file__).with_name("raw")
KINDS = ("load", "search", "faults")  # with every raw file of every cell
Plain = dict[str, Any]


@cache
def golden(kind: str) -> Plain:
    """figures.json of a kind."""
    found: Plain = json.loads((RAW / kind / "figures.json").read_text(encoding="utf-8"))
    return found


def golden_tables(kind: str) -> Figures:
    """The tables' figures in it."""
    return {
        Key(kind, table, row, column): value
        for table, rows in golden(kind)["tables"].items()
        for row, cells in rows.items()
        for column, value in cells.items()
    }


def tables_of(kind: str) -> Figures:
    """The same, derived."""
    folder = RAW / kind
    match kind:
        case "load" | "search":
            built: Sequence[Any] = kind_of(kind).report(read.raw(folder)).tables
        case _:
            data = read.raw(folder)
            evidence = faults.evidence(faults.struck(data))
            built = (*kind_of("faults").report(data).tables, evidence)
    return of_tables(kind, built)


def load_cell(cell: str) -> Plain:
    """The result of a fixed load."""
    found = {one.entry.name: one for one in read.raw(RAW / "load").cells}[cell.partition("/")[0]]
    assert not found.problems
    return _plain(found.result)


def fault_cell() -> Plain:
    """Requests, audit, order, trials and status of the cell of faults, as its record named them."""
    (cell,) = read.raw(RAW / "faults").cells
    assert not cell.problems
    assert cell.evidence is not None
    facts = from_data(FaultFacts, dict(cell.evidence.facts), "facts.json")
    trials = [
        to_data(trial)
        | {
            "steady_seconds": one.steady_seconds,
            "lasts_seconds": one.lasts_seconds,
            "injected_at_ms": one.injected_at_us / US_PER_MS,
            "healed_at_ms": one.healed_at_us / US_PER_MS,
            "proof": one.proof,
        }
        for one, trial in zip(facts.injections, trials_of(cell.evidence), strict=True)
    ]
    return _plain(cell.result) | {"trials": trials}


def search_cell(cell: str) -> Plain:
    """The result of rounds of searches."""
    found = {one.entry.folder: one for one in read.raw(RAW / "search").cells}[cell]
    assert not found.problems
    return _plain(found.result)


@cache
def capacity_cell(cell: str, of: str = "capacity") -> Plain:
    """The result of a capacity run of which some steps are kept, or of a store's own tool. of: its folder in raw."""
    kind = kind_of("ceilings" if "@ceilings" in cell else "capacity")
    host = from_data(Host, golden(of)["records"][cell]["host"], cell)
    return _plain(kind.derive(kind.reduce(RAW / of / cell, host)))


def _plain(value: object) -> Plain:
    """A record as JSON has it."""
    found: Plain = to_data(value)
    return found
