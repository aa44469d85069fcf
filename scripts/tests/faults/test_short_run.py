"""Each path survives kill -9 of each of its parts: the command as a user types it, on real parts, under load."""

from pathlib import Path

import pytest

import own_checkout
from own_checkout import Command
from writepath.analysis.evidence import load_facts
from writepath.experiments import read

PARTS = {
    "jpa-batched": {"jpa-writer", "postgres", "nginx"},
    "rabbitmq-jpa": {"rabbitmq-producer", "rabbitmq-consumer", "rabbitmq", "postgres", "nginx"},
    "elasticsearch-1s0r": {"elasticsearch-writer", "elasticsearch", "nginx"},
}
MINUTES_5 = 300
BOUND_S = 1200  # a busy and slow host took nine minutes
EXIT_UNKNOWN = 3


@pytest.mark.native
@pytest.mark.timeout(BOUND_S + MINUTES_5)
def test_each_path_holds_through_kill_minus_9_of_each_part(tmp_path: Path) -> None:
    checkout = own_checkout.copied(tmp_path)
    asked = {
        "FAULT": "kill-each",
        "VARIANTS": ",".join(PARTS),
        "JOBS": "2",
        "RERUNS": "0",
    }
    with Command(checkout, "bench-faults", **asked) as command:
        code = command.ended(BOUND_S)
        said = command.said()
    assert code in (0, EXIT_UNKNOWN), said  # how soon each recovers says little while two others run
    data = read.raw((checkout / "results/latest").resolve())
    assert {cell.record.variant for cell in data.cells} == PARTS.keys()
    for cell in data.cells:
        assert cell.result is not None, said
        assert cell.problems == ()
        assert cell.result.status in ("held", "unknown"), said
        assert (cell.result.audit.verdict, cell.result.losing) == ("PASS", 0)
        assert all("rerun with JOBS=1" in reason for reason in cell.result.reasons)
        faults = load_facts(checkout / "results/latest" / cell.entry.folder)["injections"]
        struck = [one["proof"].partition(":")[0] for one in faults]  # other processes than before
        assert sorted(struck) == sorted(PARTS[cell.record.variant])


@pytest.mark.docker
@pytest.mark.timeout(3 * MINUTES_5)
def test_a_fault_in_containers_is_proved_and_loses_nothing(tmp_path: Path) -> None:
    checkout = own_checkout.copied(tmp_path)
    asked = {"RUNTIME": "docker", "FAULT": "pause-database", "VARIANTS": "jpa", "TRIALS": "1"}
    with Command(checkout, "bench-faults", **asked) as command:
        assert command.ended(2 * MINUTES_5) == 0, command.said()
    (cell,) = read.raw((checkout / "results/latest").resolve()).cells
    assert cell.result is not None
    assert (cell.problems, cell.result.status, cell.result.effective) == ((), "held", 1)
