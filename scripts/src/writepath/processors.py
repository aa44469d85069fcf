"""Splits the processors of this process between the load generator and the system under test."""

import contextlib
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from writepath.errors import UsageError

SHARED, SPLIT = "shared", "split"
GENERATOR_SHARE = 0.3  # of the cores
_TOPOLOGY = Path("/sys/devices/system/cpu")
_LIST = r"\d{1,4}(-\d{1,4})?(,\d{1,4}(-\d{1,4})?)*"


@cache
def available() -> frozenset[int]:
    """Those that this process was started on: read once, before it confines itself to some of them."""
    return frozenset(os.sched_getaffinity(0))


def parsed(text: str) -> frozenset[int]:
    """`0-1,4` as taskset and cpusets write it; ValueError for anything else."""
    if not re.fullmatch(_LIST, text):
        raise ValueError(f"{text!r} is not a list of processors such as 0-1,4")
    ends = [[int(end) for end in part.split("-")] for part in text.split(",")]
    return frozenset(number for first, *last in ends for number in range(first, (last or [first])[0] + 1))


def listed(numbers: Collection[int]) -> str:
    """The same, written."""
    ordered, runs = sorted(numbers), list[list[int]]()
    for number in ordered:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


@dataclass(frozen=True, kw_only=True)
class Split:
    """Which processors the load generator uses, with the runner and the samplers, and which the system under test."""

    generator: frozenset[int]
    system: frozenset[int]
    asked: str = SHARED

    @classmethod
    def shared(cls) -> "Split":
        """Everything on all of them."""
        return cls(generator=available(), system=available())

    @classmethod
    def recorded(cls, text: str) -> "Split":
        """As `text` has it."""
        generator, system = map(parsed, text.split("/"))
        return cls(generator=generator, system=system)

    @property
    def is_shared(self) -> bool:
        """Whether nothing is confined."""
        return self.generator == self.system

    @property
    def all(self) -> frozenset[int]:
        """Of both."""
        return self.generator | self.system

    @property
    def generators(self) -> int:
        """Processes of k6: one hands a request's work from thread to thread, several share nothing."""
        return 1 if self.is_shared else len(self.generator)

    @property
    def text(self) -> str | None:
        """As records and PROCESSORS have it: `1/0`; None where nothing is split."""
        return None if self.is_shared else f"{listed(self.generator)}/{listed(self.system)}"

    @property
    def design(self) -> str:
        """What suite runs must have in common: `shared`, `split (1 + 3)`; the numbers depend on the machine."""
        return SHARED if self.is_shared else f"{self.asked} ({len(self.generator)} + {len(self.system)})"

    @property
    def words(self) -> str:
        """`load generator 3, system under test 0-2`."""
        if self.is_shared:
            return f"{listed(self.system)}, shared by load generator and system under test"
        return f"load generator {listed(self.generator)}, system under test {listed(self.system)}"

    @contextlib.contextmanager
    def confined(self) -> Iterator[None]:
        """Keeps every thread of this process, and the children they start, on the load generator's."""
        confine(os.getpid(), self.generator)
        try:
            yield
        finally:
            confine(os.getpid(), available())


def confine(pid: int, processors: Collection[int]) -> None:
    """Every thread of a process, those too that start meanwhile: looks again until all are where they should be."""
    while sum(_confined(int(task.name), processors) for task in Path(f"/proc/{pid}/task").glob("*")):
        continue


def _confined(thread: int, processors: Collection[int]) -> bool:
    """Whether it was elsewhere."""
    with contextlib.suppress(ProcessLookupError):  # it has ended
        if os.sched_getaffinity(thread) != set(processors):
            os.sched_setaffinity(thread, processors)
            return True
    return False


def choose(asked: str, say: Callable[[str], None]) -> Split:
    """What PROCESSORS asks for; UsageError for lists that cannot be used, a warning where there is nothing to split."""
    known = available()
    if asked == SHARED:
        return Split.shared()
    if asked != SPLIT:
        return _given(asked, known)
    if len(known) == 1:
        say(f"PROCESSORS={asked}: there is one processor only; load generator and system under test share it")
        return Split.shared()
    return divided(known, siblings(known))


def divided(known: Collection[int], groups: Mapping[int, frozenset[int]]) -> Split:
    """The last cores to the generator: interrupts of disks are usually on the first. groups: threads of a core."""
    cores = sorted({groups[number] for number in known}, key=min)
    if len(cores) == 1:  # its threads
        cores = [frozenset({number}) for number in sorted(known)]
    first = len(cores) - max(1, round(GENERATOR_SHARE * len(cores)))
    return Split(
        generator=frozenset().union(*cores[first:]), system=frozenset().union(*cores[:first]), asked=SPLIT
    )


def siblings(known: Collection[int]) -> dict[int, frozenset[int]]:
    """By processor, the available threads of its core; itself alone where the kernel does not tell."""
    found = {}
    for number in known:
        try:
            text = (_TOPOLOGY / f"cpu{number}/topology/thread_siblings_list").read_text(encoding="ascii")
            found[number] = parsed(text.strip()) & frozenset(known) | {number}
        except (OSError, ValueError):
            found[number] = frozenset({number})
    return found


def _given(asked: str, known: frozenset[int]) -> Split:
    def refused(why: str) -> UsageError:
        return UsageError(
            f"PROCESSORS={asked}: {why}; write split, shared, or the load generator's processors, a slash and those of"
            f" the system, as in 0-1,4/2,3. Available: {listed(known)}"
        )

    sides = asked.split("/")
    if len(sides) != 2:  # noqa: PLR2004 - two sides
        raise refused("not one slash between two lists")
    try:
        generator, system = map(parsed, sides)
    except ValueError as error:
        raise refused(str(error)) from error
    if not (generator and system):
        raise refused("a list is empty")
    if missing := (generator | system) - known:
        raise refused(f"processor {listed(missing)} is not available to this process")
    if both := generator & system:
        raise refused(f"both lists have processor {listed(both)}")
    return Split(generator=generator, system=system, asked=asked)
