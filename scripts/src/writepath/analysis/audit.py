"""The audit: sorts writes into classes by what is known of each, checks the sums, and puts both in words.

What is known of a write: what the client saw, its rows in either read of the store, whether their content differs, and
when it was durable. There are few combinations, so that a table of all classes is as good as a look at each write.
"""

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numpy.typing import NDArray

from writepath.analysis.stats import Ints
from writepath.load.parquet import column_of, whole
from writepath.load.plan import encode_id
from writepath.records.load_facts import LoadFacts
from writepath.records.measures import Audit, AuditVerdict, Offenders, Requests

NEVER, ACKNOWLEDGED, REJECTED, INDETERMINATE, UNREAD = range(5)  # what the client saw of a sequence
MOMENT_UNKNOWN, IN_TIME, LATE = range(3)  # when the row of the first read became durable
LATE_US = 5_000_000  # T_late: durable so long after the 201 is late
MANY = 2  # rows; more make no difference
SIZES = {"client": 5, "wrong_ack": 2, "first": MANY + 1, "second": MANY + 1, "differs": 2, "durable": 3}
COMBINATIONS = math.prod(SIZES.values())
MUST_BE_ZERO = {
    "lost": "acknowledged writes are not in the store",
    "stranded": "acknowledged writes are still in the queue or dead-lettered",
    "vanished": "writes were in the store before its restart and are missing after it",
    "duplicated": "writes are stored more than once",
    "corrupted": "writes are stored with different content",
    "unexpected": "rows are stored that no request sent",
    "rejected_present": "refused writes are stored",
    "wrong_ack": "answers named a different id than the request",
    "never_read": "writes were sent, but their answers could not be read",
}
NOTED = ("late", "recovered")
COUNTED = (
    "ok", "vanished", "duplicated", "corrupted", "recovered", "clean_fail", "clean_reject", "rejected_present",
    "wrong_ack", "never_read",
)  # fmt: skip
# Lost and stranded are one list: which of the absent a message in the queue would bring is not known.
NAMED = ("absent", *(name for name in MUST_BE_ZERO if name not in ("lost", "stranded")), *NOTED)
NOT_READ_AGAIN = "the store was not read after a restart"
READ_WHEN = ("after the drain", "after the restart")
READS = len(READ_WHEN)


def combinations(**known: npt.ArrayLike) -> NDArray[np.uint16]:
    """By write, the number of its combination; known: one array for each name of SIZES."""
    columns = [np.asarray(known[name]).astype(np.uint16) for name in SIZES]
    return np.ravel_multi_index(columns, tuple(SIZES.values())).astype(np.uint16)


def known_of(number: npt.ArrayLike) -> dict[str, Ints]:
    """What combinations() was given."""
    return dict(zip(SIZES, np.unravel_index(np.asarray(number), tuple(SIZES.values())), strict=True))


def _classes() -> dict[str, NDArray[np.bool_]]:
    """By class, whether a combination is in it; all but late and wrong_ack exclude one another."""
    known = known_of(np.arange(COMBINATIONS))
    client, first, second = known["client"], known["first"], known["second"]
    acknowledged, rejected = client == ACKNOWLEDGED, client == REJECTED
    indeterminate, attempted = client == INDETERMINATE, client != NEVER
    before, after = first > 0, second > 0
    duplicated = attempted & ((first > 1) | (second > 1))
    corrupted = attempted & (known["differs"] > 0) & ~duplicated
    plain = attempted & ~duplicated & ~corrupted
    ok = plain & acknowledged & before & after
    return {
        "ok": ok,
        "late": ok & (known["durable"] == LATE),
        "absent": plain & acknowledged & ~before,
        "vanished": plain & (acknowledged | indeterminate) & before & ~after,
        "duplicated": duplicated,
        "corrupted": corrupted,
        "unexpected": (before | after) & ~attempted,
        "recovered": plain & indeterminate & after,
        "clean_fail": plain & indeterminate & ~before & ~after,
        "clean_reject": plain & rejected & ~before & ~after,
        "rejected_present": plain & rejected & (before | after),
        "never_read": plain & (client == UNREAD),
        "wrong_ack": known["wrong_ack"] > 0,
        # For the sums alone: stored, but in a class that does not say so.
        "absent_then_stored": plain & acknowledged & ~before & after,
        "never_read_stored": plain & (client == UNREAD) & (before | after),
        "stored": before | after,
        "dated": ok & (known["durable"] != MOMENT_UNKNOWN),
        "attempted": attempted,
        "acknowledged": acknowledged,
    }


CLASSES = _classes()


def audit_of(
    tables: Mapping[str, pa.Table],
    scalars: Mapping[str, int],
    unexpected: pa.Table,
    facts: LoadFacts,
    requests: Requests,
) -> Audit:
    """Both reads, offenders, sums and verdict. unexpected: stored rows that no request sent."""
    seconds = round(facts.audit_seconds, 3)
    if not facts.reads:
        return replace(not_read(*facts.unread), seconds=seconds)
    tally, read_again = _tally(tables["tally"]), bool(scalars["read_again"]) and len(facts.reads) > 1
    number = {name: int(tally[marks].sum()) for name, marks in CLASSES.items()}
    listed = _listed(tables["offenders"], number, facts.run_id)
    never_sent = _never_sent(unexpected, facts.run_id)
    if never_sent.count:
        listed["unexpected"] = never_sent
    rows = [
        scalars[name] + int((whole(unexpected, "read") == read).sum())
        for read, name in enumerate(("rows_first", "rows_second"), 1)
    ]
    unread = list(facts.unread)
    if not read_again and not unread and facts.reads_required == READS:
        unread.append(NOT_READ_AGAIN)
    stranded = min(number["absent"], max(reading.left_in_queue for reading in facts.reads))
    audit = Audit(
        verdict="UNKNOWN",
        unread=tuple(unread),
        reads=facts.reads,
        stored_rows=rows[0],
        stored_ids=number["stored"] + never_sent.count,
        acknowledged=number["acknowledged"],
        lost=number["absent"] - stranded,
        stranded=stranded,
        unexpected=number["unexpected"] + never_sent.count,
        late=number["late"] if not number["ok"] or number["dated"] else None,
        **{name: number[name] for name in COUNTED},
        suppressed_duplicates=facts.suppressed_duplicates,
        offenders={name: listed[name] for name in NAMED if name in listed and name not in NOTED},
        noted={name: listed[name] for name in NOTED if name in listed},
        identities_broken=(),
        seconds=seconds,
    )
    identities = _identities(tally, number, requests, audit, rows if read_again else rows[:1] * READS)
    broken = tuple(words for words in identities if not _agrees(words))
    vanished = audit.vanished if read_again or facts.reads_required == READS else None
    audit = replace(audit, identities_broken=broken, vanished=vanished)
    return replace(audit, verdict=_verdict(audit, facts.reads_required))


def _verdict(audit: Audit, reads_required: int) -> AuditVerdict:
    """PASS only where everything was read, nothing is in a class that should be empty, and all sums agree."""
    if audit.unread or audit.never_read or len(audit.reads) < reads_required or not audit.acknowledged:
        return "UNKNOWN"
    faults = any(getattr(audit, name) for name in MUST_BE_ZERO) or audit.identities_broken
    return "FAIL" if faults else "PASS"


def not_read(*words: str) -> Audit:
    """The store could not be read back: nothing is known, which is never a pass."""
    numbers = (
        "stored_rows",
        "stored_ids",
        "acknowledged",
        "lost",
        "stranded",
        "unexpected",
        "late",
        *COUNTED,
    )
    return Audit(
        verdict="UNKNOWN",
        unread=words or ("the store could not be read back",),
        reads=(),
        **dict.fromkeys(numbers, 0),
        suppressed_duplicates=None,
        offenders={},
        noted={},
        identities_broken=(),
        seconds=0.0,
    )


def _identities(
    tally: Ints, number: Mapping[str, int], requests: Requests, audit: Audit, rows: Sequence[int]
) -> Iterator[str]:
    """Sums in words, `whole 3 = part 1 + part 2`. audit: with a number of vanished; rows: of each read, of any id."""
    seen = _by_client(tally, np.ones(COMBINATIONS, np.bool_))
    wrong = _by_client(tally, CLASSES["duplicated"] | CLASSES["corrupted"])
    gone = _by_client(tally, CLASSES["vanished"])
    whole = audit.ok + audit.recovered + audit.rejected_present + number["vanished"]
    others = number["absent_then_stored"] + number["never_read_stored"]
    wrong_ids = audit.duplicated + audit.corrupted + audit.unexpected
    yield f"planned {requests.planned} = started {requests.started} + dropped {requests.dropped}"
    yield f"started {requests.started} = distinct sequences in the ledger {number['attempted']}"
    yield (
        f"acknowledged {seen[ACKNOWLEDGED]} = ok {audit.ok} + lost {audit.lost} + stranded {audit.stranded}"
        f" + vanished {gone[ACKNOWLEDGED]} + duplicated or corrupted {wrong[ACKNOWLEDGED]}"
    )
    yield (
        f"indeterminate {seen[INDETERMINATE]} = recovered {audit.recovered} + clean fail {audit.clean_fail}"
        f" + vanished {gone[INDETERMINATE]} + duplicated or corrupted {wrong[INDETERMINATE]}"
    )
    yield (
        f"rejected {seen[REJECTED]} = clean reject {audit.clean_reject} + rejected-present {audit.rejected_present}"
        f" + duplicated or corrupted {wrong[REJECTED]}"
    )
    yield (
        f"ids in the store {audit.stored_ids} = ok, recovered, rejected-present and vanished {whole}"
        f" + duplicated, corrupted and unexpected {wrong_ids} + lost or never read, but stored {others}"
    )
    for read, reading, when in zip(rows, audit.reads, READ_WHEN, strict=False):
        yield f"rows read back {when} {read} = rows the store counts {reading.store_rows}"


def _agrees(identity: str) -> bool:
    """Whether the numbers on either side of a sum in words add up to the same."""
    one, other = (sum(map(int, re.findall(r"\d+", side))) for side in identity.split("="))
    return one == other


def _by_client(tally: Ints, marks: NDArray[np.bool_]) -> list[int]:
    """Writes of the combinations marked, by what the client saw."""
    client = known_of(np.arange(COMBINATIONS))["client"]
    return [int(tally[marks & (client == saw)].sum()) for saw in range(SIZES["client"])]


# Of a class, the intervals of its members.
OFFENDERS = pa.schema([("name", pa.string()), ("first", pa.int64()), ("last", pa.int64())])
INTERVALS_MAX = 100
FIRST_IDS = 20


def offenders_of(
    run_id: str, intervals: Sequence[tuple[int, int]], count: int, foreign: Sequence[str] = ()
) -> Offenders:
    """Members of a class in short. intervals: first and last sequence of each; foreign: ids that are no sequence."""
    words = [f"{first}..{last}" if last > first else f"{first}" for first, last in intervals[:INTERVALS_MAX]]
    own = itertools.chain.from_iterable(range(first, last + 1) for first, last in intervals)
    ids = (*(encode_id(run_id, sequence) for sequence in itertools.islice(own, FIRST_IDS)), *foreign)
    return Offenders(
        count=count + len(foreign),
        intervals=" ".join(words) + (" ..." if len(intervals) > INTERVALS_MAX else ""),
        first_ids=ids[:FIRST_IDS],
    )


def intervals_of(seq: Ints) -> list[tuple[int, int]]:
    """Of ascending sequences, the first and the last one of each interval, as many as are named and one more."""
    edges = np.flatnonzero(np.diff(seq) > 1)[: INTERVALS_MAX + 1]
    firsts, lasts = seq[:1].tolist() + seq[edges + 1].tolist(), seq[edges].tolist() + seq[-1:].tolist()
    return list(zip(firsts, lasts, strict=True))[: INTERVALS_MAX + 1]


def _never_sent(unexpected: pa.Table, run_id: str) -> Offenders:
    """Different ids that are no sequence of the tally."""
    sequences = np.unique(column_of(unexpected, "sequence").drop_null().to_numpy())
    foreign = list(dict.fromkeys(column_of(unexpected, "foreign_id").drop_null().to_pylist()))
    return offenders_of(run_id, intervals_of(sequences), len(sequences), foreign)


def _tally(table: pa.Table) -> Ints:
    """Requests by combination."""
    number = combinations(**{name: whole(table, name) for name in SIZES})
    tally: Ints = np.bincount(number, weights=whole(table, "count"), minlength=COMBINATIONS).astype(np.int64)
    return tally


def _listed(table: pa.Table, number: Mapping[str, int], run_id: str) -> dict[str, Offenders]:
    """By class, its members in short; how many there are is in the tally."""
    intervals: dict[str, list[tuple[int, int]]] = {}
    for row in table.to_pylist():
        intervals.setdefault(row["name"], []).append((row["first"], row["last"]))
    return {name: offenders_of(run_id, own, number[name]) for name, own in intervals.items()}


EXIT_CODES: dict[AuditVerdict, int] = {"PASS": 0, "FAIL": 1, "UNKNOWN": 3}
WORST_FIRST: tuple[AuditVerdict, ...] = ("FAIL", "UNKNOWN", "PASS")
Said = tuple[AuditVerdict, tuple[str, ...]]
HARMLESS = ("ok", "late", "recovered", "clean_fail", "clean_reject")


def worst_said(audits: Iterable[tuple[str, AuditVerdict | None]]) -> Said | None:
    """FAIL over UNKNOWN over PASS, with a line of each; by name of what was audited, if it was."""
    known = [(name, verdict) for name, verdict in audits if verdict is not None]
    worst = next((one for one in WORST_FIRST if one in {verdict for _, verdict in known}), None)
    return None if worst is None else (worst, tuple(f"{name}: {verdict}" for name, verdict in known))


def in_lines(audit: Audit | None) -> Said | None:
    """The verdict and its lines."""
    return None if audit is None else (audit.verdict, tuple(audit_lines(audit)))


def audit_lines(audit: Audit) -> Iterator[str]:
    """One fact a line; the verdict last."""
    for names in (HARMLESS, MUST_BE_ZERO):
        values = ((name, getattr(audit, name)) for name in names)
        yield ", ".join(f"{name} {'unknown' if value is None else value}" for name, value in values)
    for reading, when in zip(audit.reads, READ_WHEN, strict=False):
        yield f"{when}: {reading.store_rows} rows, {reading.left_in_queue} posts left in the queue"
    for words in audit.identities_broken:
        yield f"sums do not agree: {words}"
    if not audit.identities_broken:
        yield "sums agree"
    for name, offenders in audit.offenders.items():
        ids = ", ".join(offenders.first_ids[:3])
        yield f"{name}: {offenders.count} (sequence {offenders.intervals or 'none'}; {ids})"
    for words in audit.unread:
        yield f"not read: {words}"
    yield f"{audit.verdict} in {audit.seconds:.1f} s"
