"""Does a run take its steps in order, on every way out, and does it name every lie?"""

from __future__ import annotations

import gzip
import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from lifecycle.fakes import SCENARIO, FakeRuntime, spec
from lifecycle.liar import Lies
from writepath import result
from writepath.errors import SetupError
from writepath.load import ledger
from writepath.load.plan import encode_id
from writepath.progress import Progress
from writepath.run import crash, raw_audit, visible
from writepath.run.runner import Bench, execute

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


Execute = "Callable[[FakeRuntime], Run]"
AGAIN = ["saved", "kill app", "revive app", "posts", "saved"]  # saved with the first read, and with both
WHOLE = ["start", "reset", "write", "posts", "durability", "k6", "write", "reset", "k6", "write", "posts"]
PLANNED = 50


def test_the_steps_come_in_order_and_the_run_is_saved_before_the_stack_is_stopped(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench]
) -> None:
    runtime = FakeRuntime()
    finished = execute(spec(tmp_path), bench(runtime))
    assert runtime.events == [*WHOLE, *AGAIN, "logs", "stop", "saved"]
    assert (finished.exit_code, finished.run.verdict.status, finished.run.outcome) == (0, "valid", "finished")


def test_a_run_without_warm_up_still_empties_the_store_after_the_verified_write(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench]
) -> None:
    runtime = FakeRuntime()
    execute(spec(tmp_path, replace(SCENARIO, warm_up=None)), bench(runtime))
    assert runtime.events[4:8] == ["durability", "reset", "k6", "write"]


def test_the_figures_of_a_run_are_those_of_its_load_alone(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench]
) -> None:
    run = execute(spec(tmp_path), bench(FakeRuntime())).run
    requests, audit = run.requests, run.audit
    assert requests is not None
    assert (requests.planned, requests.started, requests.acknowledged) == (PLANNED,) * 3
    assert audit is not None
    assert (audit.ok, audit.stored_rows, audit.identities_broken) == (PLANNED, PLANNED, ())
    assert audit.suppressed_duplicates == 2
    assert [phase.acknowledged for phase in run.phases] == [PLANNED]
    assert set(run.resources) == {"app", "k6"}
    assert run.versions == {"fake": "1", "liar": "1.0"}
    assert run.durability is not None
    assert (run.durability.level, run.durability.settings) == ("A", {"fsync": "true"})
    assert run.time_to_durable_ms is not None
    assert run.time_to_durable_ms.median is not None
    assert run.order is None  # nothing stands between the ingress and the store


def test_a_search_finds_the_sampled_writes_and_one_that_is_lost_is_never_seen(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visible, "PER_S", 100.0)  # all
    monkeypatch.setattr(visible, "QUIET_S", 0.3)
    run = execute(spec(tmp_path), bench(FakeRuntime(lies=[Lies(skip=frozenset({3}))]))).run
    seen, accept = run.time_to_visible_ms, run.accept_latency_ms
    assert run.visible_samples == PLANNED
    assert seen is not None
    assert accept is not None
    assert seen.median is not None
    assert accept.median is not None
    assert seen.median > 0
    assert run.visible_error_ms_max is not None
    assert run.visible_error_ms_max > 0
    with gzip.open(tmp_path / "rep-01" / "visible.csv.gz", "rt", encoding="utf-8") as file:
        header, *lines = file.read().splitlines()
    assert header == visible.HEADER
    assert [line.split(",")[0] for line in lines if line.endswith(",")] == ["3"]


def test_without_samples_nothing_is_said_of_visibility(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visible, "PER_S", 0.0)
    run = execute(spec(tmp_path), bench(FakeRuntime())).run
    assert (run.verdict.status, run.time_to_visible_ms, run.visible_samples) == ("valid", None, None)
    assert not (tmp_path / "rep-01" / "visible.csv.gz").exists()


def test_the_folder_holds_every_raw_file_and_not_what_k6_recorded(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench]
) -> None:
    execute(spec(tmp_path), bench(FakeRuntime()))
    names = {path.name for path in (tmp_path / "rep-01").iterdir()}
    expected = {
        "run.json",
        "ledger.csv.gz",
        "stored.csv.gz",
        "stored-after-crash.csv.gz",
        "samples.csv.gz",
        "settings.json",
        "plan.json",
        "logs",
    }
    assert expected <= names
    assert not names & {"ledger.rec", "warm-up"}


def test_every_lie_is_named(tmp_path: Path, bench: Callable[[FakeRuntime], Bench]) -> None:
    foreign = encode_id("fffffffffffffff", 0)
    lies = Lies(
        skip=frozenset({3, 4}),
        double=frozenset({7}),
        spoil=frozenset({9}),
        refuse=frozenset({11}),
        invent=(foreign,),
    )
    run = execute(spec(tmp_path), bench(FakeRuntime(lies=[lies]))).run
    audit = run.audit
    assert audit is not None
    assert {name: found.intervals for name, found in audit.offenders.items()} == {
        "absent": "3..4",
        "duplicated": "7",
        "corrupted": "9",
        "unexpected": "",
    }
    assert audit.offenders["unexpected"].first_ids == (foreign,)
    assert (audit.lost, audit.clean_fail, audit.ok) == (2, 1, PLANNED - 5)
    assert run.verdict.status == "invalid"
    assert len(run.verdict.reasons) == 4
    assert run.requests is not None
    assert run.requests.by_error == {"HTTP 503": 1}


def test_every_lie_after_the_answer_is_named_and_the_raw_files_say_the_same(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench]
) -> None:
    lies = Lies(
        drop=frozenset({2, 3}),
        cross=frozenset({5}),
        keep=frozenset({6}),
        admit=frozenset({8}),
        delay=frozenset({10}),
    )
    run = execute(spec(tmp_path), bench(FakeRuntime(lies=[lies]))).run
    audit = run.audit
    assert audit is not None
    assert {name: found.intervals for name, found in audit.offenders.items()} == {
        "vanished": "2..3",
        "rejected_present": "8",
        "wrong_ack": "5",
    }
    assert {name: found.intervals for name, found in audit.noted.items()} == {"recovered": "6", "late": "10"}
    assert (audit.verdict, audit.lost, audit.vanished, audit.identities_broken) == ("FAIL", 0, 2, ())
    assert run.verdict.status == "invalid"
    again = raw_audit.recompute(tmp_path / "rep-01").audit
    assert replace(again, seconds=audit.seconds) == audit


@pytest.mark.parametrize(
    ("runtime", "words"),
    [
        (FakeRuntime(stuck="kill"), "app does not die"),
        (FakeRuntime(stuck="ready"), "app was not ready"),
        (FakeRuntime(lies=[Lies(cut_again=True)]), "ends in the middle of a line"),
    ],
    ids=["kill", "ready", "read"],
)
def test_a_second_read_that_fails_makes_the_run_unknown_and_keeps_the_first(
    runtime: FakeRuntime,
    words: str,
    tmp_path: Path,
    bench: Callable[[FakeRuntime], Bench],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(crash, "READY_TIMEOUT_S", 0.5)
    finished = execute(spec(tmp_path), bench(runtime))
    assert (finished.exit_code, finished.run.verdict.status) == (3, "unknown")
    audit = finished.run.audit
    assert audit is not None
    assert (audit.verdict, audit.ok, len(audit.reads)) == ("UNKNOWN", PLANNED, 1)
    assert any(words in reason for reason in finished.run.verdict.reasons)
    assert raw_audit.recompute(tmp_path / "rep-01").audit.verdict == "UNKNOWN"


def test_an_honest_run_passes_its_audit_again_from_raw_files(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench]
) -> None:
    audit = execute(spec(tmp_path), bench(FakeRuntime())).run.audit
    assert audit is not None
    assert (audit.verdict, len(audit.reads)) == ("PASS", 2)
    assert replace(raw_audit.recompute(tmp_path / "rep-01").audit, seconds=audit.seconds) == audit


@pytest.mark.parametrize(
    ("runtime", "events", "words"),
    [
        (FakeRuntime(start_error="port taken"), ["start", "saved"], "port taken"),
        (
            FakeRuntime(lies=[Lies(keep_on_reset=1)]),
            ["start", "reset", "logs", "stop", "saved"],
            "the store is not empty before the load: 1 rows",
        ),
        (
            FakeRuntime(lies=[Lies(no_durability=True)]),
            [*WHOLE[:5], "logs", "stop", "saved"],
            "no durability level",
        ),
        (FakeRuntime(mode="die"), [*WHOLE[:6], "logs", "stop", "saved"], "the script raised an exception"),
        (
            FakeRuntime(lies=[Lies(keep_on_reset=2)]),
            [*WHOLE[:8], "logs", "stop", "saved"],
            "the store is not empty before the load: 4 rows",
        ),
        (
            FakeRuntime(stop_error=SetupError("a container would not go")),
            [*WHOLE, *AGAIN, "logs", "stop", "saved"],
            "a container would not go",
        ),
        (
            FakeRuntime(stop_error=ZeroDivisionError("planted")),
            [*WHOLE, *AGAIN, "logs", "stop", "saved"],
            "unexpected ZeroDivisionError: planted",
        ),
    ],
    ids=["start", "dirty", "durability", "generator", "reset", "stop", "unexpected"],
)
def test_a_failure_at_a_step_is_saved_with_its_reason_and_the_stack_is_stopped(
    runtime: FakeRuntime,
    events: list[str],
    words: str,
    tmp_path: Path,
    bench: Callable[[FakeRuntime], Bench],
) -> None:
    finished = execute(spec(tmp_path), bench(runtime))
    assert runtime.events == events
    assert finished.run.outcome == "failed"
    assert words in (finished.run.error or "")
    assert finished.exit_code >= 10
    assert result.load_run(tmp_path / "rep-01") == finished.run


def test_a_store_that_cannot_be_read_back_makes_the_run_unknown(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench]
) -> None:
    finished = execute(spec(tmp_path), bench(FakeRuntime(lies=[Lies(cut_posts=True)])))
    assert (finished.exit_code, finished.run.verdict.status) == (3, "unknown")
    assert finished.run.audit is not None
    assert (finished.run.audit.verdict, finished.run.audit.reads) == ("UNKNOWN", ())


def test_a_lost_component_makes_the_run_invalid(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench]
) -> None:
    finished = execute(spec(tmp_path), bench(FakeRuntime(lost=("app: ended with 137",))))
    assert (finished.exit_code, finished.run.verdict.reasons) == (1, ("component lost: app: ended with 137",))


@pytest.mark.parametrize(
    ("at", "events"), [("start", ["start", "saved"]), ("k6", [*WHOLE[:6], "logs", "stop", "saved"])]
)
def test_ctrl_c_saves_the_run_as_aborted_and_stops_the_stack(
    at: str, events: list[str], tmp_path: Path, bench: Callable[[FakeRuntime], Bench]
) -> None:
    runtime = FakeRuntime(interrupt_at=at)
    with pytest.raises(KeyboardInterrupt):
        execute(spec(tmp_path), bench(runtime))
    assert runtime.events == events
    saved = result.load_run(tmp_path / "rep-01")
    assert (saved.outcome, saved.verdict.status) == ("aborted", "unknown")


def test_ctrl_c_in_the_load_keeps_the_ledger_and_leaves_no_generator(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench]
) -> None:
    runtime = FakeRuntime(mode="hang")
    made = bench(runtime)

    class Impatient(Progress):
        def load(self, live: object) -> None:
            if live.acknowledged == PLANNED:  # type: ignore[attr-defined]
                raise KeyboardInterrupt

    made = replace(made, progress=Impatient(console=Console(file=io.StringIO())))
    with pytest.raises(KeyboardInterrupt):
        execute(spec(tmp_path, replace(SCENARIO, warm_up=None)), made)
    assert runtime.events[-3:] == ["logs", "stop", "saved"]
    folder = tmp_path / "rep-01"
    assert len(ledger.read(folder / "ledger.csv.gz").records) == PLANNED
    assert (folder / "samples.csv.gz").is_file()
    assert not (tmp_path / "k6.pid").exists()
    assert result.load_run(folder).outcome == "aborted"
