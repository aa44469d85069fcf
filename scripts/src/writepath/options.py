"""What the user asked of a command, as the command line read it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from writepath.config.settings import Given

Runtime = Literal["auto", "native", "docker"]
STATE = ".writepath"  # the ignored folder of everything that a checkout keeps at run time
RERUNS = 2  # of a cell that a noisy host made unknown: a host that is noisy three times stays so


@dataclass(frozen=True, kw_only=True)
class Call:
    """One command line."""

    root: Path  # of the checkout
    command: str  # bench-all
    text: str = ""  # as it was typed: for whoever waits for this command

    @property
    def state(self) -> Path:
        """Of this checkout."""
        return self.root / STATE


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Of `bench`, `bench-all` and `bench-faults`. None: as the suite says."""

    suite: str = "default"
    variants: Sequence[str] | None = None
    reps: int | None = None
    seed: int = 1
    runtime: Runtime = "auto"
    processors: str | None = None
    dataset: str | None = None
    dataset_lines: int | None = None
    resume: bool = False
    reruns: int = RERUNS
    jobs: int = 1
    of_kind: Mapping[str, Any] = field(default_factory=dict)  # that only some kinds have, by name: SLO_MS
    settings: Given = field(default_factory=Given)  # the user's; Given.over() adds the suite's
