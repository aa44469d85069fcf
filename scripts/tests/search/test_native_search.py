"""A suite of searches ends on real stores with every answer right and the same for both."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from lifecycle.fakes import on_any_host
from writepath.config import registry
from writepath.experiments import engine, read
from writepath.experiments.base import Plan
from writepath.experiments.search import kind
from writepath.experiments.search.kind import SearchExperiment, SearchParams
from writepath.load import dataset
from writepath.progress import Progress
from writepath.records.measures import Code
from writepath.runtime.choose import choose

pytestmark = [pytest.mark.native, pytest.mark.timeout(900)]  # two starts of a stack, on a busy machine
ROOT = Path(__file__).resolve().parents[3]
NAMES = ("jpa-bigram", "elasticsearch-1s0r-bigrams")
KEYWORDS = ("영화", "스토리", "감동", "재미")
DOCS = 2_000


def plan(root: Path) -> Plan:
    known = registry.load(ROOT)
    variants = tuple(known.variant(name) for name in NAMES)
    return Plan(
        root=root,
        state=root / ".writepath",
        suite=registry.Suite(
            name="search", title="Search", kind="search", scenario=None, repetitions=1, variants=variants
        ),
        params=SearchParams(documents=DOCS, rounds=2, keywords=KEYWORDS),
        variants=variants,
        repetitions=1,
        seed=1,
        settings={},
        dataset=dataset.generate(1, DOCS),
        code=Code(commit="0" * 40, dirty=False, digest="0" * 64),
        resumed=False,
    )


def test_two_paths_hold_the_same_posts_and_find_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_any_host(monkeypatch)
    monkeypatch.setattr(kind, "WARM_UP_S", 1.0)
    (tmp_path / ".writepath").mkdir()
    asked, said = plan(tmp_path), io.StringIO()
    runtime = choose(ROOT, "native", print)
    runtime.reap(print)
    runtime.prepare(asked.variants, print)
    console = Console(file=said, width=200)
    code, folder = engine.run(asked, SearchExperiment(), runtime, Progress(console=console))
    assert code == 0, said.getvalue()
    cells = read.raw(folder).cells
    assert [cell.problems for cell in cells] == [(), ()]
    results = [cell.result for cell in cells if cell.result is not None]
    assert {one.data_set.search_index for one in results} == {"bigram", "bigrams"}
    assert len({one.data_set.loading.digest for one in results}) == 1
    assert results[0].hits == results[1].hits
    for one in results:
        assert [hits.keyword for hits in one.hits] == list(KEYWORDS)
        assert all(hits.explained and hits.found == hits.expected > 0 for hits in one.hits)
        assert all(len(times.rounds_ms) == 2 for times in one.times)
        assert one.data_set.loading.store_bytes > 0
        assert one.data_set.loading.parts_bytes
