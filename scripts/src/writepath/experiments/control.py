"""States the smallest difference that a suite can detect on this host, from the last A/A control measured here."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from writepath.analysis.comparison import FEWEST_PAIRS, detectable, paired, percent
from writepath.records.base import write_json
from writepath.records.index import Index
from writepath.records.measures import Host
from writepath.report.comparison import by_block, reference
from writepath.report.data import Metric, SuiteData

FILE = "a-a.json"  # in the state folder: one entry for each host, runtime and suite
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
    index, base = data.index, reference(data)
    host = next((cell.record.host for cell in data.cells if cell.record.host is not None), None)
    if base is None or host is None:
        return
    controls = (by_block(data, base, control=True), by_block(data, base))
    spreads, blocks = {}, 0
    for metric in metrics[:SHOWN]:
        again, first = ([None if one is None else metric.get(one) for one in side] for side in controls)
        estimate = paired(again, first, metric.better)
        if estimate.spread is not None:
            spreads[metric.title], blocks = round(estimate.spread, 6), estimate.pairs
    if not spreads:
        return
    entry = {
        "host": _facts(host, index),
        "suite": index.suite,
        "stamp": index.stamp,
        "baseline": index.baseline,
        "blocks": blocks,
        "spreads": spreads,
    }
    others = [old for old in _read(state) if (old["host"], old["suite"]) != (entry["host"], entry["suite"])]
    write_json({"pairs": [*others, entry]}, state / FILE)


def _facts(host: Host, index: Index) -> dict[str, Any]:
    """What must be the same for the noise to be expected the same."""
    return {
        "cpu_model": host.cpu_model,
        "cores": host.cores,
        "processors": index.processors,
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
