"""On what was it measured? Versions, effective settings, host, seed, dataset and commit of a suite run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.report.model import Column, Row, Table, number, plain, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from writepath.report.figures import Figures, SuiteFigures
    from writepath.result import Code, DatasetFacts, Host, SuiteResult

    Fact = tuple[str, str, str]  # of what, name, value

TITLE = "Fingerprint"
CAPTION = "Settings are the values that the running store or broker reported, not those that were requested."
EVERY = "all"
COLUMNS = (
    Column(key="fact_group", title="group"),
    Column(key="fact", title="fact"),
    Column(key="fact_value", title="value"),
    Column(key="fact_variants", title="variants"),
)
GIB = 1 << 30
SHORT_HASH = 12


def fingerprint(figures: SuiteFigures) -> Table:
    """One line per fact; facts that all variants share are one line."""
    rows = [_row(group, fact, value, EVERY) for group, fact, value in _suite_facts(figures.suite)]
    names = [variant.name for variant in figures.suite.variants if figures.of(variant.name)]
    found: dict[tuple[str, str, str], list[str]] = {}
    for name in names:
        for group, fact, value in dict.fromkeys(
            entry for run in figures.shown(name) for entry in _run_facts(run)
        ):
            found.setdefault((group, fact, value), []).append(name)
    order = {group: index for index, group in enumerate(("host", "version", "setting", "variant"))}
    for (group, fact, value), of in sorted(found.items(), key=lambda item: (order[item[0][0]], item[0][1])):
        rows.append(_row(group, fact, value, EVERY if of == names else ", ".join(of)))
    return Table(
        key="fingerprint",
        title=TITLE,
        caption=CAPTION,
        columns=COLUMNS,
        rows=tuple(rows),
    )


def of_blocks(
    suite: Iterable[tuple[str, str]], facts: Iterable[tuple[str, Fact]], *names: Iterable[str]
) -> Table:
    """One line a fact of suite runs whose records have each their own: facts of the suite, then those of variants.

    names: of all variants, and of all blocks; a fact that all of either share is everybody's.
    """
    rows = [_row("suite", what, value, EVERY) for what, value in suite]
    of: dict[Fact, dict[str, None]] = {}
    for name, fact in facts:
        of.setdefault(fact, {})[name] = None
    everywhere = [set(those) for those in names]
    for (group, what, value), those in sorted(of.items(), key=lambda item: item[0][:2]):
        shared = any(every <= set(those) for every in everywhere)
        rows.append(_row(group, what, value, EVERY if shared else ", ".join(those)))
    return Table(key="fingerprint", title=TITLE, caption=CAPTION, columns=COLUMNS, rows=tuple(rows))


def of_code(code: Code) -> str:
    """Short, with what is not in it."""
    return code.commit[:SHORT_HASH] + (" with local changes" if code.dirty else "")


def of_dataset(dataset: DatasetFacts) -> str:
    """Name, size and the beginning of its digest."""
    return f"{dataset.name}, {dataset.lines:,} lines, sha256 {dataset.sha256[:SHORT_HASH]}…"


def of_host(host: Host) -> Iterator[Fact]:
    """What the machine is."""
    yield "host", "processor", f"{host.cpu_model}, {host.cores} cores"
    yield "host", "memory", f"{number(host.memory_bytes / GIB)} GiB"
    yield "host", "kernel", host.kernel
    yield "host", "filesystem of the stores", host.filesystem


def hosts(figures: SuiteFigures) -> tuple[str, ...]:
    """The hosts of its runs, by processor; of several each with all its facts."""
    known = dict.fromkeys(
        tuple(value for *_, value in of_host(one.run.host))
        for one in figures.runs
        if one.run.host is not None
    )
    return tuple(", ".join(facts) if len(known) > 1 else facts[0] for facts in known)


def _suite_facts(suite: SuiteResult) -> Iterator[tuple[str, str, str]]:
    yield "suite", "name", f"{suite.suite}, started {suite.started_at}"
    yield "suite", "runtime", suite.runtime
    yield "suite", "load", load_in_words(suite)
    yield "suite", "warm-up before the load", _warm_up(suite)
    yield "suite", "repetitions", str(suite.repetitions)
    yield "suite", "seed", str(suite.seed)
    yield "suite", "dataset", of_dataset(suite.dataset)
    yield "suite", "commit", of_code(suite.code)
    for name, value in sorted(suite.overrides.items()):
        yield "suite", f"{name}, set by the user", value


def load_in_words(suite: SuiteResult) -> str:
    """The phases: `ramp-up 20 s, 3 to 100/s; sustained 60 s, 100/s`."""
    words = []
    for phase in suite.phases:
        begin, end = plain(phase.from_per_s), plain(phase.to_per_s)
        rate = f"{begin}/s" if begin == end else f"{begin} to {end}/s"
        words.append(f"{phase.name} {plain(phase.seconds)} s, {rate}")
    return "; ".join(words)


def _warm_up(suite: SuiteResult) -> str:
    if not suite.warm_up_requests:
        return "none"
    return f"{suite.warm_up_requests:,} requests at {plain(suite.warm_up_per_s)}/s, excluded from all results"


def _run_facts(figures: Figures) -> Iterator[tuple[str, str, str]]:
    run = figures.run
    if run.host is not None:
        yield from of_host(run.host)
    for name, value in run.versions.items():
        yield "version", name, value
    if run.durability is not None:
        for name, value in run.durability.settings.items():
            yield "setting", name, value


def _row(group: str, fact: str, value: str, variants: str) -> Row:
    return Row(cells=(text(group), text(fact), text(value), text(variants)))
