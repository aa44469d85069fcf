"""Are the counters read around the load, and does what they say decide? Can a raw run be derived again?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lifecycle import fakes
from lifecycle.fakes import FakeRuntime, spec
from writepath import result, verify
from writepath.run import withheld
from writepath.run.runner import Bench, execute

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from writepath.run.withheld import Counters


def test_counters_around_the_load_decide_whether_it_was_noise(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime, real = FakeRuntime(), withheld.read

    def read() -> Counters:
        runtime.events.append("counters")
        swapped = fakes.TOO_MUCH * runtime.events.count("counters")
        return replace(real(), throttled_s=1.0, swapped_pages=swapped)

    monkeypatch.setattr(withheld, "read", read)
    finished = execute(spec(tmp_path), bench(runtime))
    run, at = finished.run, runtime.events.index("counters")
    assert runtime.events[at - 2 : at + 3] == ["reset", "k6", "counters", "write", "counters"]
    assert run.host is not None
    assert (run.host.throttled_share, run.host.swapped_pages) == (0.0, fakes.TOO_MUCH)
    assert (run.verdict.status, run.verdict.noise, finished.exit_code) == ("unknown", True, 3)
    assert "pages swapped during the load" in run.verdict.reasons[0]


def test_a_raw_run_verifies_and_one_changed_digit_is_named(
    tmp_path: Path, bench: Callable[[FakeRuntime], Bench]
) -> None:
    folder = execute(spec(tmp_path), bench(FakeRuntime())).folder
    assert verify.raw(tmp_path, folder) == []
    run = result.load_run(folder)
    assert run.planned_latency_ms is not None
    assert run.planned_latency_ms.max is not None
    latency = replace(run.planned_latency_ms, max=round(run.planned_latency_ms.max + 0.01, 3))
    result.save_run(replace(run, planned_latency_ms=latency), folder)
    (found,) = verify.raw(tmp_path, folder)
    assert found.startswith(
        f"{folder.relative_to(tmp_path)}/run.json: planned_latency_ms.max: {latency.max}, recomputed"
    )
