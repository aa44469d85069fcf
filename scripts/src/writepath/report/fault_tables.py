"""The report of a faults suite: variant x fault in words, then each variant's cells in figures."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING, Any

from writepath.report.faults import (
    NO_FAULT,
    coverage_in_words,
    kinds,
    recovery_in_words,
    struck,
    verdict_in_words,
)
from writepath.report.fingerprint import in_one_line
from writepath.report.model import ABSENT, Cell, Column, Report, Row, Section, Table, cell, plain, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from writepath.records.faults import FaultResult
    from writepath.report.data import SuiteData
    from writepath.report.faults import Struck

    Suite = SuiteData[FaultResult]
    Field = tuple[Column, Callable[[Struck], Cell]]

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
    """order: of the faults."""
    often = Counter(one.variant.name for one in correct)
    titles = {one.variant.name: one.variant.title for one in correct}
    shown = [
        name for name, faults in often.items() if 4 * faults >= max(often.values())
    ]  # not by a few alone
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


def _count(key: str, title: str, get: Callable[[FaultResult], int | None]) -> Field:
    return Column(key=key, title=title, exact=True), lambda one: cell([get(one.result)])


def _number(key: str, title: str, unit: str, get: Callable[[FaultResult], float | None]) -> Field:
    return Column(key=key, title=title, unit=unit), lambda one: cell([get(one.result)])


def _words(key: str, title: str, get: Callable[[Struck], str]) -> Field:
    return Column(key=key, title=title), lambda one: text(get(one))


def _median(one: FaultResult) -> float | None:
    return statistics.median(one.recovered_in) if one.recovered_in else None


def _longest(one: FaultResult) -> float | None:
    """None where the path did not recover from one of them."""
    return max(one.recovered_in) if one.recovered_in and len(one.recovered_in) == one.trials else None


def _of(record: object, name: str) -> Any:
    return None if record is None else getattr(record, name)


def _percent(share: float | None) -> float | None:
    return None if share is None else share * 100


VARIANT = _words("variant", "variant", lambda one: one.variant.title)
GUARANTEE = _words("acknowledges", "a 201 guarantees", lambda one: one.variant.acknowledges)
FAULT = _words("fault", "fault", lambda one: one.result.words)
OUTCOME = _words("outcome", "outcome", lambda one: verdict_in_words(one.result))
NEAR = _count("exposed", "exposed writes", lambda one: one.exposed)
BROKEN = _count("broken", "guarantees broken", lambda one: one.broken)


def _table(key: str, title: str, caption: str, fields: Sequence[Field], found: Iterable[Struck]) -> Table:
    rows = [Row(cells=tuple(get(one) for _, get in fields), mark=one.mark) for one in found]
    columns = tuple(column for column, _ in fields)
    return Table(key=key, title=title, caption=caption, columns=columns, rows=tuple(rows))


def _of_variant(cells: Sequence[Struck]) -> Table:
    variant = cells[0].variant
    return _table(
        f"faults-{variant.name}",
        f"{variant.title}, fault by fault",
        f"A 201 guarantees: {variant.acknowledges}. {EXPOSED} Guarantees broken: acknowledged writes that were"
        " lost, vanished, stranded, corrupted or stored twice. Recovered writes: stored without a 201. Recovery: from"
        " the end of the fault to the first 10 s with 99.9 % success at 95 % of the scheduled rate.",
        (
            FAULT,
            _count("effective", "effective faults", lambda one: one.effective),
            _count("losing", "faults with loss", lambda one: one.losing),
            _number(
                "bound",
                "loss probability, upper bound",
                "%",
                lambda one: _percent(one.loss_probability_bound),
            ),
            NEAR,
            BROKEN,
            _count("recovered", "recovered writes", lambda one: one.recovered),
            _words("errors", "errors by kind", lambda one: kinds(one.result)),
            _number("recovery_s", "recovery, median", "s", _median),
            _number("recovery_max_s", "recovery, max", "s", _longest),
        ),
        cells,
    )


def _order(queues: Sequence[Struck]) -> Table:
    """Of cells in which the fault hits a consumer alone, or nothing."""
    return _table(
        "order",
        "Order of writes while consumers restart or are killed",
        "A write is overtaken if another write, sent after its 201, became durable before it. Each such pair is"
        " an inversion. Redelivered: messages that the broker delivered more than once, over all faults of the cell.",
        (
            VARIANT,
            FAULT,
            _count("faults", "faults", lambda one: one.effective),
            _count("acknowledged", "acknowledged", lambda one: _of(one.requests, "acknowledged")),
            _count("inversions", "inversions", lambda one: _of(one.order, "inversions")),
            _number(
                "overtaken",
                "overtaken writes",
                "%",
                lambda one: _percent(_of(one.order, "overtaken_share")),
            ),
            _count("redelivered", "redelivered", lambda one: _of(one.order, "redelivered")),
        ),
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
            _words("twin", "weakened control", lambda one: one.variant.title),
            GUARANTEE,
            FAULT,
            OUTCOME,
            BROKEN,
            _words("beside", "correct variant", of_correct),
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
