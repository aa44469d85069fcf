"""On which load steps do the capacities rest, which were noisy, and on what were they measured?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from writepath.analysis import stats
from writepath.records.capacity import unresolved
from writepath.report import fingerprint as common
from writepath.report.capacity_raw import commits
from writepath.report.capacity_tables import resource_in_words
from writepath.report.model import ABSENT, INFINITE, Cell, Column, Row, Table, plain, text
from writepath.report.rows import AGAIN, VARIANT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from writepath.records.capacity import Hold, HoldKind, Search
    from writepath.report.capacity_figures import CapacityFigures
    from writepath.report.capacity_raw import Found

HOLD_COLUMNS = (
    VARIANT,
    Column(key="hold_block", title="block", exact=True),
    Column(key="hold_number", title="step", exact=True),
    Column(key="hold_kind", title="kind"),
    Column(key="hold_rate_per_s", title="rate", unit="1/s", exact=True),
    Column(key="hold_seconds", title="duration", unit="s", exact=True),
    Column(key="hold_result", title="result"),
    Column(key="hold_p99_ms", title="p99", unit="ms"),
    Column(key="hold_unserved", title="not acknowledged", exact=True),
    Column(key="hold_stored_per_s", title="stored", unit="1/s"),
    Column(key="hold_backlog_per_s", title="backlog growth", unit="1/s"),
    Column(key="hold_drain_s", title="drain", unit="s"),
    Column(key="hold_audit", title="audit"),
    Column(key="hold_limited_by", title="bottleneck"),
    Column(key="hold_why", title="reason"),
)


KINDS: dict[HoldKind, str] = {"ramp": "ramp", "search": "bisection", "confirm": "confirmation"}
NOISY_HOST = "noisy host"
NOISY = "Noisy steps, which the load generator or the host disturbed, are kept and retried; this table counts them."


def holds(figures: CapacityFigures) -> Table:
    """Every load step of every capacity run, one row each."""
    rows = [
        Row(cells=_hold_cells(found, hold), mark=NOISY_HOST if hold.verdict == "noise" else "")
        for found in figures.data.searches
        for hold in found.search.holds
    ]
    return Table(
        key="holds",
        title="Load steps",
        caption="In order of time. Ramp: short steps that find the range for the bisection. Noisy host: the load"
        " generator or the host disturbed the step; it was retried and is counted in no figure. p99 from the scheduled"
        " send time; ∞: it falls on a request that was not acknowledged.",
        columns=HOLD_COLUMNS,
        rows=tuple(rows),
    )


def _hold_cells(found: Found, hold: Hold) -> tuple[Cell, ...]:
    first = hold.limited_by.first if hold.limited_by else None
    return (
        text(name(found.search)),
        _one(found.search.block),
        _one(hold.number),
        text(KINDS[hold.kind]),
        _one(hold.rate_per_s),
        _one(hold.seconds),
        text(result_in_words(hold)),
        p99(hold),
        _one(hold.requests.planned - hold.requests.acknowledged),
        _one(hold.stored_per_s),
        _one(hold.backlog.slope_per_s if hold.backlog else None),
        _one(hold.drain_seconds),
        text(hold.audit or ABSENT),
        text(resource_in_words(first) if first else ABSENT),
        text("; ".join(hold.reasons) or ABSENT),
    )


def p99(hold: Hold) -> Cell:
    """∞ where its rank falls on a request that was not acknowledged; empty where too few were scheduled."""
    value = hold.planned_latency_ms.p99
    if value is None and stats.carries(hold.requests.planned, 0.99):
        return text(INFINITE)
    return _one(value)


def result_in_words(hold: Hold) -> str:
    """`pass`, `fail (load generator suspected)`; a step that fails by its backlog alone passes as a burst."""
    if hold.verdict == "noise":
        return NOISY_HOST
    if hold.verdict == "fail" and hold.burst:
        return "fail, passes as a burst"
    return f"{hold.verdict} (load generator suspected)" if hold.generator_bound else hold.verdict


def name(search: Search) -> str:
    """Its title, and whether it is the A/A control."""
    return f"{search.title}{AGAIN}" if search.again else search.title


def _one(value: float | None) -> Cell:
    return Cell(figure=stats.spread([value]))


HOLDS_COUNTED = (
    Column(key="validity_counted", title="steps counted", exact=True),
    Column(key="validity_ramp", title="ramp", exact=True),
    Column(key="validity_noise", title="noisy, retried", exact=True),
    Column(key="validity_unresolved", title="noisy, not retried", exact=True),
    Column(key="validity_why", title="cause of noise"),
)
VALIDITY_COLUMNS = (
    VARIANT,
    Column(key="validity_searches", title="capacity runs"),
    *HOLDS_COUNTED,
    Column(key="validity_audit", title="audit of steps"),
    Column(key="validity_lost", title="failed runs"),
)


def validity(figures: CapacityFigures) -> Table:
    """How many steps were noisy, and whether every acknowledged write was found."""
    rows = []
    for title, own in by_name(figures).items():
        audits = Counter(
            hold.audit or "not read" for one in own for hold in one.search.holds if hold.kind != "ramp"
        )
        words = ", ".join(f"{count} {verdict}" for verdict, count in sorted(audits.items()))
        cells = (text(ended_in_words(own)), *holds_counted(own), text(words or ABSENT))
        rows.append(Row(cells=(text(title), *cells, text(lost_in_words(own)))))
    return Table(
        key="validity",
        title="Validity",
        caption=NOISY,
        columns=VALIDITY_COLUMNS,
        rows=tuple(rows),
    )


def by_name(figures: CapacityFigures) -> dict[str, list[Found]]:
    """All runs of a variant; those of the A/A control separately."""
    groups: dict[str, list[Found]] = {}
    for found in figures.data.searches:
        groups.setdefault(name(found.search), []).append(found)
    return groups


def holds_counted(own: list[Found]) -> tuple[Cell, ...]:
    """Of HOLDS_COUNTED."""
    made = [hold for found in own for hold in found.search.holds]
    spoilt = [hold for hold in made if hold.verdict == "noise"]
    left = sum(len(unresolved(found.search.holds)) for found in own)
    reasons = Counter(reason for hold in spoilt for reason in hold.reasons)
    return (
        _one(sum(hold.kind != "ramp" for hold in made if hold.verdict != "noise")),
        _one(sum(hold.kind == "ramp" for hold in made if hold.verdict != "noise")),
        _one(len(spoilt) - left),
        _one(left),
        text("; ".join(f"{reason} ({times})" for reason, times in reasons.most_common()) or ABSENT),
    )


def ended_in_words(own: list[Found]) -> str:
    """How many came to their end."""
    return f"{sum(found.search.outcome == 'finished' for found in own)} of {len(own)} finished"


def lost_in_words(own: list[Found]) -> str:
    """Which did not, and why."""
    bad = [
        f"block {found.search.block}: {found.search.error or found.search.outcome}"
        for found in own
        if found.search.outcome != "finished"
    ]
    return "; ".join(bad) or "none"


def fingerprint(figures: CapacityFigures) -> Table:
    """One line a fact; facts that all searches share are one line."""
    searches = [one.search for one in figures.data.searches]
    found = [*of_hosts(searches), *((one.variant, fact) for one in searches for fact in search_facts(one))]
    found += [
        ("ceilings", ("version", what, value))
        for tools in figures.data.ceilings
        for what, value in tools.versions.items()
    ]
    return common.of_blocks(suite_facts(figures), found, *names(searches))


def names(searches: Sequence[Search]) -> tuple[list[str], list[str]]:
    """Of all variants, and of all blocks."""
    return [one.variant for one in searches], [_block(one) for one in searches]


def of_hosts(searches: Sequence[Search]) -> Iterator[tuple[str, common.Fact]]:
    """Each block's machines; blocks may have been added from another."""
    for one in searches:
        if one.host is not None:
            yield from ((_block(one), fact) for fact in common.of_host(one.host))


def _block(search: Search) -> str:
    return f"block {search.block}"


def suite_facts(figures: CapacityFigures) -> Iterator[tuple[str, str]]:
    """What and value."""
    suite = figures.suite
    yield "name", f"{suite.suite}, started {suite.started_at}"
    yield "runtime", suite.runtime
    yield "SLO", f"p99 from the scheduled send time at most {plain(suite.slo_ms)} ms"
    yield "load step", f"{plain(suite.hold_seconds)} s at one rate"
    yield "blocks", str(suite.repetitions)
    yield "baseline", suite.baseline
    seeds = dict.fromkeys(found.search.seed for found in figures.data.searches)  # blocks may have been added
    yield "seed", ", ".join(map(str, seeds)) or str(suite.seed)
    for dataset in dict.fromkeys((suite.dataset, *(one.search.dataset for one in figures.data.searches))):
        yield "dataset", common.of_dataset(dataset)
    codes = commits(figures.data.searches)
    one_code = len(codes) == 1
    yield "commit", common.of_code(codes[0]) if one_code else f"{len(codes)} different commits"
    if len(codes) > 1:
        for code in codes:
            of = [
                f"{found.search.variant} block {found.search.block}"
                for found in figures.data.searches
                if found.search.code == code
            ]
            yield f"commit {common.of_code(code)}", ", ".join(of)
    for key, value in sorted(suite.overrides.items()):
        yield f"{key}, set by the user", value


def search_facts(search: Search) -> Iterator[tuple[str, str, str]]:
    """Of what, name and value."""
    for what, value in search.versions.items():
        yield "version", what, value
    if search.durability is not None:
        yield "setting", "durability class", search.durability.level
        for what, value in search.durability.settings.items():
            yield "setting", what, value
