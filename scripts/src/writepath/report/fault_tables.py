"""Which tables does a matrix of faults have? Variant x fault in words, then each variant's cells in figures."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.analysis import stats
from writepath.records.faults import broke
from writepath.report.fault_words import (
    NO_FAULT,
    counted,
    kinds,
    recovery_in_words,
    recovery_times,
    verdict_in_words,
)
from writepath.report.model import ABSENT, Cell, Column, Row, Table, cell, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from writepath.records.faults import Cell as Struck
    from writepath.records.faults import FaultsResult
    from writepath.records.index import VariantRecord

MARKS = {"broke": "failed", "unknown": "unknown"}
CONSUMER_FAULTS = ("restart-consumer", "kill-consumer")


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """A matrix that was run: its index and its cells, in the order they ended."""

    index: FaultsResult
    cells: tuple[Struck, ...]

    @property
    def correct(self) -> tuple[Struck, ...]:
        """Cells of variants that guarantee to lose nothing."""
        return tuple(one for one in self.cells if one.naive_twin_of is None)

    @property
    def twins(self) -> tuple[Struck, ...]:
        """Cells of weakened controls."""
        return tuple(one for one in self.cells if one.naive_twin_of is not None)


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """How many faults happened, and to which variants. Trials without a fault are not counted."""

    faults: int  # in correct variants
    losing: int  # of them; without what the fault itself deleted
    titles: tuple[str, ...]  # of the correct variants
    control_faults: int  # in weakened controls
    controls: tuple[str, ...]  # their titles


def coverage(matrix: Matrix) -> Coverage:
    """Counts effective faults, by correct variants and weakened controls."""
    correct, controls = _struck(matrix.correct), _struck(matrix.twins)
    return Coverage(
        faults=sum(len(one.effective) for one in correct),
        losing=sum(one.losing for one in correct),
        titles=tuple(dict.fromkeys(one.title for one in correct)),
        control_faults=sum(len(one.effective) for one in controls),
        controls=tuple(dict.fromkeys(one.title for one in controls)),
    )


def _struck(cells: Iterable[Struck]) -> list[Struck]:
    return [one for one in cells if one.effective and one.fault != NO_FAULT]


def coverage_in_words(matrix: Matrix, main: Sequence[VariantRecord] = ()) -> tuple[str, ...]:
    """Sentences on what the faults cover and what not. main: the variants that should be tested."""
    found = coverage(matrix)
    words = [_of_correct(matrix, found)]
    if found.controls:
        words.append(
            f"{counted(found.control_faults, 'fault')} in weakened controls, which are meant to lose or duplicate data:"
            f" {'; '.join(found.controls)}."
        )
    tested = {one.variant for one in _struck(matrix.correct)}
    if untested := [variant.title for variant in main if variant.name not in tested]:
        words.append(f"Variants of suite default without a fault test: {'; '.join(untested)}.")
    return tuple(words)


def _of_correct(matrix: Matrix, found: Coverage) -> str:
    if not found.titles:
        return "No fault in a correct variant."
    deleted = sum(trial.taken_along > 0 for one in matrix.correct for trial in one.effective)
    bad = sum(one.status in MARKS for one in matrix.correct)
    loss = f"loss in {found.losing}" if found.losing or bad else "no loss"
    also = f"; {counted(deleted, 'fault')} deleted a queue with acknowledged writes in it" if deleted else ""
    also += f"; failed or unknown: {counted(bad, 'cell')}" if bad else ""
    return f"{counted(found.faults, 'fault')} in correct variants: {loss}{also}. Variants: {'; '.join(found.titles)}."


def tables(matrix: Matrix, order: Sequence[str]) -> tuple[Table, ...]:
    """order: the keys of all faults, as the catalogue has them."""
    built = [_outcomes(matrix, order)] if matrix.correct else []
    built += [_of_variant(cells) for cells in _by_variant(matrix.correct, order)]
    built += [_order(queues, order)] if (queues := _queues(matrix)) else []
    return (*built, *([_twins(matrix, order)] if matrix.twins else []))


def _outcomes(matrix: Matrix, order: Sequence[str]) -> Table:
    struck = Counter(one.variant for one in matrix.correct)
    variants = [
        name for name, faults in struck.items() if 4 * faults >= max(struck.values())
    ]  # not by a few alone
    found = {(one.variant, one.fault): one for one in matrix.correct}
    titles = {one.variant: one.title for one in matrix.correct}
    words = {one.fault: one.fault_words for one in matrix.correct}
    rows = [
        Row(cells=(text(words[key]), *(_outcome(found.get((variant, key))) for variant in variants)))
        for key in order
        if key in words
    ]
    return Table(
        key="outcomes",
        title="Result of each variant under each fault",
        caption="No loss: every acknowledged write was in the store exactly once and unchanged, in two reads; the"
        " second read follows kill -9 of every store. Lost data: an acknowledged write was missing or changed."
        " Destroyed: only messages that were in a queue when the fault deleted it are gone. Loss probability: 95 %"
        " upper confidence bound of the share of such faults that lose data; few faults give a high bound. Recovered"
        " in: median and maximum over the faults.",
        columns=(
            Column(key="fault", title="fault"),
            *(Column(key=variant, title=titles[variant]) for variant in variants),
        ),
        rows=tuple(rows),
    )


def _outcome(one: Struck | None) -> Cell:
    if one is None:
        return text(ABSENT)
    return text(f"{verdict_in_words(one)}{recovery_in_words(one)}")


EXPOSED = "Exposed writes: acknowledged within 5 s around a fault."
CELL_COLUMNS = (
    Column(key="fault", title="fault"),
    Column(key="effective", title="effective faults", exact=True),
    Column(key="losing", title="faults with loss", exact=True),
    Column(key="bound", title="loss probability, upper bound", unit="%"),
    Column(key="exposed", title="exposed writes", exact=True),
    Column(key="broken", title="guarantees broken", exact=True),
    Column(key="recovered", title="recovered writes", exact=True),
    Column(key="errors", title="errors by kind"),
    Column(key="recovery_s", title="recovery, median", unit="s"),
    Column(key="recovery_max_s", title="recovery, max", unit="s"),
)


def _of_variant(cells: Sequence[Struck]) -> Table:
    first = cells[0]
    return Table(
        key=f"faults-{first.variant}",
        title=f"{first.title}, fault by fault",
        caption=f"A 201 guarantees: {first.acknowledges}. {EXPOSED} Guarantees broken: acknowledged writes that were"
        " lost, vanished, stranded, corrupted or stored twice. Recovered writes: stored without a 201. Recovery: from"
        " the end of the fault to the first 10 s with 99.9 % success at 95 % of the scheduled rate.",
        columns=CELL_COLUMNS,
        rows=tuple(Row(cells=_figures(one), mark=MARKS.get(one.status, "")) for one in cells),
    )


def _figures(one: Struck) -> tuple[Cell, ...]:
    bound = stats.upper_bound(one.losing, len(one.effective))
    times = recovery_times(one)
    return (
        text(one.fault_words),
        cell([len(one.effective)]),
        cell([one.losing]),
        cell([None if bound is None else bound * 100]),
        cell([sum(trial.exposed for trial in one.effective)]),
        cell([sum(broke(trial) for trial in one.effective)]),
        cell([sum(trial.recovered for trial in one.effective)]),
        text(kinds(one)),
        cell([statistics.median(times) if times else None]),
        cell([max(times) if len(times) == len(one.trials) and times else None]),
    )


ORDER_COLUMNS = (
    Column(key="variant", title="variant"),
    Column(key="fault", title="fault"),
    Column(key="faults", title="faults", exact=True),
    Column(key="acknowledged", title="acknowledged", exact=True),
    Column(key="inversions", title="inversions", exact=True),
    Column(key="overtaken", title="overtaken writes", unit="%"),
    Column(key="redelivered", title="redelivered", exact=True),
)


def _queues(matrix: Matrix) -> list[Struck]:
    """Those in which the fault hits a consumer alone, or nothing."""
    return [
        one for one in matrix.correct if one.order is not None and one.fault in (NO_FAULT, *CONSUMER_FAULTS)
    ]


def _order(cells: Sequence[Struck], order: Sequence[str]) -> Table:
    rows = [
        Row(
            cells=(
                text(one.title),
                text(one.fault_words),
                cell([len(one.effective)]),
                cell([one.requests.acknowledged if one.requests else None]),
                cell([one.order.inversions]),
                cell([one.order.overtaken_share * 100]),
                cell([one.order.redelivered]),
            ),
            mark=MARKS.get(one.status, ""),
        )
        for one in _sorted(cells, order)
        if one.order is not None
    ]
    return Table(
        key="order",
        title="Order of writes while consumers restart or are killed",
        caption="A write is overtaken if another write, sent after its 201, became durable before it. Each such pair is"
        " an inversion. Redelivered: messages that the broker delivered more than once, over all faults of the cell.",
        columns=ORDER_COLUMNS,
        rows=tuple(rows),
    )


TWIN_COLUMNS = (
    Column(key="twin", title="weakened control"),
    Column(key="acknowledges", title="a 201 guarantees"),
    Column(key="fault", title="fault"),
    Column(key="outcome", title="outcome"),
    Column(key="broken", title="guarantees broken", exact=True),
    Column(key="beside", title="correct variant"),
)


def _twins(matrix: Matrix, order: Sequence[str]) -> Table:
    correct = {(one.variant, one.fault): one for one in matrix.correct}
    rows = [
        Row(
            cells=(
                text(one.title),
                text(one.acknowledges),
                text(one.fault_words),
                text(verdict_in_words(one)),
                cell([sum(broke(trial) for trial in one.effective)]),
                text(_beside(correct.get((one.naive_twin_of or "", one.fault)))),
            ),
            mark=MARKS.get(one.status, ""),
        )
        for one in _sorted(matrix.twins, order)
    ]
    return Table(
        key="twins",
        title="Weakened controls",
        caption="Each control is a correct variant with one setting that gives up its guarantee, under a fault that"
        " must then lose or duplicate data. Not discriminating: the control passed, so this fault does not show what"
        " the correct variant protects against. Controls are not ranked with other variants.",
        columns=TWIN_COLUMNS,
        rows=tuple(rows),
    )


EVIDENCE_COLUMNS = (
    Column(key="variant", title="variant"),
    Column(key="acknowledges", title="a 201 guarantees"),
    Column(key="fault", title="fault"),
    Column(key="outcome", title="outcome"),
    Column(key="exposed", title="exposed writes", exact=True),
)


def evidence(matrix: Matrix, order: Sequence[str]) -> Table:
    """How each guarantee did under kill -9: kills of the correct variants, all cells of the weakened controls."""
    killed = [one for one in matrix.correct if one.fault.startswith("kill-")]
    rows = [
        Row(
            cells=(
                text(one.title),
                text(one.acknowledges),
                text(one.fault_words),
                text(verdict_in_words(one)),
                cell([sum(trial.exposed for trial in one.effective)]),
            ),
            mark=MARKS.get(one.status, ""),
        )
        for one in (*_sorted(killed, order), *_sorted(matrix.twins, order))
    ]
    return Table(
        key="evidence",
        title="Evidence",
        caption="Loss probability: 95 % upper confidence bound of the share of such faults that lose data."
        f" {EXPOSED}",
        columns=EVIDENCE_COLUMNS,
        rows=tuple(rows),
    )


def _beside(one: Struck | None) -> str:
    return ABSENT if one is None else verdict_in_words(one)


def _sorted(cells: Iterable[Struck], order: Sequence[str]) -> list[Struck]:
    rank = {key: index for index, key in enumerate(order)}
    return sorted(cells, key=lambda one: (one.variant, rank.get(one.fault, len(rank))))


def _by_variant(cells: Sequence[Struck], order: Sequence[str]) -> list[list[Struck]]:
    variants = dict.fromkeys(one.variant for one in cells)
    return [[one for one in _sorted(cells, order) if one.variant == variant] for variant in variants]
