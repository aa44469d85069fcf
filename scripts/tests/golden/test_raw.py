"""Every figure of the recorded raw runs follows from their raw files, kind by kind."""

import math
import re
from collections.abc import Collection, Iterator
from typing import Any

import pytest

from golden import raw_figures
from golden.compare import differences
from golden.raw_figures import golden

# Records keep thousandths of a millisecond. The times of schedule and visibility are not whole microseconds, and were
# rounded after differences of milliseconds since the epoch, as floats that are 0.0002 ms apart: one unit may differ.
ROUNDED = (
    "planned_latency_ms",
    "lateness",
    "visible",
    "search_latency_ms",
    "write_latency_ms",
    "alone_latency_ms",
)
DIGITS, UNIT_MS = 3, 0.0011
SAMPLED = 1.5e-6  # evidence of load steps keeps millionths of a sampled value
LOAD_NOT_FIGURES = {  # of a load's record: what the run was, in cell.json and facts.json as it was
    *(
        "schema_version",
        "run_id",
        "suite",
        "variant",
        "title",
        "family",
        "acknowledges",
        "scenario",
        "repetition",
    ),
    *("position", "runtime", "seed", "overrides", "dataset", "code", "started_at", "finished_at", "outcome"),
    *("error", "again", "durability", "host", "versions", "timings"),
}
LOAD_NAMES = {  # of a load's record: the same in its result
    "throughput.mean_per_s": "achieved_per_s",
    "throughput.peak_per_s": "achieved_peak_per_s",
    "host.foreign_cpu_share": "foreign_cpu_share",
}
LOAD_EXCEPTIONS = {  # the only fields of a load's record or result that are not compared
    "phases.throughput": "until the phase's last 201, and a peak; achieved_per_s is over the phase's duration",
    "phases.achieved_per_s": "not in the record; table phases compares it",
    "phases.planned_latency_ms": "not in the record; table phases compares it",
    "durable_of_acknowledged_ms": "not in the record; table clocks compares it",
    "answers": "not in the record; table answers compares it",
    "planned_per_s": "not in the record; table throughput compares it",
    "planned_peak_per_s": "not in the record; table throughput compares it",
    "queue_peak": "not in the record; table throughput compares it",
    "disk_written_bytes": "not in the record; table resources compares it",
    "completed": "new: the sum of requests.by_status without 0",
    "answered_per_s": "new: completed over the seconds of achieved_per_s",
    "durable_later": "new: says which clocks are shown",
    "order.inversions": "no figure any more; order.overtaken_share says whether the order was kept",
    "notes": "new, and empty: the record's are in its verdict",
}
RUN = "jpa/block-01"  # of kind capacity
FAULTS = {"requests", "audit", "order", "trials", "status", "reasons"}
FACTS = {  # what only the running system knew, the audit's own clock, and what is no figure any more
    "audit.seconds",
    "order.redelivered",
    "order.inversions",
}


NUMBERS = re.compile(r"\.\d+(?=\.|$)")  # of list entries


def differing(name: str, recorded: Any, derived: Any, facts: Collection[str] = FACTS) -> Iterator[str]:
    """In words; what the record has and nothing derives is a difference, unless it is a fact."""
    if isinstance(recorded, dict) and isinstance(derived, dict):
        for key in recorded.keys() | derived.keys():
            part = f"{name}.{key}" if name else key
            if NUMBERS.sub("", part) not in facts:
                yield from differing(part, recorded.get(key), derived.get(key), facts)
    elif isinstance(recorded, list) and isinstance(derived, list) and len(recorded) == len(derived):
        for number, (mine, theirs) in enumerate(zip(recorded, derived, strict=True)):
            yield from differing(f"{name}.{number}", mine, theirs, facts)
    elif not _agree(name, recorded, derived):
        yield f"{name}: {recorded}, derived {derived}"


def _agree(name: str, recorded: Any, derived: Any) -> bool:
    if isinstance(recorded, float) and isinstance(derived, int | float):
        unit = (
            UNIT_MS if any(word in name for word in ROUNDED) else SAMPLED if "cpu_seconds" in name else 1e-9
        )
        return math.isclose(recorded, derived, abs_tol=unit) or recorded == round(derived, DIGITS)
    return bool(recorded == derived)


def cells(kind: str, variants: str = "") -> list[str]:
    return [cell for cell in golden(kind)["records"] if cell.startswith(variants)]


def of(record: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: record[name] for name in names}


def result_of(record: dict[str, Any]) -> dict[str, Any]:
    """Every figure of a load's record, by its name in the result."""
    split = {old: old.partition(".")[::2] for old in LOAD_NAMES}
    left_out = {group for group, _ in split.values()} | LOAD_NOT_FIGURES
    figures = {name: value for name, value in record.items() if name not in left_out}
    return figures | {LOAD_NAMES[old]: record[group][name] for old, (group, name) in split.items()}


@pytest.mark.parametrize("cell", cells("load"))
def test_a_load_gives_every_figure_of_its_record(cell: str) -> None:
    record, derived = golden("load")["records"][cell], raw_figures.load_cell(cell)
    assert record["throughput"].keys() == {"mean_per_s", "peak_per_s"}
    assert [*differing("", result_of(record), derived, LOAD_EXCEPTIONS)] == []


def test_the_loads_are_valid_as_recorded() -> None:
    recorded = [golden("load")["records"][cell]["verdict"] for cell in cells("load")]
    assert [of(raw_figures.load_cell(cell)["verdict"], recorded[0]) for cell in cells("load")] == recorded
    assert [verdict["status"] for verdict in recorded] == ["valid", "valid"]


def test_what_is_not_compared_of_a_load_is_in_its_record_or_its_result() -> None:
    known = {name for cell in cells("load") for name in names(raw_figures.load_cell(cell))}
    known |= {name for cell in cells("load") for name in names(golden("load")["records"][cell])}
    assert LOAD_EXCEPTIONS.keys() <= known


def names(value: Any, name: str = "") -> Iterator[str]:
    """Of all parts, without the numbers of list entries."""
    yield NUMBERS.sub("", name)
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from names(part, f"{name}.{key}" if name else str(key))


def test_a_fault_cell_gives_every_figure_of_its_record() -> None:
    (record,), derived = golden("faults")["records"].values(), raw_figures.fault_cell()
    assert [*differing("", of(record, FAULTS), of(derived, FAULTS))] == []


@pytest.mark.parametrize("place", [0, 1], ids=["ramp", "confirmation"])
def test_a_load_step_gives_every_figure_of_its_record(place: int) -> None:
    recorded, derived = (run["steps"][place] for run in (golden("capacity")["records"][RUN], raw_run()))
    assert [*differing("", recorded, derived, ())] == []


def test_an_overload_gives_every_figure_of_its_record() -> None:
    recorded = golden("capacity")["records"][RUN]["overload"]
    assert [*differing("", recorded, raw_run()["overload"], ())] == []


def test_the_tools_output_gives_every_ceiling() -> None:
    tools = [cell for cell in cells("capacity") if "@ceilings" in cell]
    recorded = [one for cell in tools for one in golden("capacity")["records"][cell]["ceilings"]]
    derived = [one for cell in tools for one in raw_figures.capacity_cell(cell)["ceilings"]]
    assert len(recorded) == 6
    assert [*differing("", recorded, derived, ())] == []


@pytest.mark.parametrize("cell", cells("search"))
def test_rounds_of_searches_give_every_figure_of_their_record(cell: str) -> None:
    recorded, derived = golden("search")["records"][cell], raw_figures.search_cell(cell)
    assert derived["data_set"]["loading"] == recorded["loading"]
    assert derived["hits"] == recorded["hits"]
    rounds = {(one["keyword"], one["kind"], one["round"]): one["latency_ms"] for one in recorded["rounds"]}
    assert rounds == {
        (one["keyword"], one["kind"], number): ms
        for one in derived["times"]
        for number, ms in enumerate(one["rounds_ms"], 1)
    }


@pytest.mark.parametrize("cell", cells("search-capacity"))
def test_steps_of_searches_and_searches_during_writes_give_every_figure_of_their_record(cell: str) -> None:
    recorded = golden("search-capacity")["records"][cell]
    derived = raw_figures.capacity_cell(cell, "search-capacity")
    assert [*differing("", recorded["steps"], derived["steps"], ())] == []
    during = {
        **recorded["during_writes"],
        "rerun_host": None,
    }  # the record was made before a rerun had its host
    assert [*differing("", during, derived["searches"]["during_writes"], ())] == []


def raw_run() -> dict[str, Any]:
    return raw_figures.capacity_cell(RUN)


@pytest.mark.parametrize("kind", raw_figures.KINDS)
def test_the_tables_of_a_raw_run_are_as_recorded(kind: str) -> None:
    assert differences(raw_figures.golden_tables(kind), raw_figures.tables_of(kind)) == []


def test_another_figure_and_a_missing_one_are_differences() -> None:
    record = {"requests": {"planned": 3, "started": 3}, "audit": {"seconds": 1.0}}
    assert sorted(differing("", record, {"requests": {"planned": 4}, "audit": {}})) == [
        "requests.planned: 3, derived 4",
        "requests.started: 3, derived None",
    ]
