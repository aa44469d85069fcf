"""Can two commands of one checkout run at once? No, and the second says who is in its way."""

import io
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from rich.console import Console

from writepath import lock
from writepath.progress import Live, Progress


def test_the_second_holder_is_told_the_pid_and_the_command_of_the_first(tmp_path: Path) -> None:
    with (
        lock.exclusive(tmp_path, "bench-all SUITE=smoke"),
        pytest.raises(lock.BusyError, match=f"pid {os.getpid()}, bench-all SUITE=smoke"),
        lock.exclusive(tmp_path, "up"),
    ):
        pass
    with lock.exclusive(tmp_path, "up"):
        pass  # free after its block


def test_interrupt_reaches_the_holder_of_that_command_only(tmp_path: Path) -> None:
    received: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: received.append(number))
    try:
        with lock.exclusive(tmp_path, "bench-all"):
            lock.interrupt(tmp_path, "up")
        lock.interrupt(tmp_path, "bench-all")
        assert received == []
    finally:
        signal.signal(signal.SIGINT, before)


@dataclass
class Screen:
    """A progress whose clock only the test moves."""

    now_s: float = 0.0
    out: io.StringIO = field(default_factory=io.StringIO)

    def progress(self, **given: float) -> Progress:
        console = Console(file=self.out, width=200)
        return Progress(console=console, clock=lambda: self.now_s, **given)  # type: ignore[arg-type]

    def lines(self) -> list[str]:
        return self.out.getvalue().splitlines()


def live(elapsed_s: float) -> Live:
    return Live(
        elapsed_s=elapsed_s,
        planned_s=60.0,
        rate_per_s=99.6,
        planned_per_s=100.0,
        acknowledged=1234,
        errors=2,
        queue_depth=7,
    )


def test_a_log_gets_a_line_at_each_phase_and_at_most_one_in_five_seconds_between() -> None:
    screen = Screen()
    progress = screen.progress(total=1, load_seconds=60.0)
    progress.began(1, "jpa  default  block 1")
    progress.phase("load")
    for tick in range(48):
        screen.now_s = tick / 4
        progress.load(live(screen.now_s))
    assert len(screen.lines()) == 2 + 2
    assert "load  10/60 s  100/s (scheduled 100/s)  201: 1234  errors 2  queue 7" in screen.lines()[-1]
    screen.now_s = 500.0  # a start that took long
    progress.load(live(10.0))
    assert "(1:10 left)" in screen.lines()[-1]  # never less than what the load still takes


def test_waiting_for_a_quiet_host_says_each_minute_what_is_stolen_and_how_long_it_may_take() -> None:
    screen = Screen()
    progress = screen.progress()
    progress.phase("wait for a quiet host")
    for tick in range(25):
        screen.now_s = tick * 5.0
        progress.noisy(0.123, 600.0 - screen.now_s)
    assert len(screen.lines()) == 1 + 2
    assert "wait for a quiet host  12.3% of CPU time stolen, waiting at most 8:00 more" in screen.lines()[-1]


def test_time_left_of_a_suite_counts_the_runs_to_come() -> None:
    screen = Screen()
    progress = screen.progress(total=3, load_seconds=60.0)
    progress.began(1, "jpa  default  block 1")
    assert "(1:45 left, 5:15 for all cells)" in screen.lines()[-1]
