"""A metric: a figure of a cell by which cells are compared."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from writepath.analysis.comparison import Better

R = TypeVar("R")


@dataclass(frozen=True, kw_only=True)
class Metric(Generic[R]):
    """`get` gives None where the result has no such figure."""

    key: str
    title: str
    better: Better
    get: Callable[[R], float | None]
    words: tuple[str, str] = ("faster", "slower")
