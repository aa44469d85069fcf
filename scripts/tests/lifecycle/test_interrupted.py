"""What is left of a suite that is stopped or killed in mid-load? Real processes, the command as a user types it."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import psutil
import pytest

import own_checkout
from contract.subject import eventually

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

MINUTES_5 = 300
EXIT_UNKNOWN = 3
EXIT_INTERRUPTED = 130
SUITE = {"SUITE": "smoke", "VARIANTS": "jpa", "REPS": "2"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return own_checkout.copied(tmp_path)


def in_second_load(checkout: Path) -> tuple[subprocess.Popen[str], list[psutil.Process]]:
    """A suite whose first run is finished and whose second is under load, and every process it started."""
    command = own_checkout.started(checkout, "bench-all", **SUITE)
    second = "*/*/*/*/rep-02/ledger.csv"
    eventually(
        lambda: any(file.stat().st_size for file in (checkout / "results").glob(second)),
        "the second run loads",
        within_s=MINUTES_5,
    )
    children = psutil.Process(command.pid).children(recursive=True)
    assert {"k6", "java", "postgres", "nginx"} <= {child.name() for child in children}
    return command, children


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
    command, processes = in_second_load(checkout)
    command.send_signal(signal.SIGINT)
    said, _ = command.communicate(timeout=MINUTES_5)
    assert command.returncode == EXIT_INTERRUPTED, said[-3000:]
    assert ended(processes)
    assert "RESUME=1" in said
    assert_first_run_is_kept(checkout)


@pytest.mark.native
@pytest.mark.timeout(3 * MINUTES_5)
def test_a_killed_suite_leaves_no_process_and_is_gone_on_with(checkout: Path) -> None:
    command, processes = in_second_load(checkout)
    command.kill()
    command.communicate(timeout=MINUTES_5)
    resumed = own_checkout.started(checkout, "bench-all", RESUME="1", **SUITE)
    eventually(lambda: ended(processes), "every process of the killed suite is gone", within_s=MINUTES_5)
    said, _ = resumed.communicate(timeout=MINUTES_5)
    assert resumed.returncode in {0, EXIT_UNKNOWN}, said[-6000:]
    assert_first_run_is_kept(checkout)
    index = json.loads((own_checkout.latest(checkout) / "suite.json").read_text(encoding="utf-8"))
    assert (index["status"], len(index["runs"])) == ("finished", 2)
