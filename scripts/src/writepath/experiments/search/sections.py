"""The report of a search suite, its sentences, and the metrics by which its cells are compared."""

import itertools
from collections.abc import Iterator
from operator import itemgetter

from writepath.analysis.stats import spread
from writepath.experiments.search import tables
from writepath.experiments.search.tables import Suite
from writepath.records.search import KINDS, Loading, SearchKind, SearchResult
from writepath.report import rows
from writepath.report.data import Metric, RowKey
from writepath.report.facts import first_pages_ms
from writepath.report.fingerprint import fingerprint, in_one_line
from writepath.report.model import Report, Section, between, listed, short


def findings(data: Suite) -> Iterator[str]:
    """What one setting changes, where both find the same posts."""
    if tables.control_times(data):
        for row, base, _ in tables.pairs(data):
            mine, theirs = (
                [tables.line_of(data, side, keyword).found for keyword in tables.keywords(data)]
                for side in (row, base)
            )
            if mine == theirs:  # else they do not do the same work
                yield _pair(data, row, base)


def answer(data: Suite) -> Iterator[str]:
    """First pages, what native searches miss, and how fast posts and index are loaded: medians over the blocks."""
    if times := list(_first_pages(data)):
        yield f"First page for one client, keyword anywhere in the text: {'; '.join(times)}."
    found = [
        hits.recall_percent
        for line in tables.lines(data)
        for hits in line.hits
        if hits.mode == "native" and hits.recall_percent is not None
    ]
    if found:
        yield (
            f"The store's own word search returns {between(found)} % of the posts that contain the keyword;"
            " mode substring returns all of them."
        )
    rates: dict[str, float] = {}
    for row in data.rows:
        figure = spread(_loaded_per_s(one.data_set.loading) for one in tables.line_of(data, row).results)
        rates |= {} if figure is None else {row.title: figure.median}
    if len(rates) > 1:
        (slow, least), *_, (fast, most) = sorted(rates.items(), key=itemgetter(1, 0))
        yield (
            f"Bulk load with index and copies: fastest {fast} with {short(most)} posts/s,"
            f" slowest {slow} with {short(least)} posts/s."
        )


def _first_pages(data: Suite) -> Iterator[str]:
    """`JPA 150 to 200 ms`, from the fastest to the slowest keyword, of each row that finds every post."""
    for row in data.rows:
        results = [one for one in tables.line_of(data, row).results if one.data_set.mode == "substring"]
        if known := first_pages_ms(results, tables.keywords(data)):
            yield f"{row.title} {between(known)} ms"


def _pair(data: Suite, row: RowKey, base: RowKey) -> str:
    """First pages of each keyword; a ratio that the A/A control shows as well is no difference."""
    low, high = tables.apart_beyond(data)
    known = {
        keyword: ratio
        for keyword in tables.keywords(data)
        if (ratio := tables.ratio(data, row, base, keyword, "first-page").ratio) is not None
    }
    differ = [keyword for keyword, ratio in known.items() if not low <= ratio <= high]
    alike = [keyword for keyword in known if keyword not in differ]
    times = [f"{short(known[keyword])} ({keyword})" for keyword in differ]
    words = [f"first pages take {listed(times)} times as long"] if times else []
    words += [f"no measurable difference for {listed(alike)}"] if alike else []
    return f"{row.title} compared with {base.title}: {'; '.join(words)}."


def _loaded_per_s(loading: Loading) -> float:
    seconds = loading.seconds + (loading.build_seconds or 0.0) + loading.settle_seconds
    return loading.documents / seconds


def _metric(kind: SearchKind) -> Metric[SearchResult]:
    """The median of the keywords' means of warm rounds."""

    def get(result: SearchResult) -> float | None:
        figure = spread(one.warm_mean_ms for one in result.times if one.kind == kind)
        return None if figure is None else figure.median

    return Metric(key=f"{kind.replace('-', '_')}_ms", title=KINDS[kind], better="lower", get=get)


NOTHING = "No cell has valid figures; the table of validity has the reasons."
METRICS = (_metric("first-page"), _metric("every-match"))


def report(data: Suite) -> Report:
    """The page."""
    params, known = data.index.params, data.by_host()
    load = (
        f"{params['rounds']} rounds of each keyword ({', '.join(params['keywords'])}) by one client"
        f" on {params['documents']:,} posts"
    )
    rounds = f"{params['rounds']} of each keyword: {', '.join(params['keywords'])}"
    of_kind = [("posts", f"{params['documents']:,}, the same in every store"), ("rounds", rounds)]
    digests = itertools.chain(*tables.digests(data).values())
    of_kind += [("posts, ids and contents", f"sha256 {digest[:12]}…") for digest in digests]
    per_host = (tables.rounds, tables.ratios, tables.hits, tables.loading)
    details = (
        *(rows.merged([(host, build(own)) for host, own in known]) for build in per_host),
        tables.validity(data),
        fingerprint(data, of_kind),
    )
    told = list(rows.told(known, findings))
    return Report(
        title=data.index.title,
        answer=tuple(rows.told(known, answer)) or (NOTHING,),
        facts=in_one_line(data, load),
        picture=None,
        table=rows.merged([(host, tables.main(own)) for host, own in known]) or tables.main(data),
        details=(
            *([Section(key="findings", title="Findings", text=" ".join(told))] if told else []),
            *(Section(key=table.key, title=table.title, tables=(table,)) for table in details if table),
        ),
    )
