"""Suites of capacity, of the stores' own tools and of searches end on real parts with what they promise."""

import dataclasses
import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lifecycle.fakes import on_any_host
from writepath.analysis import capacity
from writepath.config.registry import Suite, WarmUp
from writepath.config.settings import Given, known, parse
from writepath.experiments import engine, plan, read
from writepath.experiments.base import Plan
from writepath.experiments.ceilings import CeilingsParams
from writepath.experiments.registry import kind_of
from writepath.experiments.search import kind as search
from writepath.options import Asked, Call
from writepath.progress import Progress
from writepath.records.ceilings import BULK, CONSUMED, PGBENCH, PGBENCH_BATCH, PUBLISHED, SINGLE
from writepath.report.data import SuiteData
from writepath.runtime.choose import choose

pytestmark = [pytest.mark.native, pytest.mark.timeout(900)]  # several starts of stacks, on a busy machine
ROOT = Path(__file__).resolve().parents[3]
OF_ITS_OWN = (".git", ".writepath", "results")
CEILINGS = {
    "postgres": {PGBENCH, PGBENCH_BATCH},
    "rabbitmq": {PUBLISHED, CONSUMED},
    "elasticsearch": {SINGLE, BULK},
}
KEYWORDS = ("영화", "스토리", "감동", "재미")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where results are kept, with the project's own files; no other work on this host counts as noise."""
    on_any_host(monkeypatch)
    monkeypatch.setattr(search, "WARM_UP_S", 1.0)
    for entry in ROOT.iterdir():
        if entry.name not in OF_ITS_OWN:
            (tmp_path / entry.name).symlink_to(entry)
    (tmp_path / ".writepath").mkdir()
    return tmp_path


def planned(root: Path, suite: str, *variants: str, **of_kind: Any) -> Plan:
    cold = Given(values={"AOT_CACHE": "none"})  # a training run takes a minute
    asked = Asked(suite=suite, variants=variants, reps=1, of_kind=of_kind, settings=cold)
    return plan.plan(Call(root=root, command="bench-all"), asked)


def run(made: Plan) -> SuiteData[Any]:
    """Every cell without a problem."""
    runtime, said = choose(ROOT, "native", print), io.StringIO()
    runtime.reap(print)
    runtime.prepare(made.started, print)
    progress = Progress(console=Console(file=said, width=200))
    code, folder = engine.run(made, runtime, progress)
    assert code == 0, said.getvalue()
    data = read.raw(folder)
    assert not [problem for cell in data.all_cells for problem in cell.problems]
    return data


def briefly_warmed(suite: Suite, seconds: float = 5) -> Suite:
    """No longer than its figures need, which are of no use; closed, which a slow host can answer."""
    warm_up = WarmUp(virtual_users=16, for_seconds=seconds)
    return dataclasses.replace(suite, scenario=dataclasses.replace(suite.load, warm_up=warm_up))


def test_a_capacity_is_found_beside_what_the_stores_own_tools_reach(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1,000 requests at the lowest rate are as many as a p99 takes; a busy host must carry it, once it is warm."""
    shorter = tuple((name, times, 6.0) for name, times, _ in capacity.STRETCHES)
    monkeypatch.setattr(capacity, "STRETCHES", shorter)
    made = planned(root, "capacity", "jpa", SLO_MS=5000, HOLD_SECONDS=20)
    assert made.references is not None
    short = CeilingsParams(warm_up_seconds=1.0, seconds=3.0)
    made = dataclasses.replace(
        made,
        params=dataclasses.replace(made.params, lowest_per_s=50.0, highest_per_s=60.0),
        suite=briefly_warmed(made.suite, 30),
        references=dataclasses.replace(made.references, params=short),
    )
    data = run(made)
    (cell,) = data.cells
    assert cell.result is not None
    for step in cell.result.steps:
        assert step.verdict == "pass" or step.reasons
        assert step.resources["postgres"].cpu_seconds > 0
        if step.kind != "ramp":
            assert step.audit == "PASS"
            assert None not in (step.stored_per_s, step.drain_seconds)
    assert cell.result.sustained.highest_passing_per_s
    assert cell.result.overload is not None
    found = {one.result.store: one.result.ceilings for one in data.references if one.result is not None}
    assert {store: {one.name for one in ceilings} for store, ceilings in found.items()} == CEILINGS
    assert all(one.writes_per_s > 0 for ceilings in found.values() for one in ceilings)


def test_a_closed_load_says_what_its_users_change_and_kills_the_stores_once_a_stack(root: Path) -> None:
    words = ("AOT_CACHE=none", "VIRTUAL_USERS=1,4", "POOL_SIZE=2", "INSTANCES=1", "SECONDS=3")
    given = parse(words, known(ROOT))
    asked = Asked(suite="threads", variants=("jpa",), reps=2, settings=given)
    made = plan.plan(Call(root=root, command="bench-all"), asked)
    data = run(dataclasses.replace(made, suite=briefly_warmed(made.suite)))
    results = [cell.result for cell in data.cells if cell.result is not None]
    assert sorted(len(one.audit.reads) for one in results) == [
        1,
        1,
        2,
        2,
        2,
        2,
    ]  # the control has its own stack
    assert all(one.audit.verdict == "PASS" and one.closed.errors == 0 for one in results)
    assert all(one.closed.cpu_share > 0 and one.closed.pool_waiting_max is not None for one in results)
    page = kind_of("load").report(data)
    (effects,) = [table for table in page.tables if table.key == "effects"]
    assert [row.cells[1].text for row in effects.rows] == ["VIRTUAL_USERS"] * 2
    assert "A/A ±" in page.answer[1]


def test_a_proxy_with_too_few_connections_fails_with_a_cause_and_a_valid_verdict(root: Path) -> None:
    given = parse(("AOT_CACHE=none", "VIRTUAL_USERS=200", "SECONDS=3"), known(ROOT))
    asked = Asked(suite="proxy", variants=("jpa",), reps=1, settings=given)
    made = plan.plan(Call(root=root, command="bench-all"), asked)
    few = {"NGINX_WORKER_CONNECTIONS": "128"}
    short = dataclasses.replace(briefly_warmed(made.suite), conditions={"start": few, "all": {}})
    levels = dataclasses.replace(made.factors[0], levels=("start", "all"))
    settings = {**made.settings, **(made.suite.conditions or {})["all"]}
    data = run(dataclasses.replace(made, suite=short, factors=(levels,), settings=settings))
    found = {cell.record.levels["CONDITION"]: cell.result for cell in data.cells if cell.result is not None}
    assert found["start"].closed.errors_at_proxy > 0
    assert any("worker_connections are not enough" in cause for cause in found["start"].closed.proxy_errors)
    assert not any("connections are not enough" in cause for cause in found["all"].closed.proxy_errors)
    assert all(one.closed.time_wait_max is not None and one.audit.verdict == "PASS" for one in found.values())


def test_two_paths_hold_the_same_posts_and_find_the_same(root: Path) -> None:
    made = planned(root, "search", "jpa-bigram", "elasticsearch-1s0r-bigrams", DOCS=2000)
    data = run(dataclasses.replace(made, params=dataclasses.replace(made.params, rounds=2)))
    results = [cell.result for cell in data.cells if cell.result is not None]
    assert {one.data_set.search_index for one in results} == {"bigram", "bigrams"}
    assert len({one.data_set.loading.digest for one in results}) == 1
    assert results[0].hits == results[1].hits
    for one in results:
        assert [hits.keyword for hits in one.hits] == list(KEYWORDS)
        assert all(hits.explained and hits.found == hits.expected > 0 for hits in one.hits)
        assert all(len(times.rounds_ms) == 2 for times in one.times)
        assert one.data_set.loading.store_bytes > 0
        assert one.data_set.loading.parts_bytes


def test_a_pair_freezes_one_path_while_the_other_is_loaded(root: Path) -> None:
    made = planned(root, "pair", "jpa-slowed", A="jpa", ROUNDS=1, SLO_MS=2000)
    short = dataclasses.replace(made.params, highest_per_s=300.0, limit_steps=2, step_seconds=2.0)
    (cell,) = run(dataclasses.replace(made, params=short, suite=briefly_warmed(made.suite))).cells
    assert cell.result is not None
    steps = cell.result.steps
    assert [one.aim for one in steps] == ["limit"] * 4 + ["equal"] * 8
    assert [one.side for one in steps[:4]] in (["a", "b", "b", "a"], ["b", "a", "a", "b"])
    assert len(steps) == 2 * (2 * 2 + 2)
    for one in steps:
        assert one.frozen_cpu_seconds == 0.0
        assert one.cpu_us_per_write
        assert one.canary_cpu_ms
        assert one.verdict != "pass" or abs(one.acknowledged - 2 * one.rate_per_s) < 1
    assert [(one.side, one.audit) for one in sorted(steps[-2:], key=lambda one: one.side)] == [
        ("a", "PASS"),
        ("b", "PASS"),
    ]
    assert cell.result.limits.keys() == {"a", "b"}


def reading(root: Path, suite: str, *words: str) -> Plan:
    """Of the first cells of a suite of reads, for a short time, with a tenth of its rows."""
    few = ("READER_USERS=1000", "READER_POINTS=10000", "READER_EXHIBITIONS=100")
    given = parse((*words, *few), known(ROOT))
    made = plan.plan(
        Call(root=root, command="bench-all"), Asked(suite=suite, variants=None, reps=1, settings=given)
    )
    return dataclasses.replace(made, suite=briefly_warmed(made.suite))


def conditions(made: Plan, *names: str) -> Plan:
    """With these alone."""
    first, *others = made.factors
    return dataclasses.replace(made, factors=(dataclasses.replace(first, levels=names), *others))


def test_sessions_find_their_rate_once_and_tell_failed_log_ins_apart(root: Path) -> None:
    made = conditions(reading(root, "pool", "SECONDS=3"), "boot", "boot-overload")
    steps = dataclasses.replace(made.params.find_rate, first_per_s=5.0, highest_per_s=9.0, seconds=2.0)
    data = run(dataclasses.replace(made, params=dataclasses.replace(made.params, find_rate=steps)))
    results: list[Any] = [cell.result for cell in sorted(data.cells, key=lambda one: one.record.name)]
    boot, more = (one.session_load for one in results)
    assert boot.found_rates == more.found_rates
    assert [(one.rate_per_s, one.failed) for one in boot.found_rates] == [(5.0, 0), (7.5, 0), (7.5, 0)]
    assert (boot.rate_per_s, more.rate_per_s) == (7.5, pytest.approx(7.5 * 1.17, abs=0.01))
    assert boot.requests == 6 * round(3 * 7.5 - 0.5)
    assert (boot.failed_logins, boot.failed_sessions, boot.failed_requests) == (0, 0, 0)
    for one in results:
        assert one.read_load.statements_per_request == pytest.approx(11 / 6, rel=0.1)


def test_reads_of_one_row_wait_for_a_connection_of_a_small_pool(root: Path) -> None:
    made = reading(root, "closed", "SECONDS=3", "VIRTUAL_USERS=50")
    data = run(conditions(made, "pool-10", "pool-10-threads-10"))
    found = {cell.record.levels["CONDITION"]: cell.result for cell in data.cells if cell.result is not None}
    few, one_each = found["pool-10"], found["pool-10-threads-10"]
    assert round(few.read_load.statements_per_request) == 1
    assert (
        few.read_load.wait_ms_mean > one_each.read_load.wait_ms_mean
    )  # ten threads never wait for ten connections
    assert all(one.requests.acknowledged and not one.closed.errors for one in found.values())


def test_each_strategy_of_the_feed_has_its_statements(root: Path) -> None:
    data = run(reading(root, "feed", "SECONDS=3", "VIRTUAL_USERS=20"))
    found = {
        cell.record.levels["FEED_STRATEGY"]: cell.result.read_load
        for cell in data.cells
        if cell.result is not None
    }
    statements = {name: round(one.statements_per_request) for name, one in found.items()}
    assert statements == {"per-parent": 6, "by-key": 6, "denormalised": 6, "two-queries": 2}
    assert all(one.rows_per_request > 50 for one in found.values())
