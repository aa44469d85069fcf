"""What is a table? Typed columns and cells that every exporter reads; no exporter computes anything."""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal

from writepath.analysis import stats
from writepath.analysis.stats import Spread
from writepath.records.index import Role


@dataclass(frozen=True, kw_only=True)
class Column:
    """One figure. `key` is its name in CSV and in docs/reading-results.md."""

    key: str
    title: str
    unit: str = ""  # shown in the header; the values are in it
    exact: bool = False  # a count: printed in full; measured values and means are rounded to what they carry

    @property
    def header(self) -> str:
        """Title and unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title

    @property
    def numeric(self) -> bool:
        """Whether it has figures: it has a unit or is a count."""
        return bool(self.unit) or self.exact


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A text, a figure with its spread over the repetitions, or nothing."""

    text: str | None = None
    figure: Spread | None = None
    exact: bool = False  # printed in full, whatever the column says: a figure quoted from elsewhere
    prefix: str = ""  # before the figure: "≥ " where it is a lower bound
    ends: tuple[str, str] = ("", "")  # text before the lowest and the highest value

    @property
    def spans(self) -> bool:
        """Whether a range follows the value: of repetitions, or the interval of one."""
        return self.figure is not None and (self.figure.repetitions > 1 or self.figure.low < self.figure.high)

    @property
    def signed(self) -> bool:
        """Whether a sign stands before one of its numbers: a bound, or a cold round."""
        return any((self.prefix, *self.ends))


Value = Cell | Spread | str | int | float | None


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Whose figures a row has: a variant at levels of the factors. The site finds the cells behind a figure by it."""

    variant: str  # its name
    levels: tuple[tuple[str, str], ...] = ()  # factor and level, in the factors' order
    host: str = ""  # in a table of several hosts
    block: int | None = None  # of a single cell; None: of all blocks
    role: Role = "measured"


@dataclass(frozen=True, kw_only=True)
class Row:
    """Cells in the columns' order."""

    cells: tuple[Cell, ...]
    mark: str = ""  # "invalid", "unknown", "failed": shown before the row
    about: Subject | None = None  # None: not of a path that was measured


@dataclass(frozen=True, kw_only=True)
class Table:
    """One table of a report."""

    key: str
    title: str
    caption: str  # what a reader must know to read it; one or two sentences
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()  # footnotes, in order
    names: int = 1  # so many columns, the first ones, name a row
    compared: bool = False  # `make compare` puts its figures side by side
    resolution: float | None = (
        None  # share by which intervals of two rows must differ; none: they are not compared
    )
    group: str = ""  # title under which the site has all tables of the same columns in one; none: apart

    def __post_init__(self) -> None:
        """A row with other cells than columns would shift every figure after the gap."""
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise ValueError(f"{self.key}: {len(row.cells)} cells for {len(self.columns)} columns")


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A picture: SVG, with the words that describe it to who cannot see it."""

    file: str  # latency-percentiles.svg
    alt: str
    svg: bytes


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a page: text, pictures and tables under one heading."""

    key: str
    title: str
    text: str = ""
    plots: tuple[Plot, ...] = ()
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Report:
    """A page: its answer, a picture, the table behind it, then details."""

    title: str
    answer: tuple[str, ...]  # one or two sentences
    facts: str  # where, when and how it was measured, in one line
    legend: str = ""  # what the picture's axes, lines and marks are
    picture: Plot | None
    table: Table  # at most 7 columns
    details: tuple[Section, ...]

    @property
    def tables(self) -> tuple[Table, ...]:
        """All of them, in the page's order."""
        return (self.table, *(table for section in self.details for table in section.tables))

    @property
    def plots(self) -> tuple[Plot, ...]:
        """All of them, in the page's order."""
        first = () if self.picture is None else (self.picture,)
        return (*first, *(plot for section in self.details for plot in section.plots))


def cell(values: Iterable[Value]) -> Cell:
    """Of the values of a row's repetitions; a cell, a spread and a single text stand as they are."""
    texts, figures = list[str](), list[float | None]()
    for value in values:
        match value:
            case Cell():
                return value
            case Spread():
                return Cell(figure=value)
            case str():
                texts.append(value)
            case _:
                figures.append(value)
    return Cell(text=", ".join(dict.fromkeys(texts))) if texts else Cell(figure=stats.spread(figures))


def row_of(*values: Value, mark: str = "", about: Subject | None = None) -> Row:
    """A row of cells, texts and single figures."""
    return Row(cells=tuple(cell([value]) for value in values), mark=mark, about=about)


ABSENT = "–"
INFINITE = "∞"
FEWEST_DIGITS, MOST_DIGITS, MANY = 3, 4, 1000


def shown(cell: Cell, column: Column) -> str:
    """As people read it: `86.5`, `≥ 86.5 (80.1–≥ 92.0)`; – without a figure, ∞ where never served."""
    if cell.text is not None:
        return cell.text
    if cell.figure is None:
        return ABSENT
    figure, (low_sign, high_sign) = cell.figure, cell.ends
    whole = all(float(value).is_integer() for value in (figure.median, figure.low, figure.high))
    exact = cell.exact or (
        column.exact and (whole or not cell.spans)
    )  # the mean of several counts is no count
    middle, low, high = (number(value, exact=exact) for value in (figure.median, figure.low, figure.high))
    if not cell.spans or (low == middle == high and low_sign == high_sign):
        return f"{cell.prefix}{middle}"
    return f"{cell.prefix}{middle} ({low_sign}{low}–{high_sign}{high})"


def texts(table: Table, row: Row) -> list[str]:
    """A row's cells as people read them; the first one with the row's mark."""
    first, *others = (shown(one, column) for one, column in zip(row.cells, table.columns, strict=True))
    return [f"{first} ({row.mark})" if row.mark else first, *others]


def plain(value: float) -> str:
    """As it was given: no rounding, no trailing zeros."""
    return f"{value:,.10g}"


def number(value: float, *, exact: bool = False) -> str:
    """Three significant digits below 1,000, four from there on; counts in full."""
    if math.isinf(value):
        return INFINITE if value > 0 else f"-{INFINITE}"
    if value == 0:
        return "0"
    if exact:
        return plain(value)
    digits = MOST_DIGITS if abs(value) >= MANY else FEWEST_DIGITS
    return f"{Decimal(f'{value:.{digits - 1}e}'):,f}"


def short(value: float) -> str:
    """Two digits of what was measured, for a sentence: `0.34`, `26`, `48,000`."""
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"  # noqa: PLR2004 - where two digits end


def between(figures: Collection[float]) -> str:
    """Lowest and highest: `12 to 20`."""
    return " to ".join(dict.fromkeys(map(short, (min(figures), max(figures)))))


def counted(count: int, noun: str) -> str:
    """`1 fault`, `2 faults`, `1,054 faults`."""
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def listed(words: Iterable[str]) -> str:
    """`a, b and c`."""
    given = list(words)
    return given[0] if len(given) == 1 else f"{', '.join(given[:-1])} and {given[-1]}"
