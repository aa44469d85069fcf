"""Local processes are frozen, ended in order and started again: the data stays, nobody else is touched.

That each part survives kill -9 under load is in faults/test_short_run.py.
"""

import os
import random
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from native_stack import SECONDS, eventually, is_running, of_each, processes
from writepath import pidfile, poll, provision
from writepath.config import registry
from writepath.errors import SetupError, StartError
from writepath.process import Daemon, call
from writepath.runtime.native import NativeRuntime, host
from writepath.runtime.native.stack import NativeStack

pytestmark = pytest.mark.native
ROOT = Path(__file__).resolve().parents[2]
DISK_BYTES = 256 << 20


@contextmanager
def started(name: str, **choices: Any) -> Iterator[NativeStack]:
    provision.setup(ROOT, print)
    runtime, variant = NativeRuntime(ROOT), registry.load(ROOT).variant(name)
    runtime.reap(print)
    runtime.prepare([variant], print)
    with runtime.start(variant, overrides=choices.pop("overrides", {}), say=print, **choices) as stack:
        assert isinstance(stack, NativeStack)
        yield stack


@pytest.fixture(scope="module")
def jpa() -> Iterator[NativeStack]:
    """Two instances, and PostgreSQL on a small disk."""
    overrides = {"INSTANCES": "2"}
    disks = {"postgres": DISK_BYTES} if os.geteuid() == 0 else {}
    with started("jpa", overrides=overrides, disks=disks) as stack:
        yield stack


def write(stack: NativeStack) -> str | None:
    """The post's id once it is acknowledged; None otherwise."""
    post = str(uuid.uuid4())
    try:
        answer = httpx.post(f"{stack.base_url}/api/posts", json={"id": post, "content": "x"}, timeout=15)
    except httpx.TransportError:
        return None
    return post if answer.status_code == 201 else None


def written(stack: NativeStack) -> str:
    """The id of one that was acknowledged; polls, as one of two instances may still hold a connection that was cut."""
    post = poll.until(lambda: write(stack), SECONDS)
    assert post
    return post


def write_large(stack: NativeStack) -> str | None:
    """Some megabytes in all; None once one of them is refused."""
    for _ in range(40):
        body = {"content": "".join(random.choices("abcdefgh ", k=9000))}  # noqa: S311 no secret
        answer = httpx.post(f"{stack.base_url}/api/posts", json=body, timeout=15)
        if answer.status_code != 201:
            return None
    return "all"


def is_stored(stack: NativeStack, post: str) -> bool:
    try:
        return httpx.get(f"{stack.base_url}/api/posts/{post}", timeout=15).status_code == 200
    except httpx.TransportError:
        return False


def test_one_instance_of_two_is_killed(jpa: NativeStack) -> None:
    lives = jpa.lives("jpa-writer")
    assert lives.keys() == {"jpa-writer", "jpa-writer-2"}
    jpa.kill("jpa-writer", "jpa-writer-2")
    assert jpa.lives("jpa-writer") == {"jpa-writer": lives["jpa-writer"]}
    jpa.revive("jpa-writer")
    assert jpa.lives("jpa-writer")["jpa-writer"] == lives["jpa-writer"]
    assert eventually(lambda: jpa.is_ready("jpa-writer"))
    with pytest.raises(StartError, match="jpa-writer-3: no process of this stack; it has jpa-writer, "):
        jpa.kill("jpa-writer", "jpa-writer-3")


def test_ended_in_order_and_revived(jpa: NativeStack) -> None:
    """As an engine would stop its container, with sessions open."""
    jpa.terminate("postgres")
    assert jpa.lives("postgres") == {}
    jpa.revive("postgres")
    assert eventually(lambda: jpa.is_ready("postgres"))
    assert jpa.lost_components() == []
    assert eventually(lambda: write(jpa) is not None)


def test_frozen_and_resumed(jpa: NativeStack) -> None:
    lives = jpa.lives("postgres")
    jpa.pause("postgres")
    assert set(of_each(jpa, psutil.Process.status, "postgres")) == {psutil.STATUS_STOPPED}
    assert jpa.lives("postgres") == lives
    assert not jpa.is_ready("postgres")
    assert write(jpa) is None
    jpa.resume("postgres")
    jpa.resume("postgres")  # nothing where nothing is frozen
    assert psutil.STATUS_STOPPED not in of_each(jpa, psutil.Process.status, "postgres")
    assert eventually(lambda: jpa.is_ready("postgres"))
    assert eventually(lambda: write(jpa) is not None)
    assert (jpa.lives("postgres"), jpa.lost_components()) == (lives, [])


def test_a_full_disk_of_its_own_refuses_writes_until_it_is_freed(jpa: NativeStack) -> None:
    if os.geteuid() != 0:
        with pytest.raises(SetupError, match="run as root"), started("jpa", disks={"postgres": 1}):
            pytest.fail("it started")
        return
    before, folder = written(jpa), jpa.places["postgres"].folder
    assert jpa.fill_disk("postgres") < 4096
    assert shutil.disk_usage(folder).free < 4096
    ballast = folder / "ballast"  # the host's free bytes prove nothing: others write to that disk
    assert ballast.stat().st_dev == folder.stat().st_dev != folder.parent.stat().st_dev
    assert ballast.stat().st_size < shutil.disk_usage(folder).total == DISK_BYTES
    assert eventually(lambda: write_large(jpa) is None)  # once the log's present file is full
    jpa.free_disk("postgres")
    jpa.free_disk("postgres")
    jpa.revive("postgres")  # a server that cannot write its log ends itself
    assert eventually(lambda: write(jpa) is not None), jpa.tail("postgres")
    assert is_stored(jpa, before)
    assert jpa.lost_components() == []
    with pytest.raises(StartError, match="nginx: its data is not on a small disk"):
        jpa.fill_disk("nginx")


def test_a_disk_that_is_not_the_small_one_is_never_filled(tmp_path: Path) -> None:
    foreign = host.SmallDisk(folder=tmp_path, device=tmp_path.stat().st_dev)
    with pytest.raises(StartError, match="nothing was written"):
        foreign.fill()
    with pytest.raises(StartError, match="nothing was written"):
        host.SmallDisk(folder=tmp_path, device=tmp_path.stat().st_dev + 1).fill()
    assert list(tmp_path.iterdir()) == []


def test_a_stale_folder_is_removed_without_what_is_mounted_below(tmp_path: Path) -> None:
    stale, source = tmp_path / "with blank", tmp_path / "source"
    for folder in (stale / "postgres", source):
        folder.mkdir(parents=True)
    (source / "kept").touch()
    if os.geteuid() == 0:  # nobody else mounts one
        call("mount", "--bind", source, stale / "postgres")
        assert (stale / "postgres" / "kept").exists()
    host.remove(stale)
    assert not stale.exists()
    assert (source / "kept").exists()


def test_a_process_that_ended_by_itself_stays_lost_though_it_is_revived(jpa: NativeStack) -> None:
    worker, leader = psutil.Process(jpa.pids("nginx")[0]).children()[0], jpa.pids("nginx")[0]
    os.kill(leader, 9)  # the worker survives its master, with the port
    assert eventually(lambda: jpa.lives("nginx") == {})
    assert worker.is_running()
    jpa.kill("nginx")  # too late to be the reason
    jpa.revive("nginx")
    assert eventually(lambda: jpa.is_ready("nginx"))
    assert jpa.lost_components() == ["nginx: was ended by SIGKILL (out of memory?), and was restarted"]
    assert not is_running(worker.pid)


def test_a_pid_with_a_new_bearer_is_not_signalled(tmp_path: Path) -> None:
    foreign = Daemon("foreign", ["sleep", "600"], pid_folder=tmp_path, log=tmp_path / "log")
    ours = pidfile.stat(foreign.pid)
    assert ours
    old = pidfile.Stat(**{**vars(ours), "started_ticks": ours.started_ticks - 1})
    assert pidfile.freeze(old) == []
    pidfile.kill_family(old, [old])
    assert psutil.Process(foreign.pid).status() != psutil.STATUS_STOPPED
    assert foreign.exit_code() is None
    foreign.freeze()
    pidfile.thaw(old, [old])
    assert psutil.Process(foreign.pid).status() == psutil.STATUS_STOPPED
    foreign.stop()  # though it stands still


def test_a_stack_with_a_frozen_part_stops() -> None:
    with started("jpa", only=["postgres", "nginx"]) as stack:
        stack.pause("postgres")
        stack.pause("nginx")
        pids = [each.pid for name in stack.components for each in processes(stack, name)]
        begun = time.monotonic()
    assert time.monotonic() - begun < pidfile.KILL_SECONDS
    assert not any(map(is_running, pids))
