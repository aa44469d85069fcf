"""The stores' own tools against real stores, two seconds each: what they leave, and that nothing of them stays."""

from __future__ import annotations

import io
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from writepath import provision
from writepath.capacity import ceilings
from writepath.capacity.ceiling_tool import Spans
from writepath.load.dataset import generate
from writepath.measure import host
from writepath.measure.bench import Bench
from writepath.measure.host import CanaryCage
from writepath.progress import Progress
from writepath.records import capacity
from writepath.runtime.native import NativeRuntime, backing

pytestmark = [pytest.mark.native, pytest.mark.timeout(900)]  # six starts of a tool each, on a busy machine
ROOT = Path(__file__).resolve().parents[3]
SHORT = Spans(warm_up_s=1, seconds=3)
NAMES = {
    "postgres": {"pgbench", "pgbench-batch"},
    "rabbitmq": {"rabbitmq-perf-test", "rabbitmq-perf-test-consumed"},
    "elasticsearch": {"elasticsearch-single", "elasticsearch-bulk"},
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    provision.setup(
        ROOT, print, only=backing.needs(["postgres", "rabbitmq", "elasticsearch"]) | {"packages", "k6"}
    )
    runtime = NativeRuntime(ROOT)
    runtime.reap(print)
    folder = tmp_path_factory.mktemp("ceilings")
    content = folder / "content.json"
    generate(seed=1).write(content)
    return Bench(
        runtime=runtime,
        progress=Progress(console=Console(file=io.StringIO())),
        cage=CanaryCage(folder=folder),
        host=host.facts(folder),
        content=content,
        pids=folder,
        root=ROOT,
    )


@pytest.mark.parametrize("service", NAMES)
def test_each_store_is_asked_by_its_tool_alone_and_what_it_said_is_kept(
    bench: Bench, tmp_path: Path, service: str
) -> None:
    found = ceilings.run(2, tmp_path, bench, {}, spans=SHORT, only=(service,))
    assert capacity.load_ceilings(tmp_path) == found
    assert (found.block, found.runtime) == (2, "native")
    assert {each.name for each in found.ceilings} == NAMES[service]
    for each in found.ceilings:
        assert each.writes_per_s > 0
        assert each.store == service
        assert (tmp_path / each.raw_file).stat().st_size > 0
    assert found.versions
    assert not found.missing
    assert not psutil.Process().children(recursive=True)
    assert not list(bench.pids.glob("*.pid"))
