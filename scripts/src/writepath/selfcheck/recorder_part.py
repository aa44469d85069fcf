"""What does recording cost? The same posts by k6 with and without it, against a server that answers at once.

Both sides are one program on one core, in turn, and k6's own trend says how long answers took: the recorder is not
its own judge. The recorded side is the scenario that every run uses; the plain one sends its posts and no more.
"""

import json
import os
import resource
import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from writepath import provision
from writepath.errors import LoadError
from writepath.load import dataset, k6
from writepath.load.plan import constant_plan, new_run_id
from writepath.provision.golang import K6
from writepath.selfcheck.null_server import null_server

ROOT = Path(__file__).resolve().parents[4]
PLAIN, RECORDED = "k6/harness/plain.js", "k6/scenarios/ramp.js"
P99_GOAL, CPU_GOAL, TOP_GOAL = 1.25, 1.1, 0.9
TREND = ("--summary-trend-stats", "p(99)")
_CONTENT_SEED = 7
_ANSWER_S = 0.05  # virtual users for that: each costs time to start, and the server answers in less than 1 ms


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How long it is measured."""

    pairs: int = 5
    rate_per_s: float = 2000.0
    seconds: float = 10.0
    top_users: int = 32  # in a closed loop: each sends as soon as it has its answer
    top_seconds: float = 5.0


@dataclass(frozen=True, kw_only=True)
class Side:
    """One k6, with or without recording."""

    p99_ms: float
    cpu_us: float  # a request
    dropped: int
    top_per_s: float


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Both sides, one right after the other."""

    plain: Side
    recorded: Side


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A ratio, recorded ÷ plain, and its goal."""

    name: str
    ratios: tuple[float, ...]  # by pair
    goal: float
    least: bool = False  # the goal is a least, not a most

    @property
    def median(self) -> float:
        """Of the pairs."""
        return statistics.median(self.ratios)

    @property
    def met(self) -> bool:
        """Whether the median is within the goal."""
        return self.median >= self.goal if self.least else self.median <= self.goal

    def __str__(self) -> str:
        """One line."""
        bound = "at least" if self.least else "at most"
        found = f"{self.median:.2f} ({min(self.ratios):.2f} to {max(self.ratios):.2f})"
        return (
            f"{self.name}: {found} times plain k6 (goal {bound} {self.goal}){'' if self.met else '  MISSED'}"
        )


def findings(pairs: Sequence[Pair]) -> tuple[Finding, ...]:
    """The goals of the recorder."""
    return (
        Finding(name="p99", ratios=tuple(p.recorded.p99_ms / p.plain.p99_ms for p in pairs), goal=P99_GOAL),
        Finding(name="CPU", ratios=tuple(p.recorded.cpu_us / p.plain.cpu_us for p in pairs), goal=CPU_GOAL),
        Finding(
            name="maximum rate",
            ratios=tuple(p.recorded.top_per_s / p.plain.top_per_s for p in pairs),
            goal=TOP_GOAL,
            least=True,
        ),
    )


def run(say: Callable[[str], None], shape: Shape | None = None) -> bool:
    """Whether every goal is met; one line a pair and a goal."""
    shape = shape or Shape()
    provision.setup(ROOT, say, only={"packages", "k6"})
    pairs = []
    with tempfile.TemporaryDirectory(prefix="writepath-harness-") as name:
        folder = Path(name)
        cores = sorted(os.sched_getaffinity(0))
        say(f"  nginx on core {cores[0]}, k6 on core {cores[-1]}; CPU excludes the start of k6")
        with null_server(folder, _on(cores[0])) as url:
            bench = _Bench(url, folder, [*_on(cores[-1]), str(K6.ensure(ROOT, say))], shape)
            for number in range(shape.pairs):
                order = (PLAIN, RECORDED) if number % 2 == 0 else (RECORDED, PLAIN)
                sides = {script: bench.measure(script) for script in order}
                pairs.append(Pair(plain=sides[PLAIN], recorded=sides[RECORDED]))
                say(f"  pair {number + 1} of {shape.pairs}, plain / recorded: {_in_words(pairs[-1])}")
    found = findings(pairs)
    for finding in found:
        say(f"  {finding}")
    return all(finding.met for finding in found)


def _in_words(pair: Pair) -> str:
    a, b = pair.plain, pair.recorded
    dropped = f", dropped {a.dropped} / {b.dropped}" if a.dropped or b.dropped else ""
    return (
        f"p99 {a.p99_ms:.2f} / {b.p99_ms:.2f} ms, CPU {a.cpu_us:.0f} / {b.cpu_us:.0f} µs per request, "
        f"maximum rate {a.top_per_s:,.0f} / {b.top_per_s:,.0f}/s{dropped}"
    )


def _on(core: int) -> list[str]:
    return ["taskset", "--cpu-list", str(core)]


class _Bench:
    """Runs k6 against the server, one at a time."""

    def __init__(self, url: str, folder: Path, prefix: Sequence[str], shape: Shape) -> None:
        self._url, self._folder, self._prefix, self._shape = url, folder, prefix, shape
        dataset.generate(1000, _CONTENT_SEED).write(folder / "content.json")
        # The same amount is taken from both sides: what recording adds to the start counts against it.
        self._start_cpu_s = min(self._load(PLAIN, 1)[0] for _ in range(2))

    def measure(self, script: str) -> Side:
        """Of one side."""
        shape = self._shape
        cpu_s, counts = self._load(script, round(shape.rate_per_s * shape.seconds), *TREND)
        loop = ("--vus", str(shape.top_users), "--duration", f"{shape.top_seconds}s")
        _, top = self._load(script, 1, *loop)
        return Side(
            p99_ms=counts["duration_ms_p99"],
            cpu_us=(cpu_s - self._start_cpu_s) / counts["requests"] * 1e6,
            dropped=counts["dropped"],
            top_per_s=top["requests"] / shape.top_seconds,
        )

    def _load(self, script: str, requests: int, *flags: str) -> tuple[float, dict[str, Any]]:
        plan = replace(constant_plan("harness", requests, self._shape.rate_per_s), answer_s=_ANSWER_S)
        load = k6.Load(
            script=ROOT / script,
            target=self._url,
            run_id=new_run_id(),
            plan=plan,
            content=self._folder / "content.json",
            folder=self._folder,
            flags=flags,
        )
        before_s = _children_cpu_s()
        result = k6.run(load, self._prefix)
        if result.exit_code != 0:
            raise LoadError(f"k6 with {script}: {result.meaning}")
        counts: dict[str, Any] = json.loads((self._folder / "summary.json").read_text(encoding="utf-8"))
        return _children_cpu_s() - before_s, counts


def _children_cpu_s() -> float:
    """Of those that have ended: of k6, as nothing else ends meanwhile."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
