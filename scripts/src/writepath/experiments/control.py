"""States the smallest difference that a suite can detect on this host, from the last A/A control measured here."""

import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from writepath.analysis.comparison import FEWEST_PAIRS, detectable, percent
from writepath.records.base import write_json
from writepath.records.index import Index
from writepath.records.measures import Host
from writepath.report.data import Metric, SuiteData

FILE = "a-a.json"  # in the state folder: one entry for each host, runtime and suite
FEWEST_BLOCKS = 2
UNKNOWN = "the smallest detectable difference is unknown: this host has no A/A measurement yet"
SHOWN = 3  # metrics; the kind lists its main ones first


def statement(state: Path, host: Host, index: Index) -> str:
    """One sentence about the suite that starts."""
    known = [entry for entry in _read(state) if entry["host"] == _facts(host, index)]
    if not known:
        return UNKNOWN
    same = [entry for entry in known if entry["suite"] == index.suite]
    entry = max(same or known, key=lambda one: str(one["stamp"]))
    blocks = index.repetitions
    seen = {name: detectable(spread, blocks) for name, spread in entry["spreads"].items()}
    parts = [f"{percent(least):.2g} % in {name}" for name, least in seen.items() if least is not None]
    words = (
        f"smallest detectable difference with {blocks} blocks on this host: {', '.join(parts)}"
        f" (power 80 %; from the A/A control of {entry['baseline']}, {entry['blocks']} blocks of"
        f" {entry['suite']}, {entry['stamp']})"
    )
    if blocks < FEWEST_PAIRS:
        words += f"; with fewer than {FEWEST_PAIRS} blocks no variant is called faster or slower"
    return words


def remember(state: Path, data: SuiteData[Any], metrics: Sequence[Metric[Any]]) -> None:
    """Keeps the A/A control of a suite run, where it has one that counts."""
    pairs = _pairs(data)
    host = next((cell.record.host for cell in data.cells if cell.record.host is not None), None)
    spreads = _spreads(pairs, metrics[:SHOWN])
    if host is None or not spreads:
        return
    index = data.index
    entry = {
        "host": _facts(host, index),
        "suite": index.suite,
        "stamp": index.stamp,
        "baseline": index.baseline,
        "blocks": len(pairs),
        "spreads": spreads,
    }
    key = ("host", "suite")
    others = [old for old in _read(state) if [old[name] for name in key] != [entry[name] for name in key]]
    write_json({"pairs": [*others, entry]}, state / FILE)


def _pairs(data: SuiteData[Any]) -> list[tuple[Any, Any]]:
    """By block, the results of the baseline and of its A/A control."""
    for row in data.rows:
        controls = {cell.record.block: cell.result for cell in data.of(row, control=True) if cell.counts}
        if controls:
            measured = {cell.record.block: cell.result for cell in data.of(row) if cell.counts}
            return [(measured[block], again) for block, again in controls.items() if block in measured]
    return []


def _spreads(pairs: Sequence[tuple[Any, Any]], metrics: Sequence[Metric[Any]]) -> dict[str, float]:
    """By metric, the standard deviation of the log-ratios."""
    found = {}
    for metric in metrics:
        values = [(metric.get(first), metric.get(again)) for first, again in pairs]
        d = [math.log(again / first) for first, again in values if first and again and min(first, again) > 0]
        if len(d) >= FEWEST_BLOCKS:
            found[metric.title] = round(statistics.stdev(d), 6)
    return found


def _facts(host: Host, index: Index) -> dict[str, Any]:
    """What must be the same for the noise to be expected the same."""
    return {
        "cpu_model": host.cpu_model,
        "cores": host.cores,
        "memory_bytes": host.memory_bytes,
        "filesystem": host.filesystem,
        "runtime": index.runtime,
    }


def _read(state: Path) -> list[dict[str, Any]]:
    """A file that cannot be read is as none: it only says what to expect."""
    try:
        return [
            one for one in json.loads((state / FILE).read_text(encoding="utf-8"))["pairs"] if "suite" in one
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []
