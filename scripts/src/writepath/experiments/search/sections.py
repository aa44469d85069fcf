"""The report of a search suite, and the metrics by which its cells are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.analysis.stats import spread
from writepath.experiments.search import figures, store_tables, times_tables
from writepath.experiments.search.answer import answer, findings
from writepath.records.search import KINDS
from writepath.report import hosts
from writepath.report.fingerprint import by_blocks, in_one_line
from writepath.report.metrics import Metric
from writepath.report.model import Report, Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from writepath.experiments.search.figures import Suite
    from writepath.records.search import SearchKind, SearchResult
    from writepath.report.model import Table


def _metric(kind: SearchKind) -> Metric[SearchResult]:
    """The median of the keywords' means of warm rounds."""

    def get(result: SearchResult) -> float | None:
        figure = spread(one.warm_mean_ms for one in result.times if one.kind == kind)
        return None if figure is None else figure.median

    return Metric(key=f"{kind.replace('-', '_')}_ms", title=KINDS[kind], better="lower", get=get)


NOTHING = "No cell has valid figures; the table of validity has the reasons."
METRICS = (_metric("first-page"), _metric("every-match"))


PER_HOST: tuple[Callable[[Suite], Table | None], ...] = (
    times_tables.rounds,
    times_tables.ratios,
    store_tables.hits,
    store_tables.loading,
)


def _told(known: Sequence[tuple[str, Suite]], tell: Callable[[Suite], Iterator[str]]) -> Iterator[str]:
    """Each host's sentences, the first of them with its name where there are several."""
    for host, data in known:
        for place, words in enumerate(tell(data)):
            yield f"On {host}: {words}" if place == 0 and len(known) > 1 else words


def report(data: Suite) -> Report:
    """The page."""
    params, known = data.index.params, data.by_host()
    load = (
        f"{params['rounds']} rounds of each keyword ({', '.join(params['keywords'])}) by one client"
        f" on {params['documents']:,} posts"
    )
    rounds = f"{params['rounds']} of each keyword: {', '.join(params['keywords'])}"
    of_kind = [("posts", f"{params['documents']:,}, the same in every store"), ("rounds", rounds)]
    of_kind += [
        ("posts, ids and contents", f"sha256 {digest[:12]}…")
        for found in figures.digests(data).values()
        for digest in found
    ]
    details = (
        *(hosts.merged([(host, build(own)) for host, own in known]) for build in PER_HOST),
        store_tables.validity(data),
        by_blocks(data, of_kind),
    )
    told = list(_told(known, findings))
    return Report(
        title=data.index.title,
        answer=tuple(_told(known, answer)) or (NOTHING,),
        facts=in_one_line(data, load),
        picture=None,
        table=hosts.merged([(host, times_tables.main(own)) for host, own in known])
        or times_tables.main(data),
        details=(
            *([Section(key="findings", title="Findings", text=" ".join(told))] if told else []),
            *(Section(key=table.key, title=table.title, tables=(table,)) for table in details if table),
        ),
    )
