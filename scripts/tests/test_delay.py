"""DATABASE_DELAY_MS on a real stack."""

import time
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from writepath.config import registry
from writepath.runtime import delay
from writepath.runtime.base import Runtime
from writepath.runtime.docker import DockerRuntime
from writepath.runtime.native import NativeRuntime

ROOT = Path(__file__).resolve().parents[2]
DELAY_MS = 150
ROUND_TRIPS = 2  # of a write: the insert with its BEGIN, and the commit


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(NativeRuntime, marks=pytest.mark.native),
        pytest.param(DockerRuntime, marks=[pytest.mark.docker, pytest.mark.timeout(1200)]),
    ],
)
def test_every_round_trip_to_the_database_takes_so_much_longer(
    kind: type[NativeRuntime | DockerRuntime],
) -> None:
    runtime: Runtime = kind(ROOT)
    variant = registry.load(ROOT).variant("jpa")
    runtime.prepare([variant], print)
    with ExitStack() as held:
        overrides = {delay.DATABASE_DELAY_MS: str(DELAY_MS)}
        stack = held.enter_context(delay.started(runtime, ROOT, variant, overrides=overrides, say=print))
        began = time.monotonic()
        answer = httpx.post(f"{stack.base_url}/api/posts", json={"content": "x"}, timeout=15)
        took_ms = 1000 * (time.monotonic() - began)
        settings = stack.effective_settings()
    assert (answer.status_code, took_ms >= ROUND_TRIPS * DELAY_MS) == (201, True)
    assert settings[delay.TOXIPROXY][delay.DATABASE_DELAY_MS] == str(DELAY_MS)
