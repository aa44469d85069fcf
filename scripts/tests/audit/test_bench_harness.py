"""Does bench-harness miss a goal aloud, and does it see an audit that is not exact?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from writepath import harness
from writepath.errors import UsageError
from writepath.harness import audit_part, planted
from writepath.harness.audit_part import Size
from writepath.harness.measured import MEMBERS_FILE

if TYPE_CHECKING:
    from pathlib import Path

IDS = 20_000


@pytest.mark.parametrize(("goal_s", "met"), [(120.0, True), (0.0, False)])
def test_each_figure_is_said_beside_its_goal(goal_s: float, met: bool) -> None:
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


def test_an_unknown_part_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="ONLY=adit"):
        harness.run(["adit"], print)
