"""What the engine asks of kind `ceilings`: each store alone, with the settings that its variant gives it."""

import contextlib
import dataclasses
from pathlib import Path

from writepath import poll
from writepath.analysis.evidence import FACTS_FILE, Evidence, load_facts, save_facts
from writepath.config.settings import OF_LOAD
from writepath.errors import LoadError, SetupError, StartError
from writepath.experiments.base import CellRun, Experiment, Session
from writepath.experiments.ceilings.tools import TOOLS, Target, ceiling
from writepath.measure import loading
from writepath.records.base import from_data, record, to_data
from writepath.records.ceilings import CeilingsFacts, CeilingsResult, ToolRun
from writepath.records.measures import Host, Verdict
from writepath.report import ceilings as tables
from writepath.report.data import SuiteData
from writepath.report.fingerprint import fingerprint, in_one_line
from writepath.report.model import Report, Section
from writepath.runtime import topology
from writepath.runtime.delay import DATABASE_DELAY_MS


@record
class CeilingsParams:
    """The part `ceilings:` of a suite."""

    warm_up_seconds: float = 3.0
    seconds: float = 15.0  # of each run of a tool


READY_SECONDS = 120.0
# by family's first word
STORES = {"jpa": "postgres", "rabbitmq": "rabbitmq", "elasticsearch": "elasticsearch"}


class CeilingsExperiment(Experiment[CeilingsResult]):
    """The tool of one store a cell; a tool that is missing or fails is a reason in the place of a figure."""

    kind = "ceilings"
    unused = OF_LOAD | {DATABASE_DELAY_MS}
    params = CeilingsParams
    result = CeilingsResult

    def load_seconds(self, params: CeilingsParams) -> float:
        """Of the tool with the most runs."""
        return 6 * (params.warm_up_seconds + params.seconds)

    def measure(self, run: CellRun, session: Session) -> None:  # noqa: ARG002 - only its store is started
        """Leaves what the tool said, and facts.json."""
        store, bench = STORES[run.cell.variant.family.partition("-")[0]], run.bench
        run.versions = bench.runtime.versions(run.cell.variant)
        runs, missing = list[ToolRun](), None
        try:
            _run(store, run, runs)
        except (SetupError, LoadError) as error:
            missing = str(error)
            bench.progress.say(f"no ceiling of {store}: {error}")
        facts = CeilingsFacts(
            store=store,
            version=TOOLS[store].version,
            warm_up_seconds=run.params.warm_up_seconds,
            seconds=run.params.seconds,
            runs=tuple(runs),
            missing=missing,
        )
        save_facts(to_data(facts), run.folder)

    def reduce(self, folder: Path, host: Host) -> Evidence:  # noqa: ARG002 - nothing depends on it
        """The tool's outputs, as facts."""
        facts = from_data(CeilingsFacts, load_facts(folder), str(folder / FACTS_FILE))
        runs = tuple(
            dataclasses.replace(run, output=(folder / run.file).read_text(encoding="utf-8", errors="replace"))
            for run in facts.runs
        )
        return Evidence(tables={}, facts=to_data(dataclasses.replace(facts, runs=runs)))

    def derive(self, evidence: Evidence) -> CeilingsResult:
        """The best of each tool's runs."""
        facts = from_data(CeilingsFacts, dict(evidence.facts), FACTS_FILE)
        found, missing = [], facts.missing
        if missing is None:
            try:
                found = [ceiling(figure, facts) for figure in TOOLS[facts.store].figures]
            except LoadError as error:
                missing = str(error)
        notes = () if missing is None else (f"no ceiling of {facts.store}: {missing}",)
        return CeilingsResult(
            store=facts.store,
            ceilings=tuple(found),
            missing=missing,
            verdict=Verdict(status="valid", notes=notes),
        )

    def line(self, result: CeilingsResult) -> str:
        """`pgbench 18,601/s, pgbench-batch 238,237/s`."""
        if result.missing is not None:
            return f"no ceiling of {result.store}"
        return ", ".join(f"{one.name} {one.writes_per_s:,.0f}/s" for one in result.ceilings)

    def report(self, data: SuiteData[CeilingsResult]) -> Report:
        """Absolute figures."""
        table, load = tables.table(data.cells), f"{data.index.params['seconds']:g} s per run of a tool"
        other = fingerprint(data, (("load", load),))
        return Report(
            title=data.index.title,
            answer=tables.answer(data.cells),
            facts=in_one_line(data, load),
            picture=None,
            table=table,
            details=(Section(key=other.key, title=other.title, tables=(other,)),),
        )


def _run(store: str, run: CellRun, runs: list[ToolRun]) -> None:
    """Starts the store alone, as the variant has it; adds what the tool left."""
    bench, variant, overrides = run.bench, run.cell.variant, loading.stack_settings(run.settings)
    service = topology.load(bench.root, {**variant.settings, **overrides}).services[store]
    with contextlib.ExitStack() as running:
        with run.step("start"):
            start = bench.runtime.start(variant, overrides=overrides, say=bench.progress.say, only=[store])
            stack = running.enter_context(start)
            # A container runs before its server serves, and here no application waits for it.
            if not poll.until(lambda: stack.is_ready(store), READY_SECONDS):
                raise StartError(f"{store}: not ready {READY_SECONDS:.0f} s after its start")
        with run.step("tool"):
            runs.extend(TOOLS[store].measure(Target(run=run, stack=stack, service=service)))
