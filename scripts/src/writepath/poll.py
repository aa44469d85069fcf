"""Waits for something that another program does: asks again and again, for a bounded time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = TypeVar("Answer")


def until(
    ask: Callable[[], Answer],
    seconds: float,
    *,
    every_s: float = 0.05,
    clock: Callable[[], float] = time.monotonic,
) -> Answer:
    """The first answer that counts as true, or the last one when the time is over. Asks at least once."""
    ends = clock() + seconds
    while not (answer := ask()) and clock() < ends:
        time.sleep(every_s)
    return answer
