"""What is read out of the output of the stores' own tools, and which of their figures bounds which path."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from lifecycle.fakes import FakeRuntime
from writepath.capacity import ceiling_tool, ceilings, elasticsearch_load, perf_test, pgbench
from writepath.capacity.ceiling_tool import Measured
from writepath.config import registry
from writepath.errors import LoadError
from writepath.measure import host
from writepath.measure.bench import Bench
from writepath.measure.host import CanaryCage
from writepath.progress import Progress
from writepath.records import capacity
from writepath.records.capacity import Ceiling
from writepath.records.ceilings import BULK, CONSUMED, PGBENCH, PGBENCH_BATCH, PUBLISHED, SINGLE, Bounds, of

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = Path(__file__).parent / "samples"  # as the tools printed them
PGBENCH_SAID = (SAMPLES / "pgbench-64.txt").read_text(encoding="utf-8")
PERF_TEST_SAID = (SAMPLES / "rabbitmq-perf-test-4.txt").read_text(encoding="utf-8")


def test_pgbench_tells_transactions_without_the_time_to_connect_and_its_version() -> None:
    found = pgbench.parse(PGBENCH_SAID, "pgbench-64.txt", 64, 1)
    assert found == Measured(
        clients=64, writes_per_s=7231.527368, latency_ms_mean=8.85, raw_file="pgbench-64.txt"
    )
    assert pgbench.version(PGBENCH_SAID) == "15.18"
    assert pgbench.version("pgbench (PostgreSQL) 18.6\n") == "18.6"


def test_a_statement_of_many_rows_counts_as_many_writes() -> None:
    assert pgbench.parse(PGBENCH_SAID, "x", 64, 500).writes_per_s == pytest.approx(500 * 7231.527368)


def test_pgbench_whose_time_went_by_while_it_connected_wrote_nothing() -> None:
    said = "number of transactions actually processed: 0\nnumber of failed transactions: 0 (NaN%)\n"
    assert pgbench.parse(said, "x", 64, 1).writes_per_s == 0.0


def test_pgbench_without_a_figure_or_with_failures_is_no_limit() -> None:
    with pytest.raises(LoadError, match="printed no tps"):
        pgbench.parse("pgbench: error: connection refused", "x", 1, 1)
    failed = PGBENCH_SAID.replace("failed transactions: 0", "failed transactions: 3")
    with pytest.raises(LoadError, match="3 transactions failed"):
        pgbench.parse(failed, "x", 1, 1)


def test_perf_test_counts_confirmed_and_received_by_length_after_the_warm_up() -> None:
    rates = perf_test.parse(PERF_TEST_SAID, "raw.txt", 4, 1.0)
    lengths = (2.014 - 1.045, 3.020 - 2.014)
    confirmed = (1458 * lengths[0] + 1551 * lengths[1]) / sum(lengths)
    received = (397 * lengths[0] + 537 * lengths[1]) / sum(lengths)
    assert rates.published.writes_per_s == pytest.approx(confirmed)
    assert rates.consumed.writes_per_s == pytest.approx(received)
    assert (rates.published.clients, rates.consumed.raw_file) == (4, "raw.txt")


def test_perf_test_that_is_refused_or_ends_in_its_warm_up_is_no_limit() -> None:
    with pytest.raises(LoadError, match="the broker refused"):
        perf_test.parse(PERF_TEST_SAID.replace("nacked: 0", "nacked: 1"), "raw.txt", 4, 1.0)
    with pytest.raises(LoadError, match="no second after its warm-up"):
        perf_test.parse(PERF_TEST_SAID, "raw.txt", 4, 60.0)


def test_k6_counts_documents_by_the_time_and_any_refusal_is_no_limit(tmp_path: Path) -> None:
    summary = tmp_path / "bulk.json"
    summary.write_text(json.dumps({"documents": 3000, "refused": 0, "latency_ms_mean": 12.5}), "utf-8")
    found = elasticsearch_load.parse(summary, 4, 15.0)
    assert found == Measured(clients=4, writes_per_s=200.0, latency_ms_mean=12.5, raw_file="bulk.json")
    summary.write_text(json.dumps({"documents": 3000, "refused": 2, "latency_ms_mean": 12.5}), "utf-8")
    with pytest.raises(LoadError, match="2 requests were refused"):
        elasticsearch_load.parse(summary, 4, 15.0)
    with pytest.raises(LoadError, match="k6 left no counts"):
        elasticsearch_load.parse(tmp_path / "none.json", 4, 15.0)


def test_a_tool_is_fed_and_its_output_kept(tmp_path: Path) -> None:
    said = ceiling_tool.run("cat", ["cat"], folder=tmp_path, pids=tmp_path, bound_s=60, text_in="SELECT 1;\n")
    assert said == (tmp_path / "cat.txt").read_text(encoding="utf-8") == "SELECT 1;\n"
    assert not list(tmp_path.glob("*.pid"))


def test_a_tool_that_fails_or_does_not_end_is_an_error_and_gone(tmp_path: Path) -> None:
    command = ["sh", "-c", "echo no such host; exit 3"]
    with pytest.raises(LoadError, match=r"sh: ended with exit code 3.*\n.*no such host"):
        ceiling_tool.run("sh", command, folder=tmp_path, pids=tmp_path, bound_s=60)
    with pytest.raises(LoadError, match="sleep: still running"):
        ceiling_tool.run("sleep", ["sleep", "600"], folder=tmp_path, pids=tmp_path, bound_s=0.1)
    assert not psutil.Process().children(recursive=True)


def test_a_store_whose_tool_fails_has_a_reason_and_the_others_their_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = Ceiling(
        name="one", store="postgres", tool="x", what="a row", clients=1, seconds=15, writes_per_s=2,
        latency_ms_mean=None, raw_file="one.txt",
    )  # fmt: skip

    def refused(_: ceiling_tool.Target) -> list[Ceiling]:
        raise LoadError("the broker refused messages")

    stores = {store.service: store for store in ceilings.STORES}
    measured = (
        replace(stores["rabbitmq"], measure=refused),
        replace(stores["postgres"], measure=lambda _: [figure]),
    )
    monkeypatch.setattr(ceilings, "STORES", measured)
    runtime = FakeRuntime()
    bench = Bench(
        runtime=runtime,
        progress=Progress(console=Console(file=io.StringIO())),
        cage=CanaryCage(folder=tmp_path),
        host=host.facts(tmp_path),
        content=tmp_path / "content.json",
        pids=tmp_path,
        root=ROOT,
    )
    found = ceilings.run(1, tmp_path / "block", bench, {})
    assert found.ceilings == (figure,)
    assert found.missing == {"rabbitmq": "the broker refused messages"}
    assert runtime.events.count("stop") == 2
    assert capacity.load_ceilings(tmp_path / "block") == found


def test_the_best_number_of_clients_is_the_limit_and_nothing_written_is_none() -> None:
    slow = Measured(clients=4, writes_per_s=10.0, latency_ms_mean=None, raw_file="4.txt")
    fast = replace(slow, clients=64, writes_per_s=20.0)
    assert ceiling_tool.best([slow, fast, slow]) is fast
    with pytest.raises(LoadError, match="nothing was written"):
        ceiling_tool.best([replace(slow, writes_per_s=0.0)])


def test_a_write_of_the_tools_is_as_long_as_one_of_the_dataset(tmp_path: Path) -> None:
    content = tmp_path / "content.json"
    content.write_text(json.dumps(["영" * 10, "영" * 20, "영" * 900]), encoding="utf-8")
    assert ceiling_tool.median_characters(content) == 20
    assert ceiling_tool.message_bytes(content) == 60 + len(
        '{"id":"00000000-0000-0000-0000-000000000000","content":"","createdAt":"2026-01-02T03:04:05.678Z"}'
    )


@pytest.mark.parametrize(
    ("variant", "bounds"),
    [
        ("jpa", Bounds(burst=(PGBENCH,), sustained=(PGBENCH,))),
        ("jpa-tutorial", Bounds(burst=(PGBENCH,), sustained=(PGBENCH,))),
        ("rabbitmq-jpa", Bounds(burst=(PUBLISHED,), sustained=(CONSUMED, PGBENCH_BATCH))),
        ("rabbitmq-tutorial", Bounds(burst=(PUBLISHED,), sustained=(CONSUMED, PGBENCH))),
        ("elasticsearch-1s0r", Bounds(burst=(BULK,), sustained=(BULK,))),
        ("elasticsearch-8s0r-single", Bounds(burst=(SINGLE,), sustained=(SINGLE,))),
        ("rabbitmq-elasticsearch-1s0r", Bounds(burst=(PUBLISHED,), sustained=(CONSUMED, BULK))),
    ],
)
def test_a_path_is_bounded_by_what_it_does_to_its_stores(variant: str, bounds: Bounds) -> None:
    known = registry.load(ROOT).variant(variant)
    assert of(known.family, known.settings) == bounds


def test_every_variant_is_bounded_by_something_and_an_unknown_family_by_nothing() -> None:
    for variant in registry.load(ROOT).variants.values():
        assert of(variant.family, variant.settings).sustained, variant.name
    assert of("carrier-pigeon", {}) == Bounds(burst=(), sustained=())
