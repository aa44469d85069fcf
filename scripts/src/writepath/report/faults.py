"""Reports what faults did to variants: variant x fault in words, then each variant's cells in figures."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from writepath.analysis import stats
from writepath.records.faults import FaultResult
from writepath.records.index import VariantRecord
from writepath.report import rows
from writepath.report.data import SuiteData
from writepath.report.fingerprint import in_one_line
from writepath.report.model import ABSENT, Cell, Column, Report, Row, Section, Table, Value, plain, text
from writepath.report.rows import Field

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


def coverage_in_words(found: Sequence[Struck]) -> tuple[str, ...]:
    """How many faults happened, to which correct variants and weakened controls, and what they lost."""
    correct = [one for one in found if one.correct]
    words = [_of_correct(correct, _titles(correct))]
    weakened = [one for one in found if not one.correct]
    if titles := _titles(weakened):
        words.append(
            f"{counted(faults_in(weakened), 'fault')} in weakened controls, which are meant to lose or duplicate data:"
            f" {titles}."
        )
    return tuple(words)


def faults_in(found: Iterable[Struck]) -> int:
    """Number of effective faults."""
    return sum(one.result.effective for one in found if one.counts)


def _titles(found: Iterable[Struck]) -> str:
    """Of the variants that a fault struck."""
    return "; ".join(dict.fromkeys(one.variant.title for one in found if one.counts))


def _of_correct(found: Sequence[Struck], titles: str) -> str:
    if not titles:
        return "No fault in a correct variant."
    losing = sum(one.result.losing for one in found if one.counts)
    deleting = sum(one.result.deleting for one in found)
    bad = sum(1 for one in found if one.mark)
    loss = f"loss in {losing}" if losing or bad else "no loss"
    also = (
        f"; {counted(deleting, 'fault')} deleted a queue with acknowledged writes in it" if deleting else ""
    )
    also += f"; failed or unknown: {counted(bad, 'cell')}" if bad else ""
    return f"{counted(faults_in(found), 'fault')} in correct variants: {loss}{also}. Variants: {titles}."


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
    words = f"; recovered in {one.recovery_s_median:.1f} s (max {max(times):.1f} s)" if times else ""
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


Suite = SuiteData[FaultResult]

CONSUMER_FAULTS = ("restart-consumer", "kill-consumer")


def report(data: Suite) -> Report:
    """The page: what was lost, the matrix, then the details."""
    found = struck(data)
    order = [level for factor in data.index.factors for level in factor.levels]
    built = list(_tables(found, order)) or [_outcomes([], order)]
    without = sum(one.result.effective for one in found if one.result.fault == NO_FAULT)
    load = f"{plain(data.index.params['rate_per_s'])}/s during all faults of a cell, seed {data.index.seed}"
    versions = sorted({f"{name} {v}" for one in data.cells for name, v in one.record.versions.items()})
    unfinished = [f"{one.entry.name} ({'; '.join(one.reasons)})" for one in data.cells if one.result is None]
    return Report(
        title=f"{data.index.title}, {data.index.runtime} runtime",
        answer=(*coverage_in_words(found), *(f"Without a result: {words}." for words in unfinished)),
        facts=f"{in_one_line(data, load)} {len(found)} cells, {without} trials without a fault. {', '.join(versions)}.",
        picture=None,
        table=built[0],
        details=tuple(Section(key=table.key, title=table.title, tables=(table,)) for table in built[1:]),
    )


def _tables(found: Sequence[Struck], order: Sequence[str]) -> Iterator[Table]:
    correct = [one for one in found if one.correct]
    if correct:
        yield _outcomes(correct, order)
    for name in dict.fromkeys(one.variant.name for one in correct):
        yield _of_variant([one for one in correct if one.variant.name == name])
    consumers = (NO_FAULT, *CONSUMER_FAULTS)
    if queues := [one for one in correct if one.result.order is not None and one.result.fault in consumers]:
        yield _order(queues)
    if controls := [one for one in found if not one.correct]:
        yield _controls(controls, correct)


def _outcomes(correct: Sequence[Struck], order: Sequence[str]) -> Table:
    often = Counter(one.variant.name for one in correct)
    titles = {one.variant.name: one.variant.title for one in correct}
    # A variant that a few faults struck alone has no column.
    shown = [name for name, faults in often.items() if 4 * faults >= max(often.values())]
    cells = {(one.variant.name, one.result.fault): one.result for one in correct}
    words = {one.result.fault: one.result.words for one in correct}

    def outcome(name: str, fault: str) -> Cell:
        one = cells.get((name, fault))
        return text(ABSENT if one is None else f"{verdict_in_words(one)}{recovery_in_words(one)}")

    return Table(
        key="outcomes",
        title="Result of each variant under each fault",
        caption="Each cell runs one steady load and repeats one fault. No loss: every acknowledged write was in the"
        " store exactly once and unchanged, in two reads; the second read follows kill -9 of every store. The crash"
        " model is a killed process, not a power cut. Lost data: an acknowledged write was missing or changed."
        " Destroyed: only messages that were in a queue when the fault deleted it are gone. Loss probability: 95 %"
        " upper confidence bound of the share of such faults that lose data; few faults give a high bound. Recovered"
        " in: median and maximum over the faults.",
        columns=(
            Column(key="fault", title="fault"),
            *(Column(key=name, title=titles[name]) for name in shown),
        ),
        rows=tuple(
            Row(cells=(text(words[fault]), *(outcome(name, fault) for name in shown)))
            for fault in order
            if fault in words
        ),
    )


EXPOSED = "Exposed writes: acknowledged within 5 s around a fault."


def _field(
    key: str, title: str, get: Callable[[FaultResult], Value], unit: str = "", *, exact: bool = False
) -> Field[Struck]:
    return rows.field(key, title, lambda one: get(one.result), unit, exact=exact)


def _count(key: str, title: str, name: str = "") -> Field[Struck]:
    """name: of the result's field; none: the key."""
    return _field(key, title, attrgetter(name or key), exact=True)


def _percent(share: float | None) -> float | None:
    return None if share is None else share * 100


VARIANT: Field[Struck] = rows.field("variant", "variant", attrgetter("variant.title"))
GUARANTEE: Field[Struck] = rows.field("acknowledges", "a 201 guarantees", attrgetter("variant.acknowledges"))
FAULT = _field("fault", "fault", attrgetter("words"))
OUTCOME = _field("outcome", "outcome", verdict_in_words)
NEAR = _count("exposed", "exposed writes")
BROKEN = _count("broken", "guarantees broken")
FIELDS = (
    FAULT,
    _count("effective", "effective faults"),
    _count("losing", "faults with loss"),
    _field("bound", "loss probability, upper bound", lambda one: _percent(one.loss_probability_bound), "%"),
    NEAR,
    BROKEN,
    _count("recovered", "recovered writes"),
    _field("errors", "errors by kind", kinds),
    _field("recovery_s", "recovery, median", attrgetter("recovery_s_median"), "s"),
    _field("recovery_max_s", "recovery, max", attrgetter("recovery_s_max"), "s"),
)
OVERTAKEN = attrgetter("order.overtaken_share")
ORDER = (  # of cells with an order
    VARIANT,
    FAULT,
    _count("faults", "faults", "effective"),
    _field(
        "acknowledged",
        "acknowledged",
        lambda one: one.requests.acknowledged if one.requests else None,
        exact=True,
    ),
    _field("overtaken", "overtaken writes", lambda one: _percent(OVERTAKEN(one)), "%"),
    _count("redelivered", "redelivered", "order.redelivered"),
)


def _table(
    key: str, title: str, caption: str, fields: Sequence[Field[Struck]], found: Iterable[Struck]
) -> Table:
    return rows.table(key, title, caption, fields, found, mark=lambda one: one.mark)


def _of_variant(cells: Sequence[Struck]) -> Table:
    variant = cells[0].variant
    return _table(
        f"faults-{variant.name}",
        f"{variant.title}, fault by fault",
        f"A 201 guarantees: {variant.acknowledges}. {EXPOSED} Guarantees broken: acknowledged writes that were"
        " lost, vanished, stranded, corrupted or stored twice. Recovered writes: stored without a 201. Recovery: from"
        " the end of the fault to the first 10 s with 99.9 % success at 95 % of the scheduled rate.",
        FIELDS,
        cells,
    )


def _order(queues: Sequence[Struck]) -> Table:
    """Of cells in which the fault hits a consumer alone, or nothing."""
    return _table(
        "order",
        "Order of writes while consumers restart or are killed",
        "A write is overtaken if another write, sent after its 201, became durable before it."
        " Redelivered: messages that the broker delivered more than once, over all faults of the cell.",
        ORDER,
        queues,
    )


def _controls(controls: Sequence[Struck], correct: Sequence[Struck]) -> Table:
    outcomes = {(one.variant.name, one.result.fault): verdict_in_words(one.result) for one in correct}

    def of_correct(one: Struck) -> str:
        return outcomes.get((one.variant.naive_twin_of or "", one.result.fault), ABSENT)

    return _table(
        "twins",
        "Weakened controls",
        "Each control is a correct variant with one setting that gives up its guarantee, under a fault that"
        " must then lose or duplicate data. Not discriminating: the control passed, so this fault does not show what"
        " the correct variant protects against. Controls are not ranked with other variants.",
        (
            rows.field("twin", "weakened control", attrgetter("variant.title")),
            GUARANTEE,
            FAULT,
            OUTCOME,
            BROKEN,
            rows.field("beside", "correct variant", of_correct),
        ),
        controls,
    )


def evidence(found: Iterable[Struck]) -> Table:
    """How each guarantee did under kill -9: kills of the correct variants, all cells of the weakened controls."""
    return _table(
        "evidence",
        "Evidence",
        "Loss probability: 95 % upper confidence bound of the share of such faults that lose data."
        f" {EXPOSED}",
        (VARIANT, GUARANTEE, FAULT, OUTCOME, NEAR),
        [one for one in found if not one.correct or one.result.fault.startswith("kill-")],
    )
