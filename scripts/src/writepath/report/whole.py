"""Is a suite complete and valid enough to be published? Errors that capacity and search suites share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.errors import InvalidRunError, UsageError
from writepath.records.capacity import unresolved

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from writepath.records.capacity import CapacitySuite, Hold
    from writepath.records.queries import QueriesSuite


def left_as_noise(where: str, holds: Sequence[Hold]) -> Iterator[str]:
    """The noisy steps that were not retried, in words."""
    for hold in unresolved(holds):
        yield (
            f"{where}: step {hold.number} at {hold.rate_per_s:,g}/s was noisy and not retried"
            f" ({'; '.join(hold.reasons)})"
        )


def refuse_unsound(problems: Sequence[str]) -> None:
    """InvalidRunError that says all of them."""
    if problems:
        raise InvalidRunError(
            f"not published: {' | '.join(problems)}. A suite is published only if all its runs are valid;"
            " rerun these with RESUME=1"
        )


def refuse_unfinished(
    suite: CapacitySuite | QueriesSuite, made: Collection[tuple[str, int]], what: str
) -> None:
    """UsageError naming the first that is missing. made: by name and block; what: there should be, in words."""
    wanted = {(name, block) for block, order in enumerate(suite.blocks, 1) for name in order}
    missing = sorted(wanted - set(made))
    if missing or suite.status != "finished":
        first = f"; missing: {missing[0][0]}, block {missing[0][1]}" if missing else ""
        raise UsageError(
            f"suite {suite.suite} {suite.stamp} is {suite.status}, {len(made)} of {len(wanted)} {what} finished{first};"
            " finish it with RESUME=1, then publish"
        )
