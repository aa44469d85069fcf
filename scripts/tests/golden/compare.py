"""Compares figures with the golden master: the one place that knows what the rewrite renames and what may differ."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from golden import published
from golden.published import Key

if TYPE_CHECKING:
    from golden.published import Figures

# What the rewrite renames, by what the file has: a column or a whole table that moved, and words.
COLUMNS: dict[tuple[str, str], tuple[str, str]] = {}  # (table, column): the same of now
TABLES: dict[str, str] = {}  # table: the same of now
WORDS: dict[str, str] = {}  # a part of a row's identity, or a text in a cell
# By how much a figure may differ, besides one unit of the last digit that is shown. Both figures were computed from
# times of whole microseconds when they were measured; the published times are whole multiples of 10 us.
TOLERANCE = {
    "lateness_p99_ms": 0.021,  # of four times, each is off by 5 us
    "drain_s": 0.0011,  # whole milliseconds, of two times
}
# Exactly between two shown digits. Differences of times were taken in milliseconds since the epoch, as floats that are
# 0.0002 ms apart, and came out just below or above; whole microseconds come out exact.
TIES = {
    ("default", "clocks", "JPA", "to_visible_p99_ms"): "74.7",
    ("front", "paths", "JPA", "searchable_ms_p99"): "74.7",
    ("original", "latency", "Elasticsearch, 8 shards, 1 replica", "p99_ms"): "56.0",
    ("original", "original", "Elasticsearch, 8 shards, 1 replica | here", "beside_p99"): "56.0",
    ("load", "clocks", "JPA", "to_durable_p95_ms"): "5.64",
}
NOTHING = {"0", "–"}  # a column of these alone may be left out: its page says so in a sentence
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def moved(key: Key) -> Key:
    """Where the figure is now."""
    table, column = COLUMNS.get((key.table, key.column), (TABLES.get(key.table, key.table), key.column))
    row = published.JOINT.join(WORDS.get(part, part) for part in key.row.split(published.JOINT))
    return Key(key.page, table, row, column)


def differences(golden: Figures, now: Figures) -> list[str]:
    """In words; empty where every figure is given again."""
    columns: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for key, value in golden.items():
        columns[key.page, key.table, key.column].add(value)
    found = []
    for key, value in golden.items():
        own = now.get(moved(key))
        if own is None:
            if not columns[key.page, key.table, key.column] <= NOTHING:
                found.append(f"{key}: {value}, now missing")
        elif own != TIES.get(key) and not agree(key.column, WORDS.get(value, value), own):
            found.append(f"{key}: {value}, now {own}")
    return found


def agree(column: str, golden: str, own: str) -> bool:
    """Texts are equal; only where a tolerance is given do numbers count instead."""
    if golden == own or column not in TOLERANCE:
        return golden == own
    pairs = [(NUMBER.findall(one), NUMBER.sub("#", one)) for one in (golden, own)]
    (mine, words), (theirs, other_words) = pairs
    return (
        words == other_words
        and len(mine) == len(theirs)
        and all(_near(*both, TOLERANCE[column]) for both in zip(mine, theirs, strict=True))
    )


def _near(golden: str, own: str, tolerance: float) -> bool:
    unit = 10.0 ** -len(golden.partition(".")[2])
    mine, theirs = (float(one.replace(",", "")) for one in (golden, own))
    return abs(mine - theirs) <= tolerance + unit
