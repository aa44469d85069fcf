"""Does a real k6 send reads and sessions as they are told, and record each request and each session?"""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import recording
from experiments.planted_cell import bench
from http_server import Answer, Request, serving
from lifecycle.fakes import FakeRuntime
from writepath import poll
from writepath.config.registry import Scenario
from writepath.load import k6, ledger, parquet
from writepath.load.plan import constant_plan, new_run_id
from writepath.measure import loading
from writepath.runtime.base import Stack

ROOT = Path(__file__).resolve().parents[2]
WAIT_S = 60
LIST, BROKEN, SLOW = (f"/api/users?name={name}&page=0&size=20" for name in ("user-1", "broken", "slow"))
TIMEOUT_S = 1.0


def visit(*lists: str, name: str = "user-1") -> dict[str, object]:
    return {"body": {"name": name, "password": f"password-of-{name}"}, "lists": lists}


@dataclass(kw_only=True)
class Server:
    """Knows one user; a list that is slow is answered when it is released."""

    url: str = ""
    asked: list[Request] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def answer(self, request: Request) -> Answer:
        self.asked.append(request)
        if request.method == "POST":
            known = json.loads(request.body) == {"name": "user-1", "password": "password-of-user-1"}
            return Answer(201, {"token": "t-1"}) if known else Answer(401)
        if request.path == SLOW:
            self.released.wait(WAIT_S)
        if request.path.startswith("/api/users") and request.headers.get("Authorization") != "Bearer t-1":
            return Answer(401)
        return Answer(500 if request.path == BROKEN else 200, {})


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    with serving(made.answer) as made.url:
        yield made
        made.released.set()


def load_of(server: Server, folder: Path, script: str, sent: list[Any], timeout_s: float | None) -> k6.Load:
    """Of each entry one, at 20/s."""
    scenario = Scenario(name="reads", script=f"k6/scenarios/{script}.js", timeout_seconds=timeout_s)
    made = bench(folder, FakeRuntime())
    made.content.write_text(json.dumps(sent), encoding="utf-8")
    stack = cast("Stack", SimpleNamespace(load_url=server.url))
    plan = constant_plan("reads", len(sent), 20)
    return loading.load_of(scenario, replace(made, root=ROOT), stack, plan, new_run_id(), folder)


def test_reads_ask_for_the_paths_in_their_order_and_only_a_200_is_served(
    server: Server, tmp_path: Path, prefix: list[str]
) -> None:
    paths = ["/api/points/1", "/api/points/2?x=%EC%98%81", BROKEN, "/api/feed"]
    result = k6.run(load_of(server, tmp_path, "reads", paths, None), [prefix])
    assert (result.complete, result.started) == (True, 4)
    found = ledger.read(result.ledger)
    assert sorted(request.path for request in server.asked) == sorted(paths)
    assert {request.method for request in server.asked} == {"GET"}
    assert found.records["seq"].tolist() == [0, 1, 2, 3]
    assert {ledger.OPERATIONS[index] for index in found.records["operation"]} == {ledger.READ}
    assert found.records["status"].tolist() == [200, 200, 401, 200]
    assert found.acknowledged().tolist() == [True, True, False, True]


VISITS = [
    visit(*[LIST] * 5),
    visit(*[LIST] * 5, name="nobody"),
    visit(LIST, BROKEN, LIST, LIST, LIST),
    visit(LIST, SLOW, LIST, LIST, LIST),
]


@pytest.mark.parametrize("processes", [1, 2])
def test_a_session_logs_in_and_gets_its_lists_until_it_has_no_token_or_no_answer(
    server: Server, tmp_path: Path, prefix: list[str], processes: int
) -> None:
    load = replace(load_of(server, tmp_path, "sessions", VISITS, TIMEOUT_S), requests=True)
    result = k6.run(load, [prefix] * processes)
    assert (result.complete, result.started) == (True, 4)
    taken = loading.keep_ledger(result, ledger.SESSION)
    assert taken.problems == ()
    assert not [file.name for file in tmp_path.iterdir() if file.suffix == ".rec"]
    own, requests = (
        parquet.load_table(tmp_path / name).to_pylist() for name in (ledger.FILE, ledger.REQUESTS_FILE)
    )
    assert [(row["sequence"], row["operation"], row["status"], row["error_code"]) for row in own] == [
        (0, "session", 200, 0),
        (1, "session", 401, ledger.LOGIN_FAILED),
        (2, "session", 500, 1500),
        (3, "session", 0, 1050),
    ]
    assert taken.acknowledged().tolist() == [True, False, False, False]
    assert [(row["sequence"], row["operation"], row["status"], row["error_code"]) for row in requests] == [
        (0, "login", 201, 0),
        *((place, "read", 200, 0) for place in range(1, 6)),
        (6, "login", 401, 1401),
        (12, "login", 201, 0),
        *(
            (12 + place, "read", 500 if place == 2 else 200, 1500 if place == 2 else 0)
            for place in range(1, 6)
        ),
        (18, "login", 201, 0),
        (19, "read", 200, 0),
        (20, "read", 0, 1050),
    ]
    for row in own:
        parts = [one for one in requests if one["sequence"] // 6 == row["sequence"]]
        ended_us = parts[-1]["start_us"] + parts[-1]["blocked_us"] + parts[-1]["duration_us"]
        assert row["blocked_us"] == 0
        assert row["start_us"] <= parts[0]["start_us"]
        assert row["start_us"] + row["duration_us"] + 2 >= ended_us, "all of its requests are within it"
    assert TIMEOUT_S <= own[3]["duration_us"] / 1_000_000 < 5 * TIMEOUT_S


def test_a_stopped_load_of_sessions_leaves_the_requests_that_were_answered(
    server: Server, tmp_path: Path, prefix: list[str]
) -> None:
    load = replace(load_of(server, tmp_path, "sessions", [visit(LIST, SLOW)], None), requests=True)
    with k6.Generator(load, [prefix]) as generator:
        assert poll.until(lambda: len(server.asked) >= 3, WAIT_S)
        generator.stop()
        assert generator.result().started == 1
    loading.rescue_ledger(load)
    assert parquet.load_table(tmp_path / ledger.FILE).num_rows == 0
    assert parquet.load_table(tmp_path / ledger.REQUESTS_FILE).column("sequence").to_pylist() == [0, 1]


def test_damage_of_the_ledger_of_requests_is_a_problem_of_the_load(tmp_path: Path) -> None:
    requests = recording.write(tmp_path / ledger.REQUESTS_RECORDING_FILE, [(0, 3, 1, 0, 1, 201, 0)])
    requests.write_bytes(requests.read_bytes() + b"torn")
    result = k6.LoadResult(
        exit_code=0,
        meaning="",
        complete=True,
        ledger=recording.write(tmp_path / ledger.RECORDING_FILE, [(0, 4, 1, 0, 1, 200, 0)]),
        requests_ledger=requests,
        started=1,
        parts=(1,),
    )
    taken = loading.keep_ledger(result, ledger.SESSION)
    assert taken.problems == ("requests of sessions: the end is cut off",)
    assert recording.by_status(taken) == {200: 1}
