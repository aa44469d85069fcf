"""Measures speed and memory of the audit, and whether it finds exactly what was planted. Up to ten million ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.analysis import audit_words
from writepath.load.plan import constant_plan
from writepath.selfcheck import goals, planted, planted_suite
from writepath.selfcheck.goals import Size, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from writepath.records import Audit
    from writepath.selfcheck.goals import Found

SIZES = (
    Size(requests=100_000, goal_s=10.0),
    Size(requests=1_000_000, goal_s=10.0),
    Size(requests=10_000_000, goal_s=100.0),
)
HEADING = f"{planted_suite.NAME}, block 1"
UNREADABLE = audit_words.EXIT_CODES["UNKNOWN"]  # of a load with lines that are


def run(say: Callable[[str], None], sizes: tuple[Size, ...] = SIZES) -> bool:
    """Whether every goal is met; one line a figure."""
    return goals.met(say, Subject(what="audit", exact="exactly what was planted", plant=plant), sizes)


def plant(requests: int, folder: Path) -> Callable[[Found], Iterator[str]]:
    """A suite run whose record has the audit by arithmetic: `make audit` says where its own is another one."""
    place = folder / planted_suite.PLACE
    place.mkdir(parents=True)
    expected = planted.write(planted.plant(requests), place)
    plan = constant_plan("flat", requests, planted.RATE_PER_S)
    planted_suite.write(folder, plan, [read.store_rows for read in expected.reads], expected)
    return lambda found: differences(expected, found)


def differences(expected: Audit, found: Found) -> Iterator[str]:
    """Between what was planted and what was said, in words; none where the audit is right."""
    wanted = [HEADING, *(f"  {line}" for line in audit_words.lines(expected))]
    yield from (f"said: {line.strip()}" for line in found.lines if line not in wanted)
    yield from (f"not said: {line.strip()}" for line in wanted if line not in found.lines)
    if found.exit_code != UNREADABLE:
        yield f"exit code {found.exit_code} of a run with unreadable lines"
