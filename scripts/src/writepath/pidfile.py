"""Pid files, and signals to exactly the processes that they name: never to a later bearer of a pid."""

import contextlib
import json
import os
import signal
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

KILL_SECONDS = 5.0  # a killed process is gone in milliseconds, unless it hangs in the kernel
_CALM_LOOKS = 2
_STILL = frozenset("TtZX")  # stopped, traced, ended
_PROC = Path("/proc")
_OWNER = "owner.pid"


@dataclass(frozen=True, kw_only=True)
class Stat:
    """The fields of /proc/<pid>/stat that are used here; times in clock ticks."""

    pid: int
    state: str
    parent: int
    session: int
    cpu_ticks: int  # of its own and of its ended, waited-for children
    started_ticks: int  # since boot: together with the pid unique on this boot

    @property
    def life(self) -> str:
        """`<pid>-<start ticks>`: no other process of this boot ever has it."""
        return f"{self.pid}-{self.started_ticks}"


def stat(pid: int) -> Stat | None:
    """None if there is no such process."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(")")[2].split()  # the name before may hold blanks and brackets
    return Stat(
        pid=pid,
        state=fields[0],
        parent=int(fields[1]),
        session=int(fields[3]),
        cpu_ticks=sum(map(int, fields[11:15])),
        started_ticks=int(fields[19]),
    )


def everything() -> dict[int, Stat]:
    """Every process of the machine, in one pass."""
    found = (stat(int(entry.name)) for entry in _PROC.iterdir() if entry.name.isdigit())
    return {each.pid: each for each in found if each is not None}


def descendants(root: int, processes: Mapping[int, Stat]) -> list[Stat]:
    """The process and everything below it."""
    children: dict[int, list[Stat]] = {}
    for each in processes.values():
        children.setdefault(each.parent, []).append(each)
    tree = [processes[root]] if root in processes else []
    for each in tree:  # grows while it is walked
        tree.extend(children.get(each.pid, ()))
    return tree


def family(leader: Stat) -> list[Stat]:
    """The process, its descendants and its whole session, as they are now; [] if its pid has a new bearer."""
    processes = everything()
    now = processes.get(leader.pid)
    if now is not None and now.life != leader.life:
        return []
    session = [each for each in processes.values() if each.session == leader.pid]
    return list({each.pid: each for each in [*descendants(leader.pid, processes), *session]}.values())


def runs(identity: Stat) -> bool:
    """Whether this very process still runs: same pid, same start, not a zombie."""
    now = of_life(identity.life)
    return now is not None and now.state != "Z"


def send(member: Stat, number: signal.Signals) -> None:
    """Signals this very process; nobody, where it has ended or its pid has a new bearer."""
    if runs(member):
        with contextlib.suppress(ProcessLookupError):
            os.kill(member.pid, number)


def freeze(leader: Stat) -> list[Stat]:
    """SIGSTOP for the whole family; its members, once all stand still.

    The leader comes first, for it starts most of the others. A process may still start another one between our look
    at it and its stop, so it takes two looks in a row that find nothing moving; bounded.
    """
    deadline = time.monotonic() + KILL_SECONDS
    members: dict[int, Stat] = {}
    calm_looks = 0
    while calm_looks < _CALM_LOOKS and time.monotonic() < deadline:
        now = {each.pid: each for each in family(leader)}
        members |= now
        moving = [each for each in now.values() if each.state not in _STILL]
        calm_looks = 0 if moving else calm_looks + 1
        for each in sorted(moving, key=lambda each: each.pid != leader.pid):
            send(each, signal.SIGSTOP)
    return list(members.values())


def thaw(leader: Stat, known: Iterable[Stat] = ()) -> None:
    """SIGCONT for every member that stands still, and for known ones that lost their parent meanwhile."""
    for each in {each.pid: each for each in [*known, *family(leader)]}.values():
        now = stat(each.pid)
        if now is not None and now.state == "T":
            send(each, signal.SIGCONT)


def kill_family(leader: Stat, known: Iterable[Stat] = ()) -> None:
    """SIGKILL for the whole family, and for known ones that lost their parent; waits, bounded, until none is left.

    They are stopped first: one that starts others all the time, as PostgreSQL does, could let one escape.
    """
    deadline = time.monotonic() + KILL_SECONDS
    members = {each.pid: each for each in [*known, *freeze(leader)]}
    while alive := [each for each in members.values() if runs(each)]:
        if time.monotonic() > deadline:
            return
        for each in alive:
            send(each, signal.SIGKILL)
        time.sleep(0.005)


@cache
def boot() -> str:
    """Of this start of the machine: pids and start times repeat after the next one."""
    return (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def write(path: Path, pid: int) -> Stat:
    """Records which process it is: this one, or a child that nobody has waited for, for even an ended one is there."""
    now = stat(pid)
    if now is None:
        raise ProcessLookupError(pid)
    part = path.with_suffix(".part")
    part.write_text(json.dumps({"boot": boot(), "life": now.life}), encoding="utf-8")
    part.replace(path)
    return now


def claim(folder: Path) -> Path:
    """Marks the folder, made where it is missing, as this process's own: reap leaves it alone while this runs."""
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / _OWNER, os.getpid())
    return folder


def read(path: Path) -> Stat | None:
    """The running process that the file provably names, else None: pid, boot and start match."""
    try:
        entry = json.loads(path.read_text(encoding="utf-8"))
        return of_life(entry["life"]) if entry["boot"] == boot() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def of_life(life: str) -> Stat | None:
    """The process of this boot that has this life, if it still does."""
    now = stat(int(life.partition("-")[0]))
    return now if now is not None and now.life == life else None


def owned_by_living(folder: Path) -> bool:
    """Whether the process that made this folder (its owner.pid) still runs."""
    owner = read(folder / _OWNER)
    return owner is not None and owner.state != "Z"


def reap(folder: Path) -> list[str]:
    """Ends every process that a pid file of the folder provably names, and its children. Their names."""
    ended = []
    for path in sorted(folder.glob("*.pid")):
        leader = read(path) if path.name != _OWNER else None
        if leader is not None:
            kill_family(leader)
            ended.append(path.stem)
        path.unlink(missing_ok=True)
    return ended


def stale(folders: Iterable[Path]) -> list[Path]:
    """Folders whose owner is gone."""
    return [folder for folder in folders if folder.is_dir() and not owned_by_living(folder)]
