"""Runs a store's own tool for a bounded time, keeps its whole output, and makes a ceiling of what it says."""

import json
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from writepath.errors import LoadError
from writepath.experiments.base import CellRun
from writepath.process import Daemon
from writepath.records.ceilings import Ceiling, CeilingsFacts, ToolRun
from writepath.runtime.base import Stack
from writepath.runtime.topology import Service

BATCH = 500  # rows of a statement, documents of a bulk: as many as our own writers put together
SLACK_SECONDS = 90.0  # of a tool's time: a JVM's start, connections, a store that stalls: on a busy machine


@dataclass(frozen=True, kw_only=True)
class Target:
    """A store that runs alone, as its variant's topology has it."""

    run: CellRun
    stack: Stack
    service: Service  # as the compose file has it, with its settings
    texts: Sequence[str] = field(default=())

    def tool(
        self,
        name: str,
        args: Sequence[str | Path],
        *,
        seconds: float,
        env: Mapping[str, str] | None = None,
        text_in: str = "",
    ) -> str:
        """Runs a tool that ends by itself after so many seconds; the name of the file of its output."""
        log = self.run.folder / f"{name}.txt"
        tool = Daemon(name, args, pid_folder=self.run.bench.pids, log=log, env=env, text_in=text_in)
        try:
            code = tool.wait(seconds + SLACK_SECONDS)
        except TimeoutError as error:
            raise LoadError(f"{name}: {error}. Its output ends with:\n{tool.log_tail()}") from error
        finally:
            tool.stop()
        if code != 0:
            raise LoadError(f"{name}: ended with exit code {code}. Its output ends with:\n{tool.log_tail()}")
        return log.name


@dataclass(frozen=True, kw_only=True)
class Rate:
    """What a tool reached with one number of clients."""

    writes_per_s: float
    latency_ms_mean: float | None = None


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A ceiling that a tool's runs give."""

    name: str
    tool: str  # the runs that give it
    what: str
    parse: Callable[[ToolRun, CeilingsFacts], Rate]  # LoadError where the tool says no rate that counts
    title: Callable[[ToolRun, CeilingsFacts], str]  # of the tool, with its version


@dataclass(frozen=True, kw_only=True)
class Tool:
    """What is known of a store's own tool."""

    store: str  # the service
    figures: tuple[Figure, ...]
    measure: Callable[[Target], Iterable[ToolRun]]  # each when its output is in the folder
    version: str | None = None  # where its output does not say it


def ceiling(figure: Figure, facts: CeilingsFacts) -> Ceiling:
    """What the best number of clients reaches; LoadError where none wrote anything in its time."""
    found = [(figure.parse(run, facts), run) for run in facts.runs if run.tool == figure.tool]
    if not found:
        raise LoadError(f"{figure.tool}: it was not run")
    best, run = max(found, key=lambda pair: pair[0].writes_per_s)
    if best.writes_per_s <= 0:
        raise LoadError(f"{run.file}: nothing was written after the warm-up; the host is too busy")
    return Ceiling(
        name=figure.name,
        store=facts.store,
        tool=figure.title(run, facts),
        what=figure.what,
        clients=run.clients,
        seconds=facts.seconds,
        writes_per_s=best.writes_per_s,
        latency_ms_mean=best.latency_ms_mean,
        raw_file=run.file,
    )


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
