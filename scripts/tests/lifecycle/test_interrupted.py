"""What is left of a suite that is stopped or killed in mid-load? Real processes, the command as a user types it."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import psutil
import pytest

import own_checkout
from contract.subject import eventually
from own_checkout import Command

if TYPE_CHECKING:
    from pathlib import Path

MINUTES_5 = 300
EXIT_UNKNOWN = 3
EXIT_INTERRUPTED = 130
SUITE = {"SUITE": "smoke", "VARIANTS": "jpa", "REPS": "2"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return own_checkout.copied(tmp_path)


def in_second_load(command: Command, checkout: Path) -> list[psutil.Process]:
    """Waits until the first run is finished and the second is under load; every process of the command then."""
    second = "*/*/*/*/rep-02/ledger.csv"

    def loads() -> bool:
        assert command.process.poll() is None, command.said()
        return any(file.stat().st_size for file in (checkout / "results").glob(second))

    eventually(loads, "the second run loads", within_s=MINUTES_5)
    processes = psutil.Process(command.process.pid).children(recursive=True)
    assert {"k6", "java", "postgres", "nginx"} <= {
        process.name().split("-")[0] for process in processes
    }  # k6-1.8.1
    return processes


def ended(processes: list[psutil.Process]) -> bool:
    return not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in processes)


def assert_first_run_is_kept(checkout: Path) -> None:
    kept = json.loads(
        next(own_checkout.latest(checkout).rglob("rep-01/run.json")).read_text(encoding="utf-8")
    )
    assert kept["outcome"] == "finished"
    assert kept["requests"]["acknowledged"] == kept["requests"]["planned"]


@pytest.mark.native
@pytest.mark.timeout(2 * MINUTES_5)
def test_ctrl_c_in_mid_load_leaves_no_process_and_keeps_what_was_finished(checkout: Path) -> None:
    with Command(checkout, "bench-all", **SUITE) as command:
        processes = in_second_load(command, checkout)
        command.process.send_signal(signal.SIGINT)
        assert command.ended(MINUTES_5) == EXIT_INTERRUPTED, command.said()
        said = command.said()
    assert ended(processes)
    assert "RESUME=1 goes on from here" in said
    assert_first_run_is_kept(checkout)


@pytest.mark.native
@pytest.mark.timeout(3 * MINUTES_5)
def test_a_killed_suite_leaves_no_process_and_is_gone_on_with(checkout: Path) -> None:
    with Command(checkout, "bench-all", **SUITE) as command:
        processes = in_second_load(command, checkout)
        command.process.kill()
        command.ended(MINUTES_5)
    with Command(checkout, "bench-all", RESUME="1", **SUITE) as resumed:
        eventually(lambda: ended(processes), "every process of the killed suite is gone", within_s=MINUTES_5)
        assert resumed.ended(MINUTES_5) in {0, EXIT_UNKNOWN}, resumed.said()
    assert_first_run_is_kept(checkout)
    index = json.loads((own_checkout.latest(checkout) / "suite.json").read_text(encoding="utf-8"))
    assert (index["status"], len(index["runs"])) == ("finished", 2)
