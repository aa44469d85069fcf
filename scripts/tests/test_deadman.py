"""A fault is undone when its runner is killed in the middle of it, or forgets it; for real."""

import os
import signal
import socketserver
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import psutil
import pytest

from native_stack import eventually
from writepath import pidfile
from writepath.errors import StartError
from writepath.process import Daemon
from writepath.runtime.deadman import armed

LONG = 600.0


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Daemon]:
    """A process with a child."""
    daemon = Daemon(
        "victim", ["sh", "-c", "sleep 600 & wait"], pid_folder=tmp_path, log=tmp_path / "victim.log"
    )
    assert eventually(lambda: len(psutil.Process(daemon.pid).children()) == 1)
    yield daemon
    daemon.stop()


def life(daemon: Daemon) -> str:
    assert daemon.life
    return daemon.life


def are_frozen(daemon: Daemon) -> set[bool]:
    leader = psutil.Process(daemon.pid)
    return {each.status() == psutil.STATUS_STOPPED for each in (leader, *leader.children())}


def test_a_runner_killed_in_the_middle_of_a_pause_leaves_nothing_frozen(
    tmp_path: Path, victim: Daemon
) -> None:
    """Killed with -9, it cannot say a word."""
    code = f"""
import time
from pathlib import Path
from writepath import pidfile
from writepath.runtime.deadman import armed
with armed([("continue", {life(victim)!r})], {LONG}, Path({str(tmp_path)!r})):
    pidfile.freeze(pidfile.stat({victim.pid}))
    print("frozen", flush=True)
    time.sleep(600)
"""
    outer = tmp_path / "outer"
    outer.mkdir()
    runner = Daemon("runner", [sys.executable, "-c", code], pid_folder=outer, log=outer / "log")
    assert eventually(lambda: runner.log_tail() == "frozen"), runner.log_tail()
    assert are_frozen(victim) == {True}
    keeper = pidfile.read(tmp_path / "deadman.pid")
    assert keeper
    os.kill(runner.pid, signal.SIGKILL)
    assert eventually(lambda: are_frozen(victim) == {False})
    assert eventually(lambda: not pidfile.runs(keeper))
    runner.stop()


def test_what_is_overdue_is_healed_and_what_is_over_is_not(tmp_path: Path, victim: Daemon) -> None:
    with armed([("continue", life(victim))], 0.2, tmp_path):
        victim.freeze()
        assert eventually(lambda: are_frozen(victim) == {False})
    with armed([("continue", life(victim))], LONG, tmp_path):
        victim.freeze()
    assert are_frozen(victim) == {True}


def test_whoever_fails_while_it_is_armed_leaves_nothing_frozen(tmp_path: Path, victim: Daemon) -> None:
    def fail() -> None:
        with armed([("continue", life(victim))], LONG, tmp_path):
            victim.freeze()
            raise StartError("the runner could not heal it")

    with pytest.raises(StartError, match="could not heal"):
        fail()
    assert are_frozen(victim) == {False}


def test_another_bearer_of_the_pid_is_left_alone(tmp_path: Path, victim: Daemon) -> None:
    """The start time must match."""
    victim.freeze()
    pid, ticks = map(int, life(victim).split("-"))
    with armed([("continue", f"{pid}-{ticks + 1}")], 0.0, tmp_path):
        assert eventually(lambda: (tmp_path / "deadman.log").read_text().endswith("healed\n"))
    assert are_frozen(victim) == {True}


def test_one_heal_that_fails_keeps_no_other_from_being_done(tmp_path: Path) -> None:
    ballast = tmp_path / "ballast"
    ballast.touch()
    with armed([("pray",), ("reset", "http://127.0.0.1:1"), ("remove", str(ballast))], 0.0, tmp_path):
        assert eventually(lambda: not ballast.exists())


def test_without_its_process_no_fault_may_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with (
        pytest.raises(StartError, match="the deadman process"),
        armed([("remove", str(tmp_path))], LONG, tmp_path),
    ):
        pytest.fail("armed")


class _Heard(socketserver.StreamRequestHandler):
    lines: ClassVar[list[str]] = []

    def handle(self) -> None:
        self.lines.append(self.rfile.readline().decode().strip())
        self.wfile.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")


@contextmanager
def served(server: socketserver.BaseServer) -> Iterator[None]:
    _Heard.lines.clear()
    with server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        yield
        server.shutdown()


@pytest.mark.parametrize("engine", [False, True])
def test_toxiproxy_forgets_its_toxics_and_a_container_goes_on(engine: bool, tmp_path: Path) -> None:
    """Over the API of each, the engine's on a socket."""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own may be too long for a socket's name
        path = f"{folder}/engine"
        kind = socketserver.UnixStreamServer if engine else socketserver.TCPServer
        server = kind(path if engine else ("127.0.0.1", 0), _Heard)  # type: ignore[arg-type]
        api = f"http://127.0.0.1:{server.server_address[1]}"
        heal = ("unpause", f"unix://{path}", "abc") if engine else ("reset", api)
        asked = "POST /containers/abc/unpause HTTP/1.1" if engine else "POST /reset HTTP/1.1"
        with served(server), armed([heal], 0.0, tmp_path):
            assert eventually(lambda: _Heard.lines == [asked])
