"""What undoes a fault when the runner is killed in the middle of it? A process that outlives the runner.

It reads one JSON object a line: {"arm": id, "heals": [...], "within_s": n} or {"disarm": id}, and answers each in
its log. What is still armed when its time has passed, or when the input ends because the runner did, it heals.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from writepath.errors import StartError
from writepath.faults import heals
from writepath.process import Daemon

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from writepath.faults.heals import Heal

_ANSWER_SECONDS = 20.0  # to start, on a busy machine
_END_SECONDS = 60.0
_ATTEMPTS = 3
_CHUNK_BYTES = 65536


class Deadman:
    """The runner's side: a context manager; what is armed when it is left is healed. For one thread."""

    def __init__(self, folder: Path) -> None:
        """Folder: for its pid file and log."""
        self._folder = folder
        self._next = 0

    def __enter__(self) -> Self:
        """Starts it; StartError where it does not come up."""
        source = Path(__file__).resolve().parents[2]
        path = os.pathsep.join(filter(None, (str(source), os.environ.get("PYTHONPATH"))))
        self._daemon = Daemon(
            "deadman",
            [sys.executable, "-m", "writepath.faults.deadman"],
            pid_folder=self._folder,
            log=self._folder / "deadman.log",
            env={**os.environ, "PYTHONPATH": path},
            death_signal=None,  # it is there for the time after this process
            fed=True,
        )
        self._heard = 0
        self._await("ready")
        return self

    def __exit__(self, *_: object) -> None:
        """Ends it, after it has healed what is still armed."""
        self._daemon.end_feed()
        try:
            self._daemon.wait(_END_SECONDS)
        finally:
            self._daemon.stop()

    def arm(self, what: Sequence[Heal], within_s: float) -> int:
        """From now on these are done when this process dies, or in within_s; returns once that is sure.

        Arm before the fault is made. StartError where the process is gone: then no fault may be made.
        """
        self._next += 1
        self._send({"arm": self._next, "heals": [dict(each) for each in what], "within_s": within_s})
        self._await(f"armed {self._next}")
        return self._next

    def disarm(self, number: int) -> bool:
        """The fault is over; False where its time had passed and it was healed before."""
        self._send({"disarm": number})
        return self._await(f"disarmed {number}", f"unknown {number}") == f"disarmed {number}"

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._daemon.feed(f"{json.dumps(message)}\n")
        except OSError as error:
            raise StartError(
                f"the deadman process has ended. End of its log:\n{self._daemon.log_tail()}"
            ) from error

    def _await(self, *answers: str) -> str:
        deadline = time.monotonic() + _ANSWER_SECONDS
        while True:
            ended = self._daemon.exit_code() is not None
            lines = self._daemon.log.read_text(encoding="utf-8").splitlines()
            for line in lines[self._heard :]:
                if line in answers:
                    self._heard = lines.index(line, self._heard) + 1
                    return line
            if ended or time.monotonic() > deadline:
                raise StartError(
                    f"the deadman process does not answer. End of its log:\n{self._daemon.log_tail()}"
                )
            time.sleep(0.005)


@dataclass(frozen=True, kw_only=True)
class _Armed:
    what: Sequence[Heal]
    deadline: float


class _Watch:
    """The process's side."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._armed: dict[int, _Armed] = {}

    def hear(self, line: bytes) -> None:
        """One line of the runner."""
        try:
            message = json.loads(line)
            if "arm" in message:
                deadline = time.monotonic() + float(message["within_s"])
                self._armed[message["arm"]] = _Armed(what=message["heals"], deadline=deadline)
                self._say(f"armed {message['arm']}")
            else:
                known = self._armed.pop(message["disarm"], None)
                self._say(f"{'unknown' if known is None else 'disarmed'} {message['disarm']}")
        except (ValueError, KeyError, TypeError) as error:
            self._say(f"not understood: {line!r}: {error!r}")

    def seconds_left(self) -> float | None:
        """Until the next one is overdue."""
        deadlines = [each.deadline for each in self._armed.values()]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def heal(self, *, everything: bool) -> None:
        """What is overdue, or all."""
        for number, armed in list(self._armed.items()):
            if everything or armed.deadline <= time.monotonic():
                del self._armed[number]
                for heal in armed.what:
                    self._perform(heal)
                self._say(f"healed {number}")

    def _perform(self, heal: Heal) -> None:
        """One that fails must not keep the others from being done."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                heals.perform(heal)
            except Exception as error:  # noqa: BLE001 whatever it is, the next one comes
                self._say(f"attempt {attempt} at {heal} failed: {error!r}")
                time.sleep(0.1 * attempt)
            else:
                return


def watch(descriptor: int, say: Callable[[str], None]) -> None:
    """Until the input ends."""
    keeper, rest = _Watch(say), b""
    say("ready")
    while True:
        readable, _, _ = select.select([descriptor], [], [], keeper.seconds_left())
        if readable:
            data = os.read(descriptor, _CHUNK_BYTES)
            if not data:
                keeper.heal(everything=True)
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                keeper.hear(line)
        keeper.heal(everything=False)


if __name__ == "__main__":
    watch(sys.stdin.fileno(), lambda line: print(line, flush=True))
