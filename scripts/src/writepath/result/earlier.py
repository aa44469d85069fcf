"""How are files of the first schema version read? What it did not know is said to be unread, and never passes."""

from __future__ import annotations

from typing import Any

FIRST_VERSION = 1
READ_ONCE = "an earlier version wrote this run; it did not read the store after a restart"
LEFT = ("queue_ready_left", "queue_unacknowledged_left", "dead_letters")


def from_first_version(
    audit: dict[str, Any], drain: dict[str, Any] | None, requests: dict[str, Any] | None
) -> dict[str, Any]:
    """The audit as it is written now: one read instead of two, hence no PASS."""
    new = {name: value for name, value in audit.items() if name not in ("status", "wrong_echo")}
    offenders = dict(new.get("offenders", {}))
    if "wrong_echo" in offenders:
        offenders["wrong_ack"] = offenders.pop("wrong_echo")
    read = audit.get("status") == "read"
    left = sum((drain or {}).get(name, 0) for name in LEFT)
    return new | {
        "verdict": "UNKNOWN",
        "unread": [READ_ONCE if read else "the store could not be read back"],
        "reads": [{"store_rows": audit.get("stored_rows"), "left_in_queue": left}] if read else [],
        "acknowledged": (requests or {}).get("acknowledged", 0),
        "late": None,
        "vanished": 0,
        "never_read": 0,
        "wrong_ack": audit.get("wrong_echo", 0),
        "offenders": offenders,
        "noted": {},
    }
