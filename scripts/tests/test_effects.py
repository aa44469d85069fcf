"""Does the model find the effects that were planted, and none where there is none?"""

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from writepath.analysis.effects import Effects, Observation, apart, effects, interval
from writepath.analysis.stats import Spread

USERS, POOL, INSTANCES = ("1", "5", "20"), ("10", "15"), ("1", "2")
FACTORS = {"VIRTUAL_USERS": USERS, "POOL_SIZE": POOL, "INSTANCES": INSTANCES}
TPS = {"1": 100.0, "5": 150.0, "20": 200.0}
Planted = Callable[[str, str, str], float]


def seen(of: Planted, blocks: int = 3, noise: float = 0.01) -> list[Observation]:
    """With noise of a share for each cell, and blocks that are much slower than others."""
    luck = np.random.default_rng(7)
    return [
        Observation(
            block=block,
            levels=dict(zip(FACTORS, levels, strict=True)),
            value=of(*levels) * (1 - 0.2 * block) * float(np.exp(luck.normal(0.0, noise))),
        )
        for block in range(blocks)
        for levels in itertools.product(*FACTORS.values())
    ]


def found(of: Planted, same: float = 0.02, factors: dict[str, tuple[str, ...]] = FACTORS) -> Effects:
    known = effects(seen(of), factors, same)
    assert known is not None
    return known


def measurable(known: Effects) -> set[tuple[str, ...]]:
    return {one.factors for one in known.effects if one.measurable}


def test_planted_effects_are_recovered_and_a_factor_without_one_has_none() -> None:
    known = found(lambda users, _pool, instances: TPS[users] * (1.1 if instances == "2" else 1.0))
    assert measurable(known) == {("VIRTUAL_USERS",), ("INSTANCES",)}
    users, pool, instances, *pairs = known.effects
    assert [round(one.share, 1) for one in users.contrasts] == [0.5, 1.0]
    assert instances.contrasts[0].share == pytest.approx(0.1, abs=0.015)
    assert instances.contrasts[0].low < 0.1 < instances.contrasts[0].high
    (fifteen,) = pool.contrasts
    assert fifteen.low < 0 < fifteen.high
    assert abs(fifteen.share) < 0.02
    assert [one.factors for one in pairs] == [*itertools.combinations(FACTORS, 2)]


def test_a_planted_interaction_is_found_with_its_size() -> None:
    """A larger pool helps many users alone: by half."""
    known = found(lambda users, pool, _: TPS[users] * (1.5 if (users, pool) == ("20", "15") else 1.0))
    assert ("VIRTUAL_USERS", "POOL_SIZE") in measurable(known)
    assert ("POOL_SIZE", "INSTANCES") not in measurable(known)
    pair = next(one for one in known.effects if one.factors == ("VIRTUAL_USERS", "POOL_SIZE"))
    assert pair.largest == pytest.approx(1.5 ** (1 / 3) - 1, abs=0.02)


def test_what_two_runs_of_one_cell_differ_by_is_no_effect() -> None:
    planted: Planted = lambda users, _, instances: TPS[users] * (1.1 if instances == "2" else 1.0)  # noqa: E731
    assert ("INSTANCES",) not in measurable(found(planted, same=0.12))


def test_a_cell_that_is_missing_everywhere_costs_the_interactions_and_one_block_of_it_nothing() -> None:
    all_of = seen(lambda users, *_: TPS[users])
    gone = dict(zip(FACTORS, ("20", "10", "1"), strict=True))
    nowhere = effects([one for one in all_of if one.levels != gone], FACTORS, 0.02)
    assert nowhere is not None
    assert [one.factors for one in nowhere.effects] == [(name,) for name in FACTORS]
    assert nowhere.without
    once = effects([one for one in all_of if one.levels != gone or one.block], FACTORS, 0.02)
    assert once is not None
    assert len(once.effects) == 6
    assert measurable(once) == {("VIRTUAL_USERS",)}


def test_one_block_or_one_level_gives_no_effects() -> None:
    assert effects(seen(lambda users, *_: TPS[users], blocks=1), FACTORS, 0.02) is None
    only = [one for one in seen(lambda *_: 1.0) if one.levels["POOL_SIZE"] == "10"]
    assert effects(only, {"POOL_SIZE": POOL}, 0.02) is None


def test_two_runs_of_one_cell_are_as_far_apart_as_their_worst_block() -> None:
    assert apart([100.0, 100.0, None], [104.0, 90.0, 50.0]) == pytest.approx(100 / 90 - 1)
    assert apart([None], [1.0]) is None


def test_a_mean_has_students_interval() -> None:
    known = interval([9.0, 10.0, 11.0])
    assert known is not None
    assert (known.median, known.repetitions) == (10.0, 3)
    assert known.high == pytest.approx(10 + 4.302653 / 3**0.5)
    assert interval([None]) is None


def test_of_two_blocks_both_values_are_shown() -> None:
    assert interval([11.0, None, 9.0]) == Spread(median=10.0, low=9.0, high=11.0, repetitions=2)
