"""Tests of bench-harness: it says which goals are missed, and sees an audit or a report that is not exact."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from writepath import selfcheck
from writepath.errors import UsageError
from writepath.experiments import reporting
from writepath.selfcheck import audit_part, goals, planted, planted_suite, report_part
from writepath.selfcheck.goals import Found, Size, Subject

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Part = Callable[[Callable[[str], None], tuple[Size, ...]], bool]

REQUESTS = 20_000
PARTS: list[tuple[Part, str]] = [
    (audit_part.run, "exactly what was planted"),
    (report_part.run, "every figure as planted"),
]


def found(
    seconds: float = 1.0, peak_mib: float = 10.0, exit_code: int = 0, lines: tuple[str, ...] = ()
) -> Found:
    return Found(wall_s=seconds, seconds=seconds, peak_mib=peak_mib, exit_code=exit_code, lines=lines)


@pytest.mark.parametrize(("run", "exact"), PARTS)
@pytest.mark.parametrize(("goal_s", "met"), [(120.0, True), (0.0, False)])
def test_each_figure_is_printed_with_its_goal(run: Part, exact: str, goal_s: float, met: bool) -> None:
    said: list[str] = []
    assert run(said.append, (Size(requests=REQUESTS, goal_s=goal_s),)) is met
    assert len(said) == 3
    assert ("MISSED" in said[0]) is not met
    assert said[2].endswith(exact)


def test_what_is_too_large_or_not_linear_misses_its_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = iter([found(1.0, 1023.0), found(2.0, 1024.0), found(40.0)])
    monkeypatch.setattr(goals, "measured", lambda *_: next(taken))
    said: list[str] = []
    sizes = tuple(Size(requests=number, goal_s=50.0) for number in (1000, 2000, 20_000))
    subject = Subject(what="report", exact="as planted", plant=lambda *_: lambda _found: ())
    assert goals.met(said.append, subject, sizes) is False
    assert ["MISSED" in line for line in said] == [False] * 4 + [True] + [False] * 4 + [True]
    assert "2.00 (goal 1.5)" in said[-1]


def audited(folder: Path) -> Found:
    lines: list[str] = []
    code = reporting.audit(folder, folder, lines.append)
    return found(exit_code=code, lines=tuple(lines))


def test_an_audit_that_is_not_as_planted_is_a_difference(tmp_path: Path) -> None:
    differences = audit_part.plant(REQUESTS, tmp_path)
    assert list(differences(audited(tmp_path))) == []
    assert len(list(differences(found(exit_code=3)))) > 1
    truth = planted.plant(REQUESTS)
    for name in planted.CLASSES:
        members = {other: truth.of(other) for other in planted.CLASSES} | {name: truth.of(name)[1:]}
        lying = planted.Planted(requests=REQUESTS, members=members)
        planted.write(lying, tmp_path / planted_suite.PLACE)
        assert list(differences(audited(tmp_path))), name


@pytest.mark.parametrize(
    ("table", "key"),
    [("latency", "p99_ms"), ("latency", "planned_p95_ms"), ("latency", "unserved"), ("answers", "status_503"),
     ("clocks", "to_durable_median_ms"), ("latency", "max_served_ms")],
)  # fmt: skip
def test_a_figure_that_is_not_as_planted_is_a_difference(table: str, key: str, tmp_path: Path) -> None:
    differences = report_part.plant(REQUESTS, tmp_path)
    assert reporting.report(tmp_path, tmp_path) == 0
    assert list(differences(found())) == []
    path = tmp_path / report_part.TABLES_FILE
    built = json.loads(path.read_text(encoding="utf-8"))
    (rows,) = (one["rows"] for one in built if one["key"] == table)
    rows[0][key]["median"] += 1
    path.write_text(json.dumps(built), encoding="utf-8")
    assert len(list(differences(found()))) == 1


def test_an_unknown_part_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="ONLY=adit"):
        selfcheck.run(["adit"], print)
