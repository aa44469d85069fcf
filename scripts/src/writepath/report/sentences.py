"""Words for sentences: rounded figures and lists."""

from collections.abc import Iterable


def short(value: float) -> str:
    """Two digits of what was measured, for a sentence: `0.34`, `26`, `48,000`."""
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"  # noqa: PLR2004 - where two digits end


def listed(words: Iterable[str]) -> str:
    """`a, b and c`."""
    given = list(words)
    return given[0] if len(given) == 1 else f"{', '.join(given[:-1])} and {given[-1]}"
