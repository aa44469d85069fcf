"""A cell of kind `load`: its steps in order on every way out, and raw files that name every lie."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from experiments.planted_cell import (
    CLOSED,
    at_once,
    audit_of,
    bench,
    cell_run,
    facts_of,
    measured,
    requests_of,
)
from lifecycle import fakes
from lifecycle.fakes import SCENARIO, FakeRuntime
from lifecycle.liar import Lies
from report.planted_suite import CANARY
from writepath.analysis import raw
from writepath.analysis import warm_up as rule
from writepath.analysis.evidence import FACTS_FILE
from writepath.config.registry import Phase, Variant, WarmUp
from writepath.errors import LoadError, StartError, WritepathError
from writepath.experiments.base import Session
from writepath.experiments.load.kind import LoadExperiment, Part, measure, params_of
from writepath.load import parquet
from writepath.load.plan import ClosedPlan, encode_id
from writepath.measure import host, read_back, truth, visible, warming
from writepath.measure.host import Counters
from writepath.progress import Progress
from writepath.records.measures import Reading

LOADED = ["start", "reset", "write", "posts", "durability", "k6", "write", "reset", "k6", "write"]
READ = ["posts", "kill app", "revive app", "posts"]
STOPPED = ["logs", "stop"]
PLANNED = 50
COLD = replace(SCENARIO, warm_up=None)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once(monkeypatch)


def queued() -> Variant:
    """With another service behind the one that answers."""
    return replace(fakes.variant(), inspector="consumer")


def test_the_steps_come_in_order_and_each_is_timed(tmp_path: Path) -> None:
    runtime = FakeRuntime()
    run = measured(tmp_path, runtime)
    assert runtime.events == [*LOADED, *READ, *STOPPED]
    assert list(run.steps) == [
        "start", "verify", "warm-up", "empty", "load", "drain", "audit", "crash", "save", "stop",
    ]  # fmt: skip


def test_the_stores_are_killed_once_a_stack_where_the_suite_says_so_and_a_warm_stack_is_not_warmed_again(
    tmp_path: Path,
) -> None:
    runtime, params = FakeRuntime(), params_of(SCENARIO, Part(second_read="stack"))
    made = bench(tmp_path, runtime)
    runs = [cell_run(made, name=name, params=params) for name in ("first", "last")]
    with Session(made) as session:
        for session.left, run in zip((1, 0), runs, strict=True):
            measure(run, session)
    assert runtime.events.count("kill app") == 1
    assert runtime.events[-len(READ) - len(STOPPED) :] == [*READ, *STOPPED]
    assert [run.steps.keys() & {"warm-up", "crash"} for run in runs] == [{"warm-up"}, {"crash"}]
    first, last = map(audit_of, runs)
    assert (first.verdict, len(first.reads), first.vanished) == ("PASS", 1, None)
    assert (last.verdict, len(last.reads), last.vanished) == ("PASS", 2, 0)
    assert all(facts_of(run).one_crash_per_stack for run in runs)


def test_a_cell_that_is_read_once_is_as_noisy_as_its_host(tmp_path: Path) -> None:
    runtime, params = FakeRuntime(), params_of(SCENARIO, Part(second_read="stack"))
    made = bench(tmp_path, runtime)
    run, kind = cell_run(made, params=params), LoadExperiment()
    with Session(made, left=1) as session:
        measure(run, session)
    slow = replace(CANARY, cpu_ms=2 * CANARY.cpu_ms)
    verdict = kind.derive(kind.reduce(run.folder, replace(made.host, before=CANARY, after=slow))).verdict
    assert verdict.noise
    assert any("a fixed CPU task" in reason for reason in verdict.reasons)


def test_without_warm_up_the_verified_write_is_removed_before_the_load(tmp_path: Path) -> None:
    runtime = FakeRuntime()
    run = measured(tmp_path, runtime, scenario=COLD)
    assert runtime.events[4:8] == ["durability", "reset", "k6", "write"]
    assert "warm-up" not in run.steps


@pytest.mark.parametrize(
    ("at_most_s", "windows", "confined_windows", "words"),
    [
        (30.0, 8, 4, ()),  # one is compared with the last three, twice
        # there is time for three at most
        (0.3, 2, 0, ("not steady after", "median latency is not known: too few windows")),
    ],
)
def test_a_warm_up_ends_when_the_path_is_steady_and_unsteady_ones_make_the_verdict_unknown(
    at_most_s: float,
    windows: int,
    confined_windows: int,
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rule, "FALLS", 1.0)  # whatever this host does
    for name, seconds in (("WINDOW_S", 0.1), ("TICK_S", 0.01)):
        monkeypatch.setattr(warming, name, seconds)
    monkeypatch.setattr(warming, "CROWD", ClosedPlan(virtual_users=4, seconds=0.1))
    asked, runtime = WarmUp(virtual_users=2, at_most_seconds=at_most_s), FakeRuntime()
    run = measured(tmp_path, runtime, scenario=replace(SCENARIO, warm_up=asked))
    found, kind = facts_of(run).warm_up, LoadExperiment()
    assert found is not None
    assert (found.steady, found.seconds < 30) == (not words, True)
    assert abs(len(found.windows) - windows) <= 1
    assert all(window.rate_per_s > 0 and window.median_ms for window in found.windows)
    confined = [window.cpu_us_per_request == 0 for window in found.windows]  # the fake uses none then
    assert confined == sorted(confined)
    assert abs(confined.count(True) - confined_windows) <= 1
    assert any(confined) == found.steady
    between = ["posts", *["reset", "write", "posts"] * warming.TRAPS]
    again = ["write"] * found.steady
    assert runtime.events[5 : -len(READ) - len(STOPPED)] == [
        "k6", "write", *between, "write", *between, *again, "reset", "k6", "write",
    ]  # fmt: skip
    reasons = kind.derive(kind.reduce(run.folder, run.bench.host)).verdict.reasons
    said = [reason for reason in reasons if "warm-up" in reason]
    assert len(said) == bool(words)
    assert all(word in reason for reason in said for word in words)
    assert len(requests_of(run.folder)) == PLANNED


def test_the_folder_has_every_raw_file_and_not_what_k6_recorded(tmp_path: Path) -> None:
    run = measured(tmp_path, FakeRuntime())
    names = {path.name for path in run.folder.iterdir()}
    tables = {"requests.parquet", "stored.parquet", "samples.parquet", "visible.parquet"}
    assert names >= {*tables, FACTS_FILE, "plan.json", "settings.json", "logs"}
    assert not names & {"ledger.rec", "warm-up"}
    assert not [name for name in names if name.endswith(".part")]


def test_the_facts_are_those_of_the_load_alone(tmp_path: Path) -> None:
    run = measured(tmp_path, FakeRuntime(lost=("app: ended with 137",)))
    facts = facts_of(run)
    assert run.versions == {"fake": "1", "liar": "1.0", "OpenTelemetry traces": "none"}
    assert run.durability == facts.durability
    assert run.durability is not None
    assert (run.durability.level, run.durability.settings) == ("A", {"fsync": "true"})
    assert (facts.run_id, facts.runtime, facts.model) == (run.run_id, "fake", "open")
    assert [(phase.name, phase.seconds, phase.to_per_s) for phase in facts.phases] == [
        ("sustained", 0.5, 100)
    ]
    assert (facts.seconds, facts.dropped, facts.exit_code, facts.generator_faults) == (0.5, 0, 0, ())
    assert facts.reads == (Reading(store_rows=PLANNED, left_in_queue=0),) * 2
    assert (facts.unread, facts.suppressed_duplicates) == ((), 2)
    assert facts.lost_components == ("app: ended with 137",)
    assert facts.drain is not None
    assert not facts.drain.capped
    assert (facts.queue_path, facts.redelivered) == (False, None)
    assert facts.load_started_at < facts.load_finished_at
    assert len(requests_of(run.folder)) == PLANNED


def test_an_honest_load_passes_its_audit_from_raw_files(tmp_path: Path) -> None:
    audit = audit_of(measured(tmp_path, FakeRuntime()))
    assert (audit.verdict, audit.ok, audit.identities_broken) == ("PASS", PLANNED, ())


def test_raw_files_name_every_lie_of_the_first_read(tmp_path: Path) -> None:
    foreign = encode_id("fffffffffffffff", 0)
    lies = Lies(
        skip=frozenset({3, 4}),
        double=frozenset({7}),
        spoil=frozenset({9}),
        refuse=frozenset({11}),
        invent=(foreign,),
    )
    run = measured(tmp_path, FakeRuntime(lies=[lies]))
    audit = audit_of(run)
    assert {name: found.intervals for name, found in audit.offenders.items()} == {
        "absent": "3..4",
        "duplicated": "7",
        "corrupted": "9",
        "unexpected": "",
    }
    assert audit.offenders["unexpected"].first_ids == (foreign,)
    assert (audit.lost, audit.clean_fail, audit.ok) == (2, 1, PLANNED - 5)
    assert requests_of(run.folder).column("status").to_pylist().count(503) == 1


def test_raw_files_name_every_lie_after_the_answer(tmp_path: Path) -> None:
    lies = Lies(
        drop=frozenset({2, 3}),
        cross=frozenset({5}),
        keep=frozenset({6}),
        admit=frozenset({8}),
        delay=frozenset({10}),
    )
    audit = audit_of(measured(tmp_path, FakeRuntime(lies=[lies])))
    assert {name: found.intervals for name, found in audit.offenders.items()} == {
        "vanished": "2..3",
        "rejected_present": "8",
        "wrong_ack": "5",
    }
    assert {name: found.intervals for name, found in audit.noted.items()} == {"recovered": "6", "late": "10"}
    assert (audit.verdict, audit.lost, audit.vanished, audit.identities_broken) == ("FAIL", 0, 2, ())


def test_a_search_finds_the_sampled_writes_and_one_that_is_lost_is_never_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visible, "PER_S", 100.0)  # all
    monkeypatch.setattr(visible, "QUIET_S", 0.3)
    run = measured(tmp_path, FakeRuntime(lies=[Lies(skip=frozenset({3}))]))
    seen = parquet.load_table(run.folder / raw.VISIBLE_FILE).to_pylist()
    assert len(seen) == PLANNED
    assert [row["sequence"] for row in seen if row["visible_at_us"] is None] == [3]


def test_of_a_load_that_climbs_only_writes_before_the_climb_are_searched_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visible, "PER_S", 100.0)  # all
    before = Phase(name="before", seconds=0.2, from_per_s=100, to_per_s=100)
    climb = Phase(name="climb", seconds=1.0, from_per_s=100, to_per_s=200)
    scenario = replace(SCENARIO, phases=(before, climb))
    run = measured(
        tmp_path, FakeRuntime(), scenario=scenario, params=params_of(scenario, Part(slo_ms=1000.0))
    )
    seen = parquet.load_table(run.folder / raw.VISIBLE_FILE).to_pylist()
    assert [row["sequence"] for row in seen] == list(range(20))
    assert facts_of(run).slo_ms == 1000.0


@pytest.mark.parametrize(
    ("runtime", "words"),
    [
        (FakeRuntime(stuck="kill"), "app does not die"),
        (FakeRuntime(stuck="ready"), "app was not ready"),
        (FakeRuntime(lies=[Lies(cut_again=True)]), "ends in the middle of a line"),
    ],
    ids=["kill", "ready", "read"],
)
def test_a_second_read_that_fails_is_named_and_the_first_is_kept(
    runtime: FakeRuntime, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_back, "READY_S", 0.5)
    run = measured(tmp_path, runtime)
    facts, audit = facts_of(run), audit_of(run)
    assert len(facts.reads) == 1
    assert words in facts.unread[0]
    assert (audit.verdict, audit.ok) == ("UNKNOWN", PLANNED)


def test_behind_a_queue_deliveries_are_counted(tmp_path: Path) -> None:
    facts = facts_of(measured(tmp_path, FakeRuntime(), of=queued()))
    assert (facts.queue_path, facts.redelivered) == (True, 0)


def test_a_store_that_cannot_be_read_is_not_killed(tmp_path: Path) -> None:
    runtime = FakeRuntime(lies=[Lies(cut_posts=True)])
    run = measured(tmp_path, runtime)
    facts = facts_of(run)
    assert (facts.reads, len(facts.unread)) == ((), 1)
    assert len(parquet.load_table(run.folder / raw.STORED_FILE)) == 0
    assert "kill app" not in runtime.events
    assert audit_of(run).verdict == "UNKNOWN"


@pytest.mark.parametrize(
    ("runtime", "events", "error", "words"),
    [
        (FakeRuntime(start_error="port taken"), ["start"], StartError, "port taken"),
        (
            FakeRuntime(lies=[Lies(keep_on_reset=1)]),
            [*LOADED[:2], *STOPPED],
            StartError,
            "the store is not empty before the load: 1 rows",
        ),
        (
            FakeRuntime(lies=[Lies(no_durability=True)]),
            [*LOADED[:5], *STOPPED],
            WritepathError,
            "no durability level",
        ),
        (FakeRuntime(mode="die"), [*LOADED[:6], *STOPPED], LoadError, "the script raised an exception"),
        (
            FakeRuntime(lies=[Lies(keep_on_reset=2)]),
            [*LOADED[:8], *STOPPED],
            StartError,
            "the store is not empty before the load: ",
        ),
    ],
    ids=["start", "dirty", "durability", "generator", "reset"],
)
def test_a_failure_before_the_load_names_its_reason_and_stops_the_stack(
    runtime: FakeRuntime,
    events: list[str],
    error: type[Exception],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(truth, "EMPTY_TIMEOUT_S", 0.0)
    with pytest.raises(error, match=words):
        measured(tmp_path, runtime)
    assert runtime.events == events
    assert not (tmp_path / "jpa" / FACTS_FILE).exists()


@pytest.mark.parametrize(("mode", "words"), [("die", "could not run ramp.js"), ("idle", "k6 sent nothing")])
def test_a_generator_that_sends_nothing_fails_the_cell(mode: str, words: str, tmp_path: Path) -> None:
    runtime = FakeRuntime(mode=mode)
    with pytest.raises(LoadError, match=words):
        measured(tmp_path, runtime, scenario=COLD)
    assert runtime.events[-2:] == STOPPED


def test_ctrl_c_in_the_load_keeps_requests_and_samples_and_leaves_no_generator(tmp_path: Path) -> None:
    runtime = FakeRuntime(mode="hang")

    class Impatient(Progress):
        def load(self, live: object) -> None:
            if live.acknowledged == PLANNED:  # type: ignore[attr-defined]
                raise KeyboardInterrupt

    run = interrupted(tmp_path, runtime, Impatient(console=Console(file=io.StringIO())))
    assert runtime.events[-2:] == STOPPED
    assert len(requests_of(run)) == PLANNED
    assert raw.read_samples(run / raw.SAMPLES_FILE)
    assert not (tmp_path / "k6.pid").exists()
    assert not (run / FACTS_FILE).exists()


def test_ctrl_c_in_the_drain_keeps_what_is_known_of_the_load(tmp_path: Path) -> None:
    class Impatient(Progress):
        def drain(self, rows: int, waiting: int) -> None:
            raise KeyboardInterrupt(rows, waiting)

    folder = interrupted(tmp_path, FakeRuntime(), Impatient(console=Console(file=io.StringIO())))
    facts = json.loads((folder / FACTS_FILE).read_text(encoding="utf-8"))
    assert (facts["dropped"], facts["drain"], facts["reads"]) == (0, None, [])
    assert len(requests_of(folder)) == PLANNED


def interrupted(tmp_path: Path, runtime: FakeRuntime, progress: Progress) -> Path:
    """The folder of a cell that the user stopped."""
    run = cell_run(bench(tmp_path, runtime, progress), scenario=COLD)
    with pytest.raises(KeyboardInterrupt), Session(run.bench) as session:
        measure(run, session)
    return run.folder


def test_a_closed_load_has_no_schedule(tmp_path: Path) -> None:
    run = measured(tmp_path, FakeRuntime(), scenario=CLOSED)
    facts = facts_of(run)
    assert (facts.model, facts.phases, facts.virtual_users, facts.seconds) == ("closed", (), 3, 0.5)
    assert (facts.dropped, facts.generator_faults) == (0, ())
    audit = audit_of(run)
    assert audit.verdict == "PASS"
    assert audit.ok == len(requests_of(run.folder)) > 0


def test_settings_of_the_load_change_its_plan_and_not_the_stack(tmp_path: Path) -> None:
    runtime = FakeRuntime()
    settings = {"RATE": "200", "VIRTUAL_USERS": "7", "POOL_SIZE": "5"}
    run = measured(tmp_path, runtime, settings=settings)
    facts = facts_of(run)
    assert ([phase.to_per_s for phase in facts.phases], facts.virtual_users) == ([200], 7)
    assert len(requests_of(run.folder)) == 2 * PLANNED
    assert runtime.overrides == [{"POOL_SIZE": "5"}]


def test_counters_are_read_around_the_load_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime, real = FakeRuntime(), host.read_counters

    def read() -> Counters:
        runtime.events.append("counters")
        return replace(real(), throttled_s=1.0, swapped_pages=1000 * runtime.events.count("counters"))

    monkeypatch.setattr(host, "read_counters", read)
    found = facts_of(measured(tmp_path, runtime)).withheld
    at = runtime.events.index("counters")
    assert runtime.events[at - 1 : at + 4] == ["reset", "counters", "k6", "write", "counters"]
    assert found is not None
    assert (found.throttled_share, found.swapped_pages) == (0.0, 1000)
