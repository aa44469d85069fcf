"""What faults did to variants, in words: outcomes, recovery, errors, and how much the faults cover."""

from __future__ import annotations

import dataclasses
import statistics
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.analysis import stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from writepath.records.faults import FaultResult
    from writepath.records.index import VariantRecord
    from writepath.report.data import SuiteData

WORST = ("held", "loses", "destroyed", "not discriminating", "unknown", "broke")
SUMMED = ("trials", "effective", "losing", "deleting", "exposed", "broken", "duplicated", "recovered")
MARKS = {"broke": "failed", "unknown": "unknown"}
NO_FAULT = "none"
KINDS_SHOWN = 3


@dataclass(frozen=True, kw_only=True)
class Struck:
    """A variant under one fault, its blocks together."""

    variant: VariantRecord
    result: FaultResult

    @property
    def correct(self) -> bool:
        """Whether the variant guarantees to lose nothing."""
        return self.variant.naive_twin_of is None

    @property
    def counts(self) -> bool:
        """Whether a fault happened. Trials without a fault are not counted."""
        return self.result.effective > 0 and self.result.fault != NO_FAULT

    @property
    def mark(self) -> str:
        """Before a row."""
        return MARKS.get(self.result.status, "")


def struck(data: SuiteData[FaultResult]) -> tuple[Struck, ...]:
    """By variant, then by fault, those that have figures."""
    found = []
    for row in data.rows:
        results = [one.result for one in data.of(row) if one.result is not None]
        if results:
            found.append(Struck(variant=row.variant, result=_together(results)))
    return tuple(found)


def _together(results: Sequence[FaultResult]) -> FaultResult:
    if len(results) == 1:
        return results[0]
    worst = max(results, key=lambda one: WORST.index(one.status))
    sums = {name: sum(getattr(one, name) for one in results) for name in SUMMED}
    errors = sum((Counter(one.errors) for one in results), Counter[str]())
    return dataclasses.replace(
        worst,
        **sums,
        loss_probability_bound=stats.upper_bound(sums["losing"], sums["effective"]),
        errors=dict(errors.most_common()),
        recovery_seconds=tuple(seconds for one in results for seconds in one.recovery_seconds),
    )


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """How many faults happened, and to which variants."""

    faults: int  # in correct variants
    losing: int  # of them; without what the fault itself deleted
    titles: tuple[str, ...]  # of the correct variants
    control_faults: int  # in weakened controls
    controls: tuple[str, ...]  # their titles


def coverage(found: Sequence[Struck]) -> Coverage:
    """Counts effective faults, by correct variants and weakened controls."""
    correct = [one for one in found if one.counts and one.correct]
    controls = [one for one in found if one.counts and not one.correct]
    return Coverage(
        faults=sum(one.result.effective for one in correct),
        losing=sum(one.result.losing for one in correct),
        titles=tuple(dict.fromkeys(one.variant.title for one in correct)),
        control_faults=sum(one.result.effective for one in controls),
        controls=tuple(dict.fromkeys(one.variant.title for one in controls)),
    )


def coverage_in_words(found: Sequence[Struck]) -> tuple[str, ...]:
    """Sentences on what the faults cover."""
    known = coverage(found)
    words = [_of_correct([one for one in found if one.correct], known)]
    if known.controls:
        words.append(
            f"{counted(known.control_faults, 'fault')} in weakened controls, which are meant to lose or duplicate data:"
            f" {'; '.join(known.controls)}."
        )
    return tuple(words)


def _of_correct(found: Sequence[Struck], known: Coverage) -> str:
    if not known.titles:
        return "No fault in a correct variant."
    deleting = sum(one.result.deleting for one in found)
    bad = sum(1 for one in found if one.mark)
    loss = f"loss in {known.losing}" if known.losing or bad else "no loss"
    also = (
        f"; {counted(deleting, 'fault')} deleted a queue with acknowledged writes in it" if deleting else ""
    )
    also += f"; failed or unknown: {counted(bad, 'cell')}" if bad else ""
    return f"{counted(known.faults, 'fault')} in correct variants: {loss}{also}. Variants: {'; '.join(known.titles)}."


def verdict_in_words(one: FaultResult) -> str:
    """`no loss in 20 faults (loss probability ≤ 13.9 %)`: the bound is of the share of such faults, not of writes."""
    reasons, noun = "; ".join(one.reasons), "trial" if one.fault == NO_FAULT else "fault"
    if one.status == "unknown":
        return f"unknown: {reasons}"
    if one.status == "destroyed":
        return f"destroyed: {reasons}; no other loss"
    if one.losing:
        what = "stored writes twice" if one.broken == one.duplicated else "lost data"
        return f"{what} in {one.losing} of {counted(one.effective, noun)}"
    if one.status == "broke":
        return f"failed: {reasons}"
    bound = one.loss_probability_bound
    within = "" if bound is None else f" (loss probability ≤ {bound * 100:.1f} %)"
    nothing = f"no loss in {counted(one.effective, noun)}{within}"
    return f"not discriminating: {nothing}" if one.status == "not discriminating" else nothing


def recovery_in_words(one: FaultResult) -> str:
    """`; recovered in 7.0 s (max 12.3 s)`: median and maximum of the trials that recovered."""
    times = one.recovered_in
    words = f"; recovered in {statistics.median(times):.1f} s (max {max(times):.1f} s)" if times else ""
    late = len(one.recovery_seconds) - len(times)
    return f"{words}; did not recover in time in {late} of {one.trials}" if late else words


def kinds(one: FaultResult) -> str:
    """The most frequent errors."""
    shown = list(one.errors.items())
    rest = sum(count for _, count in shown[KINDS_SHOWN:])
    words = [f"{count} {kind}" for kind, count in shown[:KINDS_SHOWN]] + ([f"{rest} other"] if rest else [])
    return ", ".join(words) or "none"


def counted(count: int, noun: str) -> str:
    """`1 fault`, `2 faults`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
