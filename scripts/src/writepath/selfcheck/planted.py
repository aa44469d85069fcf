"""Writes a suite run of one load with planted faults, of any size: audit and percentiles are known by arithmetic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from writepath.analysis import raw
from writepath.analysis.audit import NAMED, NOTED, intervals_of, not_read, offenders_of
from writepath.analysis.evidence import save_facts
from writepath.analysis.raw import Stored
from writepath.analysis.stats import Ints, Marks
from writepath.config.registry import Scenario
from writepath.experiments.load.kind import LoadExperiment, params_of
from writepath.load import ledger
from writepath.load.ledger import NO_TIME, RECORD, UNREAD, WRITE, WRONG_ACK, Ledger
from writepath.load.plan import NS_PER_US, ArrivalPlan, constant_plan, encode_id
from writepath.records.base import to_data
from writepath.records.cell import CellRecord, save_cell
from writepath.records.index import SCHEMA_VERSION, CellEntry, Index, VariantRecord, save_index
from writepath.records.load_facts import DrainFacts, LoadFacts, PhaseFacts
from writepath.records.measures import Audit, Code, DatasetFacts, Durability, Host, Reading

RUN_ID = "0123456789abcde"
FOREIGN = (encode_id("fffffffffffffff", 3), 'no id, but a row; with , and " in it')
RATE_PER_S = 8000.0
SENT_US = 1_763_683_200_000_000
FASTEST_US, SPREAD_US, WAITED_US = 1000, 100_000, 125  # of the latency; waited: for a connection
DURABLE_US, LATE_US = 5000, 10_000_000
SHARE = 1000  # of a class: one in a thousand
STRIDE = 7  # has no divisor with a power of ten in common: each rank is there once
VISIBLE_EACH = 400  # twenty a second
CHUNK = 1 << 18
CLASSES = (
    "absent", "vanished", "duplicated", "corrupted", "unexpected", "rejected_present", "wrong_ack", "never_read",
    "late", "recovered",
)  # fmt: skip
STILL_OK = ("late", "wrong_ack", "unexpected")  # in no other class, or no write that was sent
NAME = "planted"
PLACE = f"{NAME}/block-01"  # of the raw tables, relative to the index
MOMENT = "2026-01-01T00:00:00.000Z"
SHARED: dict[str, Any] = {  # of index and cell
    "schema_version": SCHEMA_VERSION,
    "kind": LoadExperiment.kind,
    "suite": NAME,
    "title": "Planted",
    "started_at": MOMENT,
    "finished_at": MOMENT,
    "seed": 0,
    "runtime": "docker",
    "settings": {},
    "dataset": DatasetFacts(name=NAME, sha256="0" * 64, lines=1),
    "code": Code(commit="unknown", dirty=True),
}
CELL: dict[str, Any] = {
    "name": NAME, "variant": NAME, "levels": {}, "role": "measured", "block": 1, "position": 1, "outcome": "finished",
}  # fmt: skip
VARIANT: dict[str, Any] = {"family": NAME, "acknowledges": "nothing: no system was started"}
DURABILITY = Durability(level="A", settings={})
HOST = Host(cpu_model="none", cores=1, memory_bytes=1, kernel="none", filesystem="none")


@dataclass(frozen=True, kw_only=True, eq=False)
class Planted:
    """Which sequence of a run of `requests` is what; all others are acknowledged and stored."""

    requests: int
    members: Mapping[str, Ints] = field(default_factory=dict)  # by class, ascending; unexpected: never sent

    @property
    def plan(self) -> ArrivalPlan:
        """One rate, which the load kept."""
        return constant_plan("flat", self.requests, RATE_PER_S)

    def of(self, name: str) -> Ints:
        """Empty where the class was not planted."""
        return self.members.get(name, np.empty(0, dtype=np.int64))

    def marks(self, *names: str) -> Marks:
        """By sequence."""
        marks = np.zeros(self.requests, dtype=np.bool_)
        for name in names:
            marks[self.of(name)] = True
        return marks

    def starts_us(self) -> Ints:
        """By sequence, to the nearest microsecond, as k6's recorder keeps them."""
        return SENT_US + (self.plan.starts_ns + NS_PER_US // 2) // NS_PER_US

    def took_us(self) -> Ints:
        """By sequence, with the wait for a connection: each of as many different latencies once."""
        return FASTEST_US + np.arange(self.requests) * STRIDE % self.requests * SPREAD_US // self.requests


def plant(requests: int, names: Sequence[str] = CLASSES, seed: int = 7) -> Planted:
    """One in a thousand of each class, drawn without replacement."""
    each = max(2, requests // SHARE)
    drawn = np.random.default_rng(seed).choice(requests, (len(names), each), replace=False)
    members = {name: np.sort(part) for name, part in zip(names, drawn, strict=True)}
    if "unexpected" in members:
        members["unexpected"] = requests + np.arange(each, dtype=np.int64) * 2
    return Planted(requests=requests, members=members)


def write_suite(planted: Planted, folder: Path) -> Audit:
    """Raw tables, facts, record and index; gives the audit by arithmetic."""
    place, kind = folder / PLACE, LoadExperiment()
    place.mkdir(parents=True)
    audit = write(planted, place)
    save_facts(to_data(_facts(planted.plan, audit.reads)), place)
    found = kind.derive(kind.reduce(place, HOST))
    record = CellRecord(
        **SHARED, **CELL, **VARIANT, run_id=RUN_ID, error=None, verdict=found.verdict, durability=DURABILITY,
        host=HOST, result=to_data(found),
    )  # fmt: skip
    save_cell(record, place)
    verdict: dict[str, Any] = {"verdict": found.verdict.status, "reasons": found.verdict.reasons}
    index = Index(
        **SHARED,
        stamp="20260101T000000Z",
        status="finished",
        repetitions=1,
        baseline=None,
        variants=(VariantRecord(name=NAME, title=SHARED["title"], profiles=(), settings={}, **VARIANT),),
        factors=(),
        params=to_data(params_of(Scenario(name="flat", script="none", phases=planted.plan.phases))),
        order=((NAME,),),
        cells=(CellEntry(**CELL, **verdict, folder=PLACE, seconds=0.0, exit_code=0),),
    )
    save_index(index, folder)
    return audit


def write(planted: Planted, folder: Path) -> Audit:
    """The raw tables, as the runner leaves them; gives the audit that follows from them."""
    starts_us, absent = planted.starts_us(), planted.marks("absent", "never_read", "clean_fail")
    ledger.write(_ledger(planted, starts_us), folder / ledger.FILE)
    reads = [_rows(planted, starts_us, gone) for gone in (absent, absent | planted.marks("vanished"))]
    raw.save_stored(reads, folder / raw.STORED_FILE)
    seq = np.arange(0, planted.requests, VISIBLE_EACH)
    at_us = starts_us[seq] + 2 * DURABLE_US
    raw.save_visible(seq, at_us - DURABLE_US, at_us, folder / raw.VISIBLE_FILE)
    samples = [
        raw.Sample(at_us=SENT_US + 1_000_000 * second, component=name, metric=metric, value=value * (second + 1))
        for second in range(int(planted.plan.seconds) + 1)
        for name in ("jpa-writer", "postgres", "nginx", "k6")
        for metric, value in (("cpu_seconds", 0.25), ("rss_bytes", 4096.0))
    ]  # fmt: skip
    raw.save_samples(samples, folder / raw.SAMPLES_FILE)
    return expected(planted, [read.rows for read in reads])


def expected(planted: Planted, rows: Sequence[int]) -> Audit:
    """The audit by arithmetic on what was planted, as far as `make audit` prints it; rows: of the two reads."""
    number: dict[str, Any] = {name: len(planted.of(name)) for name in (*CLASSES, "clean_fail")}
    foreign = {"unexpected": FOREIGN} if number["unexpected"] else {}
    offenders = {
        name: offenders_of(RUN_ID, intervals_of(planted.of(name)), number[name], foreign.get(name, ()))
        for name in NAMED
        if number[name] and name not in NOTED
    }
    number["ok"] = planted.requests - sum(number[name] for name in set(number) - set(STILL_OK))
    number["unexpected"] = offenders["unexpected"].count if foreign else 0
    number["lost"] = number.pop("absent")
    return replace(
        not_read(),
        **number,
        verdict="UNKNOWN" if number["never_read"] else "FAIL" if offenders else "PASS",
        unread=(),
        reads=tuple(Reading(store_rows=count, left_in_queue=0) for count in rows),
        offenders=offenders,
    )


def _facts(plan: ArrivalPlan, reads: tuple[Reading, ...]) -> LoadFacts:
    nothing = {"queue_ready_left": 0, "queue_unacknowledged_left": 0, "dead_letters": 0}
    return LoadFacts(
        run_id=RUN_ID,
        runtime=SHARED["runtime"],
        declared_level=DURABILITY.level,
        model="open",
        phases=tuple(PhaseFacts(**vars(phase)) for phase in plan.phases),
        virtual_users=plan.virtual_users,
        seconds=plan.seconds,
        operations=(WRITE,),
        queue_path=False,
        load_started_at=MOMENT,
        load_finished_at=MOMENT,
        dropped=0,
        exit_code=0,
        generator_faults=(),
        samples_late=0,
        withheld=None,
        drain=DrainFacts(waited_seconds=0.0, busy_seconds=0.0, capped=False, **nothing),
        reads=reads,
        durability=DURABILITY,
    )


def _ledger(planted: Planted, starts_us: Ints) -> Ledger:
    records, seq = np.empty(planted.requests, RECORD), np.arange(planted.requests)
    records["seq"], records["operation"] = seq, 0
    records["start_us"] = starts_us
    records["blocked_us"], records["duration_us"] = WAITED_US, planted.took_us() - WAITED_US
    records["status"], records["error_code"] = 201, 0
    for name, status, code in (
        ("recovered", 503, 1503),
        ("clean_fail", 503, 1503),
        ("rejected_present", 400, 1400),
        ("wrong_ack", 201, WRONG_ACK),
        ("never_read", 0, UNREAD),
    ):
        records["status"][planted.of(name)], records["error_code"][planted.of(name)] = status, code
    for name in ("start_us", "blocked_us", "duration_us"):
        records[name][planted.of("never_read")] = NO_TIME
    return Ledger(records=records)


def _rows(planted: Planted, starts_us: Ints, missing: Marks) -> Stored:
    """In the order of the sequence but for what is there twice, as a heap that was filled side by side would be."""
    seq = np.concatenate([np.flatnonzero(~missing), planted.of("duplicated")])
    seq = seq[np.argsort(seq // CHUNK, kind="stable")]
    late, beyond = planted.marks("late"), planted.of("unexpected")
    durable_at_us = starts_us[seq] + np.where(late[seq], LATE_US, DURABLE_US)
    return Stored(
        seq=np.concatenate([seq, beyond]),
        content_ok=np.concatenate([~planted.marks("corrupted")[seq], np.zeros(len(beyond), np.bool_)]),
        durable_at_us=np.concatenate([durable_at_us, np.full(len(beyond), NO_TIME)]),
        foreign_ids=FOREIGN if len(beyond) else (),
    )
