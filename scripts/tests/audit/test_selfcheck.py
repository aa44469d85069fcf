"""Tests of the self-check: it says which goals are missed, and sees what is not right."""

import csv
import io
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import planted_runs
from planted_runs import PlantedCell
from writepath import selfcheck
from writepath.errors import UsageError
from writepath.experiments import reporting
from writepath.selfcheck import comparison_part, planted, scale
from writepath.selfcheck.scale import Found

REQUESTS = 20_000
SUITES = 40


def found(
    seconds: float = 1.0, peak_mib: float = 10.0, exit_code: int = 0, lines: tuple[str, ...] = ()
) -> Found:
    return Found(wall_s=seconds, seconds=seconds, peak_mib=peak_mib, exit_code=exit_code, lines=lines)


@pytest.mark.parametrize("what", ["audit", "report"])
def test_each_figure_is_printed_with_its_goal(what: str) -> None:
    said: list[str] = []
    assert scale.met(said.append, what, {REQUESTS: 120.0})
    assert len(said) == 3
    assert not any("MISSED" in line for line in said)
    assert said[2].endswith("exactly what was planted")


def test_what_is_slow_large_or_not_linear_misses_its_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = iter([found(1.0, 1023.0), found(2.0, 1024.0), found(60.0)])
    monkeypatch.setattr(scale, "measured", lambda *_: next(taken))
    monkeypatch.setitem(scale.CHECKS, "report", ((), lambda *_: ()))
    said: list[str] = []
    assert not scale.met(said.append, "report", dict.fromkeys((1000, 2000, 20_000), 50.0))
    assert [at for at, line in enumerate(said) if "MISSED" in line] == [4, 6, 9]
    assert "3.00 (goal 1.5)" in said[-1]


def audited(folder: Path) -> Found:
    lines: list[str] = []
    code = reporting.audit(folder, folder, lines.append)
    return found(exit_code=code, lines=tuple(lines))


def test_an_audit_that_is_not_as_planted_is_a_difference(tmp_path: Path) -> None:
    truth = planted.plant(REQUESTS)
    differences = partial(scale.audit_differences, truth, planted.write_suite(truth, tmp_path), tmp_path)
    assert list(differences(audited(tmp_path))) == []
    assert len(list(differences(found(exit_code=3)))) > 1
    for name in planted.CLASSES:
        lying = replace(truth, members={**truth.members, name: truth.of(name)[1:]})
        planted.write(lying, tmp_path / planted.PLACE)
        assert list(differences(audited(tmp_path))), name


def test_a_figure_that_is_not_as_planted_is_a_difference(tmp_path: Path) -> None:
    load = planted.plant(REQUESTS, ["clean_fail"])
    differences = partial(scale.report_differences, load, planted.write_suite(load, tmp_path), tmp_path)
    assert reporting.report(tmp_path, tmp_path) == 0
    assert list(differences(found())) == []
    latency = ("p99_ms", "planned_p95_ms", "unserved", "max_served_ms")
    others = (("answers", "status_503"), ("clocks", "to_durable_median_ms"))
    for table, key in (*(("latency", key) for key in latency), *others):
        path = tmp_path / f"report/{table}.csv"
        text = path.read_text(encoding="utf-8")
        header, first = list(csv.reader(io.StringIO(text)))[:2]
        at = header.index(key)
        first[at] = str(float(first[at]) + 1)
        path.write_text(f"{','.join(header)}\n{','.join(first)}\n", encoding="utf-8")
        assert [one.partition(":")[0] for one in differences(found())] == [f"{table}.{key}"]
        path.write_text(text, encoding="utf-8")


def quiet(scaled: float = 0.1) -> comparison_part.Noise:
    noise = comparison_part.recorded()
    return replace(noise, shocks=noise.shocks * scaled, spread=noise.spread * scaled)


def test_a_comparison_meets_its_goals_on_little_noise_alone() -> None:
    said: list[str] = []
    assert comparison_part.run(said.append, quiet(), SUITES)
    assert not any("MISSED" in line for line in said)
    slower = "median: variant slower by 10% called slower in 10 of the first 10 suites of 10 blocks"
    assert f"{slower} (goal 9 of 10)" in said[-3]
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
    noise = comparison_part.fitted([np.exp(truth)], ("a", "b"), "planted", course=False)
    assert noise.memory == pytest.approx([0.6, 0.0], abs=0.05)
    assert noise.spread == pytest.approx([0.1, 0.2], rel=0.05)
    base, _, other = zip(*(comparison_part.suite(noise, 10, 1.1, rng) for _ in range(300)), strict=True)
    runs = np.log(np.concatenate(base))
    assert runs.std(axis=0) == pytest.approx([0.1, 0.2], rel=0.1)
    ratio = np.log(np.concatenate(other)).mean(axis=0) - runs.mean(axis=0)
    assert ratio == pytest.approx([np.log(1.1)] * 2, abs=0.02)
    falling = np.exp(-0.1 * np.arange(10))[:, None] * 2.0 * np.exp([[0.01], [-0.01]] * 5)
    assert comparison_part.fitted([falling], ("a",), "planted", course=True).spread[0] < 0.02


def test_noise_is_recorded_anew_from_a_suite_run(tmp_path: Path) -> None:
    cells = [PlantedCell(block=block, control=control) for block in range(1, 7) for control in (False, True)]
    folder = planted_runs.write(tmp_path, *cells, baseline="jpa")
    known = comparison_part.noise_of([folder])
    assert known["metrics"] == ["median", "p95", "p99"]
    assert len(known["series"][0]["values"]) == 12
    with pytest.raises(UsageError, match="10 usable baseline runs, 12 are needed"):
        comparison_part.noise_of([planted_runs.write(tmp_path / "five", *cells[:10], baseline="jpa")])


def test_an_unknown_part_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="ONLY=adit"):
        selfcheck.run(["adit"], print)
