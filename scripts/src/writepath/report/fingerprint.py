"""Lists what a suite ran on: versions, effective settings, host, seed, dataset and commit."""

import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from writepath.analysis.verdict import CPU_SLOWER
from writepath.records.cell import CellRecord
from writepath.records.index import Index, cell_name
from writepath.records.measures import Code, Host
from writepath.report.data import SuiteData, host_name
from writepath.report.model import Column, Table, number, row_of
from writepath.report.rows import ONE_REPETITION, replaced_note

Fact = tuple[str, str, str]  # of what, name, value

R = TypeVar("R")

COLUMNS = (
    Column(key="fact_group", title="group"),
    Column(key="fact", title="fact"),
    Column(key="fact_value", title="value"),
    Column(key="fact_variants", title="variants"),
)
EVERY = "all"
GROUPS = ("host", "version", "setting")
GIB = 1 << 30
SHORT_HASH = 12


def fingerprint(data: SuiteData[R], of_kind: Iterable[tuple[str, str]]) -> Table:
    """One line per fact; a fact that all cells or all blocks share is of all. of_kind: facts that its kind knows.

    Blocks may have been added from other hosts, days and commits.
    """
    records = [cell.record for cell in data.cells]
    of: dict[Fact, dict[str, None]] = {}
    for one in records:
        for fact in _cell_facts(one):
            of.setdefault(fact, {})[_block(one) if fact[0] == "host" else _cell(one)] = None
    for tool in data.references:
        for name, value in tool.record.versions.items():
            of.setdefault(("version", name, value), {})[tool.record.kind] = None
    wholes = [{name(one) for one in records} for name in (_block, _cell)]
    rows = [row_of("suite", *fact, EVERY) for fact in (*_suite_facts(data.index, records, of_kind),)]
    for fact, names in sorted(of.items(), key=lambda item: (GROUPS.index(item[0][0]), item[0][1])):
        shared = any(whole <= names.keys() for whole in wholes)
        rows.append(row_of(*fact, EVERY if shared else ", ".join(names)))
    return Table(
        key="fingerprint",
        title="Fingerprint",
        caption="Settings are the values that the running store or broker reported, not those that were requested.",
        columns=COLUMNS,
        rows=tuple(rows),
    )


def _block(record: CellRecord) -> str:
    return f"block {record.block}"


def _cell(record: CellRecord) -> str:
    return cell_name(record.variant, record.levels)


def _suite_facts(
    index: Index, records: Sequence[CellRecord], of_kind: Iterable[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    yield "name", f"{index.suite}, started {index.started_at}"
    yield "runtime", index.runtime
    yield from of_kind
    yield "repetitions", str(index.repetitions)
    if index.baseline is not None:
        yield "baseline", index.baseline
    yield "seed", ", ".join(dict.fromkeys(str(one.seed) for one in records)) or str(index.seed)
    for dataset in dict.fromkeys((index.dataset, *(one.dataset for one in records))):
        yield "dataset", f"{dataset.name}, {dataset.lines:,} lines, sha256 {dataset.sha256[:SHORT_HASH]}…"
    codes = dict.fromkeys(one.code for one in records)
    yield "commit", _of_code(next(iter(codes))) if len(codes) == 1 else f"{len(codes)} different commits"
    for code in codes if len(codes) > 1 else ():
        of = [f"{one.variant} {_block(one)}" for one in records if one.code == code]
        yield f"commit {_of_code(code)}", ", ".join(of)
    for factor in index.factors:
        yield f"{factor.name}, varied", ", ".join(factor.levels)
    for name, value in sorted(index.settings.items()):
        yield f"{name}, set for all cells", value


def _of_code(code: Code) -> str:
    return code.commit[:SHORT_HASH] + (" with local changes" if code.dirty else "")


def of_host(host: Host) -> dict[str, str]:
    """What the machine is, by name."""
    return {
        "processor": host_name(host),
        "memory": f"{number(host.memory_bytes / GIB)} GiB",
        "kernel": host.kernel,
        "filesystem of the stores": host.filesystem,
    }


def hosts(data: SuiteData[R]) -> tuple[str, ...]:
    """The hosts of its cells, by processor; of several each with all its facts."""
    known = dict.fromkeys(
        tuple(of_host(one.record.host).values()) for one in data.cells if one.record.host is not None
    )
    return tuple(", ".join(facts) if len(known) > 1 else facts[0] for facts in known)


def in_one_line(data: SuiteData[R], load: str) -> str:
    """Where, when and how it was measured, for the page. load: in words."""
    index, found = data.index, hosts(data)
    where = f"{index.runtime} runtime" + (f" on {' and '.join(found)}" if found else "")
    count = "one repetition" if index.repetitions == 1 else f"{index.repetitions} repetitions"
    said = f"Suite {index.suite}, {index.started_at}, {where}; {count}; load: {load}."
    return " ".join(part for part in (said, _speed(data), replaced_note(index)) if part)


def _speed(data: SuiteData[R]) -> str:
    """How fast its hosts were, by the canaries of its cells: the same processor may be far slower another day."""
    took_ms = _canaries_ms(data)
    if not took_ms:
        return ""
    lowest, middle, highest = map(number, (min(took_ms), statistics.median(took_ms), max(took_ms)))
    told = f"Speed of the host: its fixed CPU task takes {middle} ms ({lowest}–{highest})."
    if (times := slowdown_times(data)) > 1:
        told += f" It changed by a factor of {number(times)}: smaller differences between cells may be the host's."
    return told


def slowdown_times(data: SuiteData[R]) -> float:
    """What the slowest canary took ÷ what the fastest took; 1 where that is usual, or no cell has one."""
    took_ms = _canaries_ms(data)
    times = max(took_ms) / min(took_ms) if took_ms else 1.0
    return times if times > CPU_SLOWER else 1.0


def repetition_note(data: SuiteData[R], figures: int) -> str:
    """What differences of one repetition may be; empty with several repetitions, or with a lone figure."""
    if data.index.repetitions > 1 or figures <= 1:
        return ""
    if (times := slowdown_times(data)) == 1:
        return ONE_REPETITION
    changed = f"the host's speed changed by a factor of {number(times)}"
    return f"One repetition, and {changed}: smaller differences may be noise."


def _canaries_ms(data: SuiteData[R]) -> list[float]:
    found = [one.record.host for one in data.cells if one.record.host is not None]
    return [canary.cpu_ms for host in found for canary in (host.before, host.after) if canary is not None]


def _cell_facts(record: CellRecord) -> Iterator[Fact]:
    found = {"version": record.versions}
    if (host := record.host) is not None:
        split = "shared by load generator and system" if host.split is None else host.split.words
        found["host"] = of_host(host) | {"processors": split}
    if (durability := record.durability) is not None:
        found["setting"] = {"durability class": durability.level} | durability.settings
    yield from ((group, *fact) for group, own in found.items() for fact in own.items())
