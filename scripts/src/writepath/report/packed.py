"""Writes histograms, counts and samples as lines of whole numbers that xz makes small, and reads them.

A line is a name, a space and numbers; what stands before the first slash of a name says whose it is. What is
cumulative or slow is kept as differences, so that equal seconds are equal text. results/published/README.md says the
same to readers.
"""

from __future__ import annotations

import lzma
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis import histogram, stats
from writepath.analysis.histogram import Histogram
from writepath.analysis.stats import US_PER_MS
from writepath.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from writepath.analysis.samples import Series
    from writepath.analysis.stats import Floats, Ints

MOST_DECIMALS = 9
COARSE = 8  # buckets that are kept as one, at its highest value: under 0.8 % wide
COARSEST = 32  # the same, where little depends on it: under 3.2 %
Lines = dict[str, str]  # by name, without what says whose it is


def save(lines: Iterable[str], path: Path) -> None:
    """Writes them compressed."""
    text = "".join(f"{line}\n" for line in lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def named(found: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Lines with whose they are before each."""
    for whose, lines in found.items():
        yield from (f"{whose}/{line}" for line in lines)


def load(path: Path) -> dict[str, Lines]:
    """By whose they are, what save() wrote. UsageError where the file is missing or cut."""
    try:
        text = lzma.decompress(path.read_bytes()).decode()
    except (OSError, ValueError, lzma.LZMAError) as error:
        raise UsageError(f"{path}: cannot be read ({error}); it was cut or edited") from error
    found: dict[str, Lines] = {}
    for line in text.splitlines():
        name, _, values = line.partition(" ")
        whose, _, rest = name.partition("/")
        found.setdefault(whose, {})[rest] = values
    return found


def of_counts(counts: Mapping[tuple[int, ...], int]) -> str:
    """Each group, then its count; in order."""
    return " ".join(f"{' '.join(map(str, group))} {count}" for group, count in sorted(counts.items()))


def to_counts(text: str, size: int) -> dict[tuple[int, ...], int]:
    """What of_counts() gave; size: numbers of a group. ValueError where a group is cut."""
    numbers = [int(value) for value in text.split()]
    groups = zip(*(numbers[place :: size + 1] for place in range(size + 1)), strict=True)
    return {group[:-1]: group[-1] for group in groups}


def whole(values: Ints) -> str:
    """As they are."""
    return " ".join(map(str, values.tolist()))


def to_whole(text: str) -> Ints:
    """What whole() gave."""
    return np.array(text.split(), dtype=np.int64)


def differences(values: Ints) -> str:
    """Each from the one before, the first from 0."""
    return whole(np.diff(values, prepend=0))


def cumulated(text: str) -> Ints:
    """What differences() gave."""
    return np.cumsum(to_whole(text))


def of_histogram(found: Histogram) -> str:
    """Requests beyond every bucket, then of each bucket that is not empty its distance from the last and its count."""
    filled = np.flatnonzero(found.counts)
    pairs = np.column_stack([np.diff(filled, prepend=0), found.counts[filled]])
    return " ".join(map(str, [found.beyond, *pairs.ravel().tolist()]))


def to_histogram(text: str) -> Histogram:
    """What of_histogram() gave."""
    beyond, *numbers = (int(value) for value in text.split())
    counts = np.zeros(histogram.BUCKETS, dtype=np.int64)
    counts[np.cumsum(numbers[::2], dtype=np.int64)] = numbers[1::2]
    return Histogram(counts=counts, beyond=beyond)


def coarse(found: Histogram, width: int = COARSE, below: float = 1.0) -> Histogram:
    """So many buckets as one, the last of them; below: a quantile from which on each stays."""
    counts, bucket = np.zeros_like(found.counts), np.arange(found.counts.size)
    last = np.minimum(bucket // width * width + width - 1, bucket.size - 1)
    if below < 1:
        first = int(np.searchsorted(np.cumsum(found.counts), stats.rank(found.planned, below)))
        last = np.where(bucket < first // width * width, last, bucket)
    np.add.at(counts, last, found.counts)
    return Histogram(counts=counts, beyond=found.beyond)


def of_series(series: Series) -> Iterator[str]:
    """Moments to the millisecond, once for all series that have the same ones; values with every digit they had."""
    moments: dict[bytes, int] = {}
    for (component, metric), (at_us, value) in sorted(series.items(), key=lambda item: item[0]):
        at = np.rint(at_us / US_PER_MS).astype(np.int64)
        if at.tobytes() not in moments:
            moments[at.tobytes()] = len(moments)
            yield f"at/{len(moments) - 1} {differences(at)}"
        index = moments[at.tobytes()]
        decimals = _decimals(value)
        scaled = np.rint(value * 10**decimals).astype(np.int64)
        yield f"series/{component}/{metric} {index} {decimals} {differences(scaled)}"


def to_series(lines: Lines) -> Series:
    """What of_series() gave, among other lines."""
    series: dict[tuple[str, str], tuple[Ints, Floats]] = {}
    for name, values in lines.items():
        kind, _, key = name.partition("/")
        if kind == "series":
            component, _, metric = key.partition("/")
            index, decimals, changes = values.split(" ", 2)
            at_us = cumulated(lines[f"at/{index}"]) * US_PER_MS
            series[component, metric] = (at_us, cumulated(changes) / 10 ** int(decimals))
    return series


def _decimals(values: Floats) -> int:
    """How many decimal places keep every value as the sampler rounds it: ten significant digits."""
    places = 0
    for value in values.tolist():
        text = f"{value:.10g}"
        if "e" in text:
            return MOST_DECIMALS if abs(value) < 1 else places
        places = max(places, len(text.partition(".")[2]))
    return min(places, MOST_DECIMALS)
