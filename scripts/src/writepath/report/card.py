"""What does a busy engineer read first? A few sentences from figures, each with the records that it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rich.text import Text

from writepath.report import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rich.console import Console

TIE = "Tie"


class Record(Protocol):
    """A variant's record in one block."""

    @property
    def variant(self) -> str:
        """Its name."""

    @property
    def block(self) -> int:
        """From 1."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One sentence of the card."""

    text: str
    folders: tuple[str, ...]  # of the records it rests on, below the suite's folder
    tie: bool = False


@dataclass(frozen=True, kw_only=True)
class Card:
    """What fits on it."""

    title: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()


def markdown(given: Card, records: Mapping[str, Record], href: Callable[[str], str]) -> str:
    """A section of a page. records: by folder; href: the link of a folder's."""
    lines = []
    for line in given.lines:
        runs = "; ".join(
            f"{variant} " + ", ".join(f"[{block}]({link})" for block, link in blocks)
            for variant, blocks in runs_of(line.folders, records, href).items()
        )
        tie = f"**{TIE}.** " if line.tie else ""
        lines.append(f"- {tie}{escape.markdown(line.text)} <sub>{runs}</sub>")
    notes = [escape.markdown(note) for note in given.notes]
    return "\n\n".join([f"## {escape.markdown(given.title)}", "\n".join(lines), *notes])


def runs_of(
    folders: tuple[str, ...], records: Mapping[str, Record], href: Callable[[str], str]
) -> dict[str, list[tuple[str, str]]]:
    """By variant, block and link of each record that a line rests on."""
    runs: dict[str, list[tuple[str, str]]] = {}
    for folder in folders:
        record = records[folder]
        runs.setdefault(record.variant, []).append((str(record.block), href(folder)))
    return runs


def show(given: Card, to: Console) -> None:
    """On a terminal."""
    to.print(Text(escape.terminal(given.title), style="bold"))
    for line in given.lines:
        to.print(Text(escape.terminal(f"- {f'{TIE}: ' if line.tie else ''}{line.text}")))
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
