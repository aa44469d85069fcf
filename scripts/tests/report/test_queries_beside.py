"""Do searches beside writes stand in their table as they were planted, and only where they can be believed?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from report.test_queries_tables import changed, figures_of, lines, table_of
from writepath.report.model import ABSENT

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.records.queries import Read


def test_times_beside_writes_that_were_not_warmed_up_are_not_shown_but_what_was_found_is(
    tmp_path: Path,
) -> None:
    def cold(read: Read) -> Read:
        return replace(read, beside=replace(read.beside, warm_up_seconds=None) if read.beside else None)

    figures = figures_of(tmp_path)
    assert not any("not shown" in note for note in table_of(figures, "beside_writes").notes)
    found = changed(figures, "jpa", cold)
    table = table_of(found, "beside_writes")
    line, *others = lines(table)
    times = [key for key in line if key.endswith("_ms") or key == "beside_times"]
    assert {line[key] for key in times} == {"–"}
    assert all(ABSENT not in {other[key] for key in times} for other in others)
    assert (line["beside_acknowledged"], line["beside_found"], line["beside_found_percent"]) == (
        "990",
        "990",
        "100",
    )
    assert any("not shown" in note for note in table.notes)
    (cost,) = lines(table_of(found, "index_cost"), variant="JPA")
    assert cost["cost_write_p99_ms"] == "–"


def test_searches_beside_writes_that_were_made_again_by_themselves_name_host_and_commit(
    tmp_path: Path,
) -> None:
    def later(read: Read) -> Read:
        assert read.beside is not None
        assert read.host is not None
        host = replace(read.host, cpu_model="Testor 4000")
        return replace(read, beside=replace(read.beside, host=host, code=replace(read.code, commit="c" * 40)))

    figures = figures_of(tmp_path, blocks=1)
    assert not any("rerun alone" in note for note in table_of(figures, "beside_writes").notes)
    found = changed(figures, "jpa", later)
    assert (
        "On Testor 4000, 2 cores: JPA, block 1: rerun alone, because the host had been noisy."
        in table_of(found, "beside_writes").notes
    )
    (line,) = lines(table_of(found, "fingerprint"), fact="searches during writes, block 1, rerun on")
    assert (line["fact_value"], line["fact_variants"]) == ("Testor 4000, commit cccccccccccc", "jpa")


def test_searches_beside_writes_are_set_against_searches_alone(tmp_path: Path) -> None:
    (line,) = lines(table_of(figures_of(tmp_path), "beside_writes"), variant="JPA")
    assert (line["alone_p99_ms"], line["beside_p99_ms"], line["beside_times"]) == ("120", "180", "1.50")
    assert (line["beside_acknowledged"], line["beside_found"]) == ("990", "990")
    assert (line["beside_found_percent"], line["beside_wrong"]) == ("100", "0")


def test_a_percentile_that_falls_on_an_unserved_search_is_infinite(tmp_path: Path) -> None:
    def unserved(read: Read) -> Read:
        assert read.beside is not None
        latency = replace(read.beside.search_latency_ms, p99=None)
        return replace(read, beside=replace(read.beside, search_latency_ms=latency))

    figures = changed(figures_of(tmp_path), "jpa", unserved)
    (line,) = lines(table_of(figures, "beside_writes"), variant="JPA")
    assert (line["beside_p99_ms"], line["beside_times"]) == ("∞", "–")
