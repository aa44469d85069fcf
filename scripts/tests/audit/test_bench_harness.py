"""Does bench-harness miss a goal aloud, and does it see an audit that is not exact?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from writepath import harness
from writepath.errors import UsageError
from writepath.harness import audit_part, planted, planted_suite, report_part
from writepath.harness.audit_part import Size
from writepath.harness.measured import MEMBERS_FILE
from writepath.harness.summarized import TABLES_FILE
from writepath.report import exports
from writepath.report.figures import suite_figures
from writepath.report.raw import read_suite
from writepath.report.tables import tables

if TYPE_CHECKING:
    from pathlib import Path

IDS = 20_000


@pytest.mark.parametrize(("goal_s", "met"), [(120.0, True), (0.0, False)])
def test_each_figure_is_printed_with_its_goal(goal_s: float, met: bool) -> None:
    said: list[str] = []
    assert audit_part.run(said.append, (Size(ids=IDS, goal_s=goal_s),)) is met
    assert len(said) == 3
    assert ("MISSED" in said[0]) is not met
    assert said[2].endswith("exactly what was planted")


@pytest.mark.parametrize("name", planted.CLASSES)
def test_a_sequence_missed_or_added_is_a_difference(name: str, tmp_path: Path) -> None:
    truth = planted.plant(IDS)
    found: dict[str, Any] = {
        "foreign": list(planted.FOREIGN),
        "unread": [],
        "identities_broken": [],
        "verdict": "UNKNOWN",
    }
    for change, words in ((truth.of(name), 0), (truth.of(name)[1:], 1), (truth.of(name) + 1, 1)):
        members = {other: truth.of(other) for other in planted.CLASSES} | {name: change}
        np.savez(tmp_path / MEMBERS_FILE, allow_pickle=False, **members)
        assert len(list(audit_part.differences(truth, found, tmp_path))) == words


REQUESTS = 20_000


@pytest.mark.parametrize(("goal_s", "met"), [(120.0, True), (0.0, False)])
def test_each_figure_of_the_report_is_printed_with_its_goal(goal_s: float, met: bool) -> None:
    said: list[str] = []
    assert report_part.run(said.append, (Size(ids=REQUESTS, goal_s=goal_s),)) is met
    assert len(said) == 3
    assert ("MISSED" in said[0]) is not met
    assert said[2].endswith("every figure as planted")


def test_a_report_that_is_too_large_or_not_linear_misses_its_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    found = iter([(1.0, 1023.0), (2.0, 1024.0), (40.0, 10.0)])

    def measured(folder: Path) -> tuple[float, dict[str, Any]]:
        (folder / "report").mkdir()
        (folder / TABLES_FILE).write_text("[]", encoding="utf-8")
        seconds, peak_mib = next(found)
        return seconds, {"seconds": seconds, "peak_mib": peak_mib, "exit_code": 0}

    monkeypatch.setattr(report_part, "_measured", measured)
    monkeypatch.setattr(report_part, "differences", lambda *_: ())
    said: list[str] = []
    sizes = tuple(Size(ids=ids, goal_s=50.0) for ids in (1000, 2000, 20_000))
    assert report_part.run(said.append, sizes) is False
    assert ["MISSED" in line for line in said] == [False] * 4 + [True] + [False] * 4 + [True]
    assert "2.00 (goal 1.5)" in said[-1]


@pytest.mark.parametrize(
    ("table", "key"),
    [("latency", "p99_ms"), ("latency", "planned_p95_ms"), ("latency", "unserved"), ("answers", "status_503"),
     ("clocks", "to_durable_median_ms"), ("latency", "max_served_ms")],
)  # fmt: skip
def test_a_figure_that_is_not_as_planted_is_a_difference(table: str, key: str, tmp_path: Path) -> None:
    truth = planted_suite.plant(REQUESTS)
    planted_suite.write(truth, tmp_path)
    figures = suite_figures(read_suite(tmp_path))
    built = json.loads(exports.json(tables(figures)))
    assert list(report_part.differences(truth, built)) == []
    (rows,) = (one["rows"] for one in built if one["key"] == table)
    rows[0][key]["median"] += 1
    assert len(list(report_part.differences(truth, built))) == 1


def test_an_unknown_part_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="ONLY=adit"):
        harness.run(["adit"], print)
