"""site/data.js: what the results site shows, exported from tables of reports. The site computes ratios alone."""

from writepath.records.base import record
from writepath.records.index import Role, Status
from writepath.records.measures import VerdictStatus

SCHEMA_VERSION = 1
DATA_FILE = "data.js"


@record
class Figure:
    """A figure of a table. Its numbers are in the column's unit; null: JSON has none for it, and `shown` says which."""

    shown: str  # as pages have it: `≥ 86.5 (80.1–≥ 92.0)`, `∞`
    value: float | None  # median of the repetitions
    low: float | None  # of the repetitions, or of the interval
    high: float | None
    bound: bool  # a lower or an upper bound: in no ratio
    interval: bool  # known to be from low to high alone; value: the middle


@record
class SiteColumn:
    """A column of a table."""

    key: str  # as in docs/reading-results.md
    title: str
    unit: str  # the values are in it; empty of texts and counts
    path: bool  # names the path of a row: rows of two paths that differ in this alone are compared


@record
class SiteRow:
    """A row of a table, and the cells of the suite that its figures rest on."""

    cells: tuple[str | Figure, ...]  # in the columns' order
    mark: str  # invalid, unknown, failed, …; empty where its figures count
    variant: str | None  # name; null: not of a path that was measured here
    path: str  # the variant with its levels, as cells are named; empty where variant is null
    host: str  # in a table of several hosts
    durability: str  # class that was read back: A, B, C; empty where nothing was written
    evidence: tuple[int, ...]  # places in the suite's evidence, from 0


@record
class SiteTable:
    """A table of a suite's page."""

    key: str
    title: str
    caption: str
    notes: tuple[str, ...]
    names: int  # so many columns, the first ones, name a row
    resolution: float | None  # share by which intervals of two rows must differ; null: they are not compared
    single: bool  # its rows are single cells or load steps: evidence of the other tables
    columns: tuple[SiteColumn, ...]
    rows: tuple[SiteRow, ...]


@record
class Evidence:
    """One cell of a suite: when, where and with what it was measured, and its files."""

    name: str  # of the cell
    block: int  # from 1
    role: Role
    verdict: VerdictStatus
    reasons: tuple[str, ...]
    started_at: str
    host: str
    commit: str
    settings: dict[str, str]  # of the cell: the suite's, the user's and its levels
    guarantees: dict[
        str, str
    ]  # settings of the store or broker that decide what a 201 guarantees, as read back
    versions: dict[str, str]
    folder: str  # relative to the page
    files: tuple[str, ...]  # in the folder


@record
class SiteVariant:
    """A path that can be chosen."""

    name: str
    title: str
    acknowledges: str  # what a 201 guarantees, in words


@record
class SiteSuite:
    """A suite run: its answer, its tables and its cells."""

    name: str
    title: str
    runtime: str
    status: Status
    cells_ended: int
    cells_planned: int
    answer: tuple[str, ...]  # the first sentences of its page
    facts: str  # where, when and how it was measured, in one line
    baseline: str | None  # the variant that the others are compared with
    variants: tuple[SiteVariant, ...]
    tables: tuple[SiteTable, ...]
    evidence: tuple[Evidence, ...]


@record
class Site:
    """What data.js gives to the page."""

    schema_version: int
    suites: tuple[SiteSuite, ...]
