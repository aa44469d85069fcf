"""Evidence of a cell of faults, and its result: reduce_faults() and derive_faults(). Pure functions.

The evidence has a row for each fault, and what the audit found in the whole load.
"""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from writepath.analysis import load_rows, stats
from writepath.analysis.audit import ACKNOWLEDGED, CLASSES, MUST_BE_ZERO, audit_of, not_read
from writepath.analysis.evidence import Evidence
from writepath.analysis.load_aggregates import aggregated, combinations_of
from writepath.analysis.load_result import answers_of, counted, order_of, scalars_of
from writepath.analysis.load_rows import Parts
from writepath.analysis.stats import US_PER_S, Ints, Marks
from writepath.load.ledger import error_kind
from writepath.records.base import from_data, to_data
from writepath.records.faults import FaultFacts, FaultResult, FaultStatus, Injection, Trial
from writepath.records.measures import Audit, Host, Verdict

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
    classes: Mapping[str, Marks]  # of the audit, each a field of Trial


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
    for one, (begin_us, next_us) in zip(injections, itertools.pairwise(edges), strict=True):
        until_us = min(next_us + REACH_US, end_us)
        recovered = recovered_after_s(sent.at_us, sent.acknowledged, one.healed_at_us, rate_per_s, until_us)
        found.append(_trial(sent, one, (begin_us, next_us), recovered))
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
COLUMNS = {bool: pa.bool_(), int: pa.int64(), float | None: pa.float64()}
TRIAL_SCHEMA = pa.schema(
    [(name, COLUMNS[kind]) for name, kind in Trial.__annotations__.items() if name != "errors"]
)
ERROR_SCHEMA = pa.schema([("number", pa.int64()), ("kind", pa.string()), ("count", pa.int64())])
COUNTED = ("absent", "vanished", "corrupted", "duplicated", "recovered")  # classes of the audit
SUMMED = ("exposed", "broken", "duplicated", "recovered")  # over the effective trials
GOAL_S = 30.0  # every correct variant recovers within this, by itself
NOTHING_LOST = (
    "the weakened control lost nothing either: this fault does not distinguish it from the correct variant"
)
FINDINGS: Mapping[FaultStatus, Literal["failed", "inconclusive"]] = {
    "broke": "failed",
    "not discriminating": "inconclusive",
}


def reduce_faults(raw: Mapping[str, Parts], facts: FaultFacts, host: Host) -> Evidence:
    """raw: by name the parts of a table: requests and stored. Facts of a load that did not end give no evidence."""
    if facts.load is None or facts.load_ended_at_us is None:
        raise ValueError("the load did not end")
    load = dataclasses.replace(facts.load, host=host)
    rows = load_rows.of_raw(raw["requests"], raw.get("stored"), load.operations, len(load.reads))
    classes, unexpected = combinations_of(rows), rows.unexpected
    known: dict[str, Any] = {
        "at_us": rows.start_us,
        "answered_us": rows.start_us + rows.took_us(slice(None)),
        "acknowledged": rows.client == ACKNOWLEDGED,
        "status": rows.status,
        "error_code": rows.error_code,
    }
    tables = aggregated(rows, load, exact=True)
    scalars, dropped = scalars_of(tables), load.dropped or 0
    requests = counted(answers_of(tables), len(classes) + dropped, dropped)
    audit = audit_of(tables, scalars, unexpected, load, requests)
    members = {name: CLASSES[name][classes] & bool(load.reads) for name in COUNTED}
    sent = Sent(**known, classes=members | absent(audit, members.pop("absent")))
    found = trials(sent, facts.injections, facts.rate_per_s, facts.load_ended_at_us)
    order = order_of(load, scalars)
    whole = dataclasses.replace(facts, load=load, requests=requests, audit=audit, order=order)
    return Evidence(tables=tables_of(found), facts=to_data(whole))


def impossible(facts: FaultFacts) -> Evidence:
    """Of a cell whose fault this machine cannot do: nothing but the reason."""
    return Evidence(tables=tables_of(()), facts=to_data(facts))


def absent(audit: Audit, marks: Marks) -> dict[str, Marks]:
    """Lost and stranded writes. Which of the absent the queue holds is not known.

    All of them are stranded where it holds as many, else lost.
    """
    stranded = audit.stranded > 0 and audit.lost == 0
    return {"lost": marks & (not stranded), "stranded": marks & stranded}


def tables_of(found: Sequence[Trial]) -> dict[str, pa.Table]:
    """A row for each fault, and one for each kind of error of it."""
    errors = [
        {"number": one.number, "kind": kind, "count": count}
        for one in found
        for kind, count in one.errors.items()
    ]
    return {
        TRIALS: pa.Table.from_pylist([to_data(one) for one in found], TRIAL_SCHEMA),
        ERRORS: pa.Table.from_pylist(errors, ERROR_SCHEMA),
    }


def trials_of(evidence: Evidence) -> tuple[Trial, ...]:
    """What tables_of() was given. UsageError where a row is none."""
    rows, errors = (evidence.tables[name].to_pylist() for name in (TRIALS, ERRORS))
    for row in rows:
        row["errors"] = {one["kind"]: one["count"] for one in errors if one["number"] == row["number"]}
    return tuple(from_data(Trial, row, TRIALS) for row in rows)


def derive_faults(evidence: Evidence) -> FaultResult:
    """The result. What was found counts, whatever it is; only what was not seen does not."""
    facts = from_data(FaultFacts, dict(evidence.facts), "facts.json")
    found = trials_of(evidence)
    effective = [trial for trial in found if trial.effective]
    losing = sum(1 for trial in effective if trial.broken)
    status, reasons = judge(found, facts)
    errors = sum((Counter(trial.errors) for trial in effective), Counter[str]())
    verdict = Verdict(status="valid", notes=reasons, finding=FINDINGS.get(status))
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
        **{name: sum(getattr(trial, name) for trial in effective) for name in SUMMED},
        errors=dict(errors.most_common()),
        recovery_seconds=tuple(trial.recovered_after_seconds for trial in found),
        capacity_per_s=facts.capacity_per_s,
        requests=facts.requests,
        audit=facts.audit,
        order=facts.order,
        verdict=verdict if status != "unknown" else Verdict(status="unknown", reasons=reasons),
    )


def judge(found: Sequence[Trial], facts: FaultFacts) -> tuple[FaultStatus, tuple[str, ...]]:
    """A weakened control that loses nothing does not show that the fault can reveal a loss: that is never a pass.

    Where other cells ran at the same time, a recovery time is an upper bound, because cells share the processors while
    they start: one that is too long leaves the cell unknown.
    """
    if facts.impossible:
        return "unknown", (facts.impossible,)
    effective, audit = [trial for trial in found if trial.effective], facts.audit or not_read()
    losing = sum(1 for trial in effective if trial.broken)
    losses = (f"guarantees broken in {losing} of {len(effective)} faults",) if losing else ()
    unseen = (audit.unread or ("no row was read",)) if audit.verdict == "UNKNOWN" else ()
    wanted = 1 if facts.weakened else facts.trials_asked
    if len(effective) < wanted:
        unseen += (f"only {len(effective)} of {wanted} faults have proof that they happened",)
    if facts.weakened:
        status: FaultStatus = "loses" if losses else "unknown" if unseen else "not discriminating"
        return status, losses or unseen or (NOTHING_LOST,)
    taken = [trial.taken_along for trial in effective if trial.taken_along]
    broken = losses or tuple(_contradictions(audit, sum(taken)))
    broken += tuple(f"sums do not agree: {words}" for words in audit.identities_broken)
    times = [trial.recovered_after_seconds for trial in found]
    late = sum(seconds is None or seconds > GOAL_S for seconds in times)
    slow = (f"not recovered within {GOAL_S:.0f} s in {late} of {len(found)} faults",) if late else ()
    if broken or (slow and facts.parallel == 1):
        return "broke", (*broken, *slow)
    unseen += tuple(f"{words}, while other cells were running; rerun with JOBS=1" for words in slow)
    if unseen:
        return "unknown", unseen
    if taken:
        words = f"{len(taken)} of {len(effective)} deletions removed {sum(taken)} acknowledged writes"
        return "destroyed", (words,)
    return "held", ()


def _contradictions(audit: Audit, taken: int) -> Iterator[str]:
    """taken: lost with what was deleted on purpose."""
    for name, words in MUST_BE_ZERO.items():
        if count := getattr(audit, name) - (taken if name == "lost" else 0):
            yield f"{count} {words}"
