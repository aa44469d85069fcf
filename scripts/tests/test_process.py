"""Programs are started, watched and ended; nothing that is not ours is ever signalled."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from native_stack import SECONDS, eventually, is_running
from writepath import pidfile
from writepath.process import CallError, Daemon, ProgramMissingError, call, end_of

FOREVER = "import time\nprint('up', flush=True)\nwhile True: time.sleep(60)"


def python(
    folder: Path, code: str, name: str = "part", death_signal: signal.Signals | None = signal.SIGKILL
) -> Daemon:
    return Daemon(
        name,
        [sys.executable, "-c", code],
        pid_folder=folder,
        log=folder / f"{name}.log",
        stop_seconds=0.5,
        death_signal=death_signal,
    )


def runner(folder: Path, death_signal: str) -> Daemon:
    """Another process that owns the folder and has a daemon of its own there."""
    code = f"""
import signal, sys, time
from pathlib import Path
from writepath import pidfile
from writepath.process import Daemon
folder = Path({str(folder)!r})
pidfile.claim(folder)
Daemon("inner", [sys.executable, "-c", {FOREVER!r}], pid_folder=folder, log=folder / "inner.log",
       death_signal={death_signal})
while True: time.sleep(60)
"""
    outside = folder.parent / "runner"
    outside.mkdir()
    return python(outside, code, "runner")


def is_up(log: Path) -> bool:
    """The program itself runs, no longer setpriv in its place."""
    return log.exists() and log.read_text() == "up\n"


def test_a_missing_program_is_named() -> None:
    with pytest.raises(ProgramMissingError, match=r"no-such-program: not found .*make doctor"):
        call("no-such-program", "--flag")


def test_the_end_of_a_log_shows_what_an_application_says_and_not_its_json() -> None:
    entry = {
        "log": {"level": "ERROR"},
        "message": "\n\nFAILED TO START\n",
        "error": {"stack_trace": "a.b.C: why\n\tat d"},
    }
    tail = end_of(f'first\n{json.dumps(entry)}\n{{"other": 1}}\n', lines=4)
    assert tail.splitlines() == ["FAILED TO START", " a.b.C: why", "\tat d", '{"other": 1}']


def test_a_failed_call_quotes_command_code_and_output_and_a_long_one_ends() -> None:
    with pytest.raises(CallError, match=r"(?s)sh -c.*ended with exit code 3.*the reason"):
        call("sh", "-c", "echo the reason >&2; exit 3")
    with pytest.raises(CallError, match=r"timed out after 0 s"):
        call("sleep", "60", timeout_s=0.1)
    assert call("env", env={"ONLY": "this"}).strip() == "ONLY=this"  # replaced, not extended


def test_stopping_ends_the_children_too(tmp_path: Path) -> None:
    code = (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = [sys.executable, '-c', 'import time; time.sleep(600)']\n"
        "pids = [subprocess.Popen(child).pid, subprocess.Popen(child, start_new_session=True).pid]\n"
        "print(*pids, flush=True)\ntime.sleep(600)"
    )
    daemon = python(tmp_path, code)
    assert eventually(lambda: len(daemon.log_tail().split()) == 2)
    pids = [int(pid) for pid in daemon.log_tail().split()]
    assert all(map(is_running, pids))
    daemon.stop()
    assert not any(map(is_running, [daemon.pid, *pids]))
    assert not list(tmp_path.glob("*.pid"))


def test_the_stop_signal_comes_before_the_kill(tmp_path: Path) -> None:
    waiting = "print('up', flush=True)\n time.sleep(600)"
    # A shell's background job inherits SIGINT as ignored, and these tests may run in one.
    heed = "import signal, time\nsignal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{heed}\ntry:\n {waiting}\nexcept KeyboardInterrupt:\n print('asked')"
    daemon = Daemon(
        "part",
        [sys.executable, "-c", code],
        pid_folder=tmp_path,
        log=tmp_path / "log",
        stop_signal=signal.SIGINT,
        stop_seconds=SECONDS,
    )
    assert eventually(lambda: daemon.log_tail() == "up")
    daemon.stop()
    assert daemon.log_tail() == "up\nasked"


def test_a_daemon_started_by_a_thread_outlives_the_thread(tmp_path: Path) -> None:
    import threading  # noqa: PLC0415 for this one test

    started: list[Daemon] = []
    thread = threading.Thread(target=lambda: started.append(python(tmp_path, FOREVER)))
    thread.start()
    thread.join()
    assert eventually(lambda: started[0].log_tail() == "up")
    assert started[0].exit_code() is None
    started[0].stop()


@pytest.mark.parametrize("death_signal", ["signal.SIGKILL", "None"])
def test_what_a_killed_runner_left_dies_with_it_or_is_reaped(tmp_path: Path, death_signal: str) -> None:
    folder = tmp_path / "stack"
    folder.mkdir()
    outer = runner(folder, death_signal)
    assert eventually(lambda: is_up(folder / "inner.log")), outer.log_tail()
    inner = pidfile.read(folder / "inner.pid")
    assert inner
    assert pidfile.stale([folder]) == []
    os.kill(outer.pid, signal.SIGKILL)  # it alone, as the kernel does when memory is short
    assert eventually(lambda: pidfile.stale([folder]) == [folder])
    if death_signal == "None":
        assert pidfile.runs(inner)
        assert pidfile.reap(folder) == ["inner"]
    assert eventually(lambda: not pidfile.runs(inner))
    outer.stop()


@pytest.mark.parametrize("change", ["another start", "another boot"])
def test_a_foreign_process_with_a_reused_pid_is_never_signalled(tmp_path: Path, change: str) -> None:
    ours, stack = tmp_path / "ours", tmp_path / "stack"
    ours.mkdir()
    stack.mkdir()
    foreign = python(ours, FOREVER, "foreign")
    assert eventually(lambda: is_up(foreign.log))
    entry = json.loads((ours / "foreign.pid").read_text())
    changed = {"boot": "another"} if change == "another boot" else {"life": entry["life"] + "0"}
    (stack / "part.pid").write_text(json.dumps(entry | changed))
    assert pidfile.reap(stack) == []
    assert foreign.exit_code() is None
    (stack / "part.pid").write_text(json.dumps(entry))
    assert pidfile.reap(stack) == ["part"]  # the unchanged entry does name it
    foreign.stop()


def test_a_spoilt_pid_file_names_nobody(tmp_path: Path) -> None:
    for text in ("", "{", "[]", '{"boot": "x"}', '{"life": 3}'):
        (tmp_path / "part.pid").write_text(text)
        assert pidfile.reap(tmp_path) == []
