"""What does the audit of a hold say? Its store is read once, after the drain; no crash comes between two holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.analysis.audit import MUST_BE_ZERO, NOT_READ_AGAIN

if TYPE_CHECKING:
    from writepath.records import Audit, AuditVerdict

UNSEEN = "never_read"  # no contradiction: something that was not seen


def verdict(audit: Audit) -> AuditVerdict:
    """Of one whole read of a store that has drained: FAIL over UNKNOWN over PASS."""
    if offences(audit):
        return "FAIL"
    unread = [words for words in audit.unread if words != NOT_READ_AGAIN]
    if unread or not audit.reads or audit.never_read or not audit.acknowledged:
        return "UNKNOWN"
    return "PASS"


def offences(audit: Audit) -> tuple[str, ...]:
    """In words: what is in a class that should be empty, and sums that do not agree."""
    counts = {name: getattr(audit, name) for name in MUST_BE_ZERO if name != UNSEEN}
    found = [f"{count} {MUST_BE_ZERO[name]}" for name, count in counts.items() if count]
    return (*found, *(f"sums do not agree: {words}" for words in audit.identities_broken))
