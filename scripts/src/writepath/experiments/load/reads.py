"""Loads of reads: what is sent, one load, and the highest rate of sessions without an error."""

import contextlib
import copy
import json
import random
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from writepath.analysis.audit import ACKNOWLEDGED
from writepath.analysis.load_reads import OF_SESSION, REQUESTS_MOST
from writepath.analysis.load_rows import of_raw
from writepath.config.checked import entry
from writepath.config.registry import Rate, Reads, Seconds
from writepath.config.settings import CONDITION
from writepath.errors import LoadError
from writepath.experiments.base import CellRun, Session
from writepath.load import ledger
from writepath.load.parquet import load_table, whole
from writepath.load.plan import new_run_id
from writepath.measure import loading
from writepath.measure.truth import Truth
from writepath.records.base import from_data, read_json, to_data, write_json
from writepath.records.load_facts import FoundRate
from writepath.runtime import topology
from writepath.runtime.base import Stack

SENT_FILE = "sent.json"  # what k6 sends, in turns
ENTRIES = 10_000
PAGES = REQUESTS_MOST - 1  # of a session, after its log-in
PAGE_SIZE = 20
USERS = "READER_USERS"  # setting: how many the data has


def sent(run: CellRun) -> Path:
    """Writes what k6 sends, drawn by the seed: paths; of sessions a log-in and its lists."""
    values = {**run.cell.variant.settings, **run.settings}
    users = int(topology.value(run.bench.root, USERS, values))
    drawn = random.Random(f"writepath:reads:{run.seed}")  # noqa: S311 - a choice, not a secret
    entries = [_entry(run.suite.load.reads, drawn, users) for _ in range(ENTRIES)]
    path = run.folder / SENT_FILE
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def _entry(reads: Reads | None, drawn: random.Random, users: int) -> Any:
    if reads == "sessions":
        return _session(drawn, users)
    return f"/api/points/{drawn.randint(1, users)}" if reads == "points" else "/api/feed"


def _session(drawn: random.Random, users: int) -> dict[str, Any]:
    """Three pages of all users, then two of those whose name has a number in it."""
    user = drawn.randint(1, users)
    pages = max(1, users // PAGE_SIZE)
    lists = [f"page={drawn.randrange(pages)}" for _ in range(PAGES - 2)]
    lists += [f"name=user-{drawn.randint(1, 9)}&page={page}" for page in range(2)]
    return {
        "body": {"name": f"user-{user}", "password": f"password-{user}"},
        "lists": [f"/api/users?{words}&size={PAGE_SIZE}" for words in lists],
    }


@entry
class FindRate:
    """How the rate of a suite is found: on the stack of its baseline, once a suite run."""

    first_per_s: Rate
    highest_per_s: Rate
    seconds: Seconds  # of each rate


COARSE, FINE = 1.5, 1.17  # times the rate before; the second as in the original, 70/s after 60/s
RATES_FILE = "rates.json"
VERSION = 1


def rate_of(steps: tuple[FoundRate, ...]) -> float:
    """The rate of the last step, at which every request was served; LoadError where there is none."""
    if steps[-1].failed:
        raise LoadError(
            f"requests failed at {steps[-1].rate_per_s:g} sessions/s already; set a lower `find_rate.first_per_s`,"
            " or RATE"
        )
    return steps[-1].rate_per_s


def found_rates(run: CellRun, asked: FindRate) -> tuple[FoundRate, ...]:
    """The steps of this suite run, which the first cell that needs them takes."""
    path = run.folder.parents[1] / RATES_FILE  # in the folder of the suite run
    if not path.exists():
        steps = [to_data(step) for step in _find(run, asked)]
        write_json({"schema_version": VERSION, "steps": steps}, path)
    known = read_json(path, VERSION)["steps"]
    return tuple(from_data(FoundRate, step, RATES_FILE) for step in known)


def _find(run: CellRun, asked: FindRate) -> Iterator[FoundRate]:
    """Up on one stack, then down from the highest rate that passed, until one passes on a stack as new as a cell's.

    The longer a JVM has run, the more it serves: at the end of a climb, more than in a cell.
    """
    own, rate_per_s = _at_baseline(run), 0.0
    with _warm(own) as attempt:
        for step in _climb(attempt, asked):
            yield step
            rate_per_s = rate_per_s if step.failed else step.rate_per_s
    while rate_per_s >= asked.first_per_s:
        with _warm(own) as attempt:
            step = attempt(rate_per_s, asked.seconds)
        yield step
        rate_per_s = round(rate_per_s / FINE, 1) if step.failed else 0.0
    shutil.rmtree(own.folder)


Attempt = Callable[[float, float], FoundRate]  # sessions/s, seconds


def _climb(attempt: Attempt, asked: FindRate) -> Iterator[FoundRate]:
    """Up in large steps until requests fail, then in small ones from the last rate at which none did."""
    rate_per_s, passed_per_s, failed_per_s, times = asked.first_per_s, 0.0, asked.highest_per_s, COARSE
    while rate_per_s < failed_per_s or not passed_per_s:
        step = attempt(rate_per_s, asked.seconds)
        yield step
        if step.failed:
            if times == FINE or not passed_per_s:
                break
            failed_per_s, times = rate_per_s, FINE
        else:
            passed_per_s = rate_per_s
        rate_per_s = round(passed_per_s * times, 1)


@contextlib.contextmanager
def _warm(run: CellRun) -> Iterator[Attempt]:
    """A warm stack of its own, on which rates are tried."""
    with Session(run.bench) as session:
        stack, truth = session.started(run)
        run.warm_up(stack, truth)
        yield partial(_step, run, stack, truth)


def _at_baseline(run: CellRun) -> CellRun:
    """The cell's run with the settings of the suite's baseline in the place of its own."""
    conditions, own = run.suite.conditions or {}, copy.copy(run)
    mine = conditions.get(run.cell.levels.get(CONDITION, ""), {})
    base = conditions.get(run.suite.baseline_levels.get(CONDITION, ""), {})
    kept = {name: value for name, value in run.settings.items() if name not in mine}
    start = {name: value for name, value in run.suite.settings.items() if name in mine}
    own.settings = {**kept, **start, **base}
    own.folder = run.folder / "rates"
    own.folder.mkdir(exist_ok=True)
    return own


def _step(run: CellRun, stack: Stack, truth: Truth, rate_per_s: float, seconds: float) -> FoundRate:
    """One rate for so long."""
    scenario = run.suite.load
    phases = tuple(replace(phase, seconds=seconds) for phase in scenario.phases)
    settings: Mapping[str, str] = {**run.settings, loading.RATE: str(rate_per_s), loading.RATE_TIMES: "1"}
    plan = loading.plan_of(replace(scenario, phases=phases), settings)
    load = loading.load_of(scenario, run.bench, stack, plan, new_run_id(), run.folder)
    with run.step("find rate", f"{rate_per_s:g} sessions/s"):
        driven = loading.carry_out(load, run.bench, stack, truth)
    requests = load_table(run.folder / ledger.REQUESTS_FILE)
    served = of_raw([requests], None, OF_SESSION, 0).client == ACKNOWLEDGED
    dropped = driven.result.dropped or 0
    found = FoundRate(
        rate_per_s=rate_per_s,
        sessions=len(driven.taken.records),
        timed_out=int((whole(requests, "error_code") == ledger.TIMED_OUT).sum()),
        failed=int((~served).sum()) + dropped,
    )
    run.bench.progress.say(
        f"  {rate_per_s:g} sessions/s: {found.failed} requests failed, {found.timed_out} of them timed out"
    )
    return found
