"""What do the careless write paths lose? In a table of their own: a fast loser must not look like a winner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.report import cost_tables, load_tables, rows
from writepath.report.model import Column, Table
from writepath.report.rows import Field, ranks

if TYPE_CHECKING:
    from writepath.report.figures import SuiteFigures

TITLE = "Weakened controls, not ranked"
AUDITED = ("acknowledged", "stored", "lost", "duplicated", "corrupted", "unexpected")
FIELDS = (
    load_tables.MEANING,
    *(field for field in cost_tables.AUDIT if field.column.key in AUDITED),
    *ranks(lambda figures: figures.accept),
)


def twins(figures: SuiteFigures) -> Table | None:
    """None where the suite has no weakened control."""
    naive = figures.only(lambda variant: variant.naive_twin_of is not None)
    if not naive.suite.variants:
        return None
    titles = {variant.name: variant.title for variant in figures.suite.variants}
    of = {v.name: titles.get(v.naive_twin_of or "", v.naive_twin_of) for v in naive.suite.variants}
    twin_of = Field(
        column=Column(key="twin_of", title="weakens"), get=lambda figures: of[figures.run.variant]
    )
    return Table(
        key="twins",
        title=TITLE,
        caption="Each has one setting that gives up its guarantee on purpose. Their latency is no advantage: they lose"
        " or duplicate data for it.",
        columns=rows.columns((twin_of, *FIELDS)),
        rows=rows.by_variant(naive, (twin_of, *FIELDS)),
        notes=(rows.LEGEND,),
    )
