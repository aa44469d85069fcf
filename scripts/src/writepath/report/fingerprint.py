"""Lists what a suite ran on: versions, effective settings, host, seed, dataset and commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from writepath.records.index import cell_name
from writepath.report.model import Column, Row, Table, number, text
from writepath.report.rows import replaced_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from writepath.records.index import Index
    from writepath.records.measures import Code, DatasetFacts, Host
    from writepath.report.data import CellData, SuiteData

    Fact = tuple[str, str, str]  # of what, name, value

R = TypeVar("R")

TITLE = "Fingerprint"
CAPTION = "Settings are the values that the running store or broker reported, not those that were requested."
EVERY = "all"
COLUMNS = (
    Column(key="fact_group", title="group"),
    Column(key="fact", title="fact"),
    Column(key="fact_value", title="value"),
    Column(key="fact_variants", title="variants"),
)
GIB = 1 << 30
SHORT_HASH = 12


def fingerprint(data: SuiteData[R], of_kind: Iterable[tuple[str, str]]) -> Table:
    """One line per fact; facts that all rows share are one line. of_kind: facts of the suite that its kind knows."""
    lines = [row("suite", name, value, EVERY) for name, value in _suite_facts(data.index, of_kind)]
    names = [cell_name(key.variant.name, dict(key.levels)) for key in data.rows]
    found: dict[Fact, list[str]] = {}
    for name, key in zip(names, data.rows, strict=True):
        for fact in dict.fromkeys(fact for one in data.shown(key) for fact in _cell_facts(one)):
            found.setdefault(fact, []).append(name)
    order = {group: index for index, group in enumerate(("host", "version", "setting"))}
    for (group, what, value), of in sorted(found.items(), key=lambda item: (order[item[0][0]], item[0][1])):
        lines.append(row(group, what, value, EVERY if of == names else ", ".join(of)))
    return Table(key="fingerprint", title=TITLE, caption=CAPTION, columns=COLUMNS, rows=tuple(lines))


def of_blocks(
    suite: Iterable[tuple[str, str]], facts: Iterable[tuple[str, Fact]], *names: Iterable[str]
) -> Table:
    """One line a fact of suite runs whose records have each their own: facts of the suite, then those of variants.

    names: of all variants, and of all blocks; a fact that all of either share is everybody's.
    """
    rows = [row("suite", what, value, EVERY) for what, value in suite]
    of: dict[Fact, dict[str, None]] = {}
    for name, fact in facts:
        of.setdefault(fact, {})[name] = None
    everywhere = [set(those) for those in names]
    for (group, what, value), those in sorted(of.items(), key=lambda item: item[0][:2]):
        shared = any(every <= set(those) for every in everywhere)
        rows.append(row(group, what, value, EVERY if shared else ", ".join(those)))
    return Table(key="fingerprint", title=TITLE, caption=CAPTION, columns=COLUMNS, rows=tuple(rows))


def of_code(code: Code) -> str:
    """Short, with what is not in it."""
    return code.commit[:SHORT_HASH] + (" with local changes" if code.dirty else "")


def of_dataset(dataset: DatasetFacts) -> str:
    """Name, size and the beginning of its digest."""
    return f"{dataset.name}, {dataset.lines:,} lines, sha256 {dataset.sha256[:SHORT_HASH]}…"


def of_host(host: Host) -> Iterator[Fact]:
    """What the machine is."""
    yield "host", "processor", f"{host.cpu_model}, {host.cores} cores"
    yield "host", "memory", f"{number(host.memory_bytes / GIB)} GiB"
    yield "host", "kernel", host.kernel
    yield "host", "filesystem of the stores", host.filesystem


def hosts(data: SuiteData[R]) -> tuple[str, ...]:
    """The hosts of its cells, by processor; of several each with all its facts."""
    known = dict.fromkeys(
        tuple(value for *_, value in of_host(one.record.host))
        for one in data.cells
        if one.record.host is not None
    )
    return tuple(", ".join(facts) if len(known) > 1 else facts[0] for facts in known)


def in_one_line(data: SuiteData[R], load: str) -> str:
    """Where, when and how it was measured, for the page. load: in words."""
    index, found = data.index, hosts(data)
    where = f"{index.runtime} runtime" + (f" on {' and '.join(found)}" if found else "")
    count = "one repetition" if index.repetitions == 1 else f"{index.repetitions} repetitions"
    said = f"Suite {index.suite}, {index.started_at}, {where}; {count}; load: {load}. {replaced_note(index)}"
    return said.rstrip()


def _suite_facts(index: Index, of_kind: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    yield "name", f"{index.suite}, started {index.started_at}"
    yield "runtime", index.runtime
    yield from of_kind
    yield "repetitions", str(index.repetitions)
    yield "seed", str(index.seed)
    yield "dataset", of_dataset(index.dataset)
    yield "commit", of_code(index.code)
    for factor in index.factors:
        yield f"{factor.name}, varied", ", ".join(factor.levels)
    for name, value in sorted(index.settings.items()):
        yield f"{name}, set for all cells", value


def _cell_facts(one: CellData[R]) -> Iterator[Fact]:
    record = one.record
    if record.host is not None:
        yield from of_host(record.host)
    for name, value in record.versions.items():
        yield "version", name, value
    if record.durability is not None:
        for name, value in record.durability.settings.items():
            yield "setting", name, value


def row(group: str, fact: str, value: str, variants: str) -> Row:
    """One line."""
    return Row(cells=(text(group), text(fact), text(value), text(variants)))
