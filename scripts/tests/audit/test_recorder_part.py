"""Does bench-harness miss a goal of the recorder aloud, and does it measure a load for real?"""

from dataclasses import replace

import pytest

from writepath.selfcheck import recorder_part
from writepath.selfcheck.recorder_part import Round, findings

WITHIN = Round(dropped=0, p99_ms=5.0, cpu_us=100.0)


@pytest.mark.parametrize("beyond", [replace(WITHIN, dropped=1), replace(WITHIN, p99_ms=5.01)])
def test_the_median_round_decides_over_each_goal(beyond: Round) -> None:
    assert all(met for _, met in findings([beyond, WITHIN, WITHIN]))
    missed = [line for line, met in findings([beyond, WITHIN, beyond]) if not met]
    assert [line.endswith("MISSED") for line in missed] == [True]


@pytest.mark.native
def test_a_load_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """No goal is judged here: a second on a busy machine says nothing, and may cost less than k6's start."""
    seen: list[Round] = []

    def judge(found: list[Round]) -> tuple[()]:
        seen.extend(found)
        return ()

    monkeypatch.setattr(recorder_part, "findings", judge)
    said: list[str] = []
    assert recorder_part.run(said.append, rounds=2, rate_per_s=200, seconds=1)
    assert [one.p99_ms > 0 for one in seen] == [True, True]
    assert [line.split(":")[0].strip() for line in said[-2:]] == ["round 1 of 2", "round 2 of 2"]
