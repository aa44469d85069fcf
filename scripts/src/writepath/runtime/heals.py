"""What undoes a fault: plain data that another process can act on, and the acts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import httpx

from writepath import pidfile

Heal: TypeAlias = "Mapping[str, Any]"  # one kind, and what it needs
_ANSWER_SECONDS = 5.0


def go_on(life: str) -> Heal:
    """SIGCONT for a native process and its family; life: its identity as `Stack.lives` says it."""
    pid, started_ticks = life.split("-")
    return {"continue": {"pid": int(pid), "started_ticks": int(started_ticks), "boot": pidfile.boot()}}


def remove(file: Path) -> Heal:
    """Takes a ballast file away."""
    return {"remove": str(file)}


def unpause(engine: str, container: str) -> Heal:
    """Lets a container go on; engine as Docker writes it: unix:///path or tcp://host:port."""
    return {"unpause": {"engine": engine, "container": container}}


def reset(api: str) -> Heal:
    """Removes every toxic and enables every proxy; api: http://127.0.0.1:PORT of Toxiproxy."""
    return {"reset": api}


def perform(heal: Heal) -> None:
    """Does it; any exception where it could not be done. Done twice, it does no harm."""
    ((kind, value),) = heal.items()
    match kind:
        case "continue":
            leader = pidfile.stat(value["pid"])
            # Only if it is that very process: nobody else is ever signalled.
            if leader and (leader.started_ticks, pidfile.boot()) == (value["started_ticks"], value["boot"]):
                pidfile.thaw(leader)
        case "remove":
            Path(value).unlink(missing_ok=True)
        case "unpause":
            _unpause(value["engine"], value["container"])
        case "reset":
            with httpx.Client(timeout=_ANSWER_SECONDS, trust_env=False) as http:
                http.post(f"{value}/reset").raise_for_status()
        case _:
            raise ValueError(f"{kind}: unknown kind of heal")


def _unpause(engine: str, container: str) -> None:
    scheme, _, address = engine.partition("://")
    base = "http://docker" if scheme == "unix" else f"http://{address}"
    transport = httpx.HTTPTransport(uds=address if scheme == "unix" else None)
    with httpx.Client(transport=transport, timeout=_ANSWER_SECONDS, trust_env=False) as http:
        answer = http.post(f"{base}/containers/{container}/unpause")
        gone = answer.status_code == httpx.codes.NOT_FOUND
        if not gone and "not paused" not in answer.text:
            answer.raise_for_status()
