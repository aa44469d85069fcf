"""Does the recorder that we build k6 with record every request of a real load, also of one that is killed?"""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from writepath import process, provision
from writepath.config.registry import Phase
from writepath.load import dataset, k6, ledger, plan, recorded
from writepath.provision import golang
from writepath.provision import k6 as program
from writepath.selfcheck.null_server import null_server

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
MODULE = ROOT / "k6" / "recorder"
WAIT_S = 60.0
FLUSHED_S = 1.0  # what was recorded longer ago is in the file


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    provision.setup(ROOT, print, only={"packages"})
    with null_server(tmp_path_factory.mktemp("nginx")) as found:
        yield found


@pytest.fixture(scope="module")
def prefix() -> list[str]:
    return [str(program.ensure(ROOT, print))]


def load_of(url: str, folder: Path, seconds: float, rate_per_s: float) -> k6.Load:
    content = folder / "content.json"
    dataset.generate(10, 7).write(content)
    return k6.Load(
        script=ROOT / "k6" / "scenarios" / "ramp.js",
        target=url,
        run_id=plan.new_run_id(),
        plan=plan.arrival_plan(
            [Phase(name="flat", seconds=seconds, from_per_s=rate_per_s, to_per_s=rate_per_s)]
        ),
        content=content,
        folder=folder,
    )


def test_the_module_passes_its_own_tests() -> None:
    """With the flags of the build, so that what that compiled is used again."""
    go = golang.find()
    assert go is not None
    ran = process.attempt(
        *(go, "test", "-mod=readonly", "-trimpath", "./..."),
        cwd=MODULE,
        env={**os.environ, "CGO_ENABLED": "0"},
    )
    assert ran.code == 0, ran.stdout + ran.stderr


@pytest.mark.native
def test_every_request_of_a_load_is_recorded_once(url: str, tmp_path: Path, prefix: list[str]) -> None:
    began_us = time.time() * 1_000_000
    result = k6.run(load_of(url, tmp_path, 4, 250), prefix)
    ended_us = time.time() * 1_000_000
    assert result.complete
    found = ledger.read(result.ledger)
    assert found.records["seq"].tolist() == list(range(result.started or 0))
    assert (found.malformed, found.repeated, found.truncated) == (0, 0, False)
    assert found.by_status() == {"201": result.started}
    assert found.by_error() == {"wrong ack": result.started}, "this server names no id in a Location"
    records = found.records
    assert (records["duration_us"] > 0).all()
    assert (records["start_us"] >= began_us - 1000).all()
    assert (records["start_us"] + records["blocked_us"] + records["duration_us"] <= ended_us + 1000).all()
    assert np.unique(records["start_us"] % 1000).size > 1, "finer than a millisecond"


@pytest.mark.native
def test_a_killed_k6_leaves_all_that_it_flushed(url: str, tmp_path: Path, prefix: list[str]) -> None:
    with k6.start(load_of(url, tmp_path, 60, 200), prefix) as generator:
        tail, pause = ledger.Tail(generator.ledger), threading.Event()
        deadline = time.monotonic() + WAIT_S
        while tail.poll().finished < 400:
            assert time.monotonic() < deadline, "k6 records nothing"
            pause.wait(0.02)
        seen = tail.poll().finished
        os.kill(generator.pid, signal.SIGKILL)
        result = generator.result()
    assert result.meaning == "killed by SIGKILL"
    found = ledger.read(result.ledger)
    assert (found.malformed, found.repeated) == (0, 0)
    assert len(found.records) >= seen
    records = found.records
    late_us = int((records["start_us"] + records["duration_us"]).max()) - FLUSHED_S * 1_000_000
    old = records["seq"][records["start_us"] < late_us]
    assert len(old)
    assert np.isin(np.arange(old.max()), records["seq"]).all(), "one from before the last second is missing"


@pytest.mark.native
def test_a_ledger_that_cannot_be_written_ends_the_load(url: str, tmp_path: Path, prefix: list[str]) -> None:
    """As on a disk that becomes full: after a first part, no write succeeds."""
    load = load_of(url, tmp_path, 600, 200)
    pipe, summary = tmp_path / "pipe", tmp_path / "summary.json"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        ran = pool.submit(process.attempt, *k6.command(load, prefix, pipe, summary), timeout_s=WAIT_S)
        with pipe.open("rb") as reader:
            assert reader.read(64)[:16] == recorded.MAGIC
        ended = ran.result()
    assert ended.code == 108, k6.meaning_of(ended.code)
    assert "the request could not be recorded: write" in ended.stdout + ended.stderr
    assert not summary.exists(), "counts would make the load look whole"


@pytest.mark.native
def test_a_ledger_that_cannot_be_made_ends_k6_before_the_load(
    url: str, tmp_path: Path, prefix: list[str]
) -> None:
    ran = process.attempt(
        *k6.command(load_of(url, tmp_path, 600, 200), prefix, Path("/dev/full"), tmp_path / "summary.json"),
        timeout_s=WAIT_S,
    )
    assert ran.code == 107
    assert "the ledger cannot be written: write /dev/full" in ran.stdout + ran.stderr
