"""What the tests of local processes ask of a started stack."""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import psutil

from writepath import pidfile, poll
from writepath.runtime.native.stack import NativeStack

SECONDS = 40.0
T = TypeVar("T")


def eventually(fact: Callable[[], bool]) -> bool:
    return poll.until(fact, SECONDS, every_s=0.01)


def is_running(pid: int) -> bool:
    """Not one that has ended and that its new parent has not looked at."""
    found = pidfile.stat(pid)
    return found is not None and pidfile.runs(found)


def processes(stack: NativeStack, component: str | None = None) -> list[psutil.Process]:
    """All of the stack or of a component, children included."""
    leaders = [psutil.Process(pid) for pid in stack.pids(component)]
    return [each for leader in leaders for each in (leader, *leader.children(recursive=True))]


def of_each(stack: NativeStack, read: Callable[[psutil.Process], T], component: str | None = None) -> list[T]:
    """What it reads from each process; nothing from one that ends meanwhile, as PostgreSQL's workers do."""
    found = []
    for process in processes(stack, component):
        with suppress(psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
            found.append(read(process))
    return found
