"""Loads a started stack and watches it: k6 and the sampler side by side, with the live line in between."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

from writepath.load import k6
from writepath.load.ledger import Tail
from writepath.measure import sampler
from writepath.progress import Live
from writepath.runtime.base import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from writepath.analysis.raw import Sample
    from writepath.measure.truth import Truth
    from writepath.runtime.base import Stack

TICK_S = 0.25


@dataclass(frozen=True, kw_only=True)
class Driven:
    """A finished load and what was sampled meanwhile."""

    result: k6.LoadResult
    samples: Sequence[Sample]
    taken: int
    late: int
    began_at: float  # epoch s: before k6 was started
    ended_at: float  # epoch s: k6 has gone


class ProcessUse:
    """CPU and memory of a process and its children; the last known once it has gone."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._last: Usage | None = None

    def read(self) -> Usage | None:
        """None where it never could be read."""
        with contextlib.suppress(psutil.Error):
            family = [psutil.Process(self._pid), *psutil.Process(self._pid).children(recursive=True)]
            found = [(each.cpu_times(), each.memory_info().rss) for each in family]
            cpu_seconds = sum(times.user + times.system for times, _ in found)
            rss_bytes = sum(rss for _, rss in found)
            if self._last is None or cpu_seconds >= self._last.cpu_seconds:
                self._last = Usage(cpu_seconds=cpu_seconds, rss_bytes=rss_bytes, write_bytes=None)
        return self._last


def drive(
    load: k6.Load,
    prefix: Sequence[str],
    stack: Stack,
    truth: Truth,
    show: Callable[[Live], None],
    samples: list[Sample],
) -> Driven:
    """Runs one measured load to its end, filling samples. Leaving early (Ctrl-C) stops k6 and the sampler."""
    began_at = time.time()
    with k6.start(load, prefix) as generator:
        use = ProcessUse(generator.pid)
        watching = sampler.Sampler(usage=lambda: _all_usage(stack, use), gauges=truth.gauges, samples=samples)
        watching.start()
        try:
            _follow(generator, load, watching, show, began_at)
            result = generator.result()
        finally:
            watching.stop()
    return Driven(
        result=result,
        samples=samples,
        taken=watching.taken,
        late=watching.late,
        began_at=began_at,
        ended_at=time.time(),
    )


def _follow(
    generator: k6.Generator,
    load: k6.Load,
    watching: sampler.Sampler,
    show: Callable[[Live], None],
    began_at: float,
) -> None:
    tail = Tail(generator.ledger)
    before, before_at = 0, began_at
    rate = 0.0
    while generator.running():
        time.sleep(TICK_S)
        progress, now = tail.poll(), time.time()
        if now - before_at >= 1:
            rate = (progress.finished - before) / (now - before_at)
            before, before_at = progress.finished, now
        show(
            Live(
                elapsed_s=now - began_at,
                planned_s=load.plan.seconds,
                rate_per_s=rate,
                planned_per_s=load.plan.rate_at(now - began_at),
                success=load.operation.served[0],
                acknowledged=progress.acknowledged,
                errors=progress.errors,
                queue_depth=_queue_depth(watching.latest),
            )
        )


def _queue_depth(gauges: Mapping[str, Mapping[str, float]]) -> int | None:
    depths = [
        values["queue_ready"] + values.get("queue_unacknowledged", 0)
        for values in gauges.values()
        if "queue_ready" in values
    ]
    return int(max(depths)) if depths else None


def _all_usage(stack: Stack, use: ProcessUse) -> Mapping[str, Usage]:
    """A stack that runs k6 itself (in a container) knows better what it uses than its client's process does."""
    generator = use.read()
    return {**({} if generator is None else {sampler.K6: generator}), **stack.usage()}
