"""Renders what a reader meets first from published figures: the README's answer and table, and docs/choosing.md."""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from writepath.errors import UsageError
from writepath.records.index import VariantRecord
from writepath.report import rows
from writepath.report.data import SuiteData
from writepath.report.facts import Facts, NotPublishedError, published
from writepath.report.faults import coverage_in_words
from writepath.report.model import Table, listed, number, short
from writepath.report.plots import clocks_ms
from writepath.report.render import bare, engine, escaped
from writepath.report.rows import DAGGER, Field, field

ANSWER, SENTENCES, CHOOSING = "readme.md.j2", "sentences.md.j2", "choosing.md.j2"
CHOOSING_PAGE = "docs/choosing.md"
NOTHING = "Nothing is published yet: run `make bench-all`, then `make publish`."


def answer(facts: Facts) -> str:
    """The README's sentences, picture and table; the sentences only where every suite they quote is published."""
    if facts.load is None:
        return NOTHING
    try:
        return _rendered(ANSWER, facts, sentences=True)
    except NotPublishedError:
        return _rendered(ANSWER, facts, sentences=False)


def sentences(facts: Facts) -> str:
    """The README's sentences alone, as Markdown; empty where a suite that they quote is not published."""
    try:
        return _rendered(SENTENCES, facts)
    except NotPublishedError:
        return ""


def choosing(facts: Facts) -> str | None:
    """docs/choosing.md; None where a figure that it quotes is not published."""
    try:
        return _rendered(CHOOSING, facts)
    except NotPublishedError:
        return None


def table(facts: Facts) -> str:
    """One row per write path."""
    return bare(paths(facts))


def paths(facts: Facts) -> Table:
    """The write paths that the README compares, in six columns."""
    fields: tuple[Field[VariantRecord], ...] = (
        field(
            "path",
            "write path",
            lambda one: f"{one.title} {DAGGER}" if facts.durable_later(one.name) else one.title,
        ),
        field(
            "guarantee",
            "a 201 guarantees",
            lambda one: f"{one.acknowledges} (class {facts.durability_class(one.name)})",
        ),
        field("p99", f"p99 at {facts.rate_per_s}/s", lambda one: _ms(facts.p99_ms(one.name)), "ms"),
        field(
            "leaves", f"p99 leaves {number(facts.load_slo_ms)} ms at", lambda one: facts.leaves_slo(one.name)
        ),
        field(
            "searchable",
            "searchable after, median",
            lambda one: _ms(facts.median_ms(one.name, "searchable")),
            "ms",
        ),
        field(
            "loss",
            "data loss when its store or broker is killed or loses power",
            lambda one: facts.loss(one.name),
        ),
    )
    return rows.table("paths", "Write paths", "", fields, facts.variants)


def classes(suites: Iterable[SuiteData[Any]]) -> str:
    """Durability class of every published variant, as its running system was read back."""
    found: dict[str, dict[str, None]] = {}
    for record in (one.record for data in suites for one in data.cells):
        if record.durability is not None:
            found.setdefault(record.durability.level, {})[record.title] = None
    fields: tuple[Field[str], ...] = (
        field("class", "durability class", str),
        field("variants", "published variants", lambda level: "; ".join(found[level])),
    )
    return bare(rows.table("classes", "", "", fields, sorted(found))) if found else NOTHING


def throughput(facts: Facts) -> str:
    """The paths whose p99 leaves the limit first and last, in one load each; not those above it before the climb."""
    calm = [one.name for one in facts.variants if (facts.p99_ms(one.name) or 0.0) <= facts.load_slo_ms]
    known = sorted((rate, name) for name in calm if (rate := facts.leaves_slo_per_s(name)) is not None)
    if not known:
        raise NotPublishedError("a load that climbs")
    first, last = (f"{facts.leaves_slo(name)} ({facts.title(name)})" for _, name in (known[0], known[-1]))
    return f"In one climbing load each, p99 leaves {number(facts.load_slo_ms)} ms between {first} and {last}"


def footnote(facts: Facts) -> str:
    """The note of the table."""
    return escaped(note(facts))


def note(facts: Facts) -> str:
    """What the columns of the table are, and where each was measured."""
    later = any(facts.durable_later(variant.name) for variant in facts.variants)
    words = [f"{DAGGER} The row reaches its store after the 201."] if later else []
    words.append(
        f"p99 from the scheduled send time; searchable: until a search finds the post; class A: flushed to disk"
        f" before the 201. {facts.load_host}, {facts.runtime} runtime, load generator on the same host."
    )
    words.append(
        "p99 leaves: in one climbing load, the rate from which the p99 of each second is above the limit."
    )
    late = [one.title for one in facts.variants if (facts.p99_ms(one.name) or 0.0) > facts.load_slo_ms]
    if late:
        words.append(f"Above that limit at {facts.rate_per_s}/s already: {listed(late)}.")
    if facts.faults:
        words.append(f"Native runtime: {coverage_in_words(facts.faults)[0]}")
    return " ".join(words)


def picture_in_words(facts: Facts) -> str:
    """For who does not see the picture: each path's times."""
    words = []
    for variant in facts.variants:
        times = zip(("201", "stored", "searchable"), clocks_ms(facts, variant.name), strict=True)
        known = ", ".join(f"{name} {short(time)} ms" for name, time in times if time is not None)
        words.append(f"{variant.title}: {known}")
    return f"p99 since the POST was sent. {'. '.join(words)}."


def cpu_in_words(facts: Facts, per_s: float | None) -> str:
    """`JPA 0.76 s, RabbitMQ + JPA 1.0 s`, cheapest first. per_s: a rate; None: each path's highest passing rate."""
    used = {variant.name: facts.cpu_s(variant.name, per_s) for variant in facts.variants}
    known = sorted((value, name) for name, value in used.items() if value is not None)
    return ", ".join(f"{facts.title(name)} {short(value)} s" for value, name in known)


def _ms(value: float | None) -> str:
    return "not measured" if value is None else number(value)


def _rendered(name: str, facts: Facts, **given: bool) -> str:
    templates = engine()
    templates.filters["short"] = lambda figure: short(published(figure, "a time"))
    parts = (throughput, footnote, picture_in_words, cpu_in_words, table)
    said = {part.__name__: partial(part, facts) for part in parts}
    return templates.get_template(name).render(facts=facts, **said, **given)


def filled(document: Path, parts: Mapping[str, str]) -> str:
    """The document's text with each named part replaced; UsageError where its markers are missing."""
    text = document.read_text(encoding="utf-8")
    for name, part in parts.items():
        begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise UsageError(
                f"{document.name}: the markers {begin} and {end} are missing; put them where the generated part goes"
            )
        text = f"{before}{begin}\n{part}\n{end}{after}"
    return text
