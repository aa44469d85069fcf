"""What the user asked of a command, as the command line read it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from writepath.config.settings import Given
from writepath.errors import UsageError

Runtime = Literal["auto", "native", "docker"]

SEED_MAX = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class Call:
    """One command line."""

    root: Path  # of the checkout
    command: str  # bench-all
    words: Sequence[str] = ()  # what came after it: for whoever waits for this command

    @property
    def text(self) -> str:
        """As it was typed."""
        return " ".join([self.command, *self.words])


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Of `bench`, `bench-all` and `bench-faults`. None: as the suite says."""

    suite: str = "default"
    variants: Sequence[str] | None = None
    reps: int | None = None
    seed: int = 1
    runtime: Runtime = "auto"
    dataset: str | None = None
    dataset_lines: int | None = None
    resume: bool = False
    reruns: int | None = None
    jobs: int = 1
    of_kind: Mapping[str, Any] = field(default_factory=dict)  # that only some kinds have, by name: SLO_MS
    settings: Given = field(default_factory=Given)  # the user's; Given.over() adds the suite's


def listed(value: str | None) -> list[str]:
    """Comma-separated, in order; duplicates are allowed."""
    return [part.strip() for part in (value or "").split(",") if part.strip()]


def names(name: str, value: str | None) -> list[str] | None:
    """Comma-separated; UsageError for a name given twice and for a list without names."""
    if value is None:
        return None
    found = listed(value)
    if not found:
        raise UsageError(f"{name}={value}: contains no name")
    twice = next((part for part in found if found.count(part) > 1), None)
    if twice is not None:
        raise UsageError(f"{name}={value}: '{twice}' is listed twice; to repeat runs, use REPS")
    return found
