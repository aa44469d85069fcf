"""All figures of a capacity run, from its evidence: derive_capacity() is what a report and `make verify` call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.analysis import brackets
from writepath.analysis.capacity_evidence import HOPS, OVERLOAD, RECOVERY, split
from writepath.analysis.capacity_overload import derive_overload
from writepath.analysis.during_writes import derive_during_writes
from writepath.analysis.step_result import derive_step, waits
from writepath.errors import LoadError
from writepath.load.ledger import SEARCH
from writepath.records import Verdict
from writepath.records.base import from_data
from writepath.records.capacity_run import CapacityFacts, CapacityResult
from writepath.records.search_load import SearchLoad
from writepath.records.steps import unresolved

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from writepath.analysis.evidence import Evidence
    from writepath.records import VerdictStatus
    from writepath.records.capacity_run import Overload
    from writepath.records.steps import Bracket, LoadStep


def derive_capacity(evidence: Evidence) -> CapacityResult:
    """The result. LoadError where the run did not get as far as a load step."""
    run, tables = from_data(CapacityFacts, dict(evidence.facts), "facts.json"), evidence.tables
    if run.host is None or not run.steps:
        raise LoadError("the capacity run ended before its first load step: it has no figures")
    cores = run.host.cores
    steps = tuple(derive_step(split(tables, step.number), run, step, cores) for step in run.steps)
    overload = None
    if run.overload is not None:
        common = split(tables, OVERLOAD)
        overload = derive_overload(common, tables[HOPS], tables.get(RECOVERY), run, run.overload)
    return result_of(run, steps, overload, _searches(run, tables))


def _searches(run: CapacityFacts, tables: Mapping[str, pa.Table]) -> SearchLoad | None:
    """What a run of searches has beside its steps."""
    facts = run.searches
    if facts is None:
        return None
    during = facts.during_writes
    return SearchLoad(
        data_set=facts.data_set,
        hits=facts.hits,
        during_writes=None
        if during is None
        else derive_during_writes(lambda place: split(tables, place), during),
    )


def result_of(
    run: CapacityFacts,
    steps: tuple[LoadStep, ...],
    overload: Overload | None,
    searches: SearchLoad | None = None,
) -> CapacityResult:
    """Brackets and verdict of the steps so far."""
    sustained = brackets.sustained(steps, run.highest_per_s)
    return CapacityResult(
        operation=run.operation.name,
        queue_path=run.queue_path,
        slo_ms=run.slo_ms,
        step_seconds=run.step_seconds,
        sustained=sustained,
        burst=brackets.burst(steps, run.highest_per_s) if waits(run) else sustained,
        steps=steps,
        overload=overload,
        verdict=_verdict(run, steps, sustained, searches),
        searches=searches,
    )


def _verdict(
    run: CapacityFacts, steps: Sequence[LoadStep], sustained: Bracket, searches: SearchLoad | None
) -> Verdict:
    """A run that ends before its limit is known to the resolution is valid, and says so."""
    broken = (*_broken(run, steps), *(() if searches is None else _wrong(searches)))
    noisy = tuple(
        f"step {step.number} at {step.rate_per_s:,g}/s was noisy and not retried ({'; '.join(step.reasons)})"
        for step in unresolved(steps)
    )
    if run.searches is not None and run.searches.during_writes is not None:
        noise = run.searches.during_writes.noise
        noisy += (f"searches during writes were noisy ({'; '.join(noise)})",) if noise else ()
    notes = () if sustained.conclusive else (f"inconclusive: {run.ended or 'the limit is not known to 5 %'}",)
    status: VerdictStatus = "invalid" if broken else "unknown" if noisy else "valid"
    return Verdict(
        status=status,
        reasons=(*broken, *noisy),
        notes=notes,
        noise=status == "unknown",
        finding=None if sustained.conclusive else "inconclusive",
    )


def _wrong(searches: SearchLoad) -> Iterator[str]:
    """Searches that do not find what they must."""
    yield from (
        f"the hits of '{one.keyword}' are not explained" for one in searches.hits if not one.explained
    )
    during = searches.during_writes
    if during is not None and during.wrong_answers:
        yield f"{during.wrong_answers:,} searches returned a wrong total during writes"
    if during is not None and during.writes_found < during.writes_acknowledged:
        yield f"{during.writes_found:,} of {during.writes_acknowledged:,} acknowledged writes were found"


def _broken(run: CapacityFacts, steps: Sequence[LoadStep]) -> Iterator[str]:
    """Steps that prove a loss, or that passed without proof."""
    for step in steps:
        if step.audit == "FAIL":
            yield f"the audit of step {step.number} failed ({'; '.join(step.reasons)})"
        elif (
            step.kind != "ramp"
            and step.verdict == "pass"
            and step.audit != "PASS"
            and run.operation.name != SEARCH.name
        ):
            yield f"step {step.number} passed but was not audited"
