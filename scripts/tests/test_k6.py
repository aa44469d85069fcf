"""Does a real k6 send what is planned, when it is planned, and tell us all that became of it?"""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

import recording
from http_server import Answer, Request, serving
from writepath import poll, process
from writepath.config.registry import Phase
from writepath.errors import LoadError
from writepath.load import dataset, k6, ledger, plan
from writepath.provision import golang

ROOT = Path(__file__).resolve().parents[2]
RUN = "0123456789abcde"
WAIT_S = 60
FLUSHED_S = 1.0  # what was recorded longer ago is in the file


@dataclass(kw_only=True)
class Target:
    """A server that takes posts and answers as it is told, and k6."""

    folder: Path
    prefix: list[str]  # of k6's commands
    url: str = ""
    status: int = 201
    echo: bool = True
    hangs: bool = False
    closes: bool = False
    posts: list[dict[str, str]] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def load(self, *phases: tuple[float, float, float], run: str = RUN) -> k6.Load:
        content = self.folder / "content.json"
        dataset.generate(1, 7).write(content)
        made = [
            Phase(name=f"p{number}", seconds=seconds, from_per_s=start, to_per_s=end)
            for number, (seconds, start, end) in enumerate(phases)
        ]
        return k6.Load(
            script=ROOT / "k6" / "scenarios" / "ramp.js",
            target=self.url,
            run_id=run,
            plan=plan.arrival_plan(made),
            content=content,
            folder=self.folder,
        )

    def run(self, load: k6.Load) -> k6.LoadResult:
        return k6.run(load, [self.prefix])


@pytest.fixture
def target(tmp_path: Path, prefix: list[str]) -> Iterator[Target]:
    told = Target(folder=tmp_path, prefix=prefix)

    def answer(request: Request) -> Answer | None:
        post = json.loads(request.body)
        told.posts.append(post)
        told.headers.extend(request.headers)
        if told.hangs:
            told.released.wait(WAIT_S)
        if told.closes or told.hangs:
            return None
        named = post["id"] if told.echo else "another"
        return Answer(told.status, headers={"Location": f"/api/posts/{named}"})

    with serving(answer) as told.url:
        yield told
        told.released.set()


def test_requests_start_when_they_are_planned(target: Target) -> None:
    load = target.load((1.5, 3, 60), (1, 20, 20), (1, 50, 0.5), (0.5, 2, 30))
    began_us = time.time() * 1_000_000
    result = target.run(load)
    ended_us = time.time() * 1_000_000
    assert (result.exit_code, result.complete, result.dropped) == (0, True, 0)
    assert result.started == load.plan.planned == len(target.posts)
    found = ledger.read(result.ledger)
    assert found.problems == ()
    records = found.records
    assert records["seq"].tolist() == list(range(result.started))
    assert (records["duration_us"] > 0).all()
    assert (records["start_us"] >= began_us - 1000).all()
    assert (records["start_us"] + records["blocked_us"] + records["duration_us"] <= ended_us + 1000).all()
    assert np.unique(records["start_us"] % 1000).size > 1, "finer than a millisecond"
    assert isinstance(load.plan, plan.ArrivalPlan)
    aligned = plan.align(load.plan, records["seq"], records["start_us"])
    late_ms = records["start_us"] / 1000 - (aligned.origin_ns + load.plan.starts_ns[records["seq"]]) / 1e6
    phases = load.plan.phase_indices()[records["seq"]]
    medians_ms = [float(np.median(late_ms[phases == index])) for index in range(4)]
    assert max(medians_ms) <= 5, f"a phase is planned otherwise than k6 runs it: {medians_ms}"
    assert (aligned.slots == records["seq"]).mean() > 0.9
    lines = dataset.generate(1, 7)
    sent = {plan.decode_id(post["id"]): post["content"] for post in target.posts}
    assert sent == {(RUN, number): lines.content(number) for number in range(result.started)}
    assert "idempotency-key" not in {name.lower() for name in target.headers}


def test_what_finds_no_free_virtual_user_is_dropped_and_counted(target: Target) -> None:
    target.hangs = True
    load = target.load((2, 60, 60))
    assert isinstance(load.plan, plan.ArrivalPlan)
    load = replace(load, plan=replace(load.plan, answer_s=0.0))
    with k6.Generator(load, [target.prefix]) as generator:
        threading.Timer(3.5, target.released.set).start()  # all are due by then
        result = generator.result(WAIT_S)
    assert load.plan.planned == 119
    assert (result.started, result.dropped) == (plan.SPARE_VIRTUAL_USERS, 69)
    assert result.complete


def test_two_k6_share_a_load_exactly(target: Target) -> None:
    load = target.load((1, 20, 200), (1, 100, 100))
    result = k6.run(load, [target.prefix] * 2)
    assert (result.exit_code, result.complete, result.dropped, result.processes) == (0, True, 0, 2)
    found = ledger.read(result.ledger)
    assert found.problems == ()
    numbers = list(range(load.plan.planned or 0))
    assert found.records["seq"].tolist() == numbers
    assert {plan.decode_id(post["id"]) for post in target.posts} == {(RUN, number) for number in numbers}
    assert len(target.posts) == len(numbers)
    assert result.parts == (len(numbers[::2]), len(numbers[1::2]))
    starts_us = found.records["start_us"]
    assert starts_us[::2].min() < starts_us[1::2].max()
    assert starts_us[1::2].min() < starts_us[::2].max(), "one began when the other had ended"
    assert isinstance(load.plan, plan.ArrivalPlan)
    slots = plan.align(load.plan, found.records["seq"], starts_us, processes=2).slots
    assert (slots % 2 == found.records["seq"] % 2).all()


def test_two_k6_add_what_they_drop_and_what_is_interrupted(target: Target) -> None:
    target.hangs = True
    load = target.load((2, 60, 60), (60, 1, 1))
    assert isinstance(load.plan, plan.ArrivalPlan)
    load = replace(load, plan=replace(load.plan, answer_s=0.0))
    with k6.Generator(load, [target.prefix] * 2) as generator:
        assert poll.until(lambda: len(target.posts) >= plan.SPARE_VIRTUAL_USERS, WAIT_S)
        generator.stop()
        result = generator.result(WAIT_S)
    assert (result.complete, result.started, result.parts) == (False, 50, (25, 25))
    whole = ledger.concluded(ledger.read(result.ledger), result.parts)
    assert whole.records["seq"].tolist() == list(range(50))
    assert recording.by_error(whole) == {"interrupted": 50}
    assert {path.name for path in target.folder.iterdir()} >= {"k6.log", "k6-1.log"}


def test_in_a_closed_load_each_user_waits_for_its_answer(target: Target) -> None:
    closed = replace(target.load((1, 1, 1)), plan=plan.ClosedPlan(virtual_users=3, seconds=1.0))
    result = target.run(closed)
    assert (result.exit_code, result.complete, result.dropped) == (0, True, 0)
    taken = ledger.read(result.ledger)
    records = taken.records
    assert recording.by_status(taken) == {201: result.started}
    assert records["seq"].tolist() == list(range(len(records)))
    sent_us, answered_us = records["start_us"], records["start_us"] + records["duration_us"]
    in_flight = [int(((sent_us <= at) & (answered_us > at)).sum()) for at in sent_us.tolist()]
    assert 1 <= max(in_flight) <= 3
    assert 900_000 < int(sent_us.max() - sent_us.min()) < 1_500_000


def test_a_user_whose_request_fails_waits_before_the_next_one(target: Target) -> None:
    target.status = 503
    closed = plan.ClosedPlan(virtual_users=3, seconds=1.0)
    result = target.run(replace(target.load((1, 1, 1)), plan=closed, pause_after_error_s=0.4))
    assert result.complete
    assert 3 <= (result.started or 0) <= 9  # without a wait some thousands


def test_a_stopped_load_still_tells_how_many_it_started(target: Target) -> None:
    load = target.load((60, 50, 50))
    with k6.Generator(load, [target.prefix]) as generator:
        assert poll.until(lambda: ledger.Tail(generator.ledger).poll().finished >= 20, WAIT_S)
        target.hangs = True
        wanted = len(target.posts) + 5
        assert poll.until(lambda: len(target.posts) >= wanted, WAIT_S)
        generator.stop()
        result = generator.result()
    assert (result.exit_code, result.meaning, result.complete) == (105, "stopped by a signal", False)
    assert result.started is not None
    whole = ledger.concluded(ledger.read(result.ledger), result.parts)
    assert whole.records["seq"].tolist() == list(range(result.started))
    assert recording.by_error(whole)["interrupted"] >= 4


def test_a_killed_k6_leaves_all_that_it_flushed(target: Target) -> None:
    with k6.Generator(target.load((60, 100, 100)), [target.prefix]) as generator:
        tail = ledger.Tail(generator.ledger)
        assert poll.until(lambda: tail.poll().finished >= 200, WAIT_S)
        seen = tail.poll().finished
        os.kill(generator.pids[0], signal.SIGKILL)
        result = generator.result()
    assert not generator.running()
    assert (result.exit_code, result.meaning, result.started) == (-9, "killed by SIGKILL", None)
    left = ledger.read(result.ledger)
    assert len(left.records) >= seen
    assert set(left.problems) <= {"the end is cut off"}
    answered_us = left.records["start_us"] + left.records["duration_us"]
    old = left.records["seq"][left.records["start_us"] < int(answered_us.max()) - FLUSHED_S * 1_000_000]
    assert len(old)
    assert np.isin(np.arange(old.max()), left.records["seq"]).all(), (
        "one from before the last second is missing"
    )


def test_a_ledger_that_cannot_be_written_ends_the_load(target: Target) -> None:
    """As on a disk that becomes full: after a first part, no write succeeds."""
    load = target.load((600, 200, 200))
    os.mkfifo(load.ledger)
    with ThreadPoolExecutor(1) as pool:
        ran = pool.submit(process.attempt, *k6.command(load, target.prefix), timeout_s=WAIT_S)
        with load.ledger.open("rb") as reader:
            assert reader.read(64)[:16] == ledger.MAGIC
        ended = ran.result()
    assert ended.returncode == 108, k6.meaning_of(ended.returncode)
    assert "the request could not be recorded: write" in ended.stdout + ended.stderr
    assert not load.summary().exists(), "counts would make the load look whole"
    load.ledger.unlink()
    load.ledger.symlink_to("/dev/full")
    full = process.attempt(*k6.command(load, target.prefix), timeout_s=WAIT_S)
    assert full.returncode == 107
    assert "the ledger cannot be written: write " in full.stdout + full.stderr


@pytest.mark.parametrize(
    ("told", "status", "error"),
    [
        ({"status": 503}, 503, "HTTP 503"),
        ({"status": 409}, 409, "HTTP 409"),
        ({"echo": False}, 201, "wrong ack"),
        ({"closes": True}, 0, "connection closed"),
        ({"url": "http://127.0.0.1:1"}, 0, "connection refused"),
    ],
)
def test_what_is_no_acknowledgement_is_named(
    target: Target, told: dict[str, object], status: int, error: str
) -> None:
    for name, value in told.items():
        setattr(target, name, value)
    result = target.run(target.load((0.5, 20, 20)))
    found = ledger.read(result.ledger)
    assert result.complete
    assert (recording.by_status(found), recording.by_error(found)) == ({status: 10}, {error: 10})
    assert len(target.posts) in (0, 10), "a request was sent again"


def test_variables_of_k6_in_the_environment_change_nothing(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K6_VUS", "3")
    monkeypatch.setenv("K6_ITERATIONS", "1")
    monkeypatch.setenv("BENCH_RUN", "f" * 15)
    result = target.run(target.load((0.5, 20, 20)))
    assert result.started == 10
    assert plan.decode_id(target.posts[0]["id"]) is not None
    assert {post["id"][:8] for post in target.posts} == {RUN[:8]}


def test_a_script_that_cannot_run_is_a_load_error_that_says_why(target: Target) -> None:
    with pytest.raises(LoadError, match=r"the script raised an exception(.|\n)*BENCH_RUN=XYZ: must be 15"):
        target.run(target.load((0.5, 20, 20), run="XYZ"))
    with pytest.raises(LoadError, match="k6 could not be started"):
        k6.Generator(target.load((0.5, 20, 20)), [["no-such-k6"]])


def test_an_exit_code_has_a_meaning() -> None:
    killed = dict.fromkeys((-9, 137), "killed by SIGKILL")
    meanings = {99: "ended normally; a threshold was crossed", **killed, 125: "ended with exit code 125"}
    assert {code: k6.meaning_of(code) for code in meanings} == meanings


def test_the_library_passes_its_own_checks(prefix: list[str]) -> None:
    ran = process.attempt(
        *prefix, "run", "--address", "", "--no-usage-report", "--quiet", ROOT / "k6" / "tests" / "lib.js"
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_module_passes_its_own_tests() -> None:
    """With the flags of the build, so that what that compiled is used again."""
    go = golang.find()
    assert go is not None
    ran = process.attempt(
        *(go, "test", "-mod=readonly", "-trimpath", "./..."),
        cwd=ROOT / "k6" / "recorder",
        env={**os.environ, "CGO_ENABLED": "0"},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
