"""A power cut takes what was not flushed and nothing else, shown without a store; and the host is then as it was."""

import os
import secrets
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from native_stack import eventually
from writepath import pidfile, process
from writepath.errors import SetupError, StartError
from writepath.process import Daemon
from writepath.runtime import write_back
from writepath.runtime.docker import DockerRuntime
from writepath.runtime.native import NativeRuntime, host, power

ROOT = Path(__file__).resolve().parents[2]
BYTES = 100_000
WRITES = f"""
import os, time
for name in ("flushed", "written"):
    file = os.open(name, os.O_CREAT | os.O_WRONLY)
    os.write(file, b"x" * {BYTES})
    if name == "flushed":
        os.fsync(file)
print("done", flush=True)
time.sleep(600)
"""
FLUSHES_ON = """
import os
file = os.open("grows", os.O_CREAT | os.O_WRONLY)
while os.write(file, b"x" * 4096):
    os.fsync(file)
    print("done", flush=True)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """As of a stack, and where those are: not every file system allows direct I/O."""
    made = pidfile.claim(ROOT / ".writepath" / "run" / f"test-{secrets.token_hex(4)}")
    yield made
    host.remove(made)
    assert not made.exists()
    assert str(made) not in process.call("losetup", "--list", "--output", "BACK-FILE")
    assert str(made) not in Path("/proc/self/mounts").read_text(encoding="utf-8")


@contextmanager
def disk_of(folder: Path) -> Iterator[power.PowerDisk | None]:
    """None where this machine has none, which is refused with the reason."""
    owner = host.Account(uid=os.geteuid(), gid=os.getegid())
    point, image = owner.make_folder(folder / "disk"), folder / "disk.ext4"
    if reason := power.why_not(folder):
        print(f"no power cut on this machine: {reason}")
        with pytest.raises(SetupError):
            power.made(point, image, owner)
        yield None
        return
    with power.write_back_held_off(folder):
        yield power.made(point, image, owner)


@contextmanager
def program(code: str, disk: power.PowerDisk, folder: Path) -> Iterator[Daemon]:
    """It works in the root of the disk, and has done something."""
    log = folder / "program.log"
    daemon = Daemon("program", [sys.executable, "-c", code], pid_folder=folder, log=log, cwd=disk.folder)
    try:
        assert eventually(lambda: "done" in daemon.log_tail()), daemon.log_tail()
        yield daemon
    finally:
        daemon.stop()


@pytest.mark.native
def test_a_cut_takes_what_a_program_has_not_flushed_and_nothing_else(folder: Path) -> None:
    with disk_of(folder) as disk:
        if disk is None:
            return
        flushed, written = disk.folder / "flushed", disk.folder / "written"
        with program(WRITES, disk, folder) as writer:
            assert flushed.stat().st_size == written.stat().st_size == BYTES  # for whoever asks the kernel
            assert disk.cut(writer.freeze, writer.kill)
        assert flushed.read_bytes() == b"x" * BYTES
        assert not written.exists() or written.stat().st_size == 0
        assert disk.cut(lambda: None, lambda: None)  # the next trial's
        assert flushed.stat().st_size == BYTES


@pytest.mark.native
def test_without_a_cut_a_killed_program_keeps_what_it_has_not_flushed(folder: Path) -> None:
    """What makes a cut another fault than a kill."""
    with disk_of(folder) as disk:
        if disk is None:
            return
        with program(WRITES, disk, folder) as writer:
            writer.kill()
        assert (disk.folder / "written").read_bytes() == b"x" * BYTES


@pytest.mark.native
def test_a_disk_that_somebody_still_writes_to_is_not_cut(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(power, "_REST_SECONDS", 0.3)
    with disk_of(folder) as disk:
        if disk is None:
            return
        with (
            program(FLUSHES_ON, disk, folder) as writer,
            pytest.raises(StartError, match=r"blocks (are|were) written"),
        ):
            disk.cut(lambda: None, writer.kill)


@pytest.mark.native
def test_a_disk_that_the_kernel_has_written_back_meanwhile_gives_no_proof(folder: Path) -> None:
    """As for lack of memory, or because somebody else has called sync."""
    with disk_of(folder) as disk:
        if disk is None:
            return
        process.call("sync", "--file-system", disk.folder)
        assert disk.cut(lambda: None, lambda: None) == ""
        assert disk.cut(lambda: None, lambda: None)  # the next one has new witnesses


@pytest.mark.native
def test_what_is_flushed_at_the_beginning_stays(folder: Path) -> None:
    with disk_of(folder) as disk:
        if disk is None:
            return
        with program(WRITES, disk, folder) as writer:
            disk.flush()
            assert disk.cut(writer.freeze, writer.kill)
        assert (disk.folder / "written").stat().st_size == BYTES


def test_who_cannot_cut_the_power_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "RUNTIME=native, as root" in DockerRuntime(ROOT).why_no_power_cut()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert NativeRuntime(ROOT).why_no_power_cut() == power.NEEDS_ROOT


@pytest.fixture
def period(tmp_path: Path) -> Path:
    """In the place of the kernel's file."""
    file = tmp_path / "period"
    file.write_text("500\n", encoding="ascii")
    return file


@pytest.fixture
def stacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Folders of two stacks, of different checkouts, on a host of their own."""
    monkeypatch.setattr(write_back, "NOTES", tmp_path / "notes")
    made = (tmp_path / "one" / "stack", tmp_path / "other" / "stack")
    for each in made:
        each.mkdir(parents=True)
    return made


def test_the_last_stack_that_needs_it_puts_the_write_back_to_what_it_was(
    stacks: tuple[Path, Path], period: Path
) -> None:
    one, other = stacks
    write_back.hold_off(one, write_back.NOTES, period)
    write_back.hold_off(other, write_back.NOTES, period)
    assert period.read_text(encoding="ascii") == write_back.OFF
    write_back.release(one, write_back.NOTES)
    write_back.release(one, write_back.NOTES)  # nothing where nothing is held off
    assert period.read_text(encoding="ascii") == write_back.OFF
    host.remove(other)  # as after a killed command
    assert period.read_text(encoding="ascii") == "500"


def test_a_stack_whose_folder_is_gone_keeps_nothing_held_off(stacks: tuple[Path, Path], period: Path) -> None:
    one, other = stacks
    write_back.hold_off(one, write_back.NOTES, period)
    write_back.hold_off(other, write_back.NOTES, period)
    one.rmdir()
    write_back.release(other, write_back.NOTES)
    assert period.read_text(encoding="ascii") == "500"
    assert not [*write_back.NOTES.glob("*.json")]


def test_what_was_before_is_known_after_a_stack_whose_folder_is_gone(
    stacks: tuple[Path, Path], period: Path
) -> None:
    one, other = stacks
    write_back.hold_off(one, write_back.NOTES, period)
    one.rmdir()
    write_back.hold_off(other, write_back.NOTES, period)
    write_back.release(other, write_back.NOTES)
    assert period.read_text(encoding="ascii") == "500"


def test_a_write_back_that_somebody_else_has_turned_off_is_left_alone(
    stacks: tuple[Path, Path], period: Path
) -> None:
    period.write_text(write_back.OFF, encoding="ascii")
    write_back.hold_off(stacks[0], write_back.NOTES, period)
    period.write_text("600", encoding="ascii")
    write_back.release(stacks[0], write_back.NOTES)
    assert period.read_text(encoding="ascii") == "600"


def test_a_runner_that_is_killed_leaves_no_write_back_held_off(
    stacks: tuple[Path, Path], period: Path, tmp_path: Path
) -> None:
    """Killed with -9, it cannot say a word."""
    stack, notes = str(stacks[0]), str(tmp_path / "notes")
    code = f"""
import time
from pathlib import Path
from writepath.runtime import deadman, write_back
with deadman.armed([("write-back", {stack!r}, {notes!r})], 600.0, Path({stack!r})):
    write_back.hold_off(Path({stack!r}), Path({notes!r}), Path({str(period)!r}))
    print("held off", flush=True)
    time.sleep(600)
"""
    runner = Daemon("runner", [sys.executable, "-c", code], pid_folder=tmp_path, log=tmp_path / "log")
    assert eventually(lambda: runner.log_tail() == "held off"), runner.log_tail()
    assert period.read_text(encoding="ascii") == write_back.OFF
    os.kill(runner.pid, signal.SIGKILL)
    assert eventually(lambda: period.read_text(encoding="ascii") == "500")
    runner.stop()
