"""The stores' own tools: each runs for a bounded time with several numbers of clients, and its output gives ceilings.

pgbench writes rows to PostgreSQL, one and 500 a transaction; PerfTest publishes to RabbitMQ and consumes. Elasticsearch
has no tool that is available everywhere: Rally requires the start page that the server from Maven Central lacks, and a
client in Python would measure Python. k6 is there in both runtimes.
"""

import json
import os
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx

from writepath import process
from writepath.errors import LoadError
from writepath.experiments.base import CellRun
from writepath.process import Daemon
from writepath.provision import archives, jdk, packages
from writepath.records.ceilings import (
    BULK,
    CONSUMED,
    PGBENCH,
    PGBENCH_BATCH,
    PUBLISHED,
    SINGLE,
    Ceiling,
    CeilingsFacts,
    ToolRun,
)
from writepath.runtime.base import Stack
from writepath.runtime.docker.stack import DockerStack
from writepath.runtime.topology import Service

BATCH = 500  # rows of a statement, documents of a bulk: as many as our own writers put together
SLACK_SECONDS = 90.0  # of a tool's time: a JVM's start, connections, a store that stalls: on a busy machine
POSTGRES_PORT, RABBITMQ_PORT, ELASTICSEARCH_PORT = 5432, 5672, 9200


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


Rate = tuple[float, float | None]  # writes/s, mean latency in ms


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A ceiling that a tool's runs give. Both functions are told the tool's output."""

    name: str
    what: str
    parse: Callable[[str, CeilingsFacts], Rate]  # LoadError where the tool says no rate that counts
    title: Callable[[str, CeilingsFacts], str]  # of the tool, with its version
    tool: str = ""  # the runs that give it, where they have another name


@dataclass(frozen=True, kw_only=True)
class Tool:
    """What is known of a store's own tool."""

    figures: tuple[Figure, ...]
    measure: Callable[[Target], Iterable[ToolRun]]  # each when its output is in the folder
    version: str | None = None  # where its output does not say it


def ceiling(figure: Figure, facts: CeilingsFacts) -> Ceiling:
    """What the best number of clients reaches; LoadError where none wrote anything in its time."""
    runs = [run for run in facts.runs if run.tool == (figure.tool or figure.name)]
    if not runs:
        raise LoadError(f"{figure.name}: its tool was not run")
    found = []
    for run in runs:
        try:
            found.append((figure.parse(run.output or "", facts), run))
        except LoadError as error:
            raise LoadError(f"{run.file}: {error}") from error
    (writes_per_s, latency_ms), run = max(found, key=lambda pair: pair[0][0])
    if writes_per_s <= 0:
        raise LoadError(f"{run.file}: nothing was written after the warm-up; the host is too busy")
    return Ceiling(
        name=figure.name,
        store=facts.store,
        tool=figure.title(run.output or "", facts),
        what=figure.what,
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


def message_bytes(content: Path) -> int:
    """Of a post with a line of median length, as the queue's message has it."""
    rest = {"id": "0" * 36, "content": "", "createdAt": "2026-01-02T03:04:05.678Z"}
    envelope = json.dumps(rest, separators=(",", ":"))
    return median_length(content, lambda line: len(line.encode())) + len(envelope)


# pgbench

THREADS = 2
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


def pgbench_runs(target: Target) -> Iterator[ToolRun]:
    """Single rows by 4, 16 and 64 clients, batches by 1, 2 and 4: each from an empty table, after a warm-up."""
    characters, params = median_length(target.run.bench.content, len), target.run.params
    row = f"uuidv7(), repeat(chr(50689), {characters}), now()"  # the letter of most lines takes three bytes
    insert = "INSERT INTO ceiling (id, content, created_at)"
    batch = f"{insert} SELECT {row} FROM generate_series(1, {BATCH});\n"  # noqa: S608 - our numbers
    scripts = ((PGBENCH, f"{insert} VALUES ({row});\n", (4, 16, 64)), (PGBENCH_BATCH, batch, (1, 2, 4)))
    for name, script, numbers in scripts:
        for clients in numbers:
            each = f"{name}-{clients}"
            flags = ["-M", "prepared", "-c", f"{clients}", "-j", f"{min(THREADS, clients)}", "-T"]
            _pgbench(target, f"{each}-table", TABLE, ["-t", "1", "-c", "1"], 0)
            for suffix, seconds in (("-warm-up", params.warm_up_seconds), ("", params.seconds)):
                timed = [*flags, f"{max(1, round(seconds))}"]
                file = _pgbench(target, f"{each}{suffix}", script, timed, seconds)
            yield ToolRun(tool=name, clients=clients, file=file)


def _pgbench(target: Target, name: str, script: str, flags: list[str], seconds: float) -> str:
    given = target.service.environment
    password, user = given.get("POSTGRES_PASSWORD", ""), given["POSTGRES_USER"]
    program, host, port = _program(target, password)
    where = ["-h", host, "-p", port, "-U", user, "-n", "-f", "-"]
    args = [*program, *where, *flags, given.get("POSTGRES_DB", user)]  # last: -d was another flag before 17
    environment = {**os.environ, "PGPASSWORD": password}
    return target.tool(name, args, seconds=seconds, env=environment, text_in=script)


def _program(target: Target, password: str) -> tuple[list[str], str, str]:
    """In the server's own container, where that is one and has it, else the distribution's; with host and port."""
    if isinstance(target.stack, DockerStack):
        container = target.stack.container_ids(target.service.name)[0]
        if process.attempt("docker", "exec", container, "pgbench", "--version").code == 0:
            inside = ["docker", "exec", "-i", "-e", f"PGPASSWORD={password}", container, "pgbench"]
            return inside, "127.0.0.1", f"{POSTGRES_PORT}"
    found = packages.ensure_one(packages.PGBENCH, target.run.bench.progress.say)
    host, _, port = target.address(POSTGRES_PORT).partition(":")
    return [f"{found}"], host, port


def _pgbench_rate(said: str, _facts: CeilingsFacts, *, rows: int) -> Rate:
    """From the summary that pgbench ends with. rows: of a transaction."""
    tps, latency, failed = TPS.search(said), LATENCY.search(said), FAILED.search(said)
    if NOTHING.search(said):  # its time went by while it connected
        return 0.0, None
    if tps is None or latency is None:
        raise LoadError(f"pgbench printed no tps; its output ends with: {said[-300:]}")
    if failed is not None and failed[1] != "0":
        raise LoadError(f"{failed[1]} transactions failed; a ceiling counts only what was stored")
    return float(tps[1]) * rows, float(latency[1])


def _pgbench_title(said: str, _facts: CeilingsFacts) -> str:
    found = PGBENCH_VERSION.search(said)
    return f"pgbench {found[1] if found else 'of unknown version'}"


def _pgbench_figure(name: str, each: str, rows: int) -> Figure:
    return Figure(
        name=name,
        what=f"{each} per transaction, prepared, committed with the settings of the variants",
        parse=partial(_pgbench_rate, rows=rows),
        title=_pgbench_title,
    )


# RabbitMQ PerfTest

WINDOW = 100  # messages a publisher has unconfirmed
SECOND = re.compile(
    r"time (?P<end>[0-9.]+) s, sent: .*?confirmed: (?P<confirmed>[0-9]+) msg/s,"
    r" nacked: (?P<nacked>[0-9]+) msg/s, received: (?P<received>[0-9]+) msg/s"
)
ALIKE = "persistent messages of the size of a post, one quorum queue"


def perf_test_runs(target: Target) -> Iterator[ToolRun]:
    """By 1 and 4 publishers, with one consumer."""
    bench, params = target.run.bench, target.run.params
    jars = archives.ensure_perf_test(bench.root, bench.progress.say)
    given = target.service.environment
    user, password = given["RABBITMQ_DEFAULT_USER"], given["RABBITMQ_DEFAULT_PASS"]
    seconds = params.warm_up_seconds + params.seconds
    for producers in (1, 4):
        name = f"{PUBLISHED}-{producers}"
        command = [f"{jdk.find().java}", "-cp", f"{jars}/*", "com.rabbitmq.perf.PerfTest"]
        queue = ["--queue", name, "--quorum-queue", "--auto-delete", "false", "--flag", "persistent"]
        load = ["--producers", f"{producers}", "--consumers", "1", "--confirm", f"{WINDOW}"]
        size = ["--size", f"{message_bytes(bench.content)}", "--time", f"{round(seconds)}"]
        where = ["--uri", f"amqp://{user}:{password}@{target.address(RABBITMQ_PORT)}/%2f"]
        file = target.tool(name, [*command, *queue, *load, *size, *where], seconds=seconds)
        yield ToolRun(tool=PUBLISHED, clients=producers, file=file)


def _perf_test_rate(said: str, facts: CeilingsFacts, *, counted: str) -> Rate:
    """The mean of the seconds after the warm-up, from the line that PerfTest prints for each.

    PerfTest itself tells medians of its seconds, which are no mean.
    """
    writes, length, begin = 0.0, 0.0, 0.0
    for second in SECOND.finditer(said):
        if int(second["nacked"]):
            raise LoadError("the broker refused messages; a ceiling counts only what it keeps")
        end = float(second["end"])
        if begin >= facts.warm_up_seconds:
            writes += float(second[counted]) * (end - begin)
            length += end - begin
        begin = end
    if not length:
        raise LoadError(f"PerfTest printed no second after its warm-up; its output ends with: {said[-300:]}")
    return writes / length, None


def _perf_test_figure(name: str, what: str, counted: str) -> Figure:
    return Figure(
        name=name,
        tool=PUBLISHED,
        what=what,
        parse=partial(_perf_test_rate, counted=counted),
        title=lambda _, facts: f"RabbitMQ PerfTest {facts.version}",
    )


# k6, directly to Elasticsearch

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


def k6_runs(target: Target) -> Iterator[ToolRun]:
    """Single documents over 16 and 64 connections, bulk requests over 1, 2 and 4: each into an empty index."""
    address = f"http://{target.address(ELASTICSEARCH_PORT)}"
    for_k6 = f"http://{target.stack.load_address(target.service.name, ELASTICSEARCH_PORT)}"
    bench, params = target.run.bench, target.run.params
    # k6's own variables replace what the script says; ours come as flags.
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("K6_", "BENCH_"))}
    environment = inherited | {"K6_AUTO_EXTENSION_RESOLUTION": "false"}
    for name, documents, numbers in ((SINGLE, 1, (16, 64)), (BULK, BATCH, (1, 2, 4))):
        for clients in numbers:
            each = f"{name}-{clients}"
            _make_index(address, bench.root / MAPPING)
            summary = target.run.folder / f"{each}.json"
            variables = {
                "BENCH_TARGET": for_k6,
                "BENCH_VUS": f"{clients}",
                "BENCH_DOCUMENTS": f"{documents}",
                "BENCH_WARM_UP_SECONDS": f"{params.warm_up_seconds:g}",
                "BENCH_SECONDS": f"{params.seconds:g}",
                "BENCH_CONTENT": f"{bench.content}",
                "BENCH_SUMMARY": f"{summary}",
            }
            flags = ["--quiet", "--no-color", "--no-usage-report", "--address", ""]
            for variable, value in variables.items():
                flags += ["-e", f"{variable}={value}"]
            args = [
                *bench.runtime.load_generator(target.stack.network)[0],
                "run",
                *flags,
                f"{bench.root / SCRIPT}",
            ]
            target.tool(each, args, seconds=params.warm_up_seconds + params.seconds, env=environment)
            yield ToolRun(tool=name, clients=clients, file=summary.name)


def _make_index(address: str, mapping: Path) -> None:
    body = {"settings": SETTINGS, "mappings": json.loads(mapping.read_text(encoding="utf-8"))}
    with httpx.Client(base_url=address, timeout=TIMEOUT_S, trust_env=False) as client:
        try:
            client.delete(f"/{INDEX}", params={"ignore_unavailable": "true"})
            client.put(f"/{INDEX}", json=body).raise_for_status()
        except httpx.HTTPError as error:
            words = f"{type(error).__name__}: {error}"
            raise LoadError(f"Elasticsearch did not create an index: {words}") from error


def _k6_rate(said: str, facts: CeilingsFacts) -> Rate:
    """From what the script wrote at its end."""
    try:
        counts: dict[str, float] = json.loads(said)
        documents, refused, latency_ms = counts["documents"], counts["refused"], counts["latency_ms_mean"]
    except (ValueError, KeyError) as error:
        raise LoadError(f"k6 left no counts ({type(error).__name__}: {error})") from error
    if refused:
        raise LoadError(f"{refused:.0f} requests were refused; a ceiling counts only what the store keeps")
    return documents / facts.seconds, latency_ms


def _k6_figure(name: str, each: str) -> Figure:
    return Figure(
        name=name,
        what=f"{each}, one shard, translog flushed before the answer",
        parse=_k6_rate,
        title=lambda *_: "k6, directly to the node",
    )


TOOLS = {  # by store: the service
    "postgres": Tool(
        figures=(
            _pgbench_figure(PGBENCH, "one row", 1),
            _pgbench_figure(PGBENCH_BATCH, f"one statement with {BATCH} rows", BATCH),
        ),
        measure=pgbench_runs,
    ),
    "rabbitmq": Tool(
        figures=(
            _perf_test_figure(
                PUBLISHED,
                f"published and confirmed: {ALIKE}, window {WINDOW}, with one consumer",
                "confirmed",
            ),
            _perf_test_figure(CONSUMED, f"consumed and acknowledged: {ALIKE}", "received"),
        ),
        measure=perf_test_runs,
        version=archives.PERF_TEST_VERSION,
    ),
    "elasticsearch": Tool(
        figures=(
            _k6_figure(SINGLE, "one document per request"),
            _k6_figure(BULK, f"{BATCH} documents per bulk request"),
        ),
        measure=k6_runs,
    ),
}
