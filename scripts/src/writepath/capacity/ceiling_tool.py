"""How is a store's own tool run? For a bounded time, its whole output kept, and gone afterwards however it ends."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.errors import LoadError
from writepath.process import Daemon

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from writepath.measure.bench import Bench
    from writepath.runtime.base import Stack
    from writepath.runtime.topology import Service

SECONDS = 15.0
WARM_UP_SECONDS = 3.0
BATCH = 500  # rows of a statement, documents of a bulk: as many as our own writers put together
_SLACK_SECONDS = 90.0  # of a tool's time: a JVM's start, connections, a store that stalls: on a busy machine


@dataclass(frozen=True, kw_only=True)
class Spans:
    """How long each figure is taken."""

    warm_up_s: float = WARM_UP_SECONDS
    seconds: float = SECONDS


@dataclass(frozen=True, kw_only=True)
class Target:
    """A store that runs alone, as its variant's topology has it."""

    bench: Bench
    stack: Stack
    service: Service  # as the compose file has it, with its settings
    folder: Path  # of ceilings.json and of what the tools say
    spans: Spans

    def run(
        self,
        name: str,
        args: Sequence[str | Path],
        *,
        seconds: float,
        env: Mapping[str, str] | None = None,
        text_in: str | None = None,
    ) -> str:
        """A tool that ends by itself after so many seconds."""
        bound_s = seconds + _SLACK_SECONDS
        return run(
            name, args, folder=self.folder, pids=self.bench.pids, bound_s=bound_s, env=env, text_in=text_in
        )


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a tool said of one choice of clients."""

    clients: int
    writes_per_s: float
    latency_ms_mean: float | None
    raw_file: str


def run(
    name: str,
    args: Sequence[str | Path],
    *,
    folder: Path,
    pids: Path,
    bound_s: float,
    env: Mapping[str, str] | None = None,
    text_in: str | None = None,
) -> str:
    """Runs a tool to its end, which is to come within bound_s; its output, which is also in folder/<name>.txt."""
    log = folder / f"{name}.txt"
    log.unlink(missing_ok=True)  # a tool's output is appended
    tool = Daemon(name, args, pid_folder=pids, log=log, env=env, fed=text_in is not None)
    try:
        if text_in is not None:
            tool.feed(text_in)
            tool.end_feed()
        code = tool.wait(bound_s)
    except (TimeoutError, OSError) as error:
        raise LoadError(f"{name}: {error}. Its output ends with:\n{tool.log_tail()}") from error
    finally:
        tool.stop()
    if code != 0:
        raise LoadError(f"{name}: ended with exit code {code}. Its output ends with:\n{tool.log_tail()}")
    return log.read_text(encoding="utf-8", errors="replace")


def best(measured: Sequence[Measured]) -> Measured:
    """A limit is what the best number of clients reaches; LoadError where none wrote anything in its time."""
    found = max(measured, key=lambda each: each.writes_per_s)
    if found.writes_per_s <= 0:
        raise LoadError(f"{found.raw_file}: nothing was written after the warm-up; the host is too busy")
    return found


def median_characters(content: Path) -> int:
    """Of the dataset's lines: what a write of ours carries."""
    lines: list[str] = json.loads(content.read_text(encoding="utf-8"))
    return round(statistics.median(len(line) for line in lines))


def message_bytes(content: Path) -> int:
    """Of a post with a line of median length, as the queue's message has it."""
    lines: list[str] = json.loads(content.read_text(encoding="utf-8"))
    lengths = [len(line.encode()) for line in lines]
    rest = {"id": "0" * 36, "content": "", "createdAt": "2026-01-02T03:04:05.678Z"}
    return round(statistics.median(lengths)) + len(json.dumps(rest, separators=(",", ":")))
