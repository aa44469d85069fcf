"""The table of what the stores' own tools reach on the same host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.analysis import stats
from writepath.report.model import Cell, Column, Row, Table, number, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from writepath.records.ceilings import Ceiling, CeilingsResult
    from writepath.report.data import CellData

    Cells = Iterable[CellData[CeilingsResult]]

COLUMNS = (
    Column(key="ceiling", title="ceiling"),
    Column(key="ceiling_tool", title="tool"),
    Column(key="ceiling_what", title="one write is"),
    Column(key="ceiling_clients", title="clients", exact=True),
    Column(key="ceiling_per_s", title="writes", unit="1/s"),
    Column(key="ceiling_latency_ms", title="mean latency", unit="ms"),
    Column(key="ceiling_blocks", title="blocks", exact=True),
)


def by_block(cells: Cells, name: str) -> dict[int, Ceiling]:
    """By block, the ceiling of that name."""
    return {
        cell.record.block: ceiling
        for cell in cells
        if cell.result is not None
        for ceiling in cell.result.ceilings
        if ceiling.name == name
    }


def table(cells: Sequence[CellData[CeilingsResult]]) -> Table:
    """One row a ceiling; what has no figure is a note."""
    results = [cell.result for cell in cells if cell.result is not None]
    names = sorted({(one.store, one.name) for result in results for one in result.ceilings}, key=_order)
    return Table(
        key="ceilings",
        title="Ceilings: the stores' own tools",
        caption="Measured on the same host without application and proxy; the tool generates the load itself. The best"
        " value of each block, median (lowest–highest).",
        columns=COLUMNS,
        rows=tuple(_row(list(by_block(cells, name).values())) for _, name in names),
        notes=tuple(dict.fromkeys(note for result in results for note in result.verdict.notes)),
    )


def answer(cells: Sequence[CellData[CeilingsResult]]) -> tuple[str, ...]:
    """The highest rate of each store, in words."""
    best: dict[str, Ceiling] = {}
    for one in (one for cell in cells if cell.result is not None for one in cell.result.ceilings):
        if one.store not in best or one.writes_per_s > best[one.store].writes_per_s:
            best[one.store] = one
    words = [f"{store} {number(one.writes_per_s)} writes/s ({one.name})" for store, one in best.items()]
    return (
        f"The stores' own tools reach at most: {', '.join(words)}." if words else "No tool gave a figure.",
    )


def _order(key: tuple[str, str]) -> tuple[int, str]:
    """Stores by how far they are from a search index, then tools."""
    return ("postgres", "rabbitmq", "elasticsearch").index(key[0]), key[1]


def _row(found: Sequence[Ceiling]) -> Row:
    first = found[0]
    return Row(
        cells=(
            text(first.name),
            text(first.tool),
            text(first.what),
            Cell(figure=stats.spread(float(one.clients) for one in found)),
            Cell(figure=stats.spread(one.writes_per_s for one in found)),
            Cell(figure=stats.spread(one.latency_ms_mean for one in found)),
            Cell(figure=stats.spread([float(len(found))])),
        )
    )
