"""How many rows a second does PostgreSQL itself take? Asked by pgbench, one row and 500 rows a transaction."""

from __future__ import annotations

import os
import re

from writepath import process
from writepath.capacity import ceiling_tool
from writepath.capacity.ceiling_tool import BATCH, Measured, Target
from writepath.errors import LoadError
from writepath.provision import packages
from writepath.records.capacity import Ceiling
from writepath.runtime.docker.stack import DockerStack

PORT = 5432
_THREADS = 2
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


def measure(target: Target) -> list[Ceiling]:
    """Single rows by 4, 16 and 64 clients, batches by 1, 2 and 4; the best of each."""
    characters = ceiling_tool.median_characters(target.bench.content)
    row = f"uuidv7(), repeat(chr(50689), {characters}), now()"  # the letter of most lines takes three bytes
    insert = "INSERT INTO ceiling (id, content, created_at)"
    single = f"{insert} VALUES ({row});\n"
    batch = f"{insert} SELECT {row} FROM generate_series(1, {BATCH});\n"  # noqa: S608 - of our own numbers
    return [
        _ceiling(target, "pgbench", single, (4, 16, 64), 1),
        _ceiling(target, "pgbench-batch", batch, (1, 2, 4), BATCH),
    ]


def _ceiling(target: Target, name: str, script: str, clients: tuple[int, ...], rows: int) -> Ceiling:
    said = {count: _at(target, f"{name}-{count}", script, count) for count in clients}
    best = ceiling_tool.best([parse(text, f"{name}-{n}.txt", n, rows) for n, text in said.items()])
    each = "one row" if rows == 1 else f"one statement with {rows} rows"
    return Ceiling(
        name=name,
        store="postgres",
        tool=f"pgbench {version(said[best.clients])}",
        what=f"{each} per transaction, prepared, committed with the settings of the variants",
        clients=best.clients,
        seconds=target.spans.seconds,
        writes_per_s=best.writes_per_s,
        latency_ms_mean=best.latency_ms_mean,
        raw_file=best.raw_file,
    )


def _at(target: Target, name: str, script: str, clients: int) -> str:
    """From an empty table; a run before it is thrown away."""
    _pgbench(target, f"{name}-table", _TABLE, ["-t", "1", "-c", "1"], 0)
    for suffix, seconds in (("-warm-up", target.spans.warm_up_s), ("", target.spans.seconds)):
        flags = ["-M", "prepared", "-T", f"{max(1, round(seconds))}", "-c", f"{clients}"]
        threads = ["-j", f"{min(_THREADS, clients)}"]
        said = _pgbench(target, f"{name}{suffix}", script, [*flags, *threads], seconds)
    return said


def _pgbench(target: Target, name: str, script: str, flags: list[str], seconds: float) -> str:
    given = target.service.environment
    password, user = given.get("POSTGRES_PASSWORD", ""), given["POSTGRES_USER"]
    program, host, port = _program(target, password)
    where = ["-h", host, "-p", port, "-U", user, "-n", "-f", "-"]
    args = [*program, *where, *flags, given.get("POSTGRES_DB", user)]  # last: -d was another flag before 17
    environment = {**os.environ, "PGPASSWORD": password}
    return target.run(name, args, seconds=seconds, env=environment, text_in=script)


def _program(target: Target, password: str) -> tuple[list[str], str, str]:
    """In the server's own container, where that is one and has it, else the distribution's; with host and port."""
    if isinstance(target.stack, DockerStack):
        container = target.stack.container_ids(target.service.name)[0]
        if process.attempt("docker", "exec", container, "pgbench", "--version").code == 0:
            inside = ["docker", "exec", "-i", "-e", f"PGPASSWORD={password}", container, "pgbench"]
            return inside, "127.0.0.1", f"{PORT}"
    found = packages.ensure_one(packages.PGBENCH, target.bench.progress.say)
    host, _, port = target.stack.address(target.service.name, PORT).partition(":")
    return [f"{found}"], host, port


def parse(said: str, raw_file: str, clients: int, rows: int) -> Measured:
    """The summary that pgbench ends with."""
    tps, latency, failed = _TPS.search(said), _LATENCY.search(said), _FAILED.search(said)
    if _NOTHING.search(said):  # its time went by while it connected
        return Measured(clients=clients, writes_per_s=0.0, latency_ms_mean=None, raw_file=raw_file)
    if tps is None or latency is None:
        raise LoadError(f"{raw_file}: pgbench printed no tps; its output ends with: {said[-300:]}")
    if failed is not None and failed[1] != "0":
        raise LoadError(f"{raw_file}: {failed[1]} transactions failed; a ceiling counts only what was stored")
    return Measured(
        clients=clients,
        writes_per_s=float(tps[1]) * rows,
        latency_ms_mean=float(latency[1]),
        raw_file=raw_file,
    )


def version(said: str) -> str:
    """15.18, from pgbench's first line."""
    found = _VERSION.search(said)
    return found[1] if found else "of unknown version"
