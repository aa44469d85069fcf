"""Does a search find its way on a real path: PostgreSQL, the application, nginx and k6?"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from lifecycle.fakes import dataset
from writepath.analysis import overload as stretches
from writepath.capacity.search_run import SearchSpec, execute
from writepath.config import registry
from writepath.config.registry import Phase, Scenario, WarmUp
from writepath.load import ledger
from writepath.measure import drain, host
from writepath.measure.bench import Bench
from writepath.measure.host import CanaryCage
from writepath.progress import Progress
from writepath.records import Code
from writepath.records.capacity import load_search
from writepath.runtime.choose import choose

if TYPE_CHECKING:
    from writepath.records.capacity import Search
    from writepath.runtime.base import Runtime

ROOT = Path(__file__).resolve().parents[3]
LOWEST, HIGHEST = 200.0, 300.0
SECONDS = 5.0  # 1,000 requests at the lowest rate: as many as a p99 takes
SCENARIO = Scenario(
    name="search",
    script="k6/scenarios/ramp.js",
    phases=(Phase(name="hold", seconds=SECONDS, from_per_s=LOWEST, to_per_s=HIGHEST),),
    warm_up=WarmUp(requests=300, rate_per_s=200),
)


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Runtime:
    monkeypatch.setattr(drain, "QUIET_S", 1.0)
    shorter = tuple((name, times, 3.0) for name, times, _ in stretches.STRETCHES)
    monkeypatch.setattr(stretches, "STRETCHES", shorter)
    chosen = choose(ROOT, "native", print)
    chosen.reap(print)
    return chosen


@pytest.fixture
def searched(tmp_path: Path, runtime: Runtime) -> tuple[Search, Path]:
    """The search of `jpa`, and its folder."""
    jpa = registry.load(ROOT).variant("jpa")
    runtime.prepare([jpa], print)
    content = tmp_path / "content.json"
    dataset().write(content)
    said = io.StringIO()
    bench = Bench(
        runtime=runtime,
        progress=Progress(console=Console(file=said, width=200)),
        cage=CanaryCage(folder=tmp_path),
        host=host.facts(tmp_path),
        content=content,
        pids=tmp_path,
        root=ROOT,
    )
    spec = SearchSpec(
        suite="capacity",
        variant=jpa,
        scenario=SCENARIO,
        block=1,
        position=1,
        again=False,
        seed=1,
        slo_ms=1000.0,
        hold_seconds=SECONDS,
        overrides={},
        dataset=dataset(),
        code=Code(commit="0" * 40, dirty=False),
        folder=tmp_path / "jpa",
    )
    found = execute(spec, bench)
    print(said.getvalue())
    return found, spec.folder


@pytest.mark.native
def test_a_real_path_is_searched_to_an_end_and_every_row_is_accounted_for(
    searched: tuple[Search, Path],
) -> None:
    found, folder = searched
    assert (found.outcome, found.error) == ("finished", None)
    assert load_search(folder) == found
    assert found.holds
    # A busy machine makes noise or is slow, which is said; what it must not do is lose a row.
    assert all(made.verdict == "pass" or made.reasons for made in found.holds)
    for made in found.holds:
        taken = ledger.read(folder / f"hold-{made.number:02d}" / ledger.FILE)
        assert taken.by_status().get("201", 0) == made.requests.acknowledged
        assert made.resources["postgres"].cpu_seconds > 0
    for made in (made for made in found.holds if made.kind != "ramp"):
        assert made.audit == "PASS"
        assert made.stored_per_s is not None
        assert made.drain_seconds is not None
    assert found.durability is not None
    assert found.durability.level == "A"
    assert found.sustained is not None
    if found.sustained.last_pass_per_s is not None:
        assert found.overload is not None
        assert found.overload.phases[1].acknowledged > 0
