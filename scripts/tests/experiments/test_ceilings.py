"""The stores' own tools: what is read of their output, what a missing one leaves, and what bounds which path."""

import io
import json
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from experiments.test_engine import planned
from lifecycle.fakes import FakeRuntime
from writepath.config import registry
from writepath.errors import LoadError
from writepath.experiments import ceilings, engine, read
from writepath.experiments.ceilings import CeilingsExperiment, CeilingsParams, Pgbench, Target
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

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = Path(__file__).parent / "samples"  # as the tools printed them
PGBENCH_SAID = (SAMPLES / "pgbench-64.txt").read_text(encoding="utf-8")
PERF_TEST_SAID = (SAMPLES / "rabbitmq-perf-test-4.txt").read_text(encoding="utf-8")
K6_SAID = json.dumps({"documents": 3000, "refused": 0, "latency_ms_mean": 12.5})
TOOLS = {tool.name: tool for own in ceilings.TOOLS.values() for tool in own}


def ceiling(name: str, *said: str, warm_up_seconds: float = 1.0) -> Ceiling:
    """What runs of a tool give, with 64, 65, ... clients."""
    tool = TOOLS[name]
    runs = [
        ToolRun(tool=tool.runs_of or name, clients=clients, file=f"{clients}.txt", output=text)
        for clients, text in enumerate(said, 64)
    ]
    facts = CeilingsFacts(
        store="postgres", version="2.22.1", warm_up_seconds=warm_up_seconds, seconds=15.0, runs=tuple(runs)
    )
    return tool.ceiling(facts)


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
    def fails(_: Pgbench, target: Target, *__: object) -> None:
        target.tool(command[0], command, seconds=0.1, text_in="SELECT 1;\n")
        raise AssertionError("the tool fails")

    monkeypatch.setattr(ceilings, "SLACK_SECONDS", 1.0)
    monkeypatch.setattr(Pgbench, "run", fails)
    for name in ("docker-compose.yml", ".env"):
        (tmp_path / name).symlink_to(ROOT / name)
    known, runtime = registry.load(ROOT), FakeRuntime()
    params = CeilingsParams(warm_up_seconds=1.0, seconds=3.0)
    own = {"suite": known.suite("ceilings"), "kind": CeilingsExperiment(), "params": params}
    asked = planned(tmp_path, variants=(known.variant("jpa"),), **own)
    progress = Progress(console=Console(file=io.StringIO()))
    code, folder = engine.run(asked, runtime, progress)
    (cell,) = read.raw(folder).cells
    assert (code, cell.problems, cell.counts) == (0, (), True)
    assert words in cell.record.verdict.notes[0]
    assert runtime.events[-1] == "stop"
    assert not psutil.Process().children(recursive=True)
    if command[0] == "sh":
        log = tmp_path / "results/latest/jpa/block-01/sh.txt"
        assert log.read_text(encoding="utf-8") == "SELECT 1;\nno such host\n"


def test_a_write_of_the_tools_is_as_long_as_one_of_the_dataset(tmp_path: Path) -> None:
    content = tmp_path / "content.json"
    content.write_text(json.dumps(["영" * 10, "영" * 20, "영" * 900]), encoding="utf-8")
    assert ceilings.median_length(content, len) == 20


@pytest.mark.parametrize(
    ("variant", "bounds"),
    [
        ("jpa-tutorial", (PGBENCH,)),
        ("jpa-batched", (PGBENCH_BATCH,)),
        ("rabbitmq-jpa", (CONSUMED, PGBENCH_BATCH)),
        ("rabbitmq-tutorial", (CONSUMED, PGBENCH)),
        ("elasticsearch-8s0r-single", (SINGLE,)),
        ("elasticsearch-tutorial", (SINGLE,)),
        ("rabbitmq-elasticsearch-1s0r", (CONSUMED, BULK)),
    ],
)
def test_a_path_is_bounded_by_what_it_does_to_its_stores(variant: str, bounds: tuple[str, ...]) -> None:
    known = registry.load(ROOT).variant(variant)
    assert of(known.family, known.settings) == bounds


def test_every_variant_of_writes_is_bounded_by_something_and_an_unknown_family_by_nothing() -> None:
    for variant in registry.load(ROOT).variants.values():
        assert of(variant.family, variant.settings) or variant.serves == "reads", variant.name
    assert of("carrier-pigeon", {}) == ()
