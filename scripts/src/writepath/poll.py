"""Waits for something that another program does: asks again and again, for a bounded time."""

import time
from collections.abc import Callable
from typing import TypeVar

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
