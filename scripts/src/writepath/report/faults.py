"""Reports what faults did to variants: variant x fault in words, then each variant's cells in figures."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from writepath.analysis import stats
from writepath.records.faults import FaultResult
from writepath.records.index import VariantRecord
from writepath.report import rows
from writepath.report.data import RowKey, SuiteData
from writepath.report.fingerprint import in_one_line
from writepath.report.model import ABSENT, Column, Report, Section, Table, counted, plain, row_of
from writepath.report.rows import Field, field

WORST = ("held", "loses", "destroyed", "not discriminating", "unknown", "broke")
SUMMED = ("trials", "effective", "losing", "deleting", "exposed", "broken", "duplicated", "recovered")
MOST_COLUMNS = 6  # variants in the table of outcomes: those that most faults struck
MARKS = {"broke": "failed", "unknown": "unknown"}
NO_FAULT = "none"
KINDS_SHOWN = 3
POWER_CUT = "power-cut-"  # begin of such a fault's key


@dataclass(frozen=True, kw_only=True)
class Struck:
    """A variant under one fault, its blocks together."""

    row: RowKey
    result: FaultResult

    @property
    def variant(self) -> VariantRecord:
        """As it was defined when the suite ran."""
        return self.row.variant

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

    @property
    def late(self) -> bool:
        """Whether all that it failed is the time to recover."""
        return self.result.status == "broke" and self.result.lost_nothing


def struck(data: SuiteData[FaultResult]) -> tuple[Struck, ...]:
    """By variant, then by fault, those that have figures."""
    found = []
    for row in data.rows:
        results = [one.result for one in data.of(row) if one.result is not None]
        if results:
            found.append(Struck(row=row, result=_together(results)))
    return tuple(found)


def _together(results: Sequence[FaultResult]) -> FaultResult:
    if len(results) == 1:
        return results[0]
    worst = max(results, key=lambda one: WORST.index(one.status))
    sums = {name: sum(getattr(one, name) for one in results) for name in SUMMED}
    errors = sum((Counter(one.errors) for one in results), Counter[str]())
    audits = [one.audit for one in results]
    return dataclasses.replace(
        worst,
        **sums,
        audit=next((audit for audit in audits if audit is None or audit.verdict != "PASS"), worst.audit),
        loss_probability_bound=stats.upper_bound(sums["losing"], sums["effective"]),
        errors=dict(errors.most_common()),
        recovery_seconds=tuple(seconds for one in results for seconds in one.recovery_seconds),
    )


def coverage_in_words(found: Sequence[Struck]) -> tuple[str, ...]:
    """How many faults happened, to which correct variants and weakened controls, and what they lost."""
    words = ["No fault in a correct variant."]
    correct = [one for one in found if one.correct]
    if titles := _titles(correct):
        losing = sum(one.result.losing for one in correct if one.counts)
        deleting = sum(one.result.deleting for one in correct)
        late = sum(1 for one in correct if one.late)
        bad = sum(1 for one in correct if one.mark) - late
        said = f"loss in {losing}" if losing or bad else "no loss"
        said += (
            f"; {counted(deleting, 'fault')} deleted a queue with acknowledged writes in it"
            if deleting
            else ""
        )
        said += f"; failed or unknown: {counted(bad, 'cell')}" if bad else ""
        said += f"; recovered too late: {counted(late, 'cell')}" if late else ""
        faults = counted(faults_in(correct), "fault")
        words = [f"{faults} in correct variants: {said}. Variants: {titles}."]
    weakened = [one for one in found if not one.correct]
    if titles := _titles(weakened):
        faults = counted(faults_in(weakened), "fault")
        words.append(f"{faults} in weakened controls, which are meant to lose or duplicate data: {titles}.")
    return tuple(words)


def faults_in(found: Iterable[Struck]) -> int:
    """Number of effective faults."""
    return sum(one.result.effective for one in found if one.counts)


def _titles(found: Iterable[Struck]) -> str:
    """Of the variants that a fault struck."""
    return "; ".join(dict.fromkeys(one.variant.title for one in found if one.counts))


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
    if one.status == "broke" and not one.lost_nothing:
        return f"failed: {reasons}"
    bound = one.loss_probability_bound
    within = "" if bound is None else f" (loss probability ≤ {bound * 100:.1f} %)"
    nothing = f"no loss in {counted(one.effective, noun)}{within}"
    if one.status == "broke":
        return f"{nothing}; failed: {reasons}"
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


Suite = SuiteData[FaultResult]

ORDERED = (NO_FAULT, "restart-consumer", "kill-consumer")


def report(data: Suite) -> Report:
    """The page: what was lost, the matrix, then the details."""
    found = struck(data)
    order = [level for factor in data.index.factors for level in factor.levels]
    main, *others = _tables(found, order)
    without = sum(one.result.effective for one in found if one.result.fault == NO_FAULT)
    load = f"{plain(data.index.params['rate_per_s'])}/s during all faults of a cell, seed {data.index.seed}"
    versions = sorted({f"{name} {v}" for one in data.cells for name, v in one.record.versions.items()})
    unfinished = [f"{one.entry.name} ({'; '.join(one.reasons)})" for one in data.cells if one.result is None]
    return Report(
        title=f"{data.index.title}, {data.index.runtime} runtime",
        answer=(*coverage_in_words(found), *(f"Without a result: {words}." for words in unfinished)),
        facts=f"{in_one_line(data, load)} {len(found)} cells, {without} trials without a fault. {', '.join(versions)}.",
        picture=None,
        table=main,
        details=tuple(Section(key=table.key, title=table.title, tables=(table,)) for table in others),
    )


def _tables(found: Sequence[Struck], order: Sequence[str]) -> Iterator[Table]:
    correct = [one for one in found if one.correct]
    if correct or not found:
        yield _outcomes(correct, order)
    for variant in {one.variant.name: one.variant for one in correct}.values():
        yield _table(
            f"faults-{variant.name}",
            f"{variant.title}, fault by fault",
            f"A 201 guarantees: {variant.acknowledges}. {EXPOSED} Guarantees broken: acknowledged writes that were"
            " lost, vanished, stranded, corrupted or stored twice. Recovered writes: stored without a 201. Recovery:"
            " from the end of the fault to the first 10 s with 99.9 % success at 95 % of the scheduled rate.",
            FIELDS,
            [one for one in correct if one.variant.name == variant.name],
            group="Fault by fault",
        )
    # The fault hits a consumer alone, or nothing.
    if queues := [one for one in correct if one.result.order is not None and one.result.fault in ORDERED]:
        yield _table(
            "order",
            "Order of writes while consumers restart or are killed",
            "A write is overtaken if another write, sent after its 201, became durable before it."
            " Redelivered: posts that the broker delivered more than once, over all faults of the cell.",
            ORDER,
            queues,
        )
    if controls := [one for one in found if not one.correct]:
        yield _controls(controls, correct)


def _outcomes(correct: Sequence[Struck], order: Sequence[str]) -> Table:
    often = Counter(one.variant.name for one in correct)
    titles = {one.variant.name: one.variant.title for one in correct}
    most = dict(often.most_common(MOST_COLUMNS))
    shown = [name for name in often if name in most]
    words = {one.result.fault: one.result.words for one in correct}
    outcomes = {
        (one.variant.name, one.result.fault): f"{verdict_in_words(one.result)}{recovery_in_words(one.result)}"
        for one in correct
    }
    cuts = any(fault.startswith(POWER_CUT) for fault in words)
    model = "; a power cut also takes what was not flushed" if cuts else ", not a power cut"
    return Table(
        key="outcomes",
        title="Result of each variant under each fault",
        caption="Each cell runs one steady load and repeats one fault. No loss: every acknowledged write was in the"
        " store exactly once and unchanged, in two reads; the second read follows kill -9 of every store. The crash"
        f" model is a killed process{model}. Lost data: an acknowledged write was missing or changed."
        " Destroyed: only messages that were in a queue when the fault deleted it are gone. Loss probability: 95 %"
        " upper confidence bound of the share of such faults that lose data; few faults give a high bound. Recovered"
        " in: median and maximum over the faults.",
        columns=(
            Column(key="fault", title="fault"),
            *(Column(key=name, title=titles[name]) for name in shown),
        ),
        rows=tuple(
            row_of(words[fault], *(outcomes.get((name, fault), ABSENT) for name in shown))
            for fault in order
            if fault in words
        ),
    )


EXPOSED = "Exposed writes: acknowledged within 5 s around a fault."


def _of_result(key: str, title: str, name: str = "", unit: str = "") -> Field[Struck]:
    """name: of the result's field, a share where the unit is %; none: the key. Without a unit it is a count."""
    value = attrgetter(f"result.{name or key}")

    def get(one: Struck) -> float | None:
        found: float | None = value(one)
        return found * 100 if unit == "%" and found is not None else found

    return field(key, title, get, unit, exact=not unit)


VARIANT: Field[Struck] = field("variant", "variant", attrgetter("variant.title"))
GUARANTEE: Field[Struck] = field("acknowledges", "a 201 guarantees", attrgetter("variant.acknowledges"))
FAULT: Field[Struck] = field("fault", "fault", attrgetter("result.words"))
OUTCOME: Field[Struck] = field("outcome", "outcome", lambda one: verdict_in_words(one.result))
NEAR = _of_result("exposed", "exposed writes")
BROKEN = _of_result("broken", "guarantees broken")
FIELDS: tuple[Field[Struck], ...] = (
    FAULT,
    _of_result("effective", "effective faults"),
    _of_result("losing", "faults with loss"),
    _of_result("bound", "loss probability, upper bound", "loss_probability_bound", "%"),
    NEAR,
    BROKEN,
    _of_result("recovered", "recovered writes"),
    field("errors", "errors by kind", lambda one: kinds(one.result)),
    _of_result("recovery_s", "recovery, median", "recovery_s_median", "s"),
    _of_result("recovery_max_s", "recovery, max", "recovery_s_max", "s"),
)
ORDER: tuple[Field[Struck], ...] = (  # of cells with an order
    VARIANT,
    FAULT,
    _of_result("faults", "faults", "effective"),
    _of_result("acknowledged", "acknowledged", "requests.acknowledged"),
    _of_result("overtaken", "overtaken writes", "order.overtaken_share", "%"),
    _of_result("redelivered", "redelivered", "order.redelivered"),
)


def _table(
    key: str,
    title: str,
    caption: str,
    fields: Sequence[Field[Struck]],
    found: Iterable[Struck],
    group: str = "",
) -> Table:
    return rows.table(key, title, caption, fields, found, mark=lambda one: one.mark, group=group)


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
            field("twin", "weakened control", attrgetter("variant.title")),
            GUARANTEE,
            FAULT,
            OUTCOME,
            BROKEN,
            field("beside", "correct variant", of_correct),
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
        [one for one in found if not one.correct or one.result.fault.startswith(("kill-", POWER_CUT))],
    )
