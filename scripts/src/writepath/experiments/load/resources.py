"""The table of what each component used while the load ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.experiments.load import figures
from writepath.report import rows
from writepath.report.model import Column, Row, Table, cell, text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from writepath.experiments.load.figures import Suite
    from writepath.records.load import LoadResult
    from writepath.records.measures import Resource

MIB = 1 << 20
ALL = "all but k6"
GENERATOR = "k6"
NOTE_WRITTEN = (
    f"Written: bytes to disk. Where the runtime cannot count them per component, the row '{ALL}' shows the bytes that"
    " all disks of the host took during the load, including the file system's journal and the load generator's ledger."
)
COLUMNS = (
    rows.VARIANT,
    Column(key="component", title="component"),
    Column(key="cpu_s", title="CPU", unit="s"),
    Column(key="rss_peak_mib", title="peak memory", unit="MiB"),
    Column(key="written_mib", title="written", unit="MiB"),
    Column(key="cpu_s_per_1000", title="CPU per 1,000 writes", unit="s"),
    Column(key="written_mib_per_1000", title="written per 1,000 writes", unit="MiB"),
)


def resources(data: Suite) -> Table:
    """By component, and all but the load generator together."""
    label = figures.label(data)
    body: list[Row] = []
    for row in data.rows:
        cells = [one for one in data.shown(row) if one.result is not None and one.result.resources]
        results = [one.result for one in cells if one.result is not None]
        for name, members in _groups(results):
            values = tuple(cell(get(result, members) for result in results) for get in GETTERS)
            body.append(Row(cells=(text(label(row)), text(name), *values), mark=rows.mark(cells)))
    return Table(
        key="resources",
        title="Resources",
        caption="Sampled every second during the load, without the drain. A component is all its instances and child"
        " processes. Writes are rows stored. Short runs measure a JVM that is still compiling, so CPU per write is"
        f" higher here than in the capacity suite. {rows.spread_note(data.index)}",
        columns=COLUMNS,
        rows=tuple(body),
        notes=(
            f"{ALL}: the sum of the variant's components; its peak memory is the sum of their peaks.",
            NOTE_WRITTEN,
        ),
        names=2,
        compared=True,
    )


def _groups(results: Sequence[LoadResult]) -> list[tuple[str, list[str]]]:
    """Names of lines, each with its components; the load generator last."""
    names = dict.fromkeys(name for result in results for name in result.resources)
    components = [name for name in names if name != GENERATOR]
    every = [(ALL, components)] if components else []
    return [*every, *((name, [name]) for name in [*components, *(n for n in names if n == GENERATOR)])]


def _sum(result: LoadResult, members: Sequence[str], get: Callable[[Resource], float | None]) -> float | None:
    values = [get(result.resources[name]) for name in members if name in result.resources]
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _cpu(result: LoadResult, members: Sequence[str]) -> float | None:
    return _sum(result, members, lambda used: used.cpu_seconds)


def _memory(result: LoadResult, members: Sequence[str]) -> float | None:
    return _scaled(_sum(result, members, lambda used: used.rss_peak_bytes), 1 / MIB)


def _written(result: LoadResult, members: Sequence[str]) -> float | None:
    """By component where the runtime can tell; else only for all of them, as what all disks of the host took."""
    known = _sum(result, members, lambda used: used.write_bytes)
    if known is None and result.resources.keys() - {GENERATOR} == set(members):
        known = result.disk_written_bytes
    return _scaled(known, 1 / MIB)


def cpu_s_per_1000(result: LoadResult) -> float | None:
    """Processor time of all components but the generator, per 1,000 rows stored."""
    return _cpu_per_1000(result, [name for name in result.resources if name != GENERATOR])


def _cpu_per_1000(result: LoadResult, members: Sequence[str]) -> float | None:
    return _per_1000(result, _cpu(result, members))


def _written_per_1000(result: LoadResult, members: Sequence[str]) -> float | None:
    return _per_1000(result, _written(result, members))


def _per_1000(result: LoadResult, value: float | None) -> float | None:
    stored = result.audit.stored_rows if result.audit.reads else 0
    return _scaled(value, 1000 / stored if stored else None)


def _scaled(value: float | None, factor: float | None) -> float | None:
    return None if value is None or factor is None else value * factor


GETTERS = (_cpu, _memory, _written, _cpu_per_1000, _written_per_1000)
