"""The table of what the stores' own tools reach on the same host."""

from collections.abc import Iterable, Sequence

from writepath.analysis.stats import spread
from writepath.records.ceilings import Ceiling, CeilingsResult
from writepath.report import rows
from writepath.report.data import CellData
from writepath.report.model import Table, number
from writepath.report.rows import Field, field

Cells = Iterable[CellData[CeilingsResult]]
Found = Sequence[Ceiling]  # of the blocks
STORES = ("postgres", "rabbitmq", "elasticsearch")  # by how far they are from a search index

FIELDS: tuple[Field[Found], ...] = (
    field("ceiling", "ceiling", lambda found: found[0].name),
    field("ceiling_tool", "tool", lambda found: found[0].tool),
    field("ceiling_what", "one write is", lambda found: found[0].what),
    field("ceiling_clients", "clients", lambda found: spread(one.clients for one in found), exact=True),
    field("ceiling_per_s", "writes", lambda found: spread(one.writes_per_s for one in found), "1/s"),
    field(
        "ceiling_latency_ms", "mean latency", lambda found: spread(one.latency_ms_mean for one in found), "ms"
    ),
    field("ceiling_blocks", "blocks", len, exact=True),
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
    found = {(STORES.index(one.store), one.name) for result in results for one in result.ceilings}
    return rows.table(
        "ceilings",
        "Ceilings: the stores' own tools",
        "Measured on the same host without application and proxy; the tool generates the load itself. The best"
        " value of each block, median (lowest–highest).",
        FIELDS,
        [list(by_block(cells, name).values()) for _, name in sorted(found)],
        notes=tuple(dict.fromkeys(note for result in results for note in result.verdict.notes)),
    )


def answer(cells: Sequence[CellData[CeilingsResult]]) -> tuple[str, ...]:
    """The highest rate of each store, in words."""
    best: dict[str, Ceiling] = {}
    for one in (one for cell in cells if cell.result is not None for one in cell.result.ceilings):
        best[one.store] = max(best.get(one.store, one), one, key=lambda one: one.writes_per_s)
    words = [f"{store} {number(one.writes_per_s)} writes/s ({one.name})" for store, one in best.items()]
    return (
        f"The stores' own tools reach at most: {', '.join(words)}." if words else "No tool gave a figure.",
    )
