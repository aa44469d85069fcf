"""Kind `search` by the engine on a store that can be told to lie: rounds, wrong answers, resume, report, verify."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from experiments.test_engine import planned as engine_planned
from lifecycle.fakes import on_any_host, variant
from search.fake_posts import Lies
from search.fake_store import Runtime
from writepath.analysis import evidence
from writepath.config.registry import Suite
from writepath.errors import INTERRUPTED, InvalidRunError, UsageError
from writepath.experiments import engine, publish, read, reporting
from writepath.experiments.base import Plan
from writepath.experiments.search import kind
from writepath.experiments.search.kind import SearchExperiment, SearchParams
from writepath.load.dataset import generate
from writepath.load.parquet import load_table
from writepath.measure import searchable
from writepath.progress import Progress
from writepath.records.cell import CellRecord, load_cell
from writepath.records.index import Index, load_index

KEYWORDS = ("영화", "감동", "없는말")
NAMES = ("a", "b")


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    on_any_host(monkeypatch)
    monkeypatch.setattr(kind, "WARM_UP_S", 0.0)
    monkeypatch.setattr(searchable, "EVERY_MATCH", 100)
    monkeypatch.setattr(searchable, "MOST_PAGES", 12)


def planned(root: Path, **changed: object) -> Plan:
    variants = tuple(variant(name) for name in NAMES)
    suite = Suite(
        name="search",
        title="Keyword search",
        kind="search",
        scenario=None,
        repetitions=2,
        variants=variants,
        baseline=variants[0],
    )
    own: dict[str, Any] = {"suite": suite, "variants": variants, "repetitions": 2, "reruns": 0}
    params = SearchParams(documents=1_000, rounds=2, keywords=KEYWORDS)
    own |= {"kind": SearchExperiment(), "params": params, "dataset": generate(1, 200)}
    return engine_planned(root, **(own | changed))


def run(asked: Plan, runtime: Runtime) -> tuple[int, Index, Path]:
    progress = Progress(console=Console(file=io.StringIO(), width=300))
    code, folder = engine.run(asked, runtime, progress)  # type: ignore[arg-type]
    return code, load_index(folder), folder


def one_cell(root: Path, lies: Lies) -> tuple[CellRecord, Runtime, Path]:
    asked, runtime = planned(root, repetitions=1), Runtime(lies=[lies])
    _, _, folder = run(replace(asked, variants=asked.variants[:1]), runtime)
    place = folder / "a" / "block-01"
    return load_cell(place), runtime, place


def test_a_suite_is_interrupted_resumed_reported_published_and_verified(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, index, folder = run(planned(checkout), Runtime(interrupted=3, name="native"))
    assert (code, len(index.cells)) == (INTERRUPTED, 2)
    code, index, again = run(planned(checkout, resumed=True), Runtime(name="native"))
    assert (code, again, index.status, len(index.cells)) == (0, folder, "finished", 6)
    assert {name for block in index.order for name in block} == {"a", "b", "a@again"}
    data = read.raw(folder)
    assert [cell.problems for cell in data.cells] == [()] * 6
    for cell in data.cells:
        assert cell.result is not None
        assert [one.explained for one in cell.result.hits] == [True] * 3
        assert all(len(one.rounds_ms) == 2 and one.warm_mean_ms for one in cell.result.times)
    assert reporting.report(checkout, folder) == 0
    said = capsys.readouterr().out
    assert "A (A/A control)" in said
    assert "First page for one client" in said
    assert "Bulk load with index and copies: fastest" in said
    publish.publish(checkout, folder)
    assert publish.differences(checkout) == []
    published = read.published(checkout / "results/published/search")
    assert [cell.problems for cell in published.cells] == [()] * 6
    page = (checkout / "docs/results/search.md").read_text(encoding="utf-8")
    assert "Search times, round by round" in page


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"documents": 2_000}, "'documents': 1000"),
        ({"rounds": 3}, "'rounds': 2"),
        ({"keywords": ("감동",)}, "'keywords'"),
    ],
)
def test_resume_refuses_another_question(checkout: Path, changed: dict[str, Any], words: str) -> None:
    run(planned(checkout), Runtime(interrupted=1))
    asked = planned(checkout, resumed=True)
    with pytest.raises(UsageError, match=words):
        run(replace(asked, params=replace(asked.params, **changed)), Runtime())


def test_every_search_is_in_the_raw_table_in_the_order_of_the_seed(tmp_path: Path) -> None:
    cell, runtime, place = one_cell(tmp_path, Lies())
    rows = load_table(place / "searches.parquet").to_pylist()
    orders = kind.orders(KEYWORDS, 2, 1, 1)
    assert orders != kind.orders(KEYWORDS, 2, 1, 2)
    assert [row["keyword"] for row in rows[::2]] == [keyword for order in orders for keyword in order]
    assert {row["kind"] for row in rows[::2]} == {"first-page"}
    assert all(row["start_us"] > 0 and row["duration_us"] > 0 for row in rows)
    assert sorted(row["start_us"] for row in rows) == [row["start_us"] for row in rows]
    whole = next(row for row in rows if (row["keyword"], row["kind"]) == ("영화", "every-match"))
    assert cell.result is not None
    assert whole["posts"] == cell.result["hits"][0]["expected"] > 0
    assert whole["pages"] == -(-whole["posts"] // 100)
    assert runtime.events == ["start", "end app", "start app", "logs", "stop"]


@pytest.mark.parametrize(
    ("lies", "words", "restarted"),
    [
        (Lies(miscount=1), "its response time would be that of a different search", False),
        (Lies(lose=frozenset({3})), "1 missing", False),
        (Lies(search_index=None), "does not name the search index", False),
        (Lies(refuse=True), "answered 503: the store is down", False),
        (Lies(garble=True), "not a page of posts", False),
        (Lies(no_total=True), "returned no total", False),
        (Lies(endless=True), "does not end: it returned 12 pages", True),
        (Lies(miscount_large=1), "the first page or its total differs from that of all matches", True),
    ],
)
def test_an_answer_that_is_none_fails_the_cell(
    tmp_path: Path, lies: Lies, words: str, *, restarted: bool
) -> None:
    cell, runtime, _ = one_cell(tmp_path, lies)
    assert (cell.outcome, cell.verdict.status) == ("failed", "invalid")
    assert words in (cell.error or "")
    assert ("end app" in runtime.events) is restarted
    assert runtime.events[-2:] == ["logs", "stop"]


def test_posts_in_a_wrong_order_are_found_but_not_explained_and_not_published(checkout: Path) -> None:
    cell, _, place = one_cell(checkout, Lies(oldest_first=True))
    assert (cell.outcome, cell.verdict.status, cell.verdict.noise) == ("finished", "invalid", False)
    assert len(cell.verdict.reasons) == 2  # nothing has an order where nothing is found
    assert "the hits of '영화' are not explained (mode substring: " in cell.verdict.reasons[0]
    assert " 0 missed, 0 surplus" in cell.verdict.reasons[0]
    with pytest.raises(InvalidRunError, match="the hits of '영화' are not explained"):
        publish.publish(checkout, place.parents[1])


@pytest.mark.parametrize(("index", "mode"), [("words", "native"), ("bigrams", "substring")])
def test_only_words_are_searched_for_natively(tmp_path: Path, index: str, mode: str) -> None:
    cell, _, place = one_cell(tmp_path, Lies(search_index=index))
    data_set = evidence.load_facts(place)["data_set"]
    assert (data_set["search_index"], data_set["mode"]) == (index, mode)
    assert cell.verdict.status == ("valid" if mode == "substring" else "invalid")  # this store knows no words
