"""Which tables does a matrix of faults have? Variant x fault in words, then each variant's cells in figures."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath import stats
from writepath.report.model import ABSENT, Cell, Column, Row, Table, cell, text
from writepath.result.faults import broke

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from writepath.result.faults import Cell as Struck
    from writepath.result.faults import FaultsResult

MARKS = {"broke": "broke", "unknown": "unknown"}
KINDS_SHOWN = 3
CONSUMER_FAULTS = ("restart-consumer", "kill-consumer")


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """A matrix that was run: its index and its cells, in the order they ended."""

    index: FaultsResult
    cells: tuple[Struck, ...]

    @property
    def correct(self) -> tuple[Struck, ...]:
        """Cells of variants that promise to lose nothing."""
        return tuple(one for one in self.cells if one.naive_twin_of is None)

    @property
    def twins(self) -> tuple[Struck, ...]:
        """Cells of naive twins."""
        return tuple(one for one in self.cells if one.naive_twin_of is not None)


def tables(matrix: Matrix, order: Sequence[str]) -> tuple[Table, ...]:
    """order: the keys of all faults, as the catalogue has them."""
    built = [_outcomes(matrix, order)] if matrix.correct else []
    built += [_of_variant(cells) for cells in _by_variant(matrix.correct, order)]
    built += [_order(queues, order)] if (queues := _queues(matrix)) else []
    return (*built, *([_twins(matrix, order)] if matrix.twins else []))


def verdict_in_words(one: Struck) -> str:
    """`held: 0 of 20 lost data (at most 13.9 %)`; the bound is of the share of such faults, not of the writes."""
    if one.status == "unknown":
        return f"unknown: {'; '.join(one.reasons)}"
    if one.status == "destroyed":
        return f"destroyed: {'; '.join(one.reasons)}; none else was lost"
    count = f"{one.losing} of {len(one.effective)} lost data{_bound(one)}"
    if one.status == "not discriminating":
        return f"not discriminating: {count}"
    return f"{one.status}: {count}"


def _bound(one: Struck) -> str:
    bound = stats.upper_bound(one.losing, len(one.effective))
    return "" if bound is None else f" (≤ {bound * 100:.1f} %)"


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
        title="What each variant did under each fault",
        caption="held: in every effective fault all acknowledged writes were in the store, once and as sent, read back"
        " twice, the second time after kill -9 of every store. destroyed: only what was in a queue when it was deleted"
        " is gone. In brackets the 95 % upper bound of the share of such faults that lose data: few faults prove"
        " little. Last, the seconds to recover, median and worst.",
        columns=(
            Column(key="fault", title="fault"),
            *(Column(key=variant, title=titles[variant]) for variant in variants),
        ),
        rows=tuple(rows),
    )


def _outcome(one: Struck | None) -> Cell:
    if one is None:
        return text(ABSENT)
    return text(f"{verdict_in_words(one)}{_recovery_in_words(one)}")


def _recovery_in_words(one: Struck) -> str:
    times = _recovery_times(one)
    if not times:
        return ""
    return f"; well again after {statistics.median(times):.1f} s, at most {max(times):.1f} s"


def _recovery_times(one: Struck) -> list[float]:
    return [t.recovered_after_seconds for t in one.trials if t.recovered_after_seconds is not None]


CELL_COLUMNS = (
    Column(key="fault", title="fault"),
    Column(key="effective", title="effective faults", exact=True),
    Column(key="losing", title="losing", exact=True),
    Column(key="bound", title="upper bound", unit="%"),
    Column(key="exposed", title="writes exposed", exact=True),
    Column(key="broken", title="promises broken", exact=True),
    Column(key="recovered", title="recovered writes", exact=True),
    Column(key="errors", title="errors, by kind"),
    Column(key="recovery_s", title="to recover", unit="s"),
    Column(key="recovery_max_s", title="worst", unit="s"),
)


def _of_variant(cells: Sequence[Struck]) -> Table:
    first = cells[0]
    return Table(
        key=f"faults-{first.variant}",
        title=f"{first.title}, fault by fault",
        caption=f"A 201 means: {first.acknowledges}. Exposed: acknowledged within 5 s around a fault. Broken: lost,"
        " vanished, stranded, corrupted or stored twice. Recovered: without an answer, and stored. To"
        " recover: from the heal to the first 10 s with 99.9 % success at 95 % of the plan, median of the faults.",
        columns=CELL_COLUMNS,
        rows=tuple(Row(cells=_figures(one), mark=MARKS.get(one.status, "")) for one in cells),
    )


def _figures(one: Struck) -> tuple[Cell, ...]:
    bound = stats.upper_bound(one.losing, len(one.effective))
    times = _recovery_times(one)
    return (
        text(one.fault_words),
        cell([len(one.effective)]),
        cell([one.losing]),
        cell([None if bound is None else bound * 100]),
        cell([sum(trial.exposed for trial in one.effective)]),
        cell([sum(broke(trial) for trial in one.effective)]),
        cell([sum(trial.recovered for trial in one.effective)]),
        text(_kinds(one)),
        cell([statistics.median(times) if times else None]),
        cell([max(times) if len(times) == len(one.trials) and times else None]),
    )


def _kinds(one: Struck) -> str:
    """The most frequent ones, over all faults of the cell."""
    total: dict[str, int] = {}
    for trial in one.effective:
        for kind, count in trial.errors.items():
            total[kind] = total.get(kind, 0) + count
    shown = sorted(total.items(), key=lambda item: -item[1])
    rest = sum(count for _, count in shown[KINDS_SHOWN:])
    words = [f"{count} {kind}" for kind, count in shown[:KINDS_SHOWN]] + ([f"{rest} other"] if rest else [])
    return ", ".join(words) or "none"


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
    """Those in which nothing but a consumer comes to harm, or nothing at all."""
    return [
        one for one in matrix.correct if one.order is not None and one.fault in ("none", *CONSUMER_FAULTS)
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
        title="Order on the queue paths, as consumers restart and die",
        caption="A write is overtaken where another one that was sent after its 201 was durable before it; each such"
        " pair is an inversion. Redelivered: by the broker, over all faults of the cell.",
        columns=ORDER_COLUMNS,
        rows=tuple(rows),
    )


TWIN_COLUMNS = (
    Column(key="twin", title="naive twin"),
    Column(key="acknowledges", title="a 201 means"),
    Column(key="fault", title="fault"),
    Column(key="outcome", title="outcome"),
    Column(key="broken", title="promises broken", exact=True),
    Column(key="beside", title="its correct variant"),
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
        title="Naive twins: the positive controls",
        caption="The same architecture with one careless setting, struck where that must lose. If a twin loses nothing"
        " the fault was too weak to tell it from the correct variant, and the cell says so. Twins are never ranked"
        " beside the others.",
        columns=TWIN_COLUMNS,
        rows=tuple(rows),
    )


EVIDENCE_COLUMNS = (
    Column(key="variant", title="variant"),
    Column(key="acknowledges", title="a 201 means"),
    Column(key="fault", title="fault"),
    Column(key="outcome", title="outcome"),
    Column(key="exposed", title="writes exposed", exact=True),
)


def evidence(matrix: Matrix, order: Sequence[str]) -> Table:
    """What each promise is worth under kill -9: kills of the correct variants, all cells of the twins."""
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
        caption="In brackets the 95 % upper bound of the share of such faults that lose data. Exposed: acknowledged"
        " within 5 s around a fault.",
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
