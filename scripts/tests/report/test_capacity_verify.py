"""Does every published number of a search for capacity follow from raw values, and is any forged one found?"""

from __future__ import annotations

import json
import lzma
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from writepath.errors import UsageError
from writepath.experiments import publish
from writepath.records.capacity import load_search
from writepath.report import capacity_compact, capacity_verify, hold_values, packed

if TYPE_CHECKING:
    from collections.abc import Callable

PUBLISHED = "results/published/capacity"
HOLDS = f"{PUBLISHED}/rabbitmq-jpa/block-01/holds.txt.xz"
SEARCH = f"{PUBLISHED}/jpa/block-01/search.json"
QUEUED = f"{PUBLISHED}/rabbitmq-jpa/block-01/search.json"


@pytest.fixture
def checkout(published_capacity: Path, tmp_path: Path) -> Path:
    """A copy of it to be spoiled."""
    return Path(shutil.copytree(published_capacity, tmp_path / "checkout"))


def changed(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data), encoding="utf-8")


def raw_of(root: Path) -> Path:
    return next((root / "results/capacity").iterdir())


def test_every_published_number_follows_from_the_published_raw_values(published_capacity: Path) -> None:
    assert publish.differences(published_capacity) == []
    assert capacity_verify.problems(published_capacity) == []


def test_the_published_values_are_those_of_the_raw_run(published_capacity: Path) -> None:
    assert capacity_verify.of_raw(published_capacity, raw_of(published_capacity)) == []


def test_the_planted_run_has_what_there_is_to_verify(published_capacity: Path) -> None:
    search = load_search(published_capacity / PUBLISHED / "rabbitmq-jpa/block-01")
    grown = [hold for hold in search.holds if hold.backlog is not None and hold.backlog.grows]
    assert grown
    assert any(hold.limited_by is not None and hold.limited_by.first is not None for hold in search.holds)
    assert {hold.verdict for hold in search.holds} == {"pass", "fail"}
    assert any(hold.requests.indeterminate for hold in search.holds)
    assert search.overload is not None
    assert search.overload.recovered_after_s is not None
    assert search.overload.backlog_drained_after_s is not None
    assert search.overload.generator_faults
    assert all(search.overload.phases[1].errors_by_hop.values())


FORGED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "requests.acknowledged": lambda hold: hold["requests"].update(acknowledged=7),
    "requests.by_status": lambda hold: hold["requests"].update(by_status={"201": 1}),
    "planned_latency_ms.p99": lambda hold: hold["planned_latency_ms"].update(p99=1.0),
    "planned_latency_ms.mean": lambda hold: hold["planned_latency_ms"].update(mean=9.0),
    "accept_latency_ms.p95": lambda hold: hold["accept_latency_ms"].update(p95=None),
    "accept_latency_ms.min": lambda hold: hold["accept_latency_ms"].update(min=0.5),
    "accept_latency_ms.max": lambda hold: hold["accept_latency_ms"].update(max=500.0),
    "generator.lateness_ms_p99": lambda hold: hold["generator"].update(lateness_ms_p99=0.1),
    "generator.lateness_ms_max": lambda hold: hold["generator"].update(lateness_ms_max=None),
    "generator.cpu_share_mean": lambda hold: hold["generator"].update(cpu_share_mean=0.22),
    "generator.cpu_share_peak": lambda hold: hold["generator"].update(cpu_share_peak=0.5),
    "generator.samples": lambda hold: hold["generator"].update(samples=60),
    "noise.foreign_cpu_share": lambda hold: hold["noise"].update(foreign_cpu_share=0.0),
    "drain_seconds": lambda hold: hold.update(drain_seconds=1.0),
    "stored_per_s": lambda hold: hold.update(stored_per_s=hold["stored_per_s"] + 1),
    "backlog.slope_per_s": lambda hold: hold["backlog"].update(slope_per_s=-9.0),
    "backlog.work_seconds": lambda hold: hold["backlog"].update(work_seconds=1.0),
    "backlog.grows": lambda hold: hold["backlog"].update(grows=not hold["backlog"]["grows"]),
    "resources.app.cpu_seconds": lambda hold: hold["resources"]["app"].update(cpu_seconds=0.5),
    "resources.app.write_bytes": lambda hold: hold["resources"]["app"].update(write_bytes=5),
    "limited_by": lambda hold: hold["limited_by"].update(
        first={"resource": "disk", "component": "host", "evidence": "100 %"}
    ),
    "verdict": lambda hold: hold.update(verdict="pass"),
    "burst": lambda hold: hold.update(burst=True),
    "reasons": lambda hold: hold.update(reasons=["it was late"]),
    "generator_bound": lambda hold: hold.update(generator_bound=True),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_number_of_a_hold_is_found(checkout: Path, name: str) -> None:
    changed(checkout / QUEUED, lambda search: FORGED[name](search["holds"][-1]))
    (found,) = capacity_verify.problems(checkout)[:1]
    assert f": {name}=" in found or f": {name} " in found
    assert "capacity/rabbitmq-jpa/block-01: step " in found


OVERLOAD: dict[str, Callable[[dict[str, Any]], Any]] = {
    "overload: capacity_per_s": lambda over: over.update(capacity_per_s=7.0),
    "overload: its raw values are not of the phases": lambda over: over["phases"][0].update(seconds=30.0),
    "overload: overload: planned": lambda over: over["phases"][1].update(planned=9),
    "overload: overload: acknowledged": lambda over: over["phases"][1].update(acknowledged=9),
    "overload: overload: goodput_per_s": lambda over: over["phases"][1].update(goodput_per_s=900.0),
    "overload: overload: errors_by_hop": lambda over: over["phases"][1]["errors_by_hop"].update(store=0),
    "overload: before: p95_ms": lambda over: over["phases"][0].update(p95_ms=9.0),
    "overload: overload: p95_ms": lambda over: over["phases"][1].update(p95_ms=9.0),
    "overload: recovered_after_s": lambda over: over.update(recovered_after_s=0.0),
    "overload: backlog_drained_after_s": lambda over: over.update(backlog_drained_after_s=1.0),
    "overload: generator_faults": lambda over: over.update(generator_faults=[]),
}


@pytest.mark.parametrize("name", OVERLOAD)
def test_a_forged_number_of_an_overload_is_found(checkout: Path, name: str) -> None:
    changed(checkout / QUEUED, lambda search: OVERLOAD[name](search["overload"]))
    found = capacity_verify.problems(checkout)
    assert any(problem.startswith(f"capacity/rabbitmq-jpa/block-01: {name}") for problem in found), found


def test_a_forged_rate_of_a_stretch_is_found(checkout: Path) -> None:
    changed(checkout / QUEUED, lambda search: search["overload"]["phases"][1].update(rate_per_s=1132.0001))
    found = capacity_verify.problems(checkout)
    assert [problem.split(": ", 1)[1] for problem in found] == [
        "overload: overload: rate_per_s=1132.0001 ≠ 2 × 566.0"
    ]


def test_a_forged_capacity_is_found(checkout: Path) -> None:
    changed(checkout / SEARCH, lambda search: search["sustained"].update(last_pass_per_s=9999.0))
    assert capacity_verify.problems(checkout) == [
        "capacity/jpa/block-01: sustained.last_pass_per_s=9999.0: no counted step of that rate passed",
        "capacity/jpa/block-01: overload: capacity_per_s=456.0 ≠ 9999.0, the highest passing rate",
    ]


def with_line(checkout: Path, whose: str, change: Callable[[str], str | None]) -> list[str]:
    """What is found where one line of the raw values is another, or is missing."""
    path = checkout / HOLDS
    lines = lzma.decompress(path.read_bytes()).decode().splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith(f"{whose} "))
    new = change(lines[at])
    packed.save([*lines[:at], *([] if new is None else [new]), *lines[at + 1 :]], path)
    return [problem.split(": ", 1)[1] for problem in capacity_verify.problems(checkout)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("0 1 0 0 1 1 1 0 11319", "audit=PASS ≠ 1 writes acknowledged, stored 0 times"),
        ("0 1 1 0 11318 1 2 0 2", "audit=PASS ≠ 2 writes acknowledged, stored 2 times"),
        ("0 1 1 0 11319 1 1 1 1", "audit=PASS ≠ 1 writes acknowledged, stored 1 times, with other content"),
        ("0 0 1 0 3 1 1 0 11320", "audit=PASS ≠ 3 writes never sent, stored 1 times"),
        ("5 1 1 0 11320", "audit=PASS ≠ 5 rows of no write of the load"),
        ("0 1 1 0 11319", "audit=PASS ≠ 11319 writes acknowledged, by the answers 11320"),
    ],
)
def test_rows_that_do_not_pass_contradict_an_audit_that_does(checkout: Path, line: str, words: str) -> None:
    assert with_line(checkout, "06/held", lambda _: f"06/held {line}") == [f"step 6: {words}"]


def test_an_audit_of_rows_that_were_not_read_is_found(checkout: Path) -> None:
    assert with_line(checkout, "06/held", lambda _: None) == ["step 6: audit=PASS ≠ no row was read back"]


def test_counts_of_an_overload_that_do_not_fit_its_plan_are_found(checkout: Path) -> None:
    found = with_line(checkout, "overload/good", lambda line: line.replace(" 2", " 1", 1))
    assert found == ["overload: its raw values are not of the phases in the record"]


def test_an_overload_without_raw_values_is_found(checkout: Path) -> None:
    path = checkout / HOLDS
    lines = lzma.decompress(path.read_bytes()).decode().splitlines()
    packed.save([line for line in lines if not line.startswith("overload/")], path)
    assert capacity_verify.problems(checkout) == ["capacity/rabbitmq-jpa/block-01: overload: no raw values"]
    found = capacity_verify.against_raw(checkout / PUBLISHED, raw_of(checkout))
    assert found == ["rabbitmq-jpa/block-01: the raw values of 'overload' differ from the raw run's"]


def test_raw_values_that_are_no_numbers_are_an_error_that_names_the_file(checkout: Path) -> None:
    with pytest.raises(UsageError, match=r"holds\.txt\.xz: its lines do not fit together"):
        with_line(checkout, "06/late", lambda _: "06/late none")


def test_forged_raw_values_are_found_by_the_record_and_by_the_raw_run(checkout: Path) -> None:
    def one_more(line: str) -> str:
        name, beyond, *rest = line.split()
        return " ".join([name, str(int(beyond) + 1), *rest])

    found = with_line(checkout, "06/planned", one_more)
    assert any(problem.startswith("step 6: requests.planned=") for problem in found)
    found = capacity_verify.against_raw(checkout / PUBLISHED, raw_of(checkout))
    assert found == ["rabbitmq-jpa/block-01: the raw values of step 6 differ from the raw run's"]


def test_a_hold_without_raw_values_is_found(checkout: Path) -> None:
    path = checkout / HOLDS
    lines = lzma.decompress(path.read_bytes()).decode().splitlines()
    packed.save([line for line in lines if not line.startswith("03/")], path)
    assert "capacity/rabbitmq-jpa/block-01: step 3: no raw values" in capacity_verify.problems(checkout)


def test_a_forged_number_of_a_raw_run_is_found(checkout: Path) -> None:
    path = raw_of(checkout) / "jpa/block-01/search.json"
    changed(path, lambda search: search["holds"][5]["requests"].update(dropped=3))
    found = capacity_verify.of_raw(checkout, raw_of(checkout))
    assert any(problem.startswith("jpa/block-01: step 6: requests.planned=") for problem in found)
    assert "jpa/block-01/search.json: differs from the raw run's" in found


def test_what_was_sampled_comes_back_bit_by_bit(published_capacity: Path) -> None:
    search = load_search(raw_of(published_capacity) / "rabbitmq-jpa/block-01")
    kept = capacity_compact.read(published_capacity / PUBLISHED / "rabbitmq-jpa/block-01")
    for hold in search.holds:
        raw = hold_values.from_raw(raw_of(published_capacity) / "rabbitmq-jpa/block-01", hold)
        assert raw.series.keys() == kept.holds[hold.number].series.keys()
        for key, samples in raw.series.items():
            for own, other in zip(kept.holds[hold.number].series[key], samples, strict=True):
                np.testing.assert_array_equal(own, other)
