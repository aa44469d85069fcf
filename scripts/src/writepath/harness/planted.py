"""What would a run leave behind whose system lies in ways we know? Raw files with planted faults, of any size."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from writepath import result
from writepath.load.ledger import HEADER, UNREAD, WRONG_ACK
from writepath.load.plan import encode_id
from writepath.result import Audit, Reading
from writepath.run import offenders
from writepath.run.audit import NAMED, NOTED
from writepath.run.raw_audit import LEDGER_FILE, PLAN_FILE
from writepath.run.stored import FILE_HEADER, FIRST_FILE, SECOND_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

RUN_ID = "0123456789abcde"
FOREIGN = (encode_id("fffffffffffffff", 3), 'no id, but a row; with , and " in it')
SENT_MS = 1_763_683_200_000.0
DURABLE_MS, LATE_MS = 25.0, 10_000.0
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
    """The raw files of a run, as the runner leaves them, and a run.json that tells the truth; gives its audit."""
    absent = planted.marks("absent")
    _save(folder / LEDGER_FILE, HEADER, _ledger(planted))
    rows = [
        _save(folder / FIRST_FILE, FILE_HEADER, _rows(planted, absent)),
        _save(folder / SECOND_FILE, FILE_HEADER, _rows(planted, absent | planted.marks("vanished"))),
    ]
    (folder / PLAN_FILE).write_text(json.dumps({"planned": planted.requests}) + "\n", encoding="utf-8")
    audit = expected(planted, rows)
    result.save_run(_run(planted, audit), folder)
    return audit


def expected(planted: Planted, rows: Sequence[int]) -> Audit:
    """The audit by arithmetic on what was planted; rows: of the two reads."""
    number = {name: len(planted.of(name)) for name in CLASSES}
    foreign = FOREIGN if number["unexpected"] else ()
    others = sum(number[name] for name in ("recovered", "rejected_present", "never_read"))
    acknowledged = planted.requests - others
    spoilt = sum(number[name] for name in ("absent", "vanished", "duplicated", "corrupted"))
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
        ok=acknowledged - spoilt,
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


def _run(planted: Planted, audit: Audit) -> result.Run:
    moment = "2026-01-01T00:00:00.000Z"
    return result.Run(
        schema_version=result.SCHEMA_VERSION,
        run_id=RUN_ID,
        suite="planted",
        variant="planted",
        title="Planted",
        family="planted",
        acknowledges="nothing: no system was started",
        scenario="planted",
        repetition=1,
        position=1,
        runtime="none",
        seed=0,
        overrides={},
        dataset=result.DatasetFacts(name="planted", sha256="0" * 64, lines=1),
        code=result.Code(commit="unknown", dirty=True),
        started_at=moment,
        finished_at=moment,
        outcome="finished",
        error=None,
        verdict=result.Verdict(status="invalid", reasons=("planted",)),
        requests=result.Requests(
            planned=planted.requests,
            started=planted.requests,
            dropped=0,
            acknowledged=audit.acknowledged,
            rejected=audit.rejected_present,
            indeterminate=audit.recovered + audit.never_read,
            by_status={},
            by_error={},
        ),
        audit=audit,
    )


def _save(path: Path, header: str, chunks: Iterator[list[str]]) -> int:
    count = 0
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(f"{header}\n".encode())
        for lines in chunks:
            count += len(lines)
            file.write("".join(lines).encode())
    return count


def _ledger(planted: Planted) -> Iterator[list[str]]:
    ending = np.zeros(planted.requests, dtype=np.int8)
    endings = [f"0.125,12.375,{rest}\n" for rest in ("201,0", "503,1503", "400,1400", f"201,{WRONG_ACK}")]
    for number, name in enumerate(("recovered", "rejected_present", "wrong_ack"), start=1):
        ending[planted.of(name)] = number
    unread = planted.marks("never_read")
    for first in range(0, planted.requests, CHUNK):
        last = min(first + CHUNK, planted.requests)
        yield [
            f"{seq},,,,0,{UNREAD}\n" if lost else f"{seq},{SENT_MS + seq / 8:.3f},{endings[kind]}"
            for seq, kind, lost in zip(
                range(first, last), ending[first:last].tolist(), unread[first:last].tolist(), strict=True
            )
        ]


def _rows(planted: Planted, missing: NDArray[np.bool_]) -> Iterator[list[str]]:
    """In the order of the sequence but for the last thousandth, as a heap that was filled side by side would be."""
    missing = missing | planted.marks("never_read")
    late, corrupted, doubled = (planted.marks(name) for name in ("late", "corrupted", "duplicated"))
    for first in range(0, planted.requests, CHUNK):
        seqs = np.arange(first, min(first + CHUNK, planted.requests))
        seqs = np.concatenate([seqs[~missing[seqs]], seqs[doubled[seqs]]])
        yield [
            f"{seq},{1 - spoilt},{SENT_MS + seq / 8 + (LATE_MS if slow else DURABLE_MS):.3f},\n"
            for seq, spoilt, slow in zip(
                seqs.tolist(), corrupted[seqs].tolist(), late[seqs].tolist(), strict=True
            )
        ]
    if len(beyond := planted.of("unexpected")):
        yield [f"{seq},0,,\n" for seq in beyond.tolist()] + [f",,,{_quoted(name)}\n" for name in FOREIGN]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
