"""What does a busy engineer read first? A few sentences from figures, each with the records that it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from writepath.report.render import escape

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console


@dataclass(frozen=True, kw_only=True)
class Line:
    """One sentence of the summary."""

    text: str
    folders: tuple[str, ...]  # of the records it rests on, below the suite's folder

    def links(self, raw: str) -> tuple[tuple[str, str], ...]:
        """Name and link of each variant's folder. raw: the suite's folder."""
        names = dict.fromkeys(folder.partition("/")[0] for folder in self.folders)
        return tuple((name, f"{raw}/{name}") for name in names)


@dataclass(frozen=True, kw_only=True)
class Card:
    """The summary of what was measured on one host."""

    title: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()


def markdown(given: Card, raw: str) -> str:
    """A section of a page. raw: the link of the suite's folder."""
    lines = [
        f"- {escape.markdown(line.text)}"
        f" <sub>{', '.join(f'[{escape.markdown(name)}]({href})' for name, href in line.links(raw))}</sub>"
        for line in given.lines
    ]
    notes = [escape.markdown(note) for note in given.notes]
    return "\n\n".join([f"## {escape.markdown(given.title)}", "\n".join(lines), *notes])


def show(given: Card, to: Console) -> None:
    """On a terminal."""
    to.print(Text(escape.terminal(given.title), style="bold"))
    for line in given.lines:
        to.print(Text(escape.terminal(f"- {line.text}")))
    for note in given.notes:
        to.print(Text(escape.terminal(note), style="dim"))


def short(value: float) -> str:
    """Two digits of what was measured, for a sentence: `0.34`, `26`, `48,000`."""
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"  # noqa: PLR2004 - where two digits end


def listed(words: Iterable[str]) -> str:
    """`a, b and c`."""
    given = list(words)
    return given[0] if len(given) == 1 else f"{', '.join(given[:-1])} and {given[-1]}"
