"""Does each family survive kill -9 of each of its parts? The command as a user types it, on real parts, under load."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import psutil
import pytest

import own_checkout
from contract.subject import eventually
from own_checkout import Command
from writepath.load import recorded
from writepath.records.faults import Cell, load_cell, load_faults

if TYPE_CHECKING:
    from pathlib import Path

FAMILIES = ("jpa", "rabbitmq-jpa", "elasticsearch-1s0r")
PARTS = {
    "jpa": {"jpa-writer", "postgres", "nginx"},
    "rabbitmq-jpa": {"rabbitmq-producer", "rabbitmq-consumer", "rabbitmq", "postgres", "nginx"},
    "elasticsearch-1s0r": {"elasticsearch-writer", "elasticsearch", "nginx"},
}
MINUTES_5 = 300
EXIT_UNKNOWN = 3
INTERRUPTED = 130


def matrix(checkout: Path) -> Path:
    """The folder of the only one."""
    (folder,) = (checkout / "results/faults").iterdir()
    return folder


@pytest.mark.native
@pytest.mark.timeout(2 * MINUTES_5)
def test_each_family_holds_through_kill_minus_9_of_each_part(tmp_path: Path) -> None:
    checkout = own_checkout.copied(tmp_path)
    asked = {"FAULT": "kill-each", "VARIANTS": ",".join(FAMILIES), "JOBS": "2"}
    with Command(checkout, "bench-faults", **asked) as command:
        code = command.ended(MINUTES_5 + 120)  # the copy is set up once, before the five minutes
        said = command.said()
    assert code in (0, EXIT_UNKNOWN), said  # how soon each recovers says little while two others run
    folder = matrix(checkout)
    assert load_faults(folder).status == "finished"
    for name in FAMILIES:
        cell = load_cell(folder / name / "kill-each")
        assert cell.status in ("held", "unknown"), said
        assert struck(cell) == PARTS[name]
        assert cell.audit is not None
        assert (cell.audit.verdict, cell.losing) == ("PASS", 0)
        assert all(trial.exposed > 0 and trial.recovered_after_seconds is not None for trial in cell.trials)


def struck(cell: Cell) -> set[str]:
    """Which parts are other processes than before, each by a separate fault."""
    parts = [trial.proof.partition(":")[0] for trial in cell.effective]
    assert len(parts) == len(set(parts))
    return set(parts)


@pytest.mark.native
@pytest.mark.timeout(2 * MINUTES_5)
def test_ctrl_c_leaves_no_process_and_no_half_made_cell(tmp_path: Path) -> None:
    checkout = own_checkout.copied(tmp_path)
    with Command(checkout, "bench-faults", FAULT="none", VARIANTS="jpa", TRIALS="50") as command:

        def loads() -> bool:
            assert command.process.poll() is None, command.said()
            return any(map(recorded.holds_any, (checkout / "results").rglob(recorded.FILE)))

        eventually(loads, "the load runs", within_s=MINUTES_5)
        processes = psutil.Process(command.process.pid).children(recursive=True)
        command.process.send_signal(signal.SIGINT)
        assert command.ended(MINUTES_5) == INTERRUPTED, command.said()
        assert "0 of 1 cells are saved. Continue with RESUME=1" in command.said()
    assert not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in processes)
    index = load_faults(matrix(checkout))
    assert (index.status, index.cells) == ("aborted", ())
