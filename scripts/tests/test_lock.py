"""Can two commands of one checkout run at once? No, and the second says who is in its way."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from writepath import lock

if TYPE_CHECKING:
    from pathlib import Path


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
            assert not lock.interrupt(tmp_path, "up")
        assert not lock.interrupt(tmp_path, "bench-all")
        assert received == []
    finally:
        signal.signal(signal.SIGINT, before)
