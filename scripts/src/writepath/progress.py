"""Shows what runs, how fast, and how long it will take: a live line on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from rich.console import Console
from rich.live import Live as RichLive
from rich.text import Text

from writepath.records.cell import CellRecord

PLAIN_INTERVAL_S = 5.0
SELDOM_S = 60.0
TAIL_S = 20.0  # of a run after its load: drain, both reads and the restart between them, stop
FIRST_GUESS_OVERHEAD_S = 45.0  # of a run, outside load; replaced by what the runs so far took
COLOURS = {"valid": "green", "unknown": "yellow"}


@dataclass(frozen=True, kw_only=True)
class Live:
    """The load right now."""

    elapsed_s: float
    planned_s: float
    rate_per_s: float
    planned_per_s: float | None  # None: a closed load has no schedule
    acknowledged: int
    errors: int
    queue_depth: int | None  # None where there is no queue
    success: int = 201  # the status of what is acknowledged


@dataclass(kw_only=True)
class Progress:
    """Prints; never decides. A context manager: the terminal is left in order."""

    console: Console = field(default_factory=Console)
    clock: Callable[[], float] = time.monotonic
    total: int = 1
    load_seconds: float = 0.0  # of one run, warm-up included
    jobs: int = 1  # cells at a time; with several only their beginnings and ends are said
    took_s: list[float] = field(default_factory=list)  # of each cell so far; lanes share it

    def __post_init__(self) -> None:
        self._live = RichLive("", console=self.console, refresh_per_second=8, transient=True)
        self._run = self._phase = ""
        self._run_began = self._plain_at = self.clock()
        self._at_least_s = 0.0  # left of the run, as far as the plan of the load tells

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def say(self, text: str) -> None:
        """A line that stays."""
        self.console.print(Text(text), soft_wrap=True)

    def began(self, number: int, what: str) -> None:
        """number: from 1, over the whole suite."""
        self._run = f"cell {number}/{self.total}  {what}"
        self._run_began = self.clock()
        self.say(f"{self._run}  ({self._left()})")

    def phase(self, name: str) -> None:
        """The step that starts now."""
        self._phase, self._at_least_s = name, 0.0
        if not self._live.is_started and self.jobs == 1:
            self.say(f"  {self.clock() - self._run_began:6.1f} s  {name}")
            self._plain_at = self.clock()
        self._show("")

    def load(self, live: Live) -> None:
        """Called every few hundred milliseconds."""
        self._at_least_s = max(0.0, live.planned_s - live.elapsed_s) + TAIL_S
        scheduled = "" if live.planned_per_s is None else f" (scheduled {live.planned_per_s:.0f}/s)"
        queue = "" if live.queue_depth is None else f"  queue {live.queue_depth}"
        errors = f"  errors {live.errors}" if live.errors else ""
        self._detail(
            f"{min(live.elapsed_s, live.planned_s):.0f}/{live.planned_s:.0f} s  {live.rate_per_s:.0f}/s{scheduled}"
            f"  {live.success}: {live.acknowledged}{errors}{queue}"
        )

    def piece(self, done: int, of: int, what: str, took_s: float) -> None:
        """While something is done piece by piece, of which what it took so far tells how long the rest takes."""
        self._at_least_s = took_s * (of - done) / done
        self._detail(f"{done:,} of {of:,} {what}")

    def drain(self, rows: int, waiting: int) -> None:
        """While the store is watched after the load."""
        self._detail(f"{rows} rows stored, {waiting} waiting")

    def noisy(self, stolen: float | None, left_s: float) -> None:
        """While a quiet host is waited for. stolen: of all processor time, just now; left_s: at most."""
        share = "" if stolen is None else f"{stolen:.1%} of CPU time stolen, "
        self._detail(f"{share}waiting at most {minutes(left_s)} more", every_s=SELDOM_S)

    def cell_ended(self, record: CellRecord, line: str, share: int = 1) -> None:
        """A line of result and one of where the time went. share: cells that took the time since `began`."""
        took = (self.clock() - self._run_began) / share
        self.took_s.append(took)
        self._show("")
        if self.jobs > 1:
            self.say(f"  {self._run}")
        verdict = record.verdict
        word = verdict.finding or verdict.status if record.outcome == "finished" else record.outcome
        name = f"  {record.name}" if share > 1 else ""
        text = Text.assemble("  ", (word.upper(), COLOURS.get(word, "red")), f"{name}  {line}")
        self.console.print(text, soft_wrap=True)
        for words in (record.error,) if record.error else verdict.reasons:
            self.say(f"    {words}")
        for words in verdict.notes:
            self.say(f"    note: {words}")
        steps = "  ".join(f"{step.step} {step.seconds:.1f}" for step in record.timings)
        outside = took - sum(step.seconds for step in record.timings if step.step in ("load", "drain"))
        self.say(f"    seconds: {steps}; outside load and drain: {outside:.1f} of {took:.1f}")

    def _detail(self, detail: str, every_s: float = 0.0) -> None:
        if self._live.is_started:
            self._show(detail)
        elif self.jobs == 1 and self.clock() - self._plain_at >= max(PLAIN_INTERVAL_S, every_s):
            self._plain_at = self.clock()
            self.say(f"  {self.clock() - self._run_began:6.1f} s  {self._phase}  {detail}  ({self._left()})")

    def _show(self, detail: str) -> None:
        parts = [self._run, self._phase, detail, self._left()]
        self._live.update(Text("  ·  ".join(part for part in parts if part)), refresh=False)

    def _left(self) -> str:
        """Of the run and of the suite, from the schedule and from what the runs so far took."""
        took = self.took_s
        expected = sum(took) / len(took) if took else self.load_seconds + FIRST_GUESS_OVERHEAD_S
        cells = self.total - len(took)
        if self.jobs > 1:
            return f"{minutes(expected * max(1, cells) / self.jobs)} left for all cells"
        run = max(self._at_least_s, expected - (self.clock() - self._run_began), 0.0)
        suite = run + expected * max(0, cells - 1)
        return f"{minutes(run)} left" + (f", {minutes(suite)} for all cells" if self.total > 1 else "")


def minutes(seconds: float) -> str:
    """Of whole seconds: 1:05."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
