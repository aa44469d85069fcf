"""Evidence of a cell of faults, and its result: reduce_faults() and derive_faults(). Pure functions.

The evidence has a row for each fault, and what the audit found in the whole load.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from writepath.analysis import fault_trials, load_audit, load_rows, stats
from writepath.analysis.audit_classes import ACKNOWLEDGED, CLASSES, MUST_BE_ZERO
from writepath.analysis.evidence import Evidence
from writepath.analysis.fault_trials import Sent
from writepath.analysis.load_aggregates import aggregated, combinations_of
from writepath.analysis.load_result import answers_of, order_of, scalars_of
from writepath.records.base import from_data, to_data
from writepath.records.faults import FaultFacts, FaultResult, Trial
from writepath.records.measures import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from writepath.analysis.load_rows import Parts, Rows
    from writepath.analysis.stats import Marks
    from writepath.records.faults import FaultStatus
    from writepath.records.measures import Audit

TRIALS, ERRORS = "trials", "errors"
COUNTED = ("absent", "vanished", "corrupted", "duplicated", "recovered")  # classes of the audit
GOAL_S = 30.0  # every correct variant recovers within this, by itself
NO_FAULT = "none"


def reduce_faults(raw: Mapping[str, Parts], facts: FaultFacts) -> Evidence:
    """raw: by name the parts of a table: requests and stored. Facts of a load that did not end give no evidence."""
    load = facts.load
    if load is None or facts.load_ended_at_us is None:
        raise ValueError("the load did not end")
    rows = load_rows.of_raw(raw["requests"], raw.get("stored"), load.operations, len(load.reads))
    client = rows.client([operation.served for operation in load.operations])
    classes = combinations_of(rows, client)
    sent = _sent(rows, client == ACKNOWLEDGED)
    unexpected = rows.unexpected
    tables = aggregated(rows, load, exact=True)
    answers, scalars = answers_of(tables), scalars_of(tables)
    dropped = load.dropped or 0
    requests = answers.requests(answers.started + dropped, dropped)
    audit = load_audit.of(tables, scalars, unexpected, load, requests)
    members = {name: CLASSES[name][classes] & bool(load.reads) for name in COUNTED}
    sent = dataclasses.replace(sent, classes=members | absent(audit, members.pop("absent")))
    found = fault_trials.trials(sent, facts.injections, facts.rate_per_s, facts.load_ended_at_us)
    whole = dataclasses.replace(facts, requests=requests, audit=audit, order=order_of(load, scalars))
    return Evidence(tables=tables_of(found), facts=to_data(whole))


def _sent(rows: Rows, acknowledged: Marks) -> Sent:
    return Sent(
        at_us=rows.start_us,
        answered_us=rows.start_us + rows.took_us(slice(None)),
        acknowledged=acknowledged,
        status=rows.status,
        error_code=rows.error_code,
        classes={},
    )


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
    kinds = {"bool": pa.bool_(), "int": pa.int64(), "float | None": pa.float64()}
    names = [(name, kinds[str(kind)]) for name, kind in Trial.__annotations__.items() if name != "errors"]
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
