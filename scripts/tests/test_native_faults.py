"""Local processes are killed, frozen, ended in order and started again: the data stays, nobody else is touched."""

from __future__ import annotations

import os
import time
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import psutil
import pytest

from writepath import pidfile, provision, registry
from writepath.errors import StartError
from writepath.runtime.native import NativeRuntime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from writepath.runtime.native.stack import NativeStack

pytestmark = pytest.mark.native
ROOT = Path(__file__).resolve().parents[2]
SECONDS = 40.0


def eventually(fact: Callable[[], bool]) -> bool:
    """Polls, bounded."""
    deadline = time.monotonic() + SECONDS
    while not fact():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@contextmanager
def started(name: str, **choices: Any) -> Iterator[NativeStack]:
    provision.setup(ROOT, print)
    runtime, variant = NativeRuntime(ROOT), registry.load(ROOT).variant(name)
    runtime.reap(print)
    runtime.prepare([variant], print)
    with runtime.start(variant, overrides=choices.pop("overrides", {}), say=print, **choices) as stack:
        yield stack


@pytest.fixture(scope="module")
def jpa() -> Iterator[NativeStack]:
    with started("jpa", overrides={"INSTANCES": "2"}) as stack:
        yield stack


@pytest.fixture(scope="module")
def queue() -> Iterator[NativeStack]:
    with started("rabbitmq-jpa") as stack:
        yield stack


@pytest.fixture(scope="module")
def index() -> Iterator[NativeStack]:
    with started("elasticsearch-1s0r") as stack:
        yield stack


def write(stack: NativeStack) -> str | None:
    """The post's id once it is acknowledged; None otherwise."""
    post = str(uuid.uuid4())
    try:
        answer = httpx.post(f"{stack.base_url}/api/posts", json={"id": post, "content": "x"}, timeout=15)
    except httpx.TransportError:
        return None
    return post if answer.status_code == 201 else None


def is_stored(stack: NativeStack, post: str) -> bool:
    try:
        return httpx.get(f"{stack.base_url}/api/posts/{post}", timeout=15).status_code == 200
    except httpx.TransportError:
        return False


def is_running(pid: int) -> bool:
    """Not one that has ended and that its new parent has not looked at."""
    found = pidfile.stat(pid)
    return found is not None and found.state != "Z"


def processes(stack: NativeStack, component: str) -> list[psutil.Process]:
    """All of a component, children included."""
    leaders = [psutil.Process(pid) for pid in stack.pids(component)]
    return [each for leader in leaders for each in (leader, *leader.children(recursive=True))]


def assert_survives(stack: NativeStack, component: str) -> None:
    """Killed, revived, ready; then a new write goes through, and what was acknowledged before is there."""
    before, lives = write(stack), stack.lives(component)
    assert before
    assert eventually(lambda: is_stored(stack, before))
    stays = {pid for pid, name in _named(stack, component) if name == "epmd"}
    pids = {pid for pid, _ in _named(stack, component)} - stays
    stack.kill(component)
    assert not any(map(is_running, pids))  # on return
    assert all(map(is_running, stays))
    assert stack.lives(component) == {}
    assert stack.lost_components()
    assert not stack.is_ready(component)
    stack.revive(component)
    assert eventually(lambda: stack.is_ready(component)), stack.tail(component)
    after = stack.lives(component)
    assert after.keys() == lives.keys()
    assert not set(after.values()) & set(lives.values())
    assert stack.lost_components() == []
    assert eventually(lambda: write(stack) is not None)
    assert eventually(lambda: is_stored(stack, before))


def _named(stack: NativeStack, component: str) -> list[tuple[int, str]]:
    return [(each.pid, each.name()) for each in processes(stack, component)]


@pytest.mark.parametrize("component", ["postgres", "jpa-writer", "nginx"])
def test_killed_and_revived_on_the_direct_path(jpa: NativeStack, component: str) -> None:
    """PostgreSQL recovers from its log, every instance comes back, the proxy finds its port free."""
    assert_survives(jpa, component)


@pytest.mark.parametrize("component", ["rabbitmq", "rabbitmq-consumer", "rabbitmq-producer"])
def test_killed_and_revived_on_the_queue_path(queue: NativeStack, component: str) -> None:
    """The broker finds its name daemon, its queue and what lay in it."""
    assert_survives(queue, component)


def test_elasticsearch_is_killed_with_its_launcher_and_revived(index: NativeStack) -> None:
    """On the data that it had."""
    assert_survives(index, "elasticsearch")


def test_one_instance_of_two_is_killed(jpa: NativeStack) -> None:
    """By its name; the other one goes on as it was."""
    lives = jpa.lives("jpa-writer")
    assert lives.keys() == {"jpa-writer", "jpa-writer-2"}
    jpa.kill("jpa-writer", "jpa-writer-2")
    assert jpa.lives("jpa-writer") == {"jpa-writer": lives["jpa-writer"]}
    jpa.revive("jpa-writer")
    assert jpa.lives("jpa-writer")["jpa-writer"] == lives["jpa-writer"]
    assert eventually(lambda: jpa.is_ready("jpa-writer"))
    with pytest.raises(StartError, match="jpa-writer-3: no process of this stack; it has jpa-writer, "):
        jpa.kill("jpa-writer", "jpa-writer-3")


@pytest.mark.parametrize("component", ["postgres", "jpa-writer", "nginx"])
def test_ended_in_order_and_revived(jpa: NativeStack, component: str) -> None:
    """As an engine would stop its container; PostgreSQL with sessions open."""
    begun = time.monotonic()
    jpa.terminate(component)
    assert time.monotonic() - begun < SECONDS
    assert jpa.lives(component) == {}
    jpa.revive(component)
    assert eventually(lambda: jpa.is_ready(component))
    assert jpa.lost_components() == []
    assert eventually(lambda: write(jpa) is not None)


@pytest.mark.parametrize("component", ["postgres", "jpa-writer"])
def test_frozen_and_resumed(jpa: NativeStack, component: str) -> None:
    """With all its children: nothing is answered, nothing is lost, the lives stay."""
    lives = jpa.lives(component)
    jpa.pause(component)
    assert {each.status() for each in processes(jpa, component)} == {psutil.STATUS_STOPPED}
    assert jpa.lives(component) == lives
    assert not jpa.is_ready(component)
    assert write(jpa) is None
    jpa.resume(component)
    jpa.resume(component)  # nothing where nothing is frozen
    assert psutil.STATUS_STOPPED not in {each.status() for each in processes(jpa, component)}
    assert eventually(lambda: jpa.is_ready(component))
    assert eventually(lambda: write(jpa) is not None)
    assert (jpa.lives(component), jpa.lost_components()) == (lives, [])


def test_usage_goes_on_growing_over_a_revival(jpa: NativeStack) -> None:
    """What the killed process had used stays counted, and what the new one uses is added at once."""
    before = jpa.usage()["nginx"]
    jpa.kill("nginx")
    killed = jpa.usage()["nginx"]
    assert killed.rss_bytes == 0
    jpa.revive("nginx")
    assert eventually(lambda: jpa.is_ready("nginx"))
    after = jpa.usage()["nginx"]
    assert before.cpu_seconds <= killed.cpu_seconds < after.cpu_seconds
    assert (after.write_bytes or 0) >= (before.write_bytes or 0)


def test_a_process_that_ended_by_itself_stays_lost_though_it_is_revived(jpa: NativeStack) -> None:
    """Only our own doing is forgiven."""
    worker, leader = psutil.Process(jpa.pids("nginx")[0]).children()[0], jpa.pids("nginx")[0]
    os.kill(leader, 9)  # the worker survives its master, with the port
    assert eventually(lambda: jpa.lives("nginx") == {})
    assert worker.is_running()
    jpa.kill("nginx")  # too late to be the reason
    jpa.revive("nginx")
    assert eventually(lambda: jpa.is_ready("nginx"))
    assert jpa.lost_components() == ["nginx: was ended by SIGKILL (out of memory?), and was started again"]
    assert not is_running(worker.pid)


def test_a_pid_with_a_new_bearer_is_not_signalled(tmp_path: Path) -> None:
    """Neither frozen nor let go nor killed: the start time tells."""
    from writepath.process import Daemon  # noqa: PLC0415 for this one test

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
    """And soon: it is let go when it is asked to end."""
    with started("jpa", only=["postgres", "nginx"]) as stack:
        stack.pause("postgres")
        stack.pause("nginx")
        pids = [each.pid for name in stack.components for each in processes(stack, name)]
        begun = time.monotonic()
    assert time.monotonic() - begun < 3
    assert not any(map(is_running, pids))
