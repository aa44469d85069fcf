"""Kind `load`: from a clean store through one load to the second read of the store; of reads, the load alone."""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from writepath.analysis import raw
from writepath.analysis.audit import Said, in_lines
from writepath.analysis.climb import climbing
from writepath.analysis.evidence import FACTS_FILE, Evidence, load_facts, save_facts
from writepath.analysis.load_result import derive_load, reduce_load
from writepath.analysis.proxy_errors import causes
from writepath.config.checked import entry
from writepath.config.registry import SUITES_FILE, Reads, Scenario, SloMs, Suite
from writepath.errors import UsageError
from writepath.experiments.base import LOGS, CellRun, Experiment, Session, loaded, read_back
from writepath.experiments.load import reads, sections
from writepath.experiments.load.reads import FindRate
from writepath.load.k6 import Load
from writepath.load.plan import LoadPlan, arrival_plan
from writepath.measure import loading, sampler, visible
from writepath.measure.host import text_of
from writepath.measure.loading import Driven
from writepath.measure.truth import PROXY, Truth
from writepath.records import base
from writepath.records.base import record
from writepath.records.load import LoadResult
from writepath.records.load_facts import FoundRate, LoadFacts, LoadModel, PhaseFacts
from writepath.records.measures import Host
from writepath.records.warm_up import WarmUpFacts, WarmUpParams, warm_up_params
from writepath.runtime.base import Stack

NETWORK = Path("/proc/sys/net/ipv4")


@entry
class Part:
    """The part `load:` of a suite."""

    slo_ms: SloMs | None = None  # of a scenario that climbs beyond what the paths sustain
    second_read: Literal["stack"] | None = (
        None  # stack: kill and second read once a stack, after its last load; else after each load
    )
    find_rate: FindRate | None = None  # of a scenario of sessions: the rate of every cell is found, not given


@record
class FindRateParams:
    """How the rate of the cells is found."""

    first_per_s: float
    highest_per_s: float
    seconds: float  # of each rate


@record
class LoadParams(WarmUpParams):
    """A scenario of suites.yaml."""

    scenario: str
    script: str
    model: LoadModel
    phases: tuple[PhaseFacts, ...]  # empty in a closed load
    virtual_users: int | None  # of a closed load
    seconds: float  # scheduled duration
    slo_ms: float | None = None  # null: nothing is judged by an SLO
    second_read: Literal["stack"] | None = None  # null: after each load
    reads: Reads | None = None  # null: it writes
    timeout_seconds: float | None = None  # null: the usual one
    pause_after_error_seconds: float | None = None  # null: a user sends its next request at once
    find_rate: FindRateParams | None = None  # null: the scenario has the rate


def params_of(scenario: Scenario, part: Part | None = None) -> LoadParams:
    """The record of a scenario, and of the suite's part."""
    given = part or Part()
    return LoadParams(
        scenario=scenario.name,
        script=scenario.script,
        model=scenario.model,
        phases=tuple(PhaseFacts(**vars(phase)) for phase in scenario.phases),
        virtual_users=scenario.virtual_users,
        seconds=scenario.seconds or sum(phase.seconds for phase in scenario.phases),
        **warm_up_params(scenario.warm_up),
        slo_ms=given.slo_ms,
        second_read=given.second_read,
        reads=scenario.reads,
        timeout_seconds=scenario.timeout_seconds,
        pause_after_error_seconds=scenario.pause_after_error_seconds,
        find_rate=None if given.find_rate is None else FindRateParams(**vars(given.find_rate)),
    )


def measure(run: CellRun, session: Session) -> None:
    """One load. What is known so far is saved at every moment."""
    if run.params.reads is not None:
        _measure_reads(run, session)
        return
    plan = loading.plan_of(run.suite.load, run.settings)
    stack, truth = session.started(run)
    run.verify(stack, truth)
    once = run.params.second_read == "stack"
    crash = not (once and session.left)
    # Without a restart since the load before, a warm stack is still warm.
    warm_up = None if once and session.warm else run.warm_up(stack, truth, warm=session.warm)
    with run.step("empty"):
        truth.empty()
    keep, store = partial(_keep, run.folder), truth.store
    with run.step("load"):
        facts, samples = _load(run, plan, stack, truth, warm_up)
    seen = [(one.metric, one.value) for one in samples if one.component == store.service]
    facts = dataclasses.replace(facts, one_crash_per_stack=once, reads_required=2 if crash else 1)
    redelivered = lambda: sampler.redelivered((*seen, *store.gauges().items()))  # noqa: E731
    read_back(run, stack, truth, facts, keep, redelivered, crash=crash)


def _measure_reads(run: CellRun, session: Session) -> None:
    """One load of reads, at the rate that its suite has found, if it does."""
    run.bench = dataclasses.replace(run.bench, content=reads.sent(run))
    settings, found = run.settings, tuple[FoundRate, ...]()
    if (asked := run.params.find_rate) is not None and loading.RATE not in settings:
        found = reads.found_rates(run, asked)
        settings = {**settings, loading.RATE: str(reads.rate_of(found))}
    plan = loading.plan_of(run.suite.load, settings)
    stack, truth = session.started(run)
    run.verify(stack, truth)
    warm_up = None if session.warm else run.warm_up(stack, truth)
    with run.step("load"):
        load = _planned(run, plan, stack)
        facts, _ = _drive(run, load, stack, truth, warm_up)
        facts = dataclasses.replace(
            facts,
            lost_components=tuple(stack.lost_components()),
            writes=False,
            application=truth.store.service,
            found_rates=found,
        )
        _keep(run.folder, facts)
    run.bench.content.unlink()


def _keep(folder: Path, facts: LoadFacts) -> None:
    save_facts(base.to_data(facts), folder)


def _load(
    run: CellRun, plan: LoadPlan, stack: Stack, truth: Truth, warm_up: WarmUpFacts | None
) -> tuple[LoadFacts, Sequence[raw.Sample]]:
    """Load, samples and the search for writes, until all that were acknowledged are visible."""
    load = _planned(run, plan, stack)
    probed, slo_ms = load, run.params.slo_ms
    if slo_ms is not None:  # beyond its limit a path has no usual time until a write is visible
        probed = dataclasses.replace(load, plan=arrival_plan(plan.phases[: climbing(plan.phases)]))
    with visible.Prober.of(truth.store, probed, run.seed) as prober:
        facts, driven = _drive(run, load, stack, truth, warm_up)
        _keep(run.folder, facts)
        prober.settle(driven.taken)
    prober.save(run.folder)
    return facts, driven.samples


def _planned(run: CellRun, plan: LoadPlan, stack: Stack) -> Load:
    loading.save_plan(run.run_id, plan, run.seed, run.dataset, run.folder)
    return loading.load_of(run.suite.load, run.bench, stack, plan, run.run_id, run.folder)


def _drive(
    run: CellRun, load: Load, stack: Stack, truth: Truth, warm_up: WarmUpFacts | None
) -> tuple[LoadFacts, Driven]:
    """The load to its end, and the facts that are known then."""
    before = _proxy_errors(run, stack)
    driven = loading.carry_out(load, run.bench, stack, truth)
    after = _proxy_errors(run, stack)
    facts = loaded(
        run,
        truth,
        load,
        driven.result,
        (driven.began_at, driven.ended_at),
        generator_faults=tuple(loading.generator_faults(driven.result, driven.taken)),
        samples_late=driven.late,
        withheld=driven.withheld,
        warm_up=warm_up,
        slo_ms=run.params.slo_ms,
        proxy_errors=None if before is None or after is None else dict(after - before),
        sockets=_sockets(),
    )
    return facts, driven


def _proxy_errors(run: CellRun, stack: Stack) -> Counter[str] | None:
    """What the proxy's log names so far, of a closed load; None where there is no such log."""
    if run.params.model == "open":
        return None
    stack.save_logs(run.folder / LOGS)
    try:
        return causes((run.folder / LOGS / f"{PROXY}.log").read_text(encoding="utf-8", errors="replace"))
    except FileNotFoundError:
        return None


def _sockets() -> dict[str, str]:
    """What this kernel tells of reusing ports."""
    found = {
        name: " ".join(text_of(NETWORK / name).split()) for name in ("tcp_tw_reuse", "ip_local_port_range")
    }
    return {name: value for name, value in found.items() if value}


class LoadExperiment(Experiment[LoadResult]):
    """One load a cell: writes at the scenario's rate, or by its virtual users, and the audit after them."""

    kind = "load"
    params = LoadParams
    result = LoadResult
    metrics = sections.METRICS
    unused = ()

    measure = staticmethod(measure)
    derive = staticmethod(derive_load)
    report = staticmethod(sections.report)

    def params_of(self, suite: Suite, options: Mapping[str, Any]) -> LoadParams:  # noqa: ARG002 - it has none
        """The suite's scenario, and its SLO."""
        scenario, part = suite.load, suite.checked_params(Part)
        if part.slo_ms is not None and not (len(scenario.phases) > 1 and climbing(scenario.phases)):
            raise UsageError(
                f"{SUITES_FILE}: suites.{suite.name}.load.slo_ms: in '{scenario.name}' no phase climbs after another;"
                " omit it, or name a scenario with a climb, as in ramp-climb"
            )
        if part.find_rate is not None and (scenario.reads != "sessions" or scenario.model == "closed"):
            raise UsageError(
                f"{SUITES_FILE}: suites.{suite.name}.load.find_rate: '{scenario.name}' is no open load of sessions;"
                " omit it"
            )
        return params_of(scenario, part)

    def load_seconds(self, params: LoadParams) -> float:
        """Of one cell, with its warm-up."""
        return params.warm_up_seconds + params.seconds

    def reduce(self, folder: Path, host: Host) -> Evidence:
        """Evidence of a folder of raw files."""
        facts = base.from_data(LoadFacts, load_facts(folder), str(folder / FACTS_FILE))
        return reduce_load(raw.tables(folder), dataclasses.replace(facts, host=host))

    def audit(self, result: LoadResult) -> Said | None:
        """Of all writes; None of reads."""
        return in_lines(result.audit)

    def line(self, result: LoadResult) -> str:
        """`7030/7030 acknowledged  median 2.6 ms  p95 4.1 ms`."""
        requests, latency = result.requests, result.accept_latency_ms
        median, p95 = ("-" if value is None else f"{value:.1f} ms" for value in (latency.median, latency.p95))
        return f"{requests.acknowledged}/{requests.planned} acknowledged  median {median}  p95 {p95}"
