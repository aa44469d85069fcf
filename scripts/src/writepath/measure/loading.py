"""Starts a stack, proves it, warms it and loads it: the steps that all kinds of experiments have in common."""

import contextlib
import dataclasses
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from writepath import pidfile
from writepath.analysis import raw
from writepath.analysis.raw import Sample
from writepath.config.registry import Scenario, Suite
from writepath.config.settings import Given
from writepath.errors import LoadError, UsageError
from writepath.load import k6, ledger
from writepath.load.dataset import Dataset
from writepath.load.ledger import WRITE, Tail
from writepath.load.plan import ClosedPlan, LoadPlan, arrival_plan
from writepath.measure import host, sampler
from writepath.measure.host import CanaryCage
from writepath.measure.truth import Truth
from writepath.progress import Live, Progress
from writepath.records.base import write_json
from writepath.records.load_facts import OperationFacts, WithheldFacts
from writepath.records.measures import DatasetFacts, Host
from writepath.runtime.base import Meter, Runtime, Stack, Usage
from writepath.runtime.native import usage


def moment(epoch_s: float) -> str:
    """ISO-8601 UTC with milliseconds."""
    return datetime.fromtimestamp(epoch_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def dataset_facts(dataset: Dataset) -> DatasetFacts:
    """What records say of a dataset."""
    return DatasetFacts(name=dataset.name, sha256=dataset.sha256, lines=len(dataset.lines))


@dataclass(frozen=True, kw_only=True)
class Bench:
    """The runtime, the host, and what k6 reads."""

    runtime: Runtime
    progress: Progress
    cage: CanaryCage
    host: Host
    content: Path  # the dataset as k6 reads it
    pids: Path  # where the next command finds a load generator that outlived its runner
    root: Path
    stopped: threading.Event = field(default_factory=threading.Event)  # the user has stopped the command


VIRTUAL_USERS = "VIRTUAL_USERS"  # of a closed load; of an open one, the most requests in flight
RATE = "RATE"  # requests per second at the peak of an open load
RATE_SCALE = "RATE_SCALE"  # multiplies all rates of a suite: Suite.scaled()
SECONDS = "SECONDS"  # of a closed load, or of one phase: Suite.lasting()
RATE_TIMES = "RATE_TIMES"  # multiplies the rate of a suite that finds it


def require_rates(suite: Suite, given: Given) -> None:
    """UsageError for settings of the load that exclude each other, or do not apply to the suite's scenario."""
    asked = {name: ",".join(given.levels(name)) for name in (RATE, RATE_SCALE) if given.levels(name)}
    for name, value in asked.items():
        if suite.load.model == "closed":
            raise UsageError(
                f"{name}={value}: scenario '{suite.load.name}' is a closed load, in which the virtual users decide the"
                f" rate; use {VIRTUAL_USERS}"
            )
        if name == RATE_SCALE and len(given.levels(name)) > 1:
            raise UsageError(f"{name}={value}: scales the whole suite. Give one value, or vary {RATE}")
    if seconds := ",".join(given.levels(SECONDS)):
        if len(suite.load.phases) > 1:
            raise UsageError(
                f"{SECONDS}={seconds}: scenario '{suite.load.name}' has several phases, and lasts as long as they do;"
                " omit it"
            )
        if len(given.levels(SECONDS)) > 1:
            raise UsageError(
                f"{SECONDS}={seconds}: is how long every load of the suite lasts. Give one value"
            )
    if (times := ",".join(given.levels(RATE_TIMES))) and "find_rate" not in suite.params:
        raise UsageError(f"{RATE_TIMES}={times}: '{suite.name}' does not find its rate; use {RATE_SCALE}")
    if len(asked) > 1:
        both = " ".join(f"{name}={value}" for name, value in asked.items())
        raise UsageError(f"{both}: both set the rate; omit one of them")


def plan_of(scenario: Scenario, settings: Mapping[str, str]) -> LoadPlan:
    """The scenario's load, with the settings that require_rates() lets through."""
    users = int(settings[VIRTUAL_USERS]) if VIRTUAL_USERS in settings else None
    if scenario.virtual_users is not None and scenario.seconds is not None:
        return ClosedPlan(virtual_users=users or scenario.virtual_users, seconds=scenario.seconds)
    if RATE in settings:
        peak_per_s = max(max(phase.from_per_s, phase.to_per_s) for phase in scenario.phases)
        scenario = scenario.scaled(float(settings[RATE]) * float(settings.get(RATE_TIMES, "1")) / peak_per_s)
    plan = arrival_plan(scenario.phases)
    return plan if users is None else dataclasses.replace(plan, most_users=users)


TICK_S = 0.25


@dataclass(frozen=True, kw_only=True)
class Driven:
    """A finished load, what was sampled meanwhile, and what the machine withheld from it."""

    result: k6.LoadResult
    taken: ledger.Ledger
    beside: ledger.Ledger | None  # of writes that the same k6 sent at the same time
    samples: Sequence[Sample]
    late: int  # samples
    began_at: float  # epoch s: before k6 was started
    ended_at: float  # epoch s: k6 has gone
    withheld: WithheldFacts


def carry_out(load: k6.Load, bench: Bench, stack: Stack, truth: Truth) -> Driven:
    """The load to its end; leaves ledger and samples in its folder, as far as they go where it is stopped or fails.

    LoadError where nothing was sent.
    """
    samples: list[Sample] = []
    before, began_at = host.read_counters(), time.time()
    try:
        with (
            k6.Generator(load, bench.runtime.load_generator(stack.network)) as generator,
            _sampler(generator, bench, stack, truth, samples) as watching,
        ):
            _follow(generator, load, watching, bench.progress.load)
            result = generator.result()
        ended_at, withheld = time.time(), host.withheld_between(before, host.read_counters())
        _require_sent(result)
        beside = None if result.beside is None else keep_ledger(result.beside, WRITE)
        taken = keep_ledger(result, load.operation)
    except BaseException:
        for each in (load, load.beside):
            rescue_ledger(each)
        raise
    finally:
        if samples:
            raw.save_samples(samples, load.folder / raw.SAMPLES_FILE)
    return Driven(
        result=result,
        taken=taken,
        beside=beside,
        samples=samples,
        late=watching.late,
        began_at=began_at,
        ended_at=ended_at,
        withheld=withheld,
    )


def _require_sent(result: k6.LoadResult) -> None:
    if result.started == 0 or not result.ledger.is_file():
        raise LoadError(f"k6 sent nothing: {result.meaning}; see k6.log in the folder of the run")


def _sampler(
    generator: k6.Generator, bench: Bench, stack: Stack, truth: Truth, samples: list[Sample]
) -> sampler.Sampler:
    meter = Meter()

    def all_usage() -> Mapping[str, Usage]:
        """A stack that runs k6 itself (in a container) knows better what it uses than its client does."""
        alone = {pid: found for pid in generator.pids if (found := pidfile.stat(pid)) is not None}
        own = usage.read(meter, generator.pids, alone)  # it starts nothing: no pass over all processes
        return {sampler.K6: own, **stack.usage()}

    return sampler.Sampler(usage=all_usage, gauges=truth.gauges, split=bench.host.split, samples=samples)


def _follow(
    generator: k6.Generator, load: k6.Load, watching: sampler.Sampler, show: Callable[[Live], None]
) -> None:
    tail, began_at = Tail(generator.ledger), time.time()
    before, before_at, rate = 0, began_at, 0.0
    while generator.running():
        time.sleep(TICK_S)
        tail.poll()
        now = time.time()
        if now - before_at >= 1:
            rate = (tail.finished - before) / (now - before_at)
            before, before_at = tail.finished, now
        show(
            Live(
                elapsed_s=now - began_at,
                planned_s=load.plan.seconds,
                rate_per_s=rate,
                planned_per_s=load.plan.rate_at(now - began_at),
                success=load.operation.served[0],
                acknowledged=tail.acknowledged,
                errors=tail.finished - tail.acknowledged,
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


PLAN_FILE = "plan.json"


def load_of(
    scenario: Scenario, bench: Bench, stack: Stack, plan: LoadPlan, run_id: str, folder: Path
) -> k6.Load:
    """The plan, sent to the stack."""
    return k6.Load(
        script=bench.root / scenario.script,
        target=stack.load_url,
        run_id=run_id,
        plan=plan,
        content=bench.content,
        folder=folder,
        pid_folder=bench.pids,
        operation=ledger.OF_READS.get(scenario.reads or "", WRITE),
        requests=scenario.reads == "sessions",
        timeout_s=scenario.timeout_seconds,
        pause_after_error_s=scenario.pause_after_error_seconds,
    )


def keep_ledger(result: k6.LoadResult, operation: OperationFacts = WRITE) -> ledger.Ledger:
    """Replaces k6's file by a table, with a record for each request that k6 started and did not record: operation's.

    The requests of sessions get a table as they were recorded; what is wrong with it, the sessions' problems tell.
    """
    records = ledger.read(result.ledger)
    if result.started is not None:
        records = ledger.concluded(records, result.parts, operation)
    _replace(result.ledger, ledger.FILE, records)
    if result.requests_ledger is not None:
        requests = ledger.read(result.requests_ledger)
        _replace(result.requests_ledger, ledger.REQUESTS_FILE, requests)
        more = tuple(f"requests of sessions: {problem}" for problem in requests.problems)
        records = dataclasses.replace(records, problems=records.problems + more)
    return records


def rescue_ledger(load: k6.Load | None) -> None:
    """Of a load that was stopped or failed: as far as it goes, and never a second failure."""
    names = (ledger.FILE, ledger.REQUESTS_FILE)
    for recording, name in zip(() if load is None else load.ledgers, names, strict=False):
        with contextlib.suppress(Exception):
            _replace(recording, name, ledger.read(recording))


def _replace(recording: Path, name: str, records: ledger.Ledger) -> None:
    ledger.write(records, recording.with_name(name))
    recording.unlink()


def generator_faults(result: k6.LoadResult, taken: ledger.Ledger) -> Iterator[str]:
    """In words, where k6 did not carry out its plan or its ledger is torn."""
    if not result.complete:
        yield f"did not send the whole schedule: {result.meaning}"
    if taken.problems:
        yield f"its ledger is incomplete: {'; '.join(taken.problems)}"


def save_plan(run_id: str, plan: LoadPlan, seed: int, dataset: Dataset, folder: Path) -> None:
    """Writes plan.json: enough to compute each scheduled send time and each content again."""
    known = {
        "run_id": run_id,
        "model": "closed" if plan.planned is None else "open",
        "seconds": plan.seconds,
        "phases": [vars(phase) for phase in plan.phases],
        "planned": plan.planned,
        "virtual_users": plan.virtual_users,
        "seed": seed,
        "dataset": vars(dataset_facts(dataset)),
    }
    write_json(known, folder / PLAN_FILE)
