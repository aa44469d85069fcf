"""Writes the raw tables of a load whose system lies in known ways: planted faults, of any size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis import offenders, raw
from writepath.analysis.audit import NAMED, NOTED, Stored
from writepath.load import ledger as ledgers
from writepath.load.ledger import NO_TIME, RECORD, UNREAD, WRONG_ACK, Ledger
from writepath.load.plan import encode_id
from writepath.records import Audit, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

RUN_ID = "0123456789abcde"
FOREIGN = (encode_id("fffffffffffffff", 3), 'no id, but a row; with , and " in it')
RATE_PER_S, APART_US = 8000.0, 125
SENT_US = 1_763_683_200_000_000
DURABLE_US, LATE_US = 25_000, 10_000_000
SHARE = 1000  # of a class: one in a thousand
CHUNK = 1 << 18
CLASSES = (
    "absent", "vanished", "duplicated", "corrupted", "unexpected", "rejected_present", "wrong_ack", "never_read",
    "late", "recovered",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class Planted:
    """Which sequence of a run of `requests` is what; all others are acknowledged and stored."""

    requests: int
    members: Mapping[str, NDArray[np.int64]]  # by class, ascending; unexpected lie behind the last request

    def of(self, name: str) -> NDArray[np.int64]:
        """Empty where the class was not planted."""
        return self.members.get(name, np.empty(0, dtype=np.int64))

    def marks(self, name: str) -> NDArray[np.bool_]:
        """By sequence."""
        marks = np.zeros(self.requests, dtype=np.bool_)
        marks[self.of(name)] = True
        return marks


def plant(requests: int, names: tuple[str, ...] = CLASSES, seed: int = 7) -> Planted:
    """One in a thousand of each class, drawn without replacement."""
    each = max(2, requests // SHARE)
    rng = np.random.default_rng(seed)
    drawn = rng.choice(requests, each * len(names), replace=False).reshape(len(names), each)
    members = {name: np.sort(part) for name, part in zip(names, drawn, strict=True)}
    if "unexpected" in members:
        members["unexpected"] = requests + np.arange(each, dtype=np.int64) * 2
    return Planted(requests=requests, members=members)


def write(planted: Planted, folder: Path) -> Audit:
    """requests.parquet and stored.parquet, as the runner leaves them; gives the audit that follows from them."""
    absent = planted.marks("absent")
    ledgers.write(_ledger(planted), folder / ledgers.FILE)
    reads = [_rows(planted, absent), _rows(planted, absent | planted.marks("vanished"))]
    raw.save_stored(reads, folder / raw.STORED_FILE)
    return expected(planted, [read.rows for read in reads])


def expected(planted: Planted, rows: Sequence[int]) -> Audit:
    """The audit by arithmetic on what was planted; rows: of the two reads."""
    number = {name: len(planted.of(name)) for name in CLASSES}
    foreign = FOREIGN if number["unexpected"] else ()
    others = sum(number[name] for name in ("recovered", "rejected_present", "never_read"))
    acknowledged = planted.requests - others
    defective = sum(number[name] for name in ("absent", "vanished", "duplicated", "corrupted"))
    named = {
        name: offenders.of(
            planted.of(name), foreign if name == "unexpected" else (), lambda seq: encode_id(RUN_ID, seq)
        )
        for name in NAMED
        if number[name]
    }
    faults = {name: found for name, found in named.items() if name not in NOTED}
    return Audit(
        verdict="UNKNOWN" if number["never_read"] else "FAIL" if faults else "PASS",
        unread=(),
        reads=tuple(Reading(store_rows=count, left_in_queue=0) for count in rows),
        stored_rows=rows[0],
        stored_ids=planted.requests
        - number["absent"]
        - number["never_read"]
        + number["unexpected"]
        + len(foreign),
        acknowledged=acknowledged,
        ok=acknowledged - defective,
        late=number["late"],
        lost=number["absent"],
        stranded=0,
        vanished=number["vanished"],
        duplicated=number["duplicated"],
        corrupted=number["corrupted"],
        unexpected=number["unexpected"] + len(foreign),
        recovered=number["recovered"],
        clean_fail=0,
        clean_reject=0,
        rejected_present=number["rejected_present"],
        wrong_ack=number["wrong_ack"],
        never_read=number["never_read"],
        suppressed_duplicates=None,
        offenders=faults,
        noted={name: found for name, found in named.items() if name in NOTED},
        identities_broken=(),
        seconds=0.0,
    )


def _ledger(planted: Planted) -> Ledger:
    records = np.empty(planted.requests, RECORD)
    seq = np.arange(planted.requests)
    records["seq"], records["operation"] = seq, 0
    records["start_us"] = SENT_US + seq * APART_US
    records["blocked_us"], records["duration_us"] = 125, 12_375
    records["status"], records["error_code"] = 201, 0
    for name, status, code in (
        ("recovered", 503, 1503),
        ("rejected_present", 400, 1400),
        ("wrong_ack", 201, WRONG_ACK),
    ):
        records["status"][planted.of(name)], records["error_code"][planted.of(name)] = status, code
    lost = planted.of("never_read")
    for name in ("start_us", "blocked_us", "duration_us"):
        records[name][lost] = NO_TIME
    records["status"][lost], records["error_code"][lost] = 0, UNREAD
    return Ledger(records=records)


def _rows(planted: Planted, missing: NDArray[np.bool_]) -> Stored:
    """In the order of the sequence but for what is there twice, as a heap that was filled side by side would be."""
    there = np.flatnonzero(~(missing | planted.marks("never_read")))
    seq = np.concatenate([there, planted.of("duplicated")])
    seq = seq[np.argsort(seq // CHUNK, kind="stable")]
    late, corrupted = planted.marks("late"), planted.marks("corrupted")
    durable_at_us = SENT_US + seq * APART_US + np.where(late[seq], LATE_US, DURABLE_US)
    beyond = planted.of("unexpected")
    return Stored(
        seq=np.concatenate([seq, beyond]),
        content_ok=np.concatenate([~corrupted[seq], np.zeros(len(beyond), np.bool_)]),
        durable_at_us=np.concatenate([durable_at_us, np.full(len(beyond), NO_TIME)]),
        foreign_ids=FOREIGN if len(beyond) else (),
    )
