"""How is the load driven? Builds k6's command, runs it, and says what its exit code means."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Self

from writepath.errors import LoadError
from writepath.process import Daemon, ProgramMissingError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from writepath.load.plan import ArrivalPlan

STOP_SECONDS = 10.0  # k6 interrupts its virtual users and writes the summary in far less
THRESHOLDS_CROSSED = 99
EXIT_CODES = {
    0: "ended as planned",
    THRESHOLDS_CROSSED: "ended as planned; a threshold was crossed",
    100: "setup took too long",
    101: "teardown took too long",
    102: "a time-out of k6",
    103: "stopped through k6's REST interface",
    104: "k6 refused its options",
    105: "stopped by a signal",
    106: "k6's REST interface could not start",
    107: "the script raised an exception",
    108: "the script aborted the test",
    109: "k6 itself crashed",
    110: "the script marked the test as failed",
}


@dataclass(frozen=True, kw_only=True)
class Load:
    """One load: the probe, the warm-up or the measured one."""

    script: Path  # absolute, below the checkout
    target: str  # http://127.0.0.1:PORT
    run_id: str
    plan: ArrivalPlan
    content: Path  # written by Dataset.write
    folder: Path  # ledger.csv, summary.json and k6.log go here; absolute
    pid_folder: Path | None = None  # where reap looks; folder where None


@dataclass(frozen=True, kw_only=True)
class LoadResult:
    """How k6 ended. Counts are k6's own, None where it could not write its summary (killed)."""

    exit_code: int
    meaning: str  # of the exit code, in words
    complete: bool  # every planned iteration was started or dropped, and k6 itself found no fault
    ledger: Path  # plain CSV without header; read it with ledger.read
    started: int | None = None  # finished and interrupted iterations
    interrupted: int | None = None
    dropped: int | None = None
    virtual_users_max: int | None = None


def command(load: Load, prefix: Sequence[str], ledger: Path, summary: Path) -> list[str]:
    """All settings are flags: a container does not inherit the environment."""
    variables = {
        "BENCH_TARGET": load.target,
        "BENCH_RUN": load.run_id,
        "BENCH_PHASES": json.dumps([asdict(phase) for phase in load.plan.phases]),
        "BENCH_VUS": str(load.plan.virtual_users),
        "BENCH_CONTENT": str(load.content),
        "BENCH_SUMMARY": str(summary),
    }
    flags = ["--quiet", "--no-color", "--no-usage-report", "--address", "", "--log-format", "raw"]
    for name, value in variables.items():
        flags += ["-e", f"{name}={value}"]
    return [*prefix, "run", *flags, "--console-output", str(ledger), str(load.script)]


class Generator:
    """A running k6. A context manager: k6 is gone after the block, however it is left."""

    def __init__(self, load: Load, prefix: Sequence[str]) -> None:
        """Starts it."""
        self.ledger = load.folder / "ledger.csv"  # grows a line a finished iteration: ledger.Tail
        self._load = load
        self._summary = load.folder / "summary.json"
        for left_over in (self.ledger, self._summary):
            left_over.unlink(missing_ok=True)  # k6 would append
        # k6's own variables replace what the script says; ours come as flags.
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("K6_", "BENCH_"))}
        try:
            self._daemon = Daemon(
                "k6",
                command(load, prefix, self.ledger, self._summary),
                pid_folder=load.pid_folder or load.folder,
                log=load.folder / "k6.log",
                env=inherited | {"K6_AUTO_EXTENSION_RESOLUTION": "false"},
                stop_signal=signal.SIGINT,
                stop_seconds=STOP_SECONDS,
            )
        except ProgramMissingError as error:
            raise LoadError(f"k6 could not be started: {error}") from error
        self.pid = self._daemon.pid

    def __enter__(self) -> Self:
        """Already running."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops k6 if it still runs."""
        self.stop()

    def running(self) -> bool:
        """Whether k6 still runs."""
        return self._daemon.exit_code() is None

    def stop(self) -> None:
        """Ends the load early; k6 interrupts what is in flight and still writes its summary."""
        self._daemon.stop()

    def result(self, timeout_seconds: float | None = None) -> LoadResult:
        """Waits for the end. LoadError where k6 could not run the load at all (bad script, no k6)."""
        code = self._daemon.wait(timeout_seconds)
        meaning = meaning_of(code)
        counts = self._counts()
        if counts is None:
            if not self._has_lines() and code >= 0:
                script = self._load.script.name
                raise LoadError(f"k6 could not run {script}: {meaning}\n{self._daemon.log_tail()}")
            return LoadResult(exit_code=code, meaning=meaning, complete=False, ledger=self.ledger)
        started, dropped = counts["started"], counts["dropped"]
        return LoadResult(
            exit_code=code,
            meaning=meaning,
            complete=code in (0, THRESHOLDS_CROSSED) and started + dropped == self._load.plan.planned,
            ledger=self.ledger,
            started=started,
            interrupted=started - counts["finished"],
            dropped=dropped,
            virtual_users_max=counts["virtual_users_max"],
        )

    def _has_lines(self) -> bool:
        return self.ledger.exists() and self.ledger.stat().st_size > 0

    def _counts(self) -> dict[str, int] | None:
        try:
            counts: dict[str, int] = json.loads(self._summary.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None  # killed before or while it wrote
        return counts


def start(load: Load, prefix: Sequence[str]) -> Generator:
    """Starts k6; prefix is Runtime.load_generator(). LoadError where the program is missing."""
    return Generator(load, prefix)


def run(load: Load, prefix: Sequence[str]) -> LoadResult:
    """Starts k6 and waits for its end: for the probe and the warm-up."""
    with start(load, prefix) as generator:
        return generator.result()


def meaning_of(code: int) -> str:
    """An exit code in words."""
    number = (
        -code if code < 0 else code - 128
    )  # a container's program killed by a signal ends with 128 + number
    if number in set(signal.Signals):
        return f"killed by {signal.Signals(number).name}"
    return EXIT_CODES.get(code, f"ended with exit code {code}")
