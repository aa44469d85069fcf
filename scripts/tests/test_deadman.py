"""A fault is undone when its runner is killed in the middle of it, or forgets it; for real."""

from __future__ import annotations

import os
import signal
import socketserver
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

import psutil
import pytest

from writepath import pidfile, process
from writepath.errors import StartError
from writepath.faults import heals
from writepath.faults.deadman import Deadman
from writepath.process import Daemon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SECONDS = 20.0
LONG = 600.0


def eventually(fact: Callable[[], bool]) -> bool:
    """Polls, bounded."""
    deadline = time.monotonic() + SECONDS
    while not fact():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


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
from writepath.faults import heals
from writepath.faults.deadman import Deadman
with Deadman(Path({str(tmp_path)!r})) as deadman:
    deadman.arm([heals.go_on({life(victim)!r})], within_s={LONG})
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


def test_what_is_overdue_is_healed_and_what_is_disarmed_is_not(tmp_path: Path, victim: Daemon) -> None:
    """And the runner learns which it was."""
    with Deadman(tmp_path) as deadman:
        late = deadman.arm([heals.go_on(life(victim))], within_s=0.2)
        victim.freeze()
        assert eventually(lambda: are_frozen(victim) == {False})
        assert not deadman.disarm(late)
        done = deadman.arm([heals.go_on(life(victim))], within_s=LONG)
        victim.freeze()
        assert deadman.disarm(done)
    assert are_frozen(victim) == {True}


def test_another_bearer_of_the_pid_is_left_alone(tmp_path: Path, victim: Daemon) -> None:
    """The start time and the boot must match."""
    victim.freeze()
    pid, ticks = map(int, life(victim).split("-"))
    with Deadman(tmp_path) as deadman:
        deadman.arm([heals.go_on(f"{pid}-{ticks + 1}")], within_s=LONG)
        deadman.arm([{"continue": {"pid": pid, "started_ticks": ticks, "boot": "another"}}], within_s=LONG)
    assert are_frozen(victim) == {True}


def test_one_heal_that_fails_keeps_no_other_from_being_done(tmp_path: Path) -> None:
    """In the order given."""
    ballast = tmp_path / "ballast"
    ballast.touch()
    with Deadman(tmp_path) as deadman:
        deadman.arm([{"pray": "hard"}, heals.reset("http://127.0.0.1:1"), heals.remove(ballast)], LONG)
    assert not ballast.exists()


def test_a_deadman_that_is_gone_forbids_the_fault(tmp_path: Path) -> None:
    """The caller learns it before, not after."""
    with Deadman(tmp_path) as deadman:
        keeper = pidfile.read(tmp_path / "deadman.pid")
        assert keeper
        os.kill(keeper.pid, signal.SIGKILL)
        assert eventually(lambda: not pidfile.runs(keeper))
        with pytest.raises(StartError, match="the deadman process"):
            deadman.arm([], LONG)


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


def test_toxiproxy_is_asked_to_forget_its_toxics(tmp_path: Path) -> None:
    """Over its API."""
    server = socketserver.TCPServer(("127.0.0.1", 0), _Heard)
    with served(server), Deadman(tmp_path) as deadman:
        deadman.arm([heals.reset(f"http://127.0.0.1:{server.server_address[1]}")], within_s=0.0)
        assert eventually(lambda: _Heard.lines == ["POST /reset HTTP/1.1"])


def test_a_container_goes_on(tmp_path: Path) -> None:
    """Over the engine's socket."""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own may be too long for a socket's name
        path = f"{folder}/engine"
        server = socketserver.UnixStreamServer(path, _Heard)
        with served(server), Deadman(tmp_path) as deadman:
            deadman.arm([heals.unpause(f"unix://{path}", "abc")], within_s=0.0)
            assert eventually(lambda: _Heard.lines == ["POST /containers/abc/unpause HTTP/1.1"])


def test_a_small_disk_is_unmounted(tmp_path: Path) -> None:
    """Though somebody holds a file there."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() == 0:  # nobody else makes one
        process.call("mount", "-t", "tmpfs", "-o", "size=1m", "writepath", folder)
    with (folder / "held").open("w"), Deadman(tmp_path) as deadman:
        deadman.arm([heals.unmount(folder)], within_s=0.0)
        assert eventually(lambda: not folder.is_mount())
