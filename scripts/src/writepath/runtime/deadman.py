"""Undoes a fault when the runner is killed in the middle of it: a process that outlives the runner.

It is told what to undo, and does so when the runner has died or time has passed. The runner ends it after the fault.
"""

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import httpx

from writepath import pidfile, poll
from writepath.errors import StartError
from writepath.process import Daemon
from writepath.runtime import write_back

Heal: TypeAlias = tuple[str, ...]  # a key of HEALS, and its arguments: another process can act on it
NAME = "deadman"
ARMED = "armed"
_START_SECONDS = 20.0  # on a busy machine
_ANSWER_SECONDS = 5.0
_ATTEMPTS = 3


@contextlib.contextmanager
def armed(what: Sequence[Heal], within_s: float, folder: Path) -> Iterator[None]:
    """While it lasts, `what` is done when this process dies, or in within_s. folder: for its pid file and log.

    Make the fault inside. StartError where the process does not come up: then no fault may be made. Left by an error,
    it heals: whoever failed may not have.
    """
    if not what:
        yield
        return
    daemon = Daemon(
        NAME,
        [
            *(sys.executable, "-m", "writepath.runtime.deadman"),
            *(json.dumps(what), str(within_s), str(os.getpid())),
        ],
        pid_folder=folder,
        log=folder / f"{NAME}.log",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        death_signal=None,  # it is there for the time after this process
    )
    try:
        poll.until(lambda: _is_armed(daemon) or daemon.exit_code() is not None, _START_SECONDS, every_s=0.005)
        if not _is_armed(daemon):
            raise StartError(f"the deadman process does not start. End of its log:\n{daemon.log_tail()}")
        try:
            yield
        except BaseException:
            heal(what)
            raise
    finally:
        daemon.stop()


def _is_armed(daemon: Daemon) -> bool:
    return f"{ARMED} {daemon.pid}" in daemon.log.read_text(encoding="utf-8").splitlines()


def watch(what: Sequence[Heal], within_s: float, runner: int) -> None:
    """Heals when the process `runner`, its parent, has died, or after within_s."""
    print(f"{ARMED} {os.getpid()}", flush=True)
    poll.until(lambda: os.getppid() != runner, within_s, every_s=0.02)
    for failure in heal(what):
        print(failure)
    print("healed", flush=True)


def heal(what: Sequence[Heal]) -> list[str]:
    """Does all, each tried three times; what failed, in words. One that fails keeps no other back."""
    failures = []
    for kind, *arguments in what:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                HEALS[kind](*arguments)
                break
            except Exception as error:  # noqa: BLE001 - whatever it is, the next one comes
                failures.append(f"attempt {attempt} at {kind} {arguments} failed: {error!r}")
                time.sleep(0.1 * attempt)
    return failures


def _go_on(life: str) -> None:
    """SIGCONT for a native process and its family, if it is that very process; life: as `Stack.lives` says it."""
    if leader := pidfile.of_life(life):
        pidfile.thaw(leader)


def _remove(file: str) -> None:
    """Takes a ballast file away."""
    Path(file).unlink(missing_ok=True)


def _unpause(engine: str, container: str) -> None:
    """Lets a container go on; engine as Docker writes it: unix:///path or tcp://host:port."""
    scheme, _, address = engine.partition("://")
    base = "http://docker" if scheme == "unix" else f"http://{address}"
    transport = httpx.HTTPTransport(uds=address if scheme == "unix" else None)
    with httpx.Client(transport=transport, timeout=_ANSWER_SECONDS, trust_env=False) as http:
        answer = http.post(f"{base}/containers/{container}/unpause")
        gone = answer.status_code == httpx.codes.NOT_FOUND
        if not gone and "not paused" not in answer.text:
            answer.raise_for_status()


def _reset(api: str) -> None:
    """Removes every toxic and enables every proxy; api: http://127.0.0.1:PORT of Toxiproxy."""
    with httpx.Client(timeout=_ANSWER_SECONDS, trust_env=False) as http:
        http.post(f"{api}/reset").raise_for_status()


def _write_back(folder: str, notes: str) -> None:
    """Lets the kernel write back by itself, as before; folder: of the stack for which that was held off."""
    write_back.release(Path(folder), Path(notes))


HEALS: Mapping[str, Callable[..., None]] = {  # done twice, each does no harm
    "continue": _go_on,
    "remove": _remove,
    "unpause": _unpause,
    "reset": _reset,
    "write-back": _write_back,
}

if __name__ == "__main__":
    watch(json.loads(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
