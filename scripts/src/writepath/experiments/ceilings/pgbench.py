"""Asks pgbench how many rows per second PostgreSQL itself takes, one row and 500 rows a transaction."""

import os
import re
from collections.abc import Iterator
from functools import partial

from writepath import process
from writepath.errors import LoadError
from writepath.experiments.ceilings.tool import BATCH, Figure, Rate, Target, Tool, median_characters
from writepath.provision import packages
from writepath.records.ceilings import PGBENCH, PGBENCH_BATCH, CeilingsFacts, ToolRun
from writepath.runtime.docker.stack import DockerStack

PORT = 5432
_THREADS = 2
_CLIENTS = {PGBENCH: (4, 16, 64), PGBENCH_BATCH: (1, 2, 4)}
_TABLE = """\
DROP TABLE IF EXISTS ceiling;
CREATE TABLE ceiling (
    id uuid PRIMARY KEY,
    content text NOT NULL CHECK (char_length(content) BETWEEN 1 AND 1000),
    created_at timestamptz NOT NULL
);
"""
_TPS = re.compile(r"^tps = ([0-9.]+)", re.MULTILINE)
_LATENCY = re.compile(r"^latency average = ([0-9.]+) ms", re.MULTILINE)
_NOTHING = re.compile(r"^number of transactions actually processed: 0$", re.MULTILINE)
_FAILED = re.compile(r"^number of failed transactions: (\d+)", re.MULTILINE)
_VERSION = re.compile(r"^pgbench \((?:PostgreSQL\) )?([0-9.]+)", re.MULTILINE)


def measure(target: Target) -> Iterator[ToolRun]:
    """Single rows by 4, 16 and 64 clients, batches by 1, 2 and 4."""
    characters = median_characters(target.run.bench.content)
    row = f"uuidv7(), repeat(chr(50689), {characters}), now()"  # the letter of most lines takes three bytes
    insert = "INSERT INTO ceiling (id, content, created_at)"
    scripts = {
        PGBENCH: f"{insert} VALUES ({row});\n",
        PGBENCH_BATCH: f"{insert} SELECT {row} FROM generate_series(1, {BATCH});\n",  # noqa: S608 - our numbers
    }
    for name, script in scripts.items():
        for clients in _CLIENTS[name]:
            yield ToolRun(tool=name, clients=clients, file=_at(target, f"{name}-{clients}", script, clients))


def _at(target: Target, name: str, script: str, clients: int) -> str:
    """From an empty table; a run before it is thrown away."""
    _pgbench(target, f"{name}-table", _TABLE, ["-t", "1", "-c", "1"], 0)
    params, file = target.run.params, ""
    for suffix, seconds in (("-warm-up", params.warm_up_seconds), ("", params.seconds)):
        flags = ["-M", "prepared", "-T", f"{max(1, round(seconds))}", "-c", f"{clients}"]
        threads = ["-j", f"{min(_THREADS, clients)}"]
        file = _pgbench(target, f"{name}{suffix}", script, [*flags, *threads], seconds)
    return file


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
            return inside, "127.0.0.1", f"{PORT}"
    found = packages.ensure_one(packages.PGBENCH, target.run.bench.progress.say)
    host, _, port = target.stack.address(target.service.name, PORT).partition(":")
    return [f"{found}"], host, port


def parse(run: ToolRun, _facts: CeilingsFacts, *, rows: int) -> Rate:
    """From the summary that pgbench ends with. rows: of a transaction."""
    said = run.output or ""
    tps, latency, failed = _TPS.search(said), _LATENCY.search(said), _FAILED.search(said)
    if _NOTHING.search(said):  # its time went by while it connected
        return Rate(writes_per_s=0.0)
    if tps is None or latency is None:
        raise LoadError(f"{run.file}: pgbench printed no tps; its output ends with: {said[-300:]}")
    if failed is not None and failed[1] != "0":
        raise LoadError(f"{run.file}: {failed[1]} transactions failed; a ceiling counts only what was stored")
    return Rate(writes_per_s=float(tps[1]) * rows, latency_ms_mean=float(latency[1]))


def title(run: ToolRun, _facts: CeilingsFacts) -> str:
    """`pgbench 15.18`, from its first line."""
    found = _VERSION.search(run.output or "")
    return f"pgbench {found[1] if found else 'of unknown version'}"


def _figure(name: str, rows: int) -> Figure:
    each = "one row" if rows == 1 else f"one statement with {rows} rows"
    what = f"{each} per transaction, prepared, committed with the settings of the variants"
    return Figure(name=name, tool=name, what=what, parse=partial(parse, rows=rows), title=title)


TOOL = Tool(store="postgres", figures=(_figure(PGBENCH, 1), _figure(PGBENCH_BATCH, BATCH)), measure=measure)
