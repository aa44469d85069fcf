"""A capacity suite of a real path with the stores' own tools, stopped and continued."""

import signal
from pathlib import Path

import pytest

from contract.subject import eventually
from own_checkout import Command, change, copied, latest
from writepath.experiments import read
from writepath.records.ceilings import BULK, CONSUMED, PGBENCH, PGBENCH_BATCH, PUBLISHED, SINGLE
from writepath.records.index import load_index

pytestmark = [pytest.mark.native, pytest.mark.timeout(1200)]
CEILINGS = {
    "postgres": {PGBENCH, PGBENCH_BATCH},
    "rabbitmq": {PUBLISHED, CONSUMED},
    "elasticsearch": {SINGLE, BULK},
}
ASKED = {"SUITE": "capacity", "VARIANTS": "jpa", "REPS": "1", "SLO_MS": "1000", "HOLD_SECONDS": "5"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """With short runs of the tools, and few rates: 1,000 requests at the lowest are as many as a p99 takes."""
    made = copied(tmp_path)
    for old, new in (
        ("{warm_up_seconds: 3, seconds: 15}", "{warm_up_seconds: 1, seconds: 3}"),
        (
            "{name: step, seconds: 60, from_per_s: 20, to_per_s: 6000}",
            "{name: step, seconds: 5, from_per_s: 200, to_per_s: 300}",
        ),
        ("warm_up: {requests: 12000, rate_per_s: 400}", "warm_up: {requests: 300, rate_per_s: 200}"),
    ):
        change(made, "suites.yaml", old, new)
    return made


def test_a_real_suite_is_stopped_continued_and_verified(checkout: Path) -> None:
    with Command(checkout, "bench-all", **ASKED) as command:

        def has_a_cell() -> bool:
            assert command.process.poll() is None, command.said()
            return (checkout / "results/latest").is_dir() and bool(load_index(latest(checkout)).cells)

        eventually(has_a_cell, "the first cell has ended", within_s=500)
        command.process.send_signal(signal.SIGINT)
        assert command.ended(within_s=60) == 130, command.said()
    before = load_index(latest(checkout))
    with Command(checkout, "bench-all", **ASKED, RESUME="1", RERUNS="0") as command:
        assert command.ended(within_s=900) in (0, 3), (
            command.said()
        )  # a busy machine is noisy, and said to be
    data = read.raw(latest(checkout))
    assert data.index.status == "finished"
    assert all(cell in data.index.cells for cell in before.cells if cell.verdict != "unknown")
    assert not [problem for cell in data.all_cells for problem in cell.problems]
    (cell,) = data.cells
    assert cell.result is not None
    assert all(step.verdict == "pass" or step.reasons for step in cell.result.steps)
    for step in cell.result.steps:
        assert step.resources["postgres"].cpu_seconds > 0
        if step.kind != "ramp":
            assert (step.audit, step.stored_per_s is None, step.drain_seconds is None) == (
                "PASS",
                False,
                False,
            )
    passing = cell.result.sustained.highest_passing_per_s
    assert (cell.result.overload is None) == (passing is None)
    found = {one.result.store: one.result.ceilings for one in data.references if one.result is not None}
    assert {store: {one.name for one in ceilings} for store, ceilings in found.items()} == CEILINGS
    assert all(one.writes_per_s > 0 for ceilings in found.values() for one in ceilings)
    with Command(checkout, "verify", RUN="results/latest") as command:
        assert "results/latest" not in command.said() or command.ended(within_s=120) == 0, command.said()
