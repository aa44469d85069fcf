"""A suite that is stopped or killed in mid-load, with real processes and the command as a user types it."""

import json
import shutil
import signal
from pathlib import Path

import psutil
import pytest

import own_checkout
from contract.subject import eventually
from own_checkout import Command
from writepath.load import ledger

MINUTES_5 = 300
MINUTES_10 = 600
EXIT_UNKNOWN = 3
EXIT_INTERRUPTED = 130
PLANNED = 1257  # of the suite `smoke`
SUITE = {"SUITE": "smoke", "VARIANTS": "jpa", "REPS": "2", "RERUNS": "0"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return own_checkout.copied(tmp_path)


def in_second_load(command: Command, checkout: Path) -> list[psutil.Process]:
    """Waits until the first run is finished and the second is under load; every process of the command then."""
    second = "*/*/*/block-02/ledger.rec"

    def loads() -> bool:
        assert command.process.poll() is None, command.said()
        return any(ledger.holds_any(file) for file in (checkout / "results").glob(second))

    eventually(loads, "the second run loads", within_s=MINUTES_10)
    processes = psutil.Process(command.process.pid).children(recursive=True)
    assert {"k6", "java", "postgres", "nginx"} <= {
        process.name().split("-")[0] for process in processes
    }  # k6-1.8.1-...
    return processes


def ended(processes: list[psutil.Process]) -> bool:
    return not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in processes)


def assert_first_run_is_kept(checkout: Path) -> None:
    kept = json.loads(
        next(own_checkout.latest(checkout).rglob("block-01/cell.json")).read_text(encoding="utf-8")
    )
    requests, audit = kept["result"]["requests"], kept["result"]["audit"]
    assert kept["outcome"] == "finished"
    assert requests["planned"] == PLANNED
    # A host that is slow may refuse some; each that was acknowledged is in the kept audit.
    assert (audit["verdict"], audit["ok"]) == ("PASS", requests["acknowledged"])
    assert requests["acknowledged"] > 0


@pytest.mark.native
@pytest.mark.timeout(4 * MINUTES_10)
def test_a_suite_is_stopped_killed_and_gone_on_with_and_leaves_no_process(checkout: Path) -> None:
    """Ctrl-C in the second load, -9 in the same load when it is resumed, and once more to its end."""
    with Command(checkout, "bench-all", **SUITE) as command:
        processes = in_second_load(command, checkout)
        command.process.send_signal(signal.SIGINT)
        assert command.ended(MINUTES_5) == EXIT_INTERRUPTED, command.said()
        assert "Continue with RESUME=1" in command.said()
    assert ended(processes)
    assert_first_run_is_kept(checkout)
    for left in checkout.glob("results/*/*/*/block-02"):
        shutil.rmtree(left)
    with Command(checkout, "bench-all", RESUME="1", **SUITE) as command:
        processes = in_second_load(command, checkout)
        command.process.kill()
        command.ended(MINUTES_5)
    with Command(checkout, "bench-all", RESUME="1", **SUITE) as resumed:
        eventually(lambda: ended(processes), "every process of the killed suite is gone", within_s=MINUTES_5)
        assert resumed.ended(MINUTES_10) in {0, EXIT_UNKNOWN}, resumed.said()
    assert_first_run_is_kept(checkout)
    index = json.loads((own_checkout.latest(checkout) / "index.json").read_text(encoding="utf-8"))
    assert (index["status"], len(index["cells"])) == ("finished", 2)
