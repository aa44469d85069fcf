"""Does a bracket say what is open about it?"""

from __future__ import annotations

import pytest

from writepath.capacity import said
from writepath.records.capacity import Bracket


def bracket(low: float | None, high: float | None, *, at_least: bool = False) -> Bracket:
    return Bracket(last_pass_per_s=low, first_fail_per_s=high, at_least=at_least, holds=7)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (bracket(1200, 1250), "1,200/s, fails at 1,250/s"),
        (bracket(1200, 1250, at_least=True), "at least 1,200/s, fails at 1,250/s"),
        (bracket(1200, 1400), "1,200/s, fails at 1,400/s (inconclusive: not within 5 %)"),
        (bracket(6000, None, at_least=True), "at least 6,000/s"),
        (bracket(1200, None), "at least 1,200/s (inconclusive: no failing rate)"),
        (bracket(None, 200), "below 200/s (it failed there)"),
        (bracket(None, None), "unknown: no step was counted"),
        (None, "not measured"),
    ],
)
def test_a_bracket_says_what_is_open(found: Bracket | None, words: str) -> None:
    assert said.bracket(found) == words
