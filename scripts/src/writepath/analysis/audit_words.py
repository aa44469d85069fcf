"""Puts an audit in words: classes, sums, offenders, the verdict; and its exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.analysis.audit import MUST_BE_ZERO

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from writepath.records import Audit, AuditVerdict

EXIT_CODES: dict[AuditVerdict, int] = {"PASS": 0, "FAIL": 1, "UNKNOWN": 3}
WORST_FIRST: tuple[AuditVerdict, ...] = ("FAIL", "UNKNOWN", "PASS")
HARMLESS = ("ok", "late", "recovered", "clean_fail", "clean_reject")


def exit_code(verdicts: Collection[str]) -> int:
    """Of the worst verdict."""
    return EXIT_CODES[next(verdict for verdict in WORST_FIRST if verdict in verdicts)]


def lines(audit: Audit) -> Iterator[str]:
    """One fact a line; the verdict last."""
    yield classes(audit, HARMLESS)
    yield classes(audit, MUST_BE_ZERO)
    yield from readings(audit)
    for name, offenders in audit.offenders.items():
        ids = ", ".join(offenders.first_ids[:3])
        yield f"{name}: {offenders.count} (sequence {offenders.intervals or 'none'}; {ids})"
    yield from ending(audit)


def readings(audit: Audit) -> Iterator[str]:
    """What the store counted at each read, and whether the sums agree."""
    for reading, when in zip(audit.reads, ("after the drain", "after the restart"), strict=False):
        yield f"{when}: {reading.store_rows} rows, {reading.left_in_queue} messages left in the queue"
    for words in audit.identities_broken:
        yield f"sums do not agree: {words}"
    if not audit.identities_broken:
        yield "sums agree"


def ending(audit: Audit) -> Iterator[str]:
    """What was not read, and the verdict."""
    for words in audit.unread:
        yield f"not read: {words}"
    yield f"{audit.verdict} in {audit.seconds:.1f} s"


def classes(audit: Audit, names: Iterable[str]) -> str:
    """`ok 7030, late 0, ...`."""
    values = ((name, getattr(audit, name)) for name in names)
    return ", ".join(f"{name} {'unknown' if value is None else value}" for name, value in values)
