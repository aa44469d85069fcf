"""Names the writes at fault: sequences as intervals, with their times and the nearest injected fault."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis.stats import US_PER_MS, US_PER_S
from writepath.errors import AuditError
from writepath.records import Offenders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

TIMELINE_FILE = "timeline.json"
INTERVALS_MAX = 100
FIRST_IDS = 20
APART_US = 1_000_000  # neighbours in time further apart stand on lines of their own


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that was done to the system during the load."""

    at_us: int  # epoch
    until_us: int
    what: str


def of(seq: NDArray[np.int64], others: Sequence[str], post_id: Callable[[int], str]) -> Offenders:
    """Members of a class in short; others: ids that are no sequence."""
    ids = [post_id(int(s)) for s in seq[:FIRST_IDS]] + list(others)
    return Offenders(count=len(seq) + len(others), intervals=intervals(seq), first_ids=tuple(ids[:FIRST_IDS]))


def intervals(seq: NDArray[np.int64]) -> str:
    """Ascending sequences as `17..42 90`; a contiguous stretch names its cause when laid beside the timeline."""
    return in_words(*bounds(seq))


def in_words(firsts: NDArray[np.int64], lasts: NDArray[np.int64]) -> str:
    """The same of the first and the last sequence of each interval."""
    words = [_word(a, b) for a, b in zip(firsts[:INTERVALS_MAX], lasts, strict=False)]
    return " ".join(words) + (" ..." if len(firsts) > INTERVALS_MAX else "")


def timeline(folder: Path) -> tuple[Event, ...]:
    """The faults of a run, from its folder's timeline.json; none where there is no such file. AuditError if broken."""
    path = folder / TIMELINE_FILE
    if not path.is_file():
        return ()
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        events = [
            Event(
                at_us=round(entry["at_ms"] * US_PER_MS),
                until_us=round(
                    (entry["at_ms"] if entry.get("until_ms") is None else entry["until_ms"]) * US_PER_MS
                ),
                what=str(entry["what"]),
            )
            for entry in entries
        ]
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise AuditError(f"{TIMELINE_FILE}: cannot be read ({type(error).__name__}: {error})") from error
    return tuple(sorted(events, key=lambda event: event.at_us))


def beside(
    seq: NDArray[np.int64],
    start_us: NDArray[np.int64],
    answer_us: NDArray[np.int64],
    events: Sequence[Event],
) -> Iterator[str]:
    """`17..42 90 (12:03:04.120-12:03:04.380, 0.2 s before kill database)`: neighbours in time on one line."""
    firsts, lasts = bounds(seq)
    words: list[str] = []
    since = until = near = None
    for count, (a, b) in enumerate(zip(firsts.tolist(), lasts.tolist(), strict=True)):
        if count == INTERVALS_MAX:
            words.append("...")
            break
        begin, end = _span(start_us[a : b + 1], answer_us[a : b + 1])
        event = _nearest(begin, end, events)
        if words and (event is not near or _apart(until, begin)):
            yield _line(words, since, until, near)
            words, since, until = [], None, None
        words.append(_word(a, b))
        near = event
        since = begin if since is None else since
        until = end if until is None or (end is not None and end > until) else until
    if words:
        yield _line(words, since, until, near)


def bounds(seq: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of ascending sequences, the first and the last one of each interval."""
    if not len(seq):
        return seq, seq
    breaks = np.flatnonzero(np.diff(seq) > 1)
    return seq[np.concatenate(([0], breaks + 1))], seq[np.concatenate((breaks, [len(seq) - 1]))]


def _word(first: int, last: int) -> str:
    return f"{first}..{last}" if last > first else f"{first}"


def _span(start_us: NDArray[np.int64], answer_us: NDArray[np.int64]) -> tuple[int | None, int | None]:
    """Of an interval; None where no request of it has a time."""
    known = start_us > 0  # below: interrupted; 0: never attempted
    if not known.any():
        return None, None
    return int(start_us[known].min()), int(answer_us[known].max())


def _apart(until: int | None, begin: int | None) -> bool:
    if until is None or begin is None:
        return until is not begin
    return begin - until > APART_US


def _distance_us(begin: int, end: int, event: Event) -> int:
    return max(event.at_us - end, begin - event.until_us, 0)


def _nearest(begin: int | None, end: int | None, events: Sequence[Event]) -> Event | None:
    if begin is None or end is None or not events:
        return None
    return min(events, key=lambda event: _distance_us(begin, end, event))


def _line(words: list[str], since: int | None, until: int | None, event: Event | None) -> str:
    text = " ".join(words)
    if since is None or until is None:
        return f"{text} (no time known)"
    where = "" if event is None else f", {_relation(since, until, event)}"
    return f"{text} ({_clock(since)}-{_clock(until)}{where})"


def _relation(since: int, until: int, event: Event) -> str:
    apart_s = _distance_us(since, until, event) / US_PER_S
    if apart_s == 0:
        return f"during {event.what}"
    return f"{apart_s:.1f} s {'before' if until < event.at_us else 'after'} {event.what}"


def _clock(epoch_us: int) -> str:
    return f"{datetime.fromtimestamp(epoch_us / US_PER_S, UTC):%H:%M:%S.%f}"[:-3]
