"""What did the user ask for? NAME=value words, as make has them, checked before anything is started."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from writepath.errors import UsageError
from writepath.registry import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

RUNTIMES = ("auto", "native", "docker")
SEARCH = ("SLO_MS", "HOLD_SECONDS")  # of a capacity or search suite
QUERIES = ("DOCS", "ROUNDS")  # of a search suite
RERUNS = "RERUNS"  # of any other suite
RUN = (
    *("SUITE", "VARIANTS", "REPS", "SEED", "RUNTIME", "DATASET", "DATASET_LINES", "RESUME", RERUNS),
    *SEARCH,
    *QUERIES,
)
ONE = ("VARIANT", *(name for name in RUN if name != "VARIANTS"))
SETTINGS = "settings"  # stands for every variable of .env that a user may override
NOT_OVERRIDABLE = ("STORE", "SLOWDOWN_PERCENT")  # are what a variant is
WORD = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
ELSEWHERE = {
    "VARIANT": "for one variant: make bench VARIANT=...; for several: VARIANTS=a,b",
    "VARIANTS": "this command takes one variant: VARIANT=...",
    "REPETITIONS": "use REPS=",
}


@dataclass(frozen=True, kw_only=True)
class Options:
    """Values by name, each allowed for the command; typed by the methods."""

    command: str
    values: Mapping[str, str] = field(default_factory=dict)
    overrides: Mapping[str, str] = field(default_factory=dict)  # compose variables

    def text(self, name: str, default: str | None = None) -> str | None:
        """As given; an empty value is none."""
        return self.values.get(name) or default

    def required(self, name: str, example: str) -> str:
        """UsageError where it is missing."""
        value = self.text(name)
        if value is None:
            raise UsageError(f"{name} is missing: make {self.command} {name}={example}")
        return value

    def whole(self, name: str, default: int | None, *, low: int, high: int) -> int | None:
        """A whole number between low and high."""
        value = self.text(name)
        return default if value is None else whole(name, value, low, high)

    def choice(self, name: str, default: str, known: Sequence[str]) -> str:
        """One of the known words."""
        value = self.text(name, default) or default
        if value not in known:
            raise UsageError(f"{name}={value}: {nearest(value, list(known))}")
        return value

    def flag(self, name: str) -> bool:
        """1 or 0."""
        return self.choice(name, "0", ("0", "1")) == "1"

    def names(self, name: str) -> list[str] | None:
        """Comma-separated; UsageError for a name given twice."""
        value = self.text(name)
        if value is None:
            return None
        found = [part.strip() for part in value.split(",") if part.strip()]
        twice = next((part for part in found if found.count(part) > 1), None)
        if twice is not None:
            raise UsageError(f"{name}={value}: '{twice}' is listed twice; to repeat runs, use REPS")
        return found


def parse(
    command: str,
    words: Sequence[str],
    allowed: Sequence[str],
    root: Path,
    environment: Mapping[str, str] = os.environ,
) -> Options:
    """Words of the command line, then those given to make, then the environment."""
    settings = overridable(root) if SETTINGS in allowed else {}
    known = [*(name for name in allowed if name != SETTINGS), *settings]
    given = {name: environment[name] for name in known if len(name) > 1 and environment.get(name)}
    given |= {name: environment.get(name, "") for name in make_variables(environment.get("MAKEFLAGS", ""))}
    for word in words:
        match = WORD.fullmatch(word)
        if match is None:
            raise UsageError(
                f"'{word}': arguments of `{command}` have the form NAME=value; options: {', '.join(known) or 'none'}"
            )
        given[match[1]] = match[2]
    for name, value in given.items():
        if name not in known:
            hint = ELSEWHERE.get(name) or (nearest(name, known) if known else f"`{command}` takes no options")
            raise UsageError(f"{name}={value}: `{command}` has no option {name}; {hint}")
    overrides = {
        name: checked(name, value, settings[name]) for name, value in given.items() if name in settings
    }
    values = {name: value for name, value in given.items() if name not in settings}
    return Options(command=command, values=values, overrides=overrides)


def make_variables(makeflags: str) -> list[str]:
    """Names that were given to make as NAME=value; their values are in the environment, unquoted."""
    _, marker, rest = f" {makeflags}".partition(" -- ")
    return re.findall(r"(?:^|(?<!\\) )([A-Za-z_][A-Za-z0-9_]*):*=", rest) if marker else []


def overridable(root: Path) -> dict[str, str]:
    """Variables of .env with their defaults, without those that make a variant what it is."""
    lines = (root / ".env").read_text(encoding="utf-8").splitlines()
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    return {name.strip(): value.strip() for name, _, value in pairs if name.strip() not in NOT_OVERRIDABLE}


def checked(name: str, value: str, default: str) -> str:
    """A setting whose default is a whole number takes only whole numbers; an empty value is an error."""
    if not value:
        raise UsageError(f"{name}=: empty; omit it to use the default {default}")
    if default.isdecimal():
        whole(name, value, 0 if name == "ELASTICSEARCH_REPLICAS" else 1, 65535)
    return value


def whole(name: str, value: str, low: int, high: int) -> int:
    """UsageError names the range."""
    number = int(value) if re.fullmatch(r"[0-9]{1,18}", value) else None
    if number is None or not low <= number <= high:
        raise UsageError(f"{name}={value}: must be a whole number from {low} to {high}")
    return number
