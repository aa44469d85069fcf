"""Golden master: every published figure as a reader sees it, and the result of every cell of the raw runs in `raw/`.

`python -m golden.figures` in tests/ records both with today's code: after a change that is meant to change figures, or
when suites are published. Recorded results are in the cells' cell.json, and in results.json of runs without an index.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from writepath.experiments import publish, read
from writepath.experiments.registry import kind_of
from writepath.records.base import from_data, to_data, write_json
from writepath.records.cell import save_cell
from writepath.records.measures import Host
from writepath.records.search import SearchMode
from writepath.report import faults
from writepath.report.capacity import by_host
from writepath.report.data import SuiteData
from writepath.report.facts import Facts
from writepath.report.model import Table, number, plain, shown
from writepath.report.rows import DAGGER

ROOT = Path(__file__).resolve().parents[3]
FILE = Path(__file__).with_name("figures.csv")
RAW = Path(__file__).with_name("raw")
INDEXED = ("load", "search", "faults")  # raw runs with every file of every cell
RESULTS = "results.json"  # of raw runs of which some steps are kept: by cell, its host and its result
FRONT = "front"  # README and docs/choosing.md
IDENTITY = {  # columns that say whose figures a row has; a table's row is known by those that it has
    *("host", "variant", "phase", "component", "compared_metric", "measured", "repetition"),
    *("fact_group", "fact", "fact_value", "limited_bracket", "cost_rate", "share_of", "ceiling"),
    *("step_block", "step_number", "search_mode", "keyword", "ratio_of", "ratio_by", "ratio_setting"),
    *("fault", "twin", "read_measured", "theirs_or_ours", "cause_seen_by", "cause", "found_step"),
    *("effect_metric", "effect_factors"),
}
JOINT = " | "
FACTS = ("rate_per_s", "load_host", "load_slo_ms", "posts_searched")


class Key(NamedTuple):
    """Where a figure is."""

    page: str  # name of the suite; faults by runtime
    table: str
    row: str
    column: str


Figures = dict[Key, str]
Suites = Mapping[str, SuiteData[Any]]


def of_tables(page: str, built: Iterable[Table]) -> Figures:
    """Every cell of every table; ValueError where two rows have the same identity."""
    found: Figures = {}
    for table in built:
        rows: set[str] = set()
        for row in table.rows:
            cells = {
                column.key: shown(cell, column).replace(f" {DAGGER}", "")
                for cell, column in zip(row.cells, table.columns, strict=True)
            }
            name = JOINT.join(text for key, text in cells.items() if key in IDENTITY)
            if not name or name in rows:
                raise ValueError(f"{page}: table {table.key}: the row '{name}' is not unique")
            rows.add(name)
            found |= {
                Key(page, table.key, name, key): text for key, text in cells.items() if key not in IDENTITY
            }
    return found


def suite_pages(suites: Suites) -> Iterator[Figures]:
    """Tables of every suite's page."""
    for name, data in suites.items():
        yield of_tables(name, kind_of(data.index.kind).report(data).tables)


def resolutions(suites: Suites) -> Iterator[Figures]:
    """Of capacity suites, the resolution of each host."""
    for name, data in suites.items():
        for host, own in by_host(data) if data.index.kind == "capacity" else ():
            key = Key(name, "resolution", host, "resolution_percent")
            ratios = " ".join(f"{ratio:.2f}" for ratio in own.control_ratios)
            yield {key: number(100 * own.resolution), key._replace(column="control_ratios"): ratios}


def fault_pages(suites: Suites) -> Iterator[Figures]:
    """What docs/durability.md quotes of suites of faults, and how much they cover."""
    for name, data in suites.items():
        if data.index.kind == "faults":
            struck = faults.struck(data)
            yield of_tables(name, [faults.evidence(struck)])
            correct = [one for one in struck if one.correct]
            figures = {
                "faults": faults.faults_in(correct),
                "losing": sum(one.result.losing for one in correct if one.counts),
                "control_faults": faults.faults_in(one for one in struck if not one.correct),
            }
            yield {Key(name, "coverage", "all", column): str(count) for column, count in figures.items()}


def front_pages(suites: Suites) -> Iterator[Figures]:
    """What README and docs/choosing.md quote."""
    facts = publish.published_facts(suites)
    for name in FACTS:
        yield {Key(FRONT, "facts", "all", name): _said(getattr(facts, name))}
    for variant in facts.variants:
        yield _of_path(facts, variant.name)
    searches: tuple[tuple[str, SearchMode], ...] = (
        ("jpa", "substring"), ("elasticsearch", "substring"), ("elasticsearch", "native")
    )  # fmt: skip
    for family, mode in searches:
        found = facts.fastest_search(family, mode)
        key = Key(FRONT, "fastest_search", JOINT.join((family, mode)), "title")
        yield {key: facts.title(found), key._replace(column="first_pages_ms"): facts.first_pages_ms(found)}
        yield {key._replace(column="recall_percent"): facts.recall_percent(found)}
    yield from _of_kills(facts)


def _of_path(facts: Facts, name: str) -> Figures:
    """Of one write path."""
    getters: Mapping[str, Callable[[str], object]] = {
        "p99_ms": facts.p99_ms,
        "median_ms": facts.median_ms,
        "acknowledged_ms": lambda path: facts.p99_ms(path, "acknowledged"),
        "durable_ms": lambda path: facts.p99_ms(path, "durable"),
        "searchable_ms": lambda path: facts.median_ms(path, "searchable"),
        "searchable_ms_p99": lambda path: facts.p99_ms(path, "searchable"),
        "durability_class": facts.durability_class,
        "sustainable": facts.sustainable,
        "goodput_at_double": lambda path: facts.goodput_at_double(path) if facts.overloaded(path) else None,
        "cpu_s_at_common_rate": lambda path: facts.cpu_s(path, facts.common_rate_per_s),
        "cpu_s_at_highest_rate": lambda path: facts.cpu_s(path, None),
        "loss": facts.loss,
    }
    title = facts.title(name)
    return {Key(FRONT, "paths", title, column): _said(get(name)) for column, get in getters.items()}


def _of_kills(facts: Facts) -> Iterator[Figures]:
    """What kills lost: of the paths, and of their weakened controls."""
    for name, fault in (
        ("jpa", "kill-database"),
        ("jpa-no-fsync", "power-cut-database"),
        ("rabbitmq-jpa-classic", "power-cut-broker"),
        ("rabbitmq-jpa", "kill-database"),
        ("rabbitmq-jpa", "kill-broker"),
        ("elasticsearch-1s0r", "kill-index"),
        ("jpa-async-commit", "kill-database"),
        ("rabbitmq-jpa-transient", "kill-broker-backlog"),
        ("rabbitmq-jpa-unconfirmed", "kill-broker"),
        ("rabbitmq-jpa-not-mandatory", "delete-binding"),
        ("rabbitmq-jpa-auto-ack", "kill-consumer-backlog"),
        ("elasticsearch-1s0r-async", "kill-index"),
        ("elasticsearch-1s0r-auto-ids", "blackhole-from-index"),
    ):
        kills, row = facts.kills(name, fault), JOINT.join((name, fault))
        columns = {"faults": "effective", "losing": "losing", "errors": "failed_requests"}
        for column in (*columns, "recovery_s_median", "recovery_s_max"):
            found = getattr(kills, columns.get(column, column))
            yield {Key(FRONT, "kills", row, column): _said(found)}


def _said(value: object) -> str:
    """A text as it is; – where there is no figure."""
    if isinstance(value, int | float):
        return plain(value) if isinstance(value, int) else number(value)
    return "–" if value is None else str(value)


def published() -> Figures:
    """Everything that is published."""
    suites = {folder.name: read.published(folder) for folder in publish.published_suites(ROOT)}
    found: Figures = {}
    for pages in (suite_pages, resolutions, fault_pages, front_pages):
        for figures in pages(suites):
            found |= figures
    return found


def recorded() -> Figures:
    """As recorded."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return {Key(*key): value for *key, value in list(csv.reader(file))[1:]}


def differences(before: Figures, now: Figures) -> list[str]:
    """In words: figures that changed, are missing or are new."""
    keys = dict.fromkeys((*before, *now))
    pairs = {key: (before.get(key, "missing"), now.get(key, "missing")) for key in keys}
    return [f"{key}: {one}, now {other}" for key, (one, other) in pairs.items() if one != other]


def results(file: Path) -> dict[str, Any]:
    """What results.json must be: every cell's result derived from its raw files."""

    def derived(cell: str, host: Any) -> dict[str, Any]:
        kind = kind_of("ceilings" if "@ceilings" in cell else "capacity")
        return to_data(kind.derive(kind.reduce(file.parent / cell, from_data(Host, host, cell))))

    saved = json.loads(file.read_text(encoding="utf-8"))
    return {cell: {"host": one["host"], "result": derived(cell, one["host"])} for cell, one in saved.items()}


def record() -> None:
    """Writes published figures in the pages' order, and the results of the raw runs."""
    now = published()
    with FILE.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow((*Key._fields, "value"))
        lines.writerows((*key, value) for key, value in now.items())
    for saved in RAW.glob(f"*/{RESULTS}"):
        write_json(results(saved), saved)
    for kind in INDEXED:
        for cell in read.raw(RAW / kind).all_cells:
            save_cell(replace(cell.record, result=to_data(cell.result)), RAW / kind / cell.entry.folder)


if __name__ == "__main__":
    record()
