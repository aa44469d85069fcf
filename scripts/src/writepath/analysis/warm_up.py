"""When a warm-up has made a path steady, and what is said of one that did not.

CPU per request and latency depend on the rate: at a higher one, commits and batches share more work. So only windows
after the rise are compared, which have the same rate. Compilation lowers both; the host's noise only raises them, by
far more than 5 % from one window to the next. So the lowest values of the last three windows are compared with the
lowest before: a path is steady when they no longer fall. One that cannot carry the rate only fills its queues, so its
latency rises whatever the compiler does: it is not steady.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from writepath.records.warm_up import WarmUpFacts, WarmUpWindow

LAST = 3  # windows
FALLS = 0.05  # share
CARRIED = 0.95  # of the rate, in the best of the last windows
FIGURES = {"cpu_us_per_request": "CPU per request", "median_ms": "median latency"}


def is_steady(windows: Sequence[WarmUpWindow], rise_s: float, rate_per_s: float) -> bool:
    """Whether the rate is carried, and nothing falls any more."""
    return not [*_moving(windows, rise_s, rate_per_s)]


def _moving(windows: Sequence[WarmUpWindow], rise_s: float, rate_per_s: float) -> Iterator[str]:
    """In words, what the last windows were lower in: than the rate, and than those before them."""
    carried_per_s = max((window.rate_per_s for window in windows[-LAST:]), default=0.0)
    if carried_per_s < CARRIED * rate_per_s:
        yield f"{carried_per_s:,.0f}/s of {rate_per_s:,.0f}/s were acknowledged"
    even = [window for previous, window in pairwise(windows) if previous.until_s >= rise_s]
    for name, words in FIGURES.items():
        values = [value for window in even if (value := getattr(window, name)) is not None]
        if len(values) <= LAST:
            yield f"{words} is not known: too few windows after the rise had an answer"
            continue
        before, last = min(values[:-LAST]), min(values[-LAST:])
        if last < (1 - FALLS) * before:
            yield f"{words} fell by {1 - last / before:.0%}"


def unsteady(found: WarmUpFacts | None) -> Iterator[str]:
    """Why the figures after it may be those of a path that is still warming up; nothing of a steady one."""
    if found is not None and not found.steady:
        moving = ", ".join(_moving(found.windows, found.rise_s, found.rate_per_s))
        yield (
            f"not steady after {found.seconds:.0f} s of warm-up: in its last {LAST} windows {moving}"
            f" (limit {FALLS:.0%})"
        )


def in_words(found: WarmUpFacts) -> str:
    """`steady after 47 s of warm-up: 512 µs of CPU per request, median 2.1 ms`."""
    if not found.steady:
        return "; ".join(unsteady(found))
    last = found.windows[-1]
    return (
        f"steady after {found.seconds:.0f} s of warm-up: {last.cpu_us_per_request:.0f} µs of CPU per request,"
        f" median {last.median_ms:.2f} ms"
    )
