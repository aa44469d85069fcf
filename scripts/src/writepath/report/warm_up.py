"""The section of a page that shows how each path became steady before it was measured; for every kind."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from writepath.analysis.warm_up import FALLS, LAST
from writepath.records.warm_up import WarmUpFacts
from writepath.report import rows
from writepath.report.data import CellData, SuiteData
from writepath.report.model import Plot, Section, Value, counted, plain
from writepath.report.rows import Field, field

Own = CellData[Any]
CAPTION = (
    "Before it is measured, a path gets a closed load until neither CPU per request (all"
    f" components but the load generator) nor median latency falls: the lowest values of the last {LAST} windows are at"
    f" most {FALLS:.0%} below the lowest before. A cell that is not steady in time has the verdict unknown. No other"
    " figure includes the warm-up."
)


def _of(get: Callable[[WarmUpFacts], Value]) -> Callable[[Own], Value]:
    """Of a cell that was asked to become steady."""
    return lambda one: get(found) if (found := _found(one)) is not None and found.windows else None


def _found(one: Own) -> WarmUpFacts | None:
    found: WarmUpFacts | None = one.result and one.result.warm_up
    return found


def _window(place: int, name: str) -> Callable[[Own], Value]:
    return _of(lambda found: getattr(found.windows[place], name))


FIELDS: tuple[Field[Own], ...] = (
    field("warm_up_steady", "steady", _of(lambda found: "yes" if found.steady else "no")),
    field("warm_up_s", "duration", _of(lambda found: found.seconds), "s"),
    field("warm_up_per_s", "rate", _of(lambda found: found.windows[-1].rate_per_s), "1/s"),
    *(
        field(f"warm_up_{when}_{name}", f"{words}, {when} window", _window(place, name), unit)
        for name, words, unit in (
            ("cpu_us_per_request", "CPU per request", "µs"),
            ("median_ms", "median", "ms"),
        )
        for when, place in (("first", 0), ("last", -1))
    ),
)


def section(data: SuiteData[Any]) -> Iterator[Section]:
    """None where no cell was asked to become steady."""
    drawn = {
        row.title: facts.windows for row in data.rows for one in data.shown(row)[:1] if (facts := _found(one))
    }
    if not drawn:
        return
    from writepath.report import plots  # noqa: PLC0415 - matplotlib takes half a second to load

    alt = "CPU per request and median latency of each variant during its warm-up, until both are steady"
    yield Section(
        key="warm_up",
        title="Warm-up",
        plots=(Plot(file="warm-up.svg", alt=alt, svg=plots.warm_up(drawn)),),
        tables=(
            rows.by_row(data, FIELDS, lambda row: row.title, key="warm_up", title="Warm-up", caption=CAPTION),
        ),
    )


def in_words(params: Mapping[str, Any]) -> str:
    """Of a kind's part of suites.yaml: `1,000 requests at 200/s, excluded from all results`."""
    if requests := params.get("warm_up_requests"):
        sent = f"{requests:,} requests"
    elif at_most_s := params.get("warm_up_at_most_s"):
        sent = f"until steady, at most {plain(at_most_s)} s,"
    elif for_s := params.get("warm_up_for_s"):
        sent = f"{plain(for_s)} s,"
    else:
        return "none"
    rate, users = params.get("warm_up_per_s"), params.get("warm_up_users")
    how = f" at {plain(rate)}/s" if rate else f" {counted(users, 'virtual user')}" if users else ""
    return f"{sent}{how}, excluded from all results"
