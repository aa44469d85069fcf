"""The stores' own tools: what is read of their output, what a missing one leaves, and what bounds which path."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from rich.console import Console

from lifecycle.fakes import FakeRuntime, dataset
from writepath import checkout
from writepath.config import registry
from writepath.errors import LoadError
from writepath.experiments import engine, read
from writepath.experiments.base import Plan
from writepath.experiments.ceilings import tools
from writepath.experiments.ceilings.kind import CeilingsExperiment, CeilingsParams
from writepath.progress import Progress
from writepath.records.ceilings import (
    BULK,
    CONSUMED,
    PGBENCH,
    PGBENCH_BATCH,
    PUBLISHED,
    SINGLE,
    Ceiling,
    CeilingsFacts,
    ToolRun,
    of,
)
from writepath.report.data import SuiteData
from writepath.runtime.base import Runtime

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = Path(__file__).parent / "samples"  # as the tools printed them
PGBENCH_SAID = (SAMPLES / "pgbench-64.txt").read_text(encoding="utf-8")
PERF_TEST_SAID = (SAMPLES / "rabbitmq-perf-test-4.txt").read_text(encoding="utf-8")
K6_SAID = json.dumps({"documents": 3000, "refused": 0, "latency_ms_mean": 12.5})
FIGURES = {figure.name: figure for each in tools.TOOLS.values() for figure in each.figures}


def ceiling(name: str, *said: str, warm_up_seconds: float = 1.0) -> Ceiling:
    """What runs of a tool give, with 64, 65, ... clients."""
    figure = FIGURES[name]
    runs = [
        ToolRun(tool=figure.tool or name, clients=clients, file=f"{clients}.txt", output=text)
        for clients, text in enumerate(said, 64)
    ]
    facts = CeilingsFacts(
        store="postgres", version="2.22.1", warm_up_seconds=warm_up_seconds, seconds=15.0, runs=tuple(runs)
    )
    return tools.ceiling(figure, facts)


def test_pgbench_tells_transactions_without_the_time_to_connect_and_a_batch_is_many_writes() -> None:
    found = ceiling(PGBENCH, PGBENCH_SAID)
    assert (found.clients, found.writes_per_s, found.latency_ms_mean) == (64, 7231.527368, 8.85)
    assert (found.tool, found.raw_file) == ("pgbench 15.18", "64.txt")
    assert ceiling(PGBENCH_BATCH, PGBENCH_SAID).writes_per_s == pytest.approx(500 * 7231.527368)
    newer = PGBENCH_SAID.replace("pgbench (15.18", "pgbench (PostgreSQL) 18.6\npgbench (15.18")
    assert ceiling(PGBENCH, newer).tool == "pgbench 18.6"


def test_perf_test_counts_confirmed_and_received_by_length_after_the_warm_up() -> None:
    lengths = (2.014 - 1.045, 3.020 - 2.014)
    for name, rates in ((PUBLISHED, (1458, 1551)), (CONSUMED, (397, 537))):
        mean = sum(rate * length for rate, length in zip(rates, lengths, strict=True)) / sum(lengths)
        assert ceiling(name, PERF_TEST_SAID).writes_per_s == pytest.approx(mean)


def test_k6_counts_documents_by_the_time() -> None:
    found = ceiling(BULK, K6_SAID)
    assert (found.writes_per_s, found.latency_ms_mean) == (200.0, 12.5)


@pytest.mark.parametrize(
    ("name", "said", "words"),
    [
        (PGBENCH, "pgbench: error: connection refused", "printed no tps"),
        (PGBENCH, PGBENCH_SAID.replace("failed transactions: 0", "failed transactions: 3"), "3 transactions"),
        (PGBENCH, "number of transactions actually processed: 0\n", "nothing was written"),
        (PUBLISHED, PERF_TEST_SAID.replace("nacked: 0", "nacked: 1"), "the broker refused"),
        (PUBLISHED, PERF_TEST_SAID[:200], "no second after its warm-up"),
        (BULK, K6_SAID.replace('"refused": 0', '"refused": 2'), "2 requests were refused"),
        (BULK, "", "k6 left no counts"),
    ],
)
def test_a_tool_that_is_refused_or_tells_no_rate_gives_no_ceiling(name: str, said: str, words: str) -> None:
    with pytest.raises(LoadError, match=words):
        ceiling(name, said)


def test_the_best_number_of_clients_is_the_ceiling() -> None:
    slower = PGBENCH_SAID.replace("tps = 7231", "tps = 231")
    assert ceiling(PGBENCH, slower, PGBENCH_SAID, slower).clients == 65


def planned(root: Path, state: Path, **changed: object) -> Plan:
    suite = registry.load(ROOT).suite("ceilings")
    made = Plan(
        root=root,
        state=state,
        suite=suite,
        params=CeilingsParams(warm_up_seconds=1.0, seconds=3.0),
        variants=suite.variants,
        repetitions=1,
        seed=1,
        settings={},
        dataset=dataset(),
        code=checkout.code(ROOT),
        resumed=False,
    )
    return replace(made, **changed)  # type: ignore[arg-type]


def run(plan: Plan, runtime: Runtime) -> SuiteData[Any]:
    code, folder = engine.run(
        plan, CeilingsExperiment(), runtime, Progress(console=Console(file=io.StringIO()))
    )
    data = read.raw(folder)
    assert [code, *(cell.problems for cell in data.cells)] == [0, *((),) * len(data.cells)]
    return data


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["sh", "-c", "cat; echo no such host; exit 3"], "sh: ended with exit code 3"),
        (["sleep", "600"], "still running"),
    ],
)
def test_a_tool_that_fails_or_does_not_end_is_a_reason_and_gone(
    command: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measure(target: tools.Target) -> list[ToolRun]:
        target.tool(command[0], command, seconds=0.1, text_in="SELECT 1;\n")
        raise AssertionError("the tool fails")

    monkeypatch.setattr(tools, "SLACK_SECONDS", 1.0)
    monkeypatch.setitem(tools.TOOLS, "postgres", replace(tools.TOOLS["postgres"], measure=measure))
    for name in ("docker-compose.yml", ".env"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "state").mkdir()
    runtime = FakeRuntime()
    data = run(planned(tmp_path, tmp_path / "state", variants=(registry.load(ROOT).variant("jpa"),)), runtime)
    (cell,) = data.cells
    assert cell.counts
    assert words in cell.record.verdict.notes[0]
    assert runtime.events[-1] == "stop"
    assert not psutil.Process().children(recursive=True)
    if command[0] == "sh":
        log = tmp_path / "results/latest/jpa/block-01/sh.txt"
        assert log.read_text(encoding="utf-8") == "SELECT 1;\nno such host\n"


def test_a_write_of_the_tools_is_as_long_as_one_of_the_dataset(tmp_path: Path) -> None:
    content = tmp_path / "content.json"
    content.write_text(json.dumps(["영" * 10, "영" * 20, "영" * 900]), encoding="utf-8")
    assert tools.median_length(content, len) == 20
    assert tools.message_bytes(content) == 60 + len(
        '{"id":"00000000-0000-0000-0000-000000000000","content":"","createdAt":"2026-01-02T03:04:05.678Z"}'
    )


@pytest.mark.parametrize(
    ("variant", "bounds"),
    [
        ("jpa-tutorial", (PGBENCH,)),
        ("rabbitmq-jpa", (CONSUMED, PGBENCH_BATCH)),
        ("rabbitmq-tutorial", (CONSUMED, PGBENCH)),
        ("elasticsearch-8s0r-single", (SINGLE,)),
        ("rabbitmq-elasticsearch-1s0r", (CONSUMED, BULK)),
    ],
)
def test_a_path_is_bounded_by_what_it_does_to_its_stores(variant: str, bounds: tuple[str, ...]) -> None:
    known = registry.load(ROOT).variant(variant)
    assert of(known.family, known.settings) == bounds


def test_every_variant_is_bounded_by_something_and_an_unknown_family_by_nothing() -> None:
    for variant in registry.load(ROOT).variants.values():
        assert of(variant.family, variant.settings), variant.name
    assert of("carrier-pigeon", {}) == ()
