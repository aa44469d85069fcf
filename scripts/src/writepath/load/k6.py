"""Drives a load: builds k6's command, runs it, and says what its exit code means."""

import contextlib
import json
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

from writepath.errors import LoadError
from writepath.load import ledger
from writepath.load.ledger import WRITE
from writepath.load.plan import ClosedPlan, LoadPlan
from writepath.process import Daemon, ProgramMissingError
from writepath.records.load_facts import OperationFacts

SUMMARY_FILE = "summary.json"
STOP_SECONDS = 10.0  # k6 interrupts its virtual users and writes the summary in far less
THRESHOLDS_CROSSED = 99
EXIT_CODES = {
    0: "ended normally",
    THRESHOLDS_CROSSED: "ended normally; a threshold was crossed",
    104: "k6 refused its options",
    105: "stopped by a signal",
    107: "the script raised an exception",
    108: "the script aborted the test",
    109: "k6 crashed",
}


@dataclass(frozen=True, kw_only=True)
class Load:
    """One load: the probe, the warm-up or the measured one."""

    script: Path  # absolute, below the checkout
    target: str  # http://127.0.0.1:PORT
    run_id: str
    plan: LoadPlan
    content: Path  # a JSON array, each request carries an entry: written by Dataset.write, or questions
    folder: Path  # ledger.rec, summary.json and k6.log go here; absolute
    pid_folder: Path | None = None  # where reap looks; folder where None
    operation: OperationFacts = WRITE  # of the script's requests
    requests: bool = False  # an iteration is a session, and its requests have a second ledger
    timeout_s: float | None = None  # of a request; the script's own where None
    pause_after_error_s: float | None = None  # of a user; none where None
    variables: Mapping[str, str] = field(default_factory=dict)  # more of the script's
    beside: "Load | None" = (
        None  # writes, sent by the same k6 at the same time; of a script that knows of them
    )

    @property
    def ledger(self) -> Path:
        """What k6 records."""
        return self.folder / ledger.RECORDING_FILE

    @property
    def requests_ledger(self) -> Path | None:
        """What k6 records of the requests of sessions."""
        return self.folder / ledger.REQUESTS_RECORDING_FILE if self.requests else None

    @property
    def ledgers(self) -> tuple[Path, ...]:
        """All that k6 records."""
        return (self.ledger,) if self.requests_ledger is None else (self.ledger, self.requests_ledger)

    def summary(self, part: int = 0) -> Path:
        """What a k6 process counts."""
        return self.folder / (f"summary-{part}.json" if part else SUMMARY_FILE)


@dataclass(frozen=True, kw_only=True)
class LoadResult:
    """How k6 ended. Counts are k6's own, None where it could not write its summary (killed)."""

    exit_code: int
    meaning: str  # of the exit code, in words
    complete: bool  # every planned request, if there is a plan, was sent or dropped, and k6 found no fault
    ledger: Path  # as k6 records it; read it with ledger.read
    requests_ledger: Path | None = None  # the same, of the requests of sessions
    processes: int = 1
    started: int | None = None  # finished and interrupted iterations
    parts: tuple[int, ...] = ()  # the same, by k6 process
    dropped: int | None = None
    beside: "LoadResult | None" = None  # of the writes that were sent beside it


def command(load: Load, prefix: Sequence[str], part: int = 0, parts: int = 1) -> list[str]:
    """All settings are flags: a container does not inherit the environment. part: of the k6 processes, of `parts`."""
    variables = {**_variables(load, "BENCH_", parts, part), **load.variables}
    if load.beside is not None:
        variables |= _variables(load.beside, "BENCH_WRITES_", parts, part)
    flags = ["--quiet", "--no-color", "--no-usage-report", "--address", "", "--log-format", "raw"]
    if parts > 1:
        bounds = [f"{bound}/{parts}" for bound in range(parts + 1)]
        flags += ["--execution-segment", f"{bounds[part]}:{bounds[part + 1]}"]
        flags += ["--execution-segment-sequence", ",".join(bounds)]
    for name, value in variables.items():
        flags += ["-e", f"{name}={value}"]
    return [*prefix, "run", *flags, str(load.script)]


def _variables(load: Load, prefix: str, processes: int, part: int) -> dict[str, str]:
    plan = load.plan
    if isinstance(plan, ClosedPlan):
        model = {"MODEL": "closed", "SECONDS": str(plan.seconds)}
    else:
        model = {"MODEL": "open", "PHASES": json.dumps([asdict(phase) for phase in plan.phases])}
    variables = {
        "TARGET": load.target,
        "RUN": load.run_id,
        **model,
        "VUS": str(plan.virtual_users),
        "CONTENT": str(load.content),
        "LEDGER": str(load.ledger),
        "SUMMARY": str(load.summary(part)),
        "PROCESSES": str(processes),
    }
    if load.timeout_s is not None:
        variables["TIMEOUT_SECONDS"] = str(load.timeout_s)
    if load.pause_after_error_s is not None:
        variables["PAUSE_AFTER_ERROR_SECONDS"] = str(load.pause_after_error_s)
    if load.requests_ledger is not None:
        variables["REQUESTS_LEDGER"] = str(load.requests_ledger)
    return {f"{prefix}{name}": value for name, value in variables.items()}


class Generator:
    """A running k6, or several that share the load. A context manager: k6 is gone after the block, however left."""

    def __init__(self, load: Load, prefixes: Sequence[Sequence[str]]) -> None:
        """Starts k6; prefixes are Runtime.load_generator(). LoadError where the program is missing."""
        self.ledger = load.ledger  # grows by each finished iteration: ledger.Tail
        self._load, parts = load, len(prefixes)
        for each in (load, load.beside):
            if each is not None:
                for left_over in (*each.ledgers, *map(each.summary, range(parts))):
                    left_over.unlink(missing_ok=True)  # of an earlier load
                for recording in each.ledgers if parts > 1 else ():
                    ledger.begin(recording)
        self._meeting = load.ledger.with_name(f"{load.ledger.name}.meeting")
        self._meeting.unlink(missing_ok=True)
        # k6's own variables replace what the script says; ours come as flags.
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("K6_", "BENCH_"))}
        self._daemons: list[Daemon] = []
        try:
            for part, prefix in enumerate(prefixes):
                name = f"k6-{part}" if part else "k6"
                self._daemons.append(
                    Daemon(
                        name,
                        command(load, prefix, part, parts),
                        pid_folder=load.pid_folder or load.folder,
                        log=load.folder / f"{name}.log",
                        env=inherited | {"K6_AUTO_EXTENSION_RESOLUTION": "false"},
                        stop_signal=signal.SIGINT,
                        stop_seconds=STOP_SECONDS,
                    )
                )
        except ProgramMissingError as error:
            raise LoadError(f"k6 could not be started: {error}") from error
        except BaseException:
            self.stop()
            raise
        self.pids = [daemon.pid for daemon in self._daemons]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def running(self) -> bool:
        """Whether k6 still runs."""
        return any(daemon.exit_code() is None for daemon in self._daemons)

    def stop(self) -> None:
        """Ends the load early; k6 interrupts what is in flight and still writes its summary."""
        for daemon in self._daemons:
            daemon.stop()
        self._meeting.unlink(missing_ok=True)

    def result(self, timeout_seconds: float | None = None) -> LoadResult:
        """Waits for the end. LoadError where k6 could not run the load at all (bad script, no k6)."""
        codes = [daemon.wait(timeout_seconds) for daemon in self._daemons]
        worst = next((number for number, code in enumerate(codes) if code), 0)
        found = _result(self._load, codes[worst], len(codes))
        if found.started is None and not ledger.holds_any(self.ledger) and found.exit_code >= 0:
            script = self._load.script.name
            raise LoadError(f"k6 could not run {script}: {found.meaning}\n{self._daemons[worst].log_tail()}")
        return found


def _result(load: Load, code: int, processes: int) -> LoadResult:
    """From what k6 left in the load's folder."""
    counts: list[dict[str, int]] = []
    with contextlib.suppress(OSError, ValueError):  # killed before or while it wrote
        counts = [json.loads(load.summary(part).read_text(encoding="utf-8")) for part in range(processes)]
    started, dropped = (sum(count[name] for count in counts) for name in ("started", "dropped"))
    ended = bool(counts) and code in (0, THRESHOLDS_CROSSED)
    return LoadResult(
        exit_code=code,
        meaning=meaning_of(code),
        complete=ended and load.plan.planned in (None, started + dropped),
        ledger=load.ledger,
        requests_ledger=load.requests_ledger,
        processes=processes,
        started=started if counts else None,
        parts=tuple(count["started"] for count in counts),
        dropped=dropped if counts else None,
        beside=None if load.beside is None else _result(load.beside, code, processes),
    )


def run(load: Load, prefixes: Sequence[Sequence[str]]) -> LoadResult:
    """Starts k6 and waits for its end: for the probe and the warm-up."""
    with Generator(load, prefixes) as generator:
        return generator.result()


def meaning_of(code: int) -> str:
    """An exit code in words."""
    number = -code if code < 0 else code - 128  # 128 + number: of a container's program that a signal ended
    if number in set(signal.Signals):
        return f"killed by {signal.Signals(number).name}"
    return EXIT_CODES.get(code, f"ended with exit code {code}")
