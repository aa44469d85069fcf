"""Does bench-harness miss a goal of the recorder aloud, and does it measure both sides for real?"""

from dataclasses import replace

import pytest

from writepath.selfcheck import recorder_part
from writepath.selfcheck.recorder_part import Pair, Shape, Side, findings

PLAIN = Side(p99_ms=2.0, cpu_us=100.0, dropped=0, top_per_s=8000.0)


def pairs(*recorded: Side) -> list[Pair]:
    return [(PLAIN, side) for side in recorded]


@pytest.mark.parametrize(
    ("name", "within", "beyond"),
    [
        ("p99", replace(PLAIN, p99_ms=2.5), replace(PLAIN, p99_ms=2.52)),
        ("CPU", replace(PLAIN, cpu_us=110.0), replace(PLAIN, cpu_us=110.9)),
        ("maximum rate", replace(PLAIN, top_per_s=7200.0), replace(PLAIN, top_per_s=7190.0)),
    ],
)
def test_the_median_pair_decides_over_each_goal(name: str, within: Side, beyond: Side) -> None:
    assert all(met for _, met in findings(pairs(beyond, within, within, beyond, within)))
    missed = [line for line, met in findings(pairs(beyond, within, beyond, beyond, within)) if not met]
    assert [(line.partition(":")[0], line.endswith("MISSED")) for line in missed] == [(name, True)]


def test_a_ratio_is_said_with_its_range() -> None:
    (p99, _), _, _ = findings(pairs(PLAIN, replace(PLAIN, p99_ms=1.0), replace(PLAIN, p99_ms=2.2)))
    assert p99 == "p99: 1.00 (0.50 to 1.10) times plain k6 (goal at most 1.25)"


@pytest.mark.native
def test_both_sides_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """No goal is judged here: a second on a busy machine says nothing."""
    seen: list[Pair] = []

    def judge(found: list[Pair]) -> tuple[()]:
        seen.extend(found)
        return ()

    monkeypatch.setattr(recorder_part, "findings", judge)
    said: list[str] = []
    shape = Shape(pairs=2, rate_per_s=200, seconds=1, top_users=4, top_seconds=1)
    assert recorder_part.run(said.append, shape)
    for side in [side for pair in seen for side in pair]:
        assert min(side.p99_ms, side.cpu_us, side.top_per_s) > 0
    assert [line.split(",")[0].strip() for line in said[-2:]] == ["pair 1 of 2", "pair 2 of 2"]
