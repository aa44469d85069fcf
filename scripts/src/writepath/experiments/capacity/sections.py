"""The report of a capacity suite, and the metrics by which its runs are compared."""

from collections.abc import Callable, Iterator, Sequence

from writepath.experiments.capacity import search_tables, tables
from writepath.experiments.capacity.answer import answer, findings
from writepath.records.capacity_run import CapacityResult
from writepath.report import rows
from writepath.report.capacity.figures import CapacityFigures, Suite, by_host
from writepath.report.data import Metric
from writepath.report.fingerprint import fingerprint, in_one_line
from writepath.report.model import Report, Section, Table, plain

Hosts = Sequence[tuple[str, CapacityFigures]]

METRICS: tuple[Metric[CapacityResult], ...] = (
    Metric(
        key="sustained_per_s",
        title="sustained rate",
        better="higher",
        get=lambda result: result.sustained.highest_passing_per_s,
        words=("more", "less"),
    ),
    Metric(
        key="burst_per_s",
        title="burst rate",
        better="higher",
        get=lambda result: result.burst.highest_passing_per_s,
        words=("more", "less"),
    ),
)
PER_HOST: tuple[Callable[[CapacityFigures], Table | None], ...] = (
    tables.capacity,
    tables.rates,
    tables.limited,
    tables.costs,
    tables.overload,
    tables.ceilings,
)
OF_SEARCHES = (
    tables.capacity,
    tables.limited,
)  # they store nothing, and no tool of a store searches


def report(data: Suite) -> Report:
    """The page: medians, tables and plots per host, never over several."""
    from writepath.experiments.capacity.pictures import CURVES_SAY, pictures  # noqa: PLC0415 - matplotlib takes half a second

    known = by_host(data)
    drawn = pictures(known)
    searches = data.index.params.get("operation") == "search"
    built = [_merged(known, build) for build in (OF_SEARCHES if searches else PER_HOST)]
    main, *details = [
        table for table in (built[0], search_tables.during(data), *built[1:]) if table is not None
    ]
    facts = (("SLO", _slo(data)), ("load step", _step(data)), *_posts(data))
    details += [tables.validity(data), tables.steps(data), fingerprint(data, facts)]
    opening, more = (search_tables.answer, search_tables.findings) if searches else (answer, findings)
    found = Section(
        key="findings",
        title="Findings",
        text=" ".join(_told(known, more)),
        plots=drawn[1:],
    )
    return Report(
        title=data.index.title,
        answer=tuple(_told(known, opening)) or ("No capacity run has finished.",),
        facts=f"{in_one_line(data, load_in_words(data))} Load generator and stores on the same host. {CURVES_SAY}",
        picture=drawn[0] if drawn else None,
        table=main,
        details=(
            *((found,) if found.text or found.plots else ()),
            *(Section(key=table.key, title=table.title, tables=(table,)) for table in details),
        ),
    )


def _merged(known: Hosts, build: Callable[[CapacityFigures], Table | None]) -> Table | None:
    return rows.merged([(host, build(figures)) for host, figures in known])


def _told(known: Hosts, tell: Callable[[CapacityFigures], Iterator[str]]) -> Iterator[str]:
    """Each host's sentences, the first of them with its name where there are several."""
    for host, figures in known:
        for place, words in enumerate(tell(figures)):
            yield f"On {host}: {words}" if place == 0 and len(known) > 1 else words


def load_in_words(data: Suite) -> str:
    """`steps of 60 s at one rate, p99 from the scheduled send time at most 100 ms`."""
    return f"steps of {_step(data)}, {_slo(data)}"


def _posts(data: Suite) -> Iterator[tuple[str, str]]:
    if (documents := data.index.params.get("documents")) is not None:
        yield "posts", f"{documents:,}, the same in every store"


def _slo(data: Suite) -> str:
    """Of the results: what a suite asked for may have been changed since."""
    found = dict.fromkeys(plain(cell.result.slo_ms) for cell in data.cells if cell.result)
    return f"p99 from the scheduled send time at most {' or '.join(found)} ms"


def _step(data: Suite) -> str:
    found = dict.fromkeys(plain(cell.result.step_seconds) for cell in data.cells if cell.result)
    return f"{' or '.join(found)} s at one rate"
