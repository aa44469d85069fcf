"""When a warm-up has made a path steady, and what is said of one that did not.

The load is closed: the same number of requests is always in flight, so what changes is the path. Compilation lowers CPU
per request and latency; the host's noise only raises them, by far more than 5 % from one window to the next. So the
lowest values of the last three windows are compared with the lowest before: a path is steady when they no longer fall.
"""

from collections.abc import Iterator, Sequence

from writepath.records.warm_up import WarmUpFacts, WarmUpWindow

LAST = 3  # windows
FALLS = 0.05  # share
FIGURES = {"cpu_us_per_request": "CPU per request", "median_ms": "median latency"}


def is_steady(windows: Sequence[WarmUpWindow]) -> bool:
    """Whether nothing falls any more."""
    return not [*_moving(windows)]


def _moving(windows: Sequence[WarmUpWindow]) -> Iterator[str]:
    """In words, what the last windows were lower in than those before them."""
    for name, words in FIGURES.items():
        values = [value for window in windows if (value := getattr(window, name)) is not None]
        if len(values) <= LAST:
            yield f"{words} is not known: too few windows had an answer"
            continue
        before, last = min(values[:-LAST]), min(values[-LAST:])
        if last < (1 - FALLS) * before:
            yield f"{words} fell by {1 - last / before:.0%}"


def unsteady(found: WarmUpFacts | None) -> Iterator[str]:
    """Why the figures after it may be those of a path that is still warming up; nothing of a steady one."""
    if found is not None and not found.steady:
        moving = ", ".join(
            _moving(found.windows)
        )  # nothing, where only the processors of the load did not suffice
        words = f": in its last {LAST} windows {moving} (limit {FALLS:.0%})" if moving else ""
        yield f"not steady after {found.seconds:.0f} s of warm-up{words}"


def in_words(found: WarmUpFacts) -> str:
    """`steady after 47 s of warm-up at 1,840/s: 512 µs of CPU per request, median 2.1 ms`."""
    if not found.steady:
        return "; ".join(unsteady(found))
    last = found.windows[-1]
    return (
        f"steady after {found.seconds:.0f} s of warm-up at {last.rate_per_s:,.0f}/s: {last.cpu_us_per_request:.0f} µs"
        f" of CPU per request, median {last.median_ms:.2f} ms"
    )
