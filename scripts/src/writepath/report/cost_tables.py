"""Which tables say what a variant cost, and whether it kept its word? Resources, audit, runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.report import rows
from writepath.report.model import ABSENT, Cell, Column, Row, Table, cell, text
from writepath.report.rows import Field, count
from writepath.result.earlier import FIRST_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from writepath.report.figures import Figures, SuiteFigures
    from writepath.result import Audit, Resource

MIB = 1 << 20
ALL = "all but k6"
GENERATOR = "k6"

NOTE_WRITTEN = (
    f"Written: bytes to disk. Where the runtime cannot count them per component, the row '{ALL}' shows the bytes that"
    " all disks of the host took during the load, including the file system's journal and the load generator's ledger."
)

RESOURCE_COLUMNS = (
    rows.VARIANT,
    Column(key="component", title="component"),
    Column(key="cpu_s", title="CPU", unit="s"),
    Column(key="rss_peak_mib", title="peak memory", unit="MiB"),
    Column(key="written_mib", title="written", unit="MiB"),
    Column(key="cpu_s_per_1000", title="CPU per 1,000 writes", unit="s"),
    Column(key="written_mib_per_1000", title="written per 1,000 writes", unit="MiB"),
)


def resources(figures: SuiteFigures) -> Table:
    """What each component used while the load ran."""
    body: list[Row] = []
    for variant in figures.suite.variants:
        runs = [run for run in figures.shown(variant.name) if run.resources]
        names = dict.fromkeys(name for run in runs for name in run.resources)
        components = [name for name in names if name != GENERATOR]
        groups: list[tuple[str, list[str]]] = [(ALL, components)] if components else []
        groups += [(name, [name]) for name in [*components, *(n for n in names if n == GENERATOR)]]
        for name, members in groups:
            cells = tuple(cell(get(run, members) for run in runs) for get in RESOURCE_GETTERS)
            body.append(
                Row(cells=(text(rows.label(figures, variant)), text(name), *cells), mark=rows.mark(runs))
            )
    return Table(
        key="resources",
        title="Resources",
        caption="Sampled every second during the load, without the drain. A component is all its instances and child"
        " processes. Writes are rows stored. Short runs measure a JVM that is still compiling, so CPU per write is"
        " higher here than in the capacity suite. " + rows.spread_note(figures),
        columns=RESOURCE_COLUMNS,
        rows=tuple(body),
        notes=(
            f"{ALL}: the sum of the variant's components; its peak memory is the sum of their peaks.",
            NOTE_WRITTEN,
        ),
    )


def _sum(run: Figures, members: Sequence[str], get: Callable[[Resource], float | None]) -> float | None:
    values = [get(run.resources[name]) for name in members if name in run.resources]
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _cpu(run: Figures, members: Sequence[str]) -> float | None:
    return _sum(run, members, lambda used: used.cpu_seconds)


def _memory(run: Figures, members: Sequence[str]) -> float | None:
    return _scaled(_sum(run, members, lambda used: used.rss_peak_bytes), 1 / MIB)


def _written(run: Figures, members: Sequence[str]) -> float | None:
    """By component where the runtime can tell; else only for all of them, as what all disks of the host took."""
    known = _sum(run, members, lambda used: used.write_bytes)
    if known is None and run.resources.keys() - {GENERATOR} == set(members):
        known = run.disk_written_bytes
    return _scaled(known, 1 / MIB)


def cpu_s_per_1000(run: Figures) -> float | None:
    """Processor time of all components but the generator, per 1,000 rows stored."""
    return _cpu_per_1000(run, [name for name in run.resources if name != GENERATOR])


def _cpu_per_1000(run: Figures, members: Sequence[str]) -> float | None:
    return _scaled(_cpu(run, members), 1000 / run.stored_rows if run.stored_rows else None)


def _written_per_1000(run: Figures, members: Sequence[str]) -> float | None:
    return _scaled(_written(run, members), 1000 / run.stored_rows if run.stored_rows else None)


def _scaled(value: float | None, factor: float | None) -> float | None:
    return None if value is None or factor is None else value * factor


RESOURCE_GETTERS = (_cpu, _memory, _written, _cpu_per_1000, _written_per_1000)


def _audited(key: str, title: str, get: Callable[[Audit], int | None]) -> Field:
    def value(figures: Figures) -> int | None:
        audit = figures.run.audit
        return get(audit) if audit is not None and audit.reads else None

    return count(key, title, value)


def status(figures: Figures) -> str:
    """The run's verdict; invalid too where the sums of its raw files do not agree."""
    verdict = figures.run.verdict.status
    return "invalid" if figures.reasons and verdict == "valid" else verdict


ACKNOWLEDGED = count(
    "acknowledged",
    "acknowledged",
    lambda figures: figures.run.requests.acknowledged if figures.run.requests else None,
)
STORED = _audited("stored", "stored", lambda audit: audit.stored_rows)
LOST = _audited("lost", "lost", lambda audit: audit.lost + audit.stranded)
SPOILT = (
    _audited("duplicated", "duplicated", lambda audit: audit.duplicated),
    _audited("corrupted", "corrupted", lambda audit: audit.corrupted),
    _audited("unexpected", "unexpected", lambda audit: audit.unexpected + audit.rejected_present),
)
HARMLESS = (
    _audited("recovered", "recovered", lambda audit: audit.recovered),
    _audited("suppressed", "suppressed", lambda audit: audit.suppressed_duplicates),
    Field(column=Column(key="verdict", title="verdict"), get=status),
)
AUDIT = (
    ACKNOWLEDGED,
    STORED,
    LOST,
    _audited("vanished", "vanished", lambda audit: audit.vanished),
    *SPOILT,
    _audited("wrong_ack", "wrong ack", lambda audit: audit.wrong_ack),
    _audited("never_read", "never read", lambda audit: audit.never_read),
    _audited("late", "late", lambda audit: audit.late),
    *HARMLESS,
)
# Suites published with the first schema read the store once; their pages must derive as they were.
AUDIT_ONCE = (
    ACKNOWLEDGED,
    STORED,
    LOST,
    *SPOILT,
    _audited("wrong_echo", "wrong echo", lambda audit: audit.wrong_ack),
    *HARMLESS,
)


def audit(figures: SuiteFigures) -> Table:
    """Is what was acknowledged in the store, and nothing else?"""
    once = figures.suite.schema_version == FIRST_VERSION
    fields = AUDIT_ONCE if once else AUDIT
    reads = "" if once else ", after the drain and after a kill and restart of every store"
    return Table(
        key="audit",
        title="Audit",
        caption=f"The audit compares every acknowledged id with every id read back from the store{reads}. "
        + rows.spread_note(figures),
        columns=rows.columns(fields),
        rows=rows.by_variant(figures, fields),
    )


RUN_COLUMNS = (
    rows.VARIANT,
    Column(key="repetition", title="repetition", exact=True),
    Column(key="position", title="position", exact=True),
    Column(key="started_at", title="started"),
    Column(key="run_verdict", title="verdict"),
    Column(key="lateness_p99_ms", title="generator lateness, p99", unit="ms"),
    Column(key="generator_cpu_share", title="generator CPU, peak", unit="of one core"),
    Column(key="fsync_p50_ms", title="host fsync, median", unit="ms"),
    Column(key="reasons", title="reasons and notes"),
)


def runs(figures: SuiteFigures) -> Table:
    """Each run by itself, in the order they ran, with its verdict in words."""
    return Table(
        key="runs",
        title="Runs",
        caption="In the order they ran. The seed determines the order of the variants in each repetition."
        f" {rows.replaced_note(figures)}".rstrip(),
        columns=RUN_COLUMNS,
        rows=tuple(_run_row(one) for one in figures.runs),
    )


def _run_row(one: Figures) -> Row:
    run, generator = one.run, one.run.generator
    canary = run.host.before if run.host else None
    words = [*one.reasons, *run.verdict.notes]
    cells: tuple[Cell, ...] = (
        text(f"{run.title}{rows.AGAIN}" if run.again else run.title),
        cell([run.repetition]),
        cell([run.position]),
        text(run.started_at),
        text(status(one)),
        cell([generator.lateness_ms_p99 if generator else None]),
        cell([generator.cpu_share_peak if generator else None]),
        cell([canary.fsync_ms_p50 if canary else None]),
        text("; ".join(words) if words else ABSENT),
    )
    return Row(cells=cells, mark="" if one.counts else status(one))
