"""When is a write acknowledged, durable and visible, and in which order did writes arrive? One table each."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from writepath.report import rows
from writepath.report.model import Column, Table
from writepath.report.rows import Field, count, ms, ranks

if TYPE_CHECKING:
    from writepath.report.figures import Figures, SuiteFigures

CLOCKS = (
    *ranks(lambda figures: figures.accept, "to_acknowledge_", "acknowledged, {}"),
    *ranks(lambda figures: figures.durable_of_planned, "to_durable_", "durable, {}"),
    *ranks(lambda figures: figures.visible.times if figures.visible else None, "to_visible_", "visible, {}"),
    count(
        "visible_samples",
        "visibility samples",
        lambda figures: figures.visible.times.planned if figures.visible else None,
    ),
    ms(
        "visible_error_median",
        "visibility error bound, median",
        lambda figures: figures.visible.error_ms_median if figures.visible else None,
    ),
    ms(
        "visible_error_max",
        "visibility error bound, max",
        lambda figures: figures.visible.error_ms_max if figures.visible else None,
    ),
)


def clocks(figures: SuiteFigures) -> Table | None:
    """All three; None for suite runs from before visibility was measured."""
    if not any(run.visible for run in figures.runs):
        return None
    return Table(
        key="clocks",
        title="Three clocks: acknowledged, durable, visible",
        caption="Times from sending the POST. Acknowledged: until its 201. Durable: until its row is committed in its"
        " final store. Visible: until a search in that store finds it. The first two cover all scheduled requests,"
        " the third a sample that was drawn before the load. Requests not acknowledged and rows never found count as"
        " infinite. " + rows.spread_note(figures),
        columns=rows.columns(CLOCKS),
        rows=rows.by_variant(figures, CLOCKS),
        notes=(rows.LEGEND,),
    )


def _of_order(name: str, figures: Figures) -> int | None:
    return None if figures.run.order is None else getattr(figures.run.order, name)


ORDER = (
    count("inversions", "inversions", partial(_of_order, "inversions")),
    Field(
        column=Column(key="overtaken_percent", title="overtaken writes", unit="%"),
        get=lambda figures: 100 * figures.run.order.overtaken_share if figures.run.order else None,
    ),
    count("redelivered", "redelivered", partial(_of_order, "redelivered")),
)


def order(figures: SuiteFigures) -> Table | None:
    """Only the queue paths have an order to lose; None where there is none of them."""
    names = {run.run.variant for run in figures.runs if run.run.order is not None}
    if not names:
        return None
    of_queues = figures.only(lambda variant: variant.name in names)
    return Table(
        key="order",
        title="Order on the queue paths",
        caption="A write is overtaken if another write, sent after its 201, became durable before it. Each such pair is"
        " an inversion. Concurrent requests have no order. " + rows.spread_note(figures),
        columns=rows.columns(ORDER),
        rows=rows.by_variant(of_queues, ORDER),
    )
