"""Tests of the self-check of comparisons: it sees one that finds too much or too little, on recorded noise."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from planted_records import CELL, INDEX, LOAD
from writepath import selfcheck
from writepath.errors import UsageError
from writepath.records import Latency
from writepath.records.base import to_data
from writepath.records.cell import save_cell
from writepath.records.index import save_index
from writepath.selfcheck import comparison_part, record_noise, simulated

if TYPE_CHECKING:
    from pathlib import Path

SUITES = 40


def quiet(scale: float = 0.1) -> simulated.Noise:
    noise = simulated.recorded()
    return replace(noise, shocks=noise.shocks * scale, spread=noise.spread * scale)


def test_on_little_noise_all_goals_are_met_and_said() -> None:
    said: list[str] = []
    assert comparison_part.run(said.append, quiet(), SUITES)
    assert not any("MISSED" in line for line in said)
    assert (
        "median: variant slower by 10% called slower in 10 of the first 10 suites of 10 blocks (goal 9 of 10)"
        in said[-3]
    )


def test_noise_that_hides_a_tenth_is_a_goal_missed() -> None:
    said: list[str] = []
    assert not comparison_part.run(said.append, quiet(5.0), SUITES)
    assert any("called slower" in line and "MISSED" in line for line in said)


def test_a_word_that_comes_too_easily_is_a_goal_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison_part, "words", lambda *_: [("slower",) * 3] * SUITES)
    said: list[str] = []
    assert not comparison_part.run(said.append, quiet(), SUITES)
    assert any("called different in 40 of the first 40 pairs" in line and "MISSED" in line for line in said)


def test_the_simulation_has_the_spread_and_the_memory_that_were_recorded() -> None:
    rng = np.random.default_rng(5)
    truth = np.zeros((4000, 2))
    for at in range(1, len(truth)):
        truth[at] = truth[at - 1] * (0.6, 0.0) + rng.normal(0, (0.08, 0.2))
    noise = simulated.fitted([np.exp(truth)], ("a", "b"), "planted", course=False)
    assert noise.memory == pytest.approx([0.6, 0.0], abs=0.05)
    assert noise.spread == pytest.approx([0.1, 0.2], rel=0.05)
    cells = [simulated.suite(noise, 10, 1.1, rng) for _ in range(300)]
    runs = np.log(np.concatenate([one.base for one in cells]))
    assert runs.std(axis=0) == pytest.approx([0.1, 0.2], rel=0.1)
    ratio = np.log(np.concatenate([one.other for one in cells])).mean(axis=0) - runs.mean(axis=0)
    assert ratio == pytest.approx([np.log(1.1)] * 2, abs=0.02)


def test_the_course_of_a_run_is_no_noise() -> None:
    falling = np.exp(-0.1 * np.arange(10))[:, None] * np.array([[2.0]])
    noise = simulated.fitted([falling * np.exp([[0.01], [-0.01]] * 5)], ("a",), "planted", course=True)
    assert noise.spread[0] < 0.02


def save_suite(folder: Path, blocks: int) -> Path:
    """Two baseline cells a block, each block 1 ms slower than the one before."""
    entries = []
    for block in range(1, blocks + 1):
        latency = Latency(min=1, mean=2, median=2.0 + block, p95=5.0 + block, p99=9.0 + block, max=20)
        measured = to_data(replace(LOAD, accept_latency_ms=latency))
        for name in ("jpa", "jpa@again"):
            place = f"{name}/block-{block:02}"
            entries.append(replace(INDEX.cells[0], name=name, block=block, folder=place))
            save_cell(replace(CELL, name=name, block=block, result=measured), folder / place)
    save_index(replace(INDEX, baseline="jpa", repetitions=blocks, cells=tuple(entries)), folder)
    return folder


def test_noise_is_recorded_anew_from_a_suite_run(tmp_path: Path) -> None:
    target = tmp_path / "noise.json"
    record_noise.main([save_suite(tmp_path / "six", 6)], target)
    assert json.loads(target.read_text(encoding="utf-8"))["series"][0]["values"][0] == [3.0, 6.0, 10.0]
    noise = simulated.recorded(target)
    assert (noise.metrics, len(noise.shocks)) == (("median", "p95", "p99"), 11)
    with pytest.raises(UsageError, match="usable baseline runs, 12 are needed"):
        record_noise.noise([save_suite(tmp_path / "five", 5)])


def test_it_is_a_part_of_bench_harness() -> None:
    assert selfcheck.PARTS["comparison"].run is comparison_part.run
