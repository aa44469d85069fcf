"""What is a suite's page? Text, tables and plots, as files; the same for a raw and for a published suite run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.errors import UsageError
from writepath.report import escape, exports, rows
from writepath.report.fingerprint import hosts, load_in_words

if TYPE_CHECKING:
    from writepath.report.figures import SuiteFigures
    from writepath.report.model import Table

PLOTS = {
    "latency-over-time.svg": "Accept latency over time, per second: median, p95 and maximum of each variant",
    "latency-percentiles.svg": "Percentiles of accept latency: median, p95 and p99 of each variant",
}


def page(
    figures: SuiteFigures, built: tuple[Table, ...], drawn: dict[str, bytes], links: dict[str, str]
) -> str:
    """Markdown. links: `assets` (folder of the plots, from the page), `reading` (docs/reading-results.md), `raw`."""
    suite = figures.suite
    found = hosts(figures)
    where = f"{suite.runtime} runtime" + (f" on {' and '.join(found)}" if found else "")
    parts = [
        f"# Results: {escape.markdown(suite.title)}",
        f"Suite {escape.markdown(suite.suite)}, {escape.markdown(suite.started_at)}, {escape.markdown(where)};"
        f" {_repetitions(suite.repetitions)}; load: {escape.markdown(load_in_words(suite))}. `make report`"
        f" generates this page from raw data; do not edit. [How to read it]({links['reading']})."
        + (f" [Raw data]({links['raw']})." if "raw" in links else "")
        + f" {rows.replaced_note(figures)}".rstrip(),
    ]
    sections = {table.key: exports.markdown(table).rstrip("\n") for table in built}
    for table in built:
        parts.append(sections[table.key])
        if table.key == "latency":
            parts += [f"![{PLOTS[name]}]({links['assets']}/{name})" for name in PLOTS if name in drawn]
    return "\n\n".join(parts) + "\n"


def _repetitions(count: int) -> str:
    return "one repetition" if count == 1 else f"{count} repetitions"


def refuse_several_hosts(figures: SuiteFigures) -> None:
    """UsageError where its runs come from several hosts: a median would mix them."""
    suite, found = figures.suite, hosts(figures)
    if len(found) > 1:
        raise UsageError(
            f"suite {suite.suite} {suite.stamp} ran on several hosts: {' and '.join(found)}. Medians would mix them;"
            " rerun the whole suite on one host, then publish"
        )
