"""Kind `ceilings`: what each store reaches alone, by its own tool, with the settings that its variant gives it.

Each tool runs for a bounded time with several numbers of clients. pgbench writes rows to PostgreSQL, one and 500 a
transaction; PerfTest publishes to RabbitMQ and consumes. Elasticsearch has no tool that is available everywhere: Rally
requires the start page that the server from Maven Central lacks, and a client in Python would measure Python. k6 is
there in both runtimes.
"""

import contextlib
import dataclasses
import json
import os
import re
import statistics
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

import httpx

from writepath import poll
from writepath.analysis.evidence import FACTS_FILE, Evidence, load_facts, save_facts
from writepath.config.settings import OF_LOAD, of_stack
from writepath.errors import LoadError, SetupError, StartError
from writepath.experiments.base import CellRun, Experiment, Session
from writepath.load import k6
from writepath.load.plan import ClosedPlan
from writepath.process import Daemon
from writepath.provision import archives, jdk, packages
from writepath.records import ceilings as names
from writepath.records.base import from_data, record, to_data
from writepath.records.ceilings import Ceiling, CeilingsFacts, CeilingsResult, ToolRun
from writepath.records.measures import Host, Verdict
from writepath.report import ceilings as tables
from writepath.report.data import SuiteData
from writepath.report.fingerprint import fingerprint, in_one_line
from writepath.report.model import Report, Section
from writepath.runtime import topology
from writepath.runtime.base import READY_S, Stack
from writepath.runtime.delay import DATABASE_DELAY_MS
from writepath.runtime.docker.stack import DockerStack
from writepath.runtime.topology import Service

BATCH = 500  # rows of a statement, documents of a bulk: as many as our own writers put together
SLACK_SECONDS = 90.0  # of a tool's time: a JVM's start, connections, a store that stalls: on a busy machine
POSTGRES_PORT, RABBITMQ_PORT, ELASTICSEARCH_PORT = 5432, 5672, 9200
# By family's first word.
STORES = {"jpa": "postgres", "rabbitmq": "rabbitmq", "elasticsearch": "elasticsearch"}


@record
class CeilingsParams:
    """The part `ceilings:` of a suite."""

    warm_up_seconds: float = 3.0
    seconds: float = 15.0  # of each run of a tool


@dataclass(frozen=True, kw_only=True)
class Target:
    """A store that runs alone, as its variant's topology has it."""

    run: CellRun
    stack: Stack
    service: Service  # as the compose file has it, with its settings

    def address(self, port: int) -> str:
        """Host and port, as this machine reaches it."""
        return self.stack.address(self.service.name, port)

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


Reached = tuple[float, float | None, str]  # writes/s, mean latency in ms, the tool with its version


@dataclass(frozen=True, kw_only=True)
class Tool(ABC):
    """A store's own tool with one kind of load, and the ceiling that follows from its output."""

    name: str
    what: str  # one write is, and how durable
    clients: tuple[int, ...] = ()  # each number is a run; none: the runs are those of another
    runs_of: str = ""  # the other's name
    version: ClassVar[str | None] = None  # where its output does not say it

    @abstractmethod
    def run(self, target: Target, name: str, clients: int) -> str:
        """The name of the file of its output, in the cell's folder. name: of the run."""

    @abstractmethod
    def read(self, said: str, facts: CeilingsFacts) -> Reached:
        """From its output; LoadError where no rate in it counts."""

    def runs(self, target: Target) -> Iterator[ToolRun]:
        """Each when its output is in the folder."""
        for clients in self.clients:
            file = self.run(target, f"{self.name}-{clients}", clients)
            yield ToolRun(tool=self.name, clients=clients, file=file)

    def ceiling(self, facts: CeilingsFacts) -> Ceiling:
        """What the best number of clients reaches; LoadError where none wrote anything in its time."""
        found = []
        for run in (run for run in facts.runs if run.tool == (self.runs_of or self.name)):
            try:
                found.append((*self.read(run.output or "", facts), run))
            except LoadError as error:
                raise LoadError(f"{run.file}: {error}") from error
        writes_per_s, latency_ms, tool, run = max(found, key=itemgetter(0))
        if writes_per_s <= 0:
            raise LoadError(f"{run.file}: nothing was written after the warm-up; the host is too busy")
        return Ceiling(
            name=self.name,
            store=facts.store,
            tool=tool,
            what=self.what,
            clients=run.clients,
            seconds=facts.seconds,
            writes_per_s=writes_per_s,
            latency_ms_mean=latency_ms,
            raw_file=run.file,
        )


def median_length(content: Path, length: Callable[[str], int]) -> int:
    """Of the dataset's lines: what a write of ours carries."""
    lines: list[str] = json.loads(content.read_text(encoding="utf-8"))
    return round(statistics.median(map(length, lines)))


TABLE = """\
DROP TABLE IF EXISTS ceiling;
CREATE TABLE ceiling (
    id uuid PRIMARY KEY,
    content text NOT NULL CHECK (char_length(content) BETWEEN 1 AND 1000),
    created_at timestamptz NOT NULL
);
"""
TPS = re.compile(r"^tps = ([0-9.]+)", re.MULTILINE)
LATENCY = re.compile(r"^latency average = ([0-9.]+) ms", re.MULTILINE)
NOTHING = re.compile(r"^number of transactions actually processed: 0$", re.MULTILINE)
FAILED = re.compile(r"^number of failed transactions: (\d+)", re.MULTILINE)
PGBENCH_VERSION = re.compile(r"^pgbench \((?:PostgreSQL\) )?([0-9.]+)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Pgbench(Tool):
    """Rows into an empty table, after a warm-up."""

    rows: int  # of a transaction
    threads: ClassVar[int] = 2

    def run(self, target: Target, name: str, clients: int) -> str:
        """The table, the warm-up and the load, by a script each."""
        characters, params = median_length(target.run.bench.content, len), target.run.params
        row = (
            f"uuidv7(), repeat(chr(50689), {characters}), now()"  # the letter of most lines takes three bytes
        )
        rows = f"VALUES ({row})" if self.rows == 1 else f"SELECT {row} FROM generate_series(1, {self.rows})"  # noqa: S608
        script = f"INSERT INTO ceiling (id, content, created_at) {rows};\n"
        flags = ["-M", "prepared", "-c", f"{clients}", "-j", f"{min(self.threads, clients)}", "-T"]
        _pgbench(target, f"{name}-table", TABLE, ["-t", "1", "-c", "1"], 0)
        for suffix, seconds in (("-warm-up", params.warm_up_seconds), ("", params.seconds)):
            timed = [*flags, f"{max(1, round(seconds))}"]
            file = _pgbench(target, f"{name}{suffix}", script, timed, seconds)
        return file

    def read(self, said: str, facts: CeilingsFacts) -> Reached:  # noqa: ARG002
        """From the summary that pgbench ends with."""
        tps, latency, failed = TPS.search(said), LATENCY.search(said), FAILED.search(said)
        version = PGBENCH_VERSION.search(said)
        title = f"pgbench {version[1] if version else 'of unknown version'}"
        if NOTHING.search(said):  # its time went by while it connected
            return 0.0, None, title
        if tps is None or latency is None:
            raise LoadError(f"pgbench printed no tps; its output ends with: {said[-300:]}")
        if failed is not None and failed[1] != "0":
            raise LoadError(f"{failed[1]} transactions failed; a ceiling counts only what was stored")
        return float(tps[1]) * self.rows, float(latency[1]), title


def _pgbench(target: Target, name: str, script: str, flags: list[str], seconds: float) -> str:
    """In the server's own container, where that is one, else the distribution's."""
    given, address = target.service.environment, f"127.0.0.1:{POSTGRES_PORT}"
    if isinstance(target.stack, DockerStack):
        program = ["docker", "exec", "-i", target.stack.container_ids(target.service.name)[0], "pgbench"]
    else:
        packages.ensure(target.run.bench.progress.say, [packages.PGBENCH])
        program = [f"{packages.PGBENCH.installed()}"]
        address = target.address(POSTGRES_PORT)
    user, password = given["POSTGRES_USER"], quote(given.get("POSTGRES_PASSWORD", ""), safe="")
    where = f"postgresql://{user}:{password}@{address}/{given.get('POSTGRES_DB', user)}"
    return target.tool(name, [*program, "-n", "-f", "-", *flags, where], seconds=seconds, text_in=script)


WINDOW = 100  # messages a publisher has unconfirmed
ENVELOPE = '{"id":"00000000-0000-0000-0000-000000000000","content":"","createdAt":"2026-01-02T03:04:05.678Z"}'
SECOND = re.compile(
    r"time (?P<end>[0-9.]+) s, sent: .*?confirmed: (?P<confirmed>[0-9]+) msg/s,"
    r" nacked: (?P<nacked>[0-9]+) msg/s, received: (?P<received>[0-9]+) msg/s"
)


@dataclass(frozen=True, kw_only=True)
class PerfTest(Tool):
    """RabbitMQ's: publishers and one consumer of a quorum queue."""

    counted: str  # in the line that it prints each second
    version = archives.PERF_TEST_VERSION

    def run(self, target: Target, name: str, clients: int) -> str:
        """clients: publishers."""
        bench, params = target.run.bench, target.run.params
        jars = archives.ensure_perf_test(bench.root, bench.progress.say)
        given = target.service.environment
        user, password = given["RABBITMQ_DEFAULT_USER"], given["RABBITMQ_DEFAULT_PASS"]
        seconds = params.warm_up_seconds + params.seconds
        size = len(ENVELOPE) + median_length(bench.content, lambda line: len(line.encode()))  # of a post
        command = [f"{jdk.find().java}", "-cp", f"{jars}/*", "com.rabbitmq.perf.PerfTest"]
        queue = ["--queue", name, "--quorum-queue", "--auto-delete", "false", "--flag", "persistent"]
        load = ["--producers", f"{clients}", "--consumers", "1", "--confirm", f"{WINDOW}"]
        sizes = ["--size", f"{size}", "--time", f"{round(seconds)}"]
        where = ["--uri", f"amqp://{user}:{password}@{target.address(RABBITMQ_PORT)}/%2f"]
        return target.tool(name, [*command, *queue, *load, *sizes, *where], seconds=seconds)

    def read(self, said: str, facts: CeilingsFacts) -> Reached:
        """The mean of the seconds after the warm-up; PerfTest itself reports medians, which are no mean."""
        writes, length, begin = 0.0, 0.0, 0.0
        for second in SECOND.finditer(said):
            if int(second["nacked"]):
                raise LoadError("the broker refused messages; a ceiling counts only what it keeps")
            end = float(second["end"])
            if begin >= facts.warm_up_seconds:
                writes += float(second[self.counted]) * (end - begin)
                length += end - begin
            begin = end
        if not length:
            raise LoadError(
                f"PerfTest printed no second after its warm-up; its output ends with: {said[-300:]}"
            )
        return writes / length, None, f"RabbitMQ PerfTest {facts.version}"


INDEX = "ceiling"
SCRIPT = "k6/scenarios/ceiling-elasticsearch.js"
MAPPING = "services/store-elasticsearch/src/main/resources/posts-mapping.json"  # the variants' own
SETTINGS = {
    "index.number_of_shards": 1,
    "index.number_of_replicas": 0,
    "index.translog.durability": "request",
    "index.refresh_interval": "1s",
}
TIMEOUT_S = 30.0


@dataclass(frozen=True, kw_only=True)
class K6(Tool):
    """Documents directly to Elasticsearch, into an empty index."""

    documents: int  # of a request

    def run(self, target: Target, name: str, clients: int) -> str:
        """clients: connections."""
        bench, params = target.run.bench, target.run.params
        _make_index(f"http://{target.address(ELASTICSEARCH_PORT)}", bench.root / MAPPING)
        summary = target.run.folder / f"{name}.json"
        load = k6.Load(
            script=bench.root / SCRIPT,
            target=f"http://{target.stack.load_address(target.service.name, ELASTICSEARCH_PORT)}",
            run_id=target.run.run_id,
            plan=ClosedPlan(virtual_users=clients, seconds=params.seconds),
            content=bench.content,
            folder=target.run.folder,
            variables={
                "BENCH_DOCUMENTS": f"{self.documents}",
                "BENCH_WARM_UP_SECONDS": f"{params.warm_up_seconds:g}",
                "BENCH_SUMMARY": f"{summary}",
            },
        )
        args = k6.command(load, bench.runtime.load_generator(target.stack.network)[0])
        # k6's own variables replace what the script says; ours come as flags.
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("K6_", "BENCH_"))}
        environment = inherited | {"K6_AUTO_EXTENSION_RESOLUTION": "false"}
        target.tool(name, args, seconds=params.warm_up_seconds + params.seconds, env=environment)
        return summary.name

    def read(self, said: str, facts: CeilingsFacts) -> Reached:
        """From what the script wrote at its end."""
        try:
            counts: dict[str, float] = json.loads(said)
            documents, refused, latency_ms = counts["documents"], counts["refused"], counts["latency_ms_mean"]
        except (ValueError, KeyError) as error:
            raise LoadError(f"k6 left no counts ({type(error).__name__}: {error})") from error
        if refused:
            raise LoadError(
                f"{refused:.0f} requests were refused; a ceiling counts only what the store keeps"
            )
        return documents / facts.seconds, latency_ms, "k6, directly to the node"


def _make_index(address: str, mapping: Path) -> None:
    body = {"settings": SETTINGS, "mappings": json.loads(mapping.read_text(encoding="utf-8"))}
    with httpx.Client(base_url=address, timeout=TIMEOUT_S, trust_env=False) as client:
        try:
            client.delete(f"/{INDEX}", params={"ignore_unavailable": "true"})
            client.put(f"/{INDEX}", json=body).raise_for_status()
        except httpx.HTTPError as error:
            words = f"{type(error).__name__}: {error}"
            raise LoadError(f"Elasticsearch did not create an index: {words}") from error


TRANSACTION = "per transaction, prepared, committed with the settings of the variants"
MESSAGES = "persistent messages of the size of a post, one quorum queue"
SHARD = "one shard, translog flushed before the answer"
PUBLISHING = f"published and confirmed: {MESSAGES}, window {WINDOW}, with one consumer"
CONSUMING = f"consumed and acknowledged: {MESSAGES}"
STATEMENT, REQUEST = f"one statement with {BATCH} rows", f"{BATCH} documents per bulk request"
TOOLS: Mapping[str, Sequence[Tool]] = {  # by store: the service
    "postgres": (
        Pgbench(name=names.PGBENCH, what=f"one row {TRANSACTION}", clients=(4, 16, 64), rows=1),
        Pgbench(name=names.PGBENCH_BATCH, what=f"{STATEMENT} {TRANSACTION}", clients=(1, 2, 4), rows=BATCH),
    ),
    "rabbitmq": (
        PerfTest(name=names.PUBLISHED, what=PUBLISHING, clients=(1, 4), counted="confirmed"),
        PerfTest(name=names.CONSUMED, what=CONSUMING, runs_of=names.PUBLISHED, counted="received"),
    ),
    "elasticsearch": (
        K6(name=names.SINGLE, what=f"one document per request, {SHARD}", clients=(16, 64), documents=1),
        K6(name=names.BULK, what=f"{REQUEST}, {SHARD}", clients=(1, 2, 4), documents=BATCH),
    ),
}


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
            version=TOOLS[store][0].version,
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
        found: tuple[Ceiling, ...] = ()
        missing = facts.missing
        try:
            found = () if missing else tuple(tool.ceiling(facts) for tool in TOOLS[facts.store])
        except LoadError as error:
            missing = str(error)
        notes = (f"no ceiling of {facts.store}: {missing}",) if missing else ()
        verdict = Verdict(status="valid", notes=notes)
        return CeilingsResult(store=facts.store, ceilings=found, missing=missing, verdict=verdict)

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
    bench, variant, overrides = run.bench, run.cell.variant, of_stack(run.settings)
    service = topology.load(bench.root, {**variant.settings, **overrides}).services[store]
    with contextlib.ExitStack() as running:
        with run.step("start"):
            start = bench.runtime.start(variant, overrides=overrides, say=bench.progress.say, only=[store])
            stack = running.enter_context(start)
            # A container runs before its server serves, and here no application waits for it.
            if not poll.until(lambda: stack.is_ready(store), READY_S):
                raise StartError(f"{store}: not ready {READY_S:.0f} s after its start")
        with run.step("tool"):
            for tool in TOOLS[store]:
                runs.extend(tool.runs(Target(run=run, stack=stack, service=service)))
