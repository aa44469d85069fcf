"""When each fault strikes and how long it lasts: drawn from the seed, so that it can be drawn again."""

import random
from dataclasses import dataclass

from writepath.experiments.faults.catalogue import Fault

STEADY_SECONDS = (0.0, 2.0)  # so that no two faults meet the same moment of a store's own cycles


@dataclass(frozen=True, kw_only=True)
class Moment:
    """Of one trial."""

    number: int  # from 1
    steady_seconds: float  # of load before the injection, beyond the good 10 s
    lasts_seconds: float  # from injection to heal


def schedule(seed: int, fault: Fault, trials: int) -> tuple[Moment, ...]:
    """The same for each variant and runtime: a function of seed, fault and number of the trial alone."""

    def moment(number: int) -> Moment:
        draw = random.Random(f"writepath:{seed}:{fault.key}:{number}")  # noqa: S311 - a schedule, not a secret
        return Moment(
            number=number,
            steady_seconds=round(draw.uniform(*STEADY_SECONDS), 3),
            lasts_seconds=round(draw.uniform(*fault.lasts_seconds), 3),
        )

    return tuple(moment(number) for number in range(1, trials + 1))
