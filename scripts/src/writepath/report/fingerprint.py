"""Lists what a suite ran on: versions, effective settings, host, seed, dataset and commit."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from writepath.records.cell import CellRecord
from writepath.records.index import Index, cell_name
from writepath.records.measures import Code, DatasetFacts, Host
from writepath.report.data import SuiteData
from writepath.report.model import Column, Table, number, row_of
from writepath.report.rows import replaced_note

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
    names = [cell_name(key.variant.name, dict(key.levels)) for key in data.rows]
    facts = [
        (name, fact)
        for name, key in zip(names, data.rows, strict=True)
        for one in data.shown(key)
        for fact in _cell_facts(one.record)
    ]
    groups = ("host", "version", "setting")
    return _table(
        _suite_facts(data.index, of_kind), facts, names, key=lambda fact: (groups.index(fact[0]), fact[1])
    )


def _table(
    suite: Iterable[tuple[str, str]],
    facts: Iterable[tuple[str, Fact]],
    *everywhere: Iterable[str],
    key: Callable[[Fact], tuple[object, ...]],
) -> Table:
    """Facts of the suite, then those of its parts by their names; what all names of an `everywhere` share is of all."""
    of: dict[Fact, dict[str, None]] = {}
    for name, fact in facts:
        of.setdefault(fact, {})[name] = None
    wholes = [set(names) for names in everywhere]
    shared = [any(whole <= own.keys() for whole in wholes) for own in of.values()]
    where = {
        fact: EVERY if all_ else ", ".join(own) for (fact, own), all_ in zip(of.items(), shared, strict=True)
    }
    rows = [row_of("suite", what, value, EVERY) for what, value in suite]
    rows += [row_of(*fact, where[fact]) for fact in sorted(of, key=key)]
    return Table(key="fingerprint", title=TITLE, caption=CAPTION, columns=COLUMNS, rows=tuple(rows))


def by_blocks(data: SuiteData[R], of_kind: Iterable[tuple[str, str]]) -> Table:
    """As `fingerprint`, of a suite whose blocks may have been added from other hosts, days and commits.

    A fact that all variants or all blocks share is everybody's.
    """
    records = [cell.record for cell in data.cells]
    found: list[tuple[str, Fact]] = []
    for one in records:
        own = list(_cell_facts(one))
        found += [(f"block {one.block}" if fact[0] == "host" else one.variant, fact) for fact in own]
        if one.durability is not None:
            found.append((one.variant, ("setting", "durability class", one.durability.level)))
    for tool in data.references:
        found += [(tool.record.kind, ("version", *item)) for item in tool.record.versions.items()]
    names = [one.variant for one in records], [f"block {one.block}" for one in records]
    suite = _facts_of_blocks(data.index, records, of_kind)
    return _table(suite, found, *names, key=lambda fact: fact[:2])


def _facts_of_blocks(
    index: Index, records: Sequence[CellRecord], of_kind: Iterable[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    yield "name", f"{index.suite}, started {index.started_at}"
    yield "runtime", index.runtime
    yield from of_kind
    yield "blocks", str(index.repetitions)
    if index.baseline is not None:
        yield "baseline", index.baseline
    yield "seed", ", ".join(dict.fromkeys(str(one.seed) for one in records)) or str(index.seed)
    for dataset in dict.fromkeys((index.dataset, *(one.dataset for one in records))):
        yield "dataset", of_dataset(dataset)
    codes = dict.fromkeys(one.code for one in records)
    yield "commit", of_code(next(iter(codes))) if len(codes) == 1 else f"{len(codes)} different commits"
    for code in codes if len(codes) > 1 else ():
        of = [f"{one.variant} block {one.block}" for one in records if one.code == code]
        yield f"commit {of_code(code)}", ", ".join(of)
    for name, value in sorted(index.settings.items()):
        yield f"{name}, set by the user", value


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


def _cell_facts(record: CellRecord) -> Iterator[Fact]:
    if record.host is not None:
        yield from of_host(record.host)
    for name, value in record.versions.items():
        yield "version", name, value
    if record.durability is not None:
        for name, value in record.durability.settings.items():
            yield "setting", name, value
