"""How small a difference will the suite see on this host? Said before it starts, from the last A/A pair kept here."""

from __future__ import annotations

import json
import math
import statistics
from typing import TYPE_CHECKING, Any

from writepath import result
from writepath.comparison import FEWEST_PAIRS
from writepath.comparison.power import detectable, percent
from writepath.result.files import write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from writepath.result import Host, Latency, Run, SuiteResult

FILE = "a-a.json"  # in the state folder: one entry for each host, runtime and scenario
FEWEST_BLOCKS = 2
UNKNOWN = "the smallest detectable difference is unknown: this host has no A/A measurement yet"


def statement(state: Path, host: Host, index: SuiteResult) -> str:
    """One sentence about the suite that starts."""
    known = [entry for entry in _read(state) if entry["host"] == _facts(host, index.runtime)]
    if not known:
        return UNKNOWN
    same = [entry for entry in known if entry["scenario"] == index.scenario]
    entry = max(same or known, key=lambda one: str(one["stamp"]))
    blocks, seconds = index.repetitions, sum(phase.seconds for phase in index.phases)
    seen = {name: detectable(spread, blocks) for name, spread in entry["spreads"].items()}
    parts = [f"{percent(least):.2g} % in {name}" for name, least in seen.items() if least is not None]
    words = (
        f"smallest detectable difference with {blocks} blocks of {seconds:g} s on this host: {', '.join(parts)}"
        f" (power 80 %; from the A/A control of {entry['baseline']}, {entry['blocks']} blocks of"
        f" {entry['scenario']}, {entry['stamp']})"
    )
    if blocks < FEWEST_PAIRS:
        words += f"; with fewer than {FEWEST_PAIRS} blocks no variant is called faster or slower"
    return words


def remember(state: Path, index: SuiteResult, folder: Path) -> None:
    """Keeps the A/A pair of a suite run, where it has one that counts."""
    runs = [result.load_run(folder / line.folder) for line in index.runs if _counts(line, index)]
    pairs: dict[int, dict[bool, Run]] = {}
    for run in runs:
        pairs.setdefault(run.repetition, {})[run.again] = run
    both = [(pair[False], pair[True]) for pair in pairs.values() if len(pair) == FEWEST_BLOCKS]
    host = next((run.host for run in runs if run.host is not None), None)
    spreads = _spreads(both)
    if host is None or not spreads:
        return
    entry = {
        "host": _facts(host, index.runtime),
        "scenario": index.scenario,
        "stamp": index.stamp,
        "baseline": index.baseline,
        "blocks": len(both),
        "spreads": spreads,
    }
    key = ("host", "scenario")
    others = [old for old in _read(state) if [old[name] for name in key] != [entry[name] for name in key]]
    write_json({"pairs": [*others, entry]}, state / FILE)


def _counts(line: result.SuiteRun, index: SuiteResult) -> bool:
    return line.variant == index.baseline and line.outcome == "finished" and line.verdict == "valid"


def _spreads(both: list[tuple[Run, Run]]) -> dict[str, float]:
    """By metric, the standard deviation of the log-ratios."""
    found = {}
    for name, get in METRICS.items():
        values = [(get(run), get(again)) for run, again in both]
        d = [math.log(again / run) for run, again in values if run and again and min(run, again) > 0]
        if len(d) >= FEWEST_BLOCKS:
            found[name] = round(statistics.stdev(d), 6)
    return found


def _rank(latency: Latency | None, name: str) -> float | None:
    return None if latency is None else getattr(latency, name)


METRICS: Mapping[str, Callable[[Run], float | None]] = {
    "the median": lambda run: _rank(run.accept_latency_ms, "median"),
    "p95": lambda run: _rank(run.accept_latency_ms, "p95"),
    "p99": lambda run: _rank(run.accept_latency_ms, "p99"),
}


def _facts(host: Host, runtime: str) -> dict[str, Any]:
    """What must be the same for the noise to be expected the same."""
    return {
        "cpu_model": host.cpu_model,
        "cores": host.cores,
        "memory_bytes": host.memory_bytes,
        "filesystem": host.filesystem,
        "runtime": runtime,
    }


def _read(state: Path) -> list[dict[str, Any]]:
    """A file that cannot be read is as none: it only says what to expect."""
    try:
        return list(json.loads((state / FILE).read_text(encoding="utf-8"))["pairs"])
    except (OSError, ValueError, KeyError, TypeError):
        return []
