"""Compares figures with the golden master: the one place that knows what the rewrite renames and what may differ."""

import re
from collections import defaultdict
from collections.abc import Callable

from golden import published
from golden.published import Figures, Key

# What the rewrite renames, by what the file has: a page, a column or a whole table that moved, and words.
RATES = ("capacity_acknowledges", "first_fail_per_s", "burst_per_s", "ceiling_share_percent")
STEPS = (
    *(
        "kind",
        "rate_per_s",
        "seconds",
        "result",
        "p99_ms",
        "unserved",
        "stored_per_s",
        "backlog_per_s",
        "drain_s",
    ),
    *("audit", "limited_by", "why"),
)
FAULT_PAGES = {"faults/native": "faults", "faults/docker": "faults-docker"}
COLUMNS: dict[tuple[str, str], tuple[str, str]] = {  # (table, column): the same of now
    **{("capacity", column): ("rates", column) for column in RATES},
    **{("holds", f"hold_{name}"): ("steps", f"step_{name}") for name in STEPS},
    ("validity", "validity_searches"): ("validity", "validity_runs"),
}
OF_SEARCH = ("validity_reads", "validity_hits", "validity_posts", "validity_reads_lost")
SEARCHES = "search-capacity"  # the page that has what the page `search` had of searches under load
SEARCHED = {"searches_per_s": "sustained_per_s", "searches_first_fail_per_s": "first_fail_per_s"} | {
    f"searches_{name}": f"capacity_{name}" for name in ("p99_ms", "limited_by", "bound")
}
PAGES: dict[
    tuple[str, str], Callable[[str], tuple[str, str, str]]
] = {  # (page, table): of a column, all three of now
    ("search", "search_capacity"): lambda column: (SEARCHES, "capacity", SEARCHED.get(column, column)),
    ("search", "limited"): lambda column: (SEARCHES, "limited", column),
    ("search", "holds"): lambda column: (SEARCHES, *COLUMNS["holds", column]),
    ("search", "beside_writes"): lambda column: (
        SEARCHES,
        "during_writes",
        column.replace("beside_", "during_"),
    ),
    ("search", "search_validity"): lambda column: (
        ("search", "search_validity", column) if column in OF_SEARCH else (SEARCHES, "validity", column)
    ),
    ("search", "index_cost"): lambda column: {
        "cost_index": ("search", "loading", "search_index"),
        "cost_loaded_per_s": ("search", "loading", "loaded_per_s"),
        "cost_build_s": ("search", "loading", "build_s"),
        "cost_write_p99_ms": (SEARCHES, "during_writes", "during_write_p99_ms"),
        "cost_sustained_per_s": ("index-cost", "capacity", "sustained_per_s"),
    }[column],
}
OF_LOAD = ("suite | SLO", "suite | load step")  # facts of the page's load steps
LEFT_OUT = (  # facts of the former page
    "setting | search mode",  # a column of each other table
    "setting | searches during writes",  # its host is a column of table during_writes, its commit is in facts.json
)
MODES = re.compile(r" \| (native|substring)$")
TABLES: dict[str, str] = {}  # table: the same of now
WORDS: dict[str, str] = {
    "search index": "search_index",
    "blocks": "repetitions",
}  # a part of a row's identity, or a text in a cell
# By how much a figure may differ, besides one unit of the last digit that is shown. Both figures were computed from
# times of whole microseconds when they were measured; the published times are whole multiples of 10 us.
TOLERANCE = {
    "lateness_p99_ms": 0.021,  # of four times, each is off by 5 us
    "drain_s": 0.0011,  # whole milliseconds, of two times
}
# Exactly between two shown digits. Differences of times were taken in milliseconds since the epoch, as floats that are
# 0.0002 ms apart, and came out just below or above; whole microseconds come out exact.
TIES = {
    ("default", "clocks", "JPA", "to_visible_p99_ms"): "74.7",
    ("front", "paths", "JPA", "searchable_ms_p99"): "74.7",
    ("original", "latency", "Elasticsearch, 8 shards, 1 replica", "p99_ms"): "56.0",
    ("original", "original", "Elasticsearch, 8 shards, 1 replica | here", "beside_p99"): "56.0",
    ("load", "clocks", "JPA", "to_durable_p95_ms"): "5.64",
}
DROPPED = {("order", "inversions")}  # (table, column): overtaken writes say whether the order was kept
DROPPED_TABLES = {"ceiling_shares"}  # table `rates` has the share of the sustained rate
NOTHING = {"0", "–"}  # a column of these alone may be left out: its page says so in a sentence
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def moved(key: Key) -> Key:
    """Where the figure is now."""
    page = FAULT_PAGES.get(key.page, key.page)
    if (page, key.table) == ("search", "fingerprint") and key.row.startswith(OF_LOAD):
        page, table, column = SEARCHES, key.table, key.column
    elif (page, key.table) in PAGES:
        page, table, column = PAGES[page, key.table](key.column)
    else:
        table, column = COLUMNS.get((key.table, key.column), (TABLES.get(key.table, key.table), key.column))
    row = published.JOINT.join(WORDS.get(part, part) for part in key.row.split(published.JOINT))
    return Key(page, table, _of_searches(key.table, table, row), column)


def _of_searches(before: str, table: str, row: str) -> str:
    """A row of the former page of searches: how it searches is in the variant's title, or is not in the row at all."""
    if before == "search_capacity":
        return MODES.sub(r" (\1)", row)
    if before == "index_cost" and table == "capacity":
        return MODES.sub("", row)
    return f"AMD EPYC, 2 cores | {row}" if (before, table) == ("index_cost", "during_writes") else row


def differences(golden: Figures, now: Figures) -> list[str]:
    """In words; empty where every figure is given again."""
    columns: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for key, value in golden.items():
        columns[key.page, key.table, key.column].add(value)
    found = []
    for key, value in golden.items():
        own = now.get(moved(key))
        if own is None:
            if key.table in DROPPED_TABLES or (key.table, key.column) in DROPPED:
                continue
            if key.page == "search" and (key.row.startswith(LEFT_OUT) or value == "–"):
                continue
            if not columns[key.page, key.table, key.column] <= NOTHING:
                found.append(f"{key}: {value}, now missing")
        elif own != TIES.get(key) and not agree(key.column, WORDS.get(value, value), own):
            found.append(f"{key}: {value}, now {own}")
    return found


def agree(column: str, golden: str, own: str) -> bool:
    """Texts are equal; only where a tolerance is given do numbers count instead. Names of variants have no order."""
    if column == "fact_variants":
        return set(golden.split(", ")) == set(own.split(", "))
    if golden == own or column not in TOLERANCE:
        return golden == own
    pairs = [(NUMBER.findall(one), NUMBER.sub("#", one)) for one in (golden, own)]
    (mine, words), (theirs, other_words) = pairs
    return (
        words == other_words
        and len(mine) == len(theirs)
        and all(_near(*both, TOLERANCE[column]) for both in zip(mine, theirs, strict=True))
    )


def _near(golden: str, own: str, tolerance: float) -> bool:
    unit = 10.0 ** -len(golden.partition(".")[2])
    mine, theirs = (float(one.replace(",", "")) for one in (golden, own))
    return abs(mine - theirs) <= tolerance + unit
