"""The table of what each component used while the load ran."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from writepath.experiments.load import tables
from writepath.records.load import LoadResult
from writepath.report import rows
from writepath.report.model import Column, Table

if TYPE_CHECKING:
    from writepath.experiments.load.tables import Suite
    from writepath.records.measures import Resource
    from writepath.report.rows import Field

MIB = 1 << 20
ALL, GENERATOR = "all but k6", "k6"
WRITTEN = (
    f"Written: bytes to disk. Where the runtime cannot count them per component, the row '{ALL}' shows the bytes that"
    " all disks of the host took during the load, including the file system's journal and the load generator's ledger."
)
Used = tuple[LoadResult, Sequence[str]]  # of these components together


def _sum(used: Used, get: Callable[[Resource], float | None], scale: float = 1.0) -> float | None:
    result, members = used
    values = [get(result.resources[name]) for name in members if name in result.resources]
    known = [value for value in values if value is not None]
    return sum(known) / scale if known and len(known) == len(values) else None


def _written(used: Used) -> float | None:
    """By component where the runtime can tell; else only for all of them, as what all disks of the host took."""
    result, members = used
    known = _sum(used, lambda one: one.write_bytes)
    if known is None and result.resources.keys() - {GENERATOR} == set(members):
        known = result.disk_written_bytes
    return None if known is None else known / MIB


def _cpu_s(used: Used) -> float | None:
    return _sum(used, lambda one: one.cpu_seconds)


def _per_1000(get: Callable[[Used], float | None]) -> Callable[[Used], float | None]:
    """Per 1,000 rows stored."""

    def per_1000(used: Used) -> float | None:
        value, audited = get(used), used[0].audit
        stored = audited.stored_rows if audited.reads else 0
        return value * (1000 / stored) if value is not None and stored else None

    return per_1000


def cpu_s_per_1000(result: LoadResult) -> float | None:
    """Processor time of all components but the generator, per 1,000 rows stored."""
    return _per_1000(_cpu_s)((result, [name for name in result.resources if name != GENERATOR]))


RESOURCES: tuple[Field[Used], ...] = (
    rows.field("cpu_s", "CPU", _cpu_s, "s"),
    rows.field(
        "rss_peak_mib", "peak memory", lambda used: _sum(used, lambda one: one.rss_peak_bytes, MIB), "MiB"
    ),
    rows.field("written_mib", "written", _written, "MiB"),
    rows.field("cpu_s_per_1000", "CPU per 1,000 writes", _per_1000(_cpu_s), "s"),
    rows.field("written_mib_per_1000", "written per 1,000 writes", _per_1000(_written), "MiB"),
)


def resources(data: Suite) -> Table:
    """What each component used while the load ran, and all but the load generator together."""
    return Table(
        key="resources",
        title="Resources",
        caption="Sampled every second during the load, without the drain. A component is all its instances and child"
        " processes. Writes are rows stored. Short runs measure a JVM that is still compiling, so CPU per write is"
        f" higher here than in the capacity suite. {rows.spread_note(data.index)}",
        columns=(
            rows.VARIANT,
            Column(key="component", title="component"),
            *(one.column for one in RESOURCES),
        ),
        rows=rows.by_part(data, tables.label(data), _groups, RESOURCES),
        notes=(
            f"{ALL}: the sum of the variant's components; its peak memory is the sum of their peaks.",
            WRITTEN,
        ),
        names=2,
        compared=True,
    )


def _groups(results: Sequence[LoadResult]) -> list[tuple[str, list[Used]]]:
    """Names of lines, each with its components; the load generator last."""
    own = [result for result in results if result.resources]
    names = dict.fromkeys(name for result in own for name in result.resources)
    components = [name for name in names if name != GENERATOR]
    groups = {ALL: components} if components else {}
    groups |= {name: [name] for name in (*components, *(name for name in names if name == GENERATOR))}
    return [(name, [(result, members) for result in own]) for name, members in groups.items()]
