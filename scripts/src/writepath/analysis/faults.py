"""Evidence of a cell of faults, and its result: reduce_faults() and derive_faults(). Pure functions.

The evidence has a row for each fault, and what the audit found in the whole load.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from writepath.analysis import load_rows, stats
from writepath.analysis.audit import ACKNOWLEDGED, CLASSES, MUST_BE_ZERO, audit_of
from writepath.analysis.evidence import Evidence
from writepath.analysis.load_aggregates import aggregated, combinations_of
from writepath.analysis.load_result import answers_of, order_of, scalars_of
from writepath.analysis.load_rows import Parts
from writepath.analysis.stats import US_PER_S, Ints, Marks
from writepath.load.ledger import error_kind
from writepath.records.base import from_data, to_data
from writepath.records.faults import FaultFacts, FaultResult, FaultStatus, Injection, Trial
from writepath.records.measures import Audit, Verdict

WINDOW_S = 10.0
SUCCESS_MIN = 0.999  # of the requests sent in the window
RATE_MIN = 0.95  # acknowledged, of the scheduled
STEP_US = 100_000
REACH_US = 6_000_000  # before a fault, which can take those: a weakened control flushes every 5 s at most
TAKEN_US = 250_000  # acknowledged so shortly before a deletion may still have been in the queue
EXPOSED_US = 5_000_000  # acknowledged so near to the fault that it could have taken them
EARLIEST_US, LATEST_US = 0, np.iinfo(np.int64).max  # an interrupted request has no time, and is in no trial


@dataclass(frozen=True, kw_only=True, eq=False)
class Sent:
    """The requests of a load. Arrays are parallel."""

    at_us: Ints  # epoch; below 0: interrupted with k6
    answered_us: Ints
    acknowledged: Marks
    status: NDArray[Any]
    error_code: NDArray[Any]
    classes: Mapping[str, Marks] = field(default_factory=dict)  # of the audit, each a field of Trial


def recovered_after_s(
    at_us: Ints, acknowledged: Marks, healed_us: int, rate_per_s: float, until_us: int
) -> float | None:
    """Seconds from the heal to the start of the first good 10 s window; None where none ends before until_us.

    Good: at least 99.9 % of what was sent in it is acknowledged, and at least 95 % of what was scheduled. Windows
    begin every 0.1 s from the heal on. A window is complete only when all its requests have their answer, so
    until_us is the last moment whose answers are known.
    """
    window_us = round(WINDOW_S * US_PER_S)
    begins = np.arange(healed_us, until_us - window_us + STEP_US // 2, STEP_US)
    if not len(begins):
        return None
    order = np.argsort(at_us, kind="stable")
    sent_us = at_us[order]
    first, last = np.searchsorted(sent_us, begins), np.searchsorted(sent_us, begins + window_us)
    so_far = np.concatenate(([0], np.cumsum(acknowledged[order])))
    served, count = so_far[last] - so_far[first], last - first
    good = (served >= SUCCESS_MIN * count) & (served >= RATE_MIN * rate_per_s * WINDOW_S)
    found = np.flatnonzero(good)
    return round(int(begins[found[0]] - healed_us) / US_PER_S, 3) if len(found) else None


def trials(sent: Sent, injections: Sequence[Injection], rate_per_s: float, end_us: int) -> tuple[Trial, ...]:
    """One record a fault. end_us: until when the load's answers are known."""
    edges = [EARLIEST_US, *(one.injected_at_us - REACH_US for one in injections[1:]), LATEST_US]
    found = []
    for one, begin_us, stretch_end_us in zip(injections, edges, edges[1:], strict=False):
        until_us = min(stretch_end_us + REACH_US, end_us)
        recovered = recovered_after_s(sent.at_us, sent.acknowledged, one.healed_at_us, rate_per_s, until_us)
        found.append(_trial(sent, one, (begin_us, stretch_end_us), recovered))
    return tuple(found)


def _trial(sent: Sent, one: Injection, stretch_us: tuple[int, int], recovered: float | None) -> Trial:
    at_us, answered_us, acknowledged = sent.at_us, sent.answered_us, sent.acknowledged
    mine = (at_us >= stretch_us[0]) & (at_us < stretch_us[1])
    near = (answered_us >= one.injected_at_us - EXPOSED_US) & (at_us <= one.healed_at_us + EXPOSED_US)
    well_us = stretch_us[1] if recovered is None else one.healed_at_us + round(recovered * US_PER_S)
    burst = mine & ~acknowledged & (at_us >= one.injected_at_us - EXPOSED_US) & (at_us < well_us)
    answers = zip(sent.status[burst].tolist(), sent.error_code[burst].tolist(), strict=True)
    return Trial(
        number=one.number,
        effective=bool(one.proof) and bool((acknowledged & near).any()),
        recovered_after_seconds=recovered,
        exposed=int((acknowledged & near & mine).sum()),
        errors=dict(Counter(error_kind(*answer) for answer in answers).most_common()),
        taken_along=_taken_along(sent, one, mine),
        **{name: int((mine & members).sum()) for name, members in sent.classes.items()},
    )


def _taken_along(sent: Sent, one: Injection, mine: Marks) -> int:
    """Lost with what was deleted: sent before it was gone, and acknowledged a moment before, or afterwards.

    RabbitMQ confirms what is on its way to a queue while that is deleted: to it, a deleted queue has nothing to nack.
    """
    if one.destroyed_at_us is None:
        return 0
    inside = (sent.at_us <= one.destroyed_at_us) & (sent.answered_us >= one.injected_at_us - TAKEN_US)
    return int((mine & inside & sent.classes["lost"]).sum())


TRIALS, ERRORS = "trials", "errors"
COUNTED = ("absent", "vanished", "corrupted", "duplicated", "recovered")  # classes of the audit
GOAL_S = 30.0  # every correct variant recovers within this, by itself


def reduce_faults(raw: Mapping[str, Parts], facts: FaultFacts) -> Evidence:
    """raw: by name the parts of a table: requests and stored. Facts of a load that did not end give no evidence."""
    load = facts.load
    if load is None or facts.load_ended_at_us is None:
        raise ValueError("the load did not end")
    rows = load_rows.of_raw(raw["requests"], raw.get("stored"), load.operations, len(load.reads))
    client = rows.client([operation.served for operation in load.operations])
    classes = combinations_of(rows, client)
    sent = Sent(
        at_us=rows.start_us,
        answered_us=rows.start_us + rows.took_us(slice(None)),
        acknowledged=client == ACKNOWLEDGED,
        status=rows.status,
        error_code=rows.error_code,
    )
    unexpected = rows.unexpected
    tables = aggregated(rows, load, exact=True)
    answers, scalars = answers_of(tables), scalars_of(tables)
    dropped = load.dropped or 0
    requests = answers.requests(answers.started + dropped, dropped)
    audit = audit_of(tables, scalars, unexpected, load, requests)
    members = {name: CLASSES[name][classes] & bool(load.reads) for name in COUNTED}
    sent = dataclasses.replace(sent, classes=members | absent(audit, members.pop("absent")))
    found = trials(sent, facts.injections, facts.rate_per_s, facts.load_ended_at_us)
    whole = dataclasses.replace(facts, requests=requests, audit=audit, order=order_of(load, scalars))
    return Evidence(tables=tables_of(found), facts=to_data(whole))


def absent(audit: Audit, marks: Marks) -> dict[str, Marks]:
    """Lost and stranded writes. Which of the absent the queue holds is not known.

    All of them are stranded where it holds as many, else lost.
    """
    nothing = marks & False
    stranded = audit.stranded > 0 and audit.lost == 0
    return {"lost": nothing if stranded else marks, "stranded": marks if stranded else nothing}


def tables_of(found: Sequence[Trial]) -> dict[str, pa.Table]:
    """A row for each fault, and one for each kind of error of it."""
    plain = [to_data(one) for one in found]
    errors = [
        {"number": one["number"], "kind": kind, "count": count}
        for one in plain
        for kind, count in one.pop("errors").items()
    ]
    kinds = {bool: pa.bool_(), int: pa.int64(), float | None: pa.float64()}
    names = [(name, kinds[kind]) for name, kind in Trial.__annotations__.items() if name != "errors"]
    return {
        TRIALS: pa.Table.from_pylist(plain, schema=pa.schema(names)),
        ERRORS: pa.Table.from_pylist(
            errors, schema=pa.schema([("number", pa.int64()), ("kind", pa.string()), ("count", pa.int64())])
        ),
    }


def trials_of(evidence: Evidence) -> tuple[Trial, ...]:
    """What tables_of() was given. UsageError where a row is none."""
    errors: dict[int, dict[str, int]] = {}
    for row in evidence.tables[ERRORS].to_pylist():
        errors.setdefault(row["number"], {})[row["kind"]] = row["count"]
    rows: list[dict[str, Any]] = evidence.tables[TRIALS].to_pylist()
    return tuple(from_data(Trial, row | {"errors": errors.get(row["number"], {})}, TRIALS) for row in rows)


def derive_faults(evidence: Evidence) -> FaultResult:
    """The result."""
    facts = from_data(FaultFacts, dict(evidence.facts), "facts.json")
    found = trials_of(evidence)
    effective = [trial for trial in found if trial.effective]
    losing = sum(1 for trial in effective if trial.broken)
    status, reasons = judge(found, facts)
    errors = Counter[str]()
    for trial in effective:
        errors.update(trial.errors)
    return FaultResult(
        fault=facts.fault,
        words=facts.words,
        status=status,
        reasons=reasons,
        trials=len(found),
        effective=len(effective),
        losing=losing,
        loss_probability_bound=stats.upper_bound(losing, len(effective)),
        deleting=sum(1 for trial in effective if trial.taken_along),
        exposed=sum(trial.exposed for trial in effective),
        broken=sum(trial.broken for trial in effective),
        duplicated=sum(trial.duplicated for trial in effective),
        recovered=sum(trial.recovered for trial in effective),
        errors=dict(errors.most_common()),
        recovery_seconds=tuple(trial.recovered_after_seconds for trial in found),
        capacity_per_s=facts.capacity_per_s,
        requests=facts.requests,
        audit=facts.audit,
        order=facts.order,
        verdict=_verdict(status, reasons),
    )


def _verdict(status: FaultStatus, reasons: tuple[str, ...]) -> Verdict:
    """What was found counts, whatever it is; only what was not seen does not."""
    if status == "unknown":
        return Verdict(status="unknown", reasons=reasons)
    finding: Literal["failed", "inconclusive"] | None = None
    if status in ("broke", "not discriminating"):
        finding = "failed" if status == "broke" else "inconclusive"
    return Verdict(status="valid", notes=reasons, finding=finding)


def judge(found: Sequence[Trial], facts: FaultFacts) -> tuple[FaultStatus, tuple[str, ...]]:
    """A weakened control that loses nothing does not show that the fault can reveal a loss: that is never a pass.

    Where other cells ran at the same time, a recovery time is an upper bound, because cells share the processors while
    they start: one that is too long leaves the cell unknown.
    """
    effective = [trial for trial in found if trial.effective]
    losing = sum(1 for trial in effective if trial.broken)
    unseen = tuple(_unseen(effective, facts.audit, 1 if facts.weakened else facts.trials_asked))
    if facts.weakened:
        return _of_control(len(effective), losing, unseen)
    taken = [trial.taken_along for trial in effective if trial.taken_along]
    broken, slow = tuple(_broken(len(effective), losing, facts.audit, sum(taken))), tuple(_slow(found))
    if broken or (slow and facts.parallel == 1):
        return "broke", (*broken, *slow)
    unseen += tuple(f"{words}, while other cells were running; rerun with JOBS=1" for words in slow)
    if unseen:
        return "unknown", unseen
    if taken:
        words = f"{len(taken)} of {len(effective)} deletions removed {sum(taken)} acknowledged writes"
        return "destroyed", (words,)
    return "held", ()


def _of_control(effective: int, losing: int, unseen: tuple[str, ...]) -> tuple[FaultStatus, tuple[str, ...]]:
    if losing:
        return "loses", (f"guarantees broken in {losing} of {effective} faults",)
    if unseen:
        return "unknown", unseen
    return "not discriminating", (
        "the weakened control lost nothing either: this fault does not distinguish it from the correct variant",
    )


def _broken(effective: int, losing: int, audit: Audit | None, taken: int) -> Iterator[str]:
    """taken: lost with what was deleted on purpose."""
    if losing:
        yield f"guarantees broken in {losing} of {effective} faults"
    elif audit is not None:
        for name, words in MUST_BE_ZERO.items():
            if count := getattr(audit, name) - (taken if name == "lost" else 0):
                yield f"{count} {words}"
    if audit is not None:
        yield from (f"sums do not agree: {words}" for words in audit.identities_broken)


def _slow(found: Sequence[Trial]) -> Iterator[str]:
    times = [trial.recovered_after_seconds for trial in found]
    slow = [seconds for seconds in times if seconds is None or seconds > GOAL_S]
    if slow:
        yield f"not recovered within {GOAL_S:.0f} s in {len(slow)} of {len(times)} faults"


def _unseen(effective: Sequence[Trial], audit: Audit | None, wanted: int) -> Iterator[str]:
    if audit is None or audit.verdict == "UNKNOWN":
        yield from (
            ("the store could not be read back",) if audit is None else audit.unread or ("no row was read",)
        )
    if len(effective) < wanted:
        yield f"only {len(effective)} of {wanted} faults have proof that they happened"
