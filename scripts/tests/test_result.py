"""Are run.json and suite.json read as they were written, and are their schemas those of the records?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from capacity.planted import hold
from writepath import result
from writepath.errors import UsageError
from writepath.result import Run, SuiteResult, SuiteVariant, Verdict, queries, schema
from writepath.result.capacity import Bracket

ROOT = Path(__file__).resolve().parents[2]
CODE = result.Code(commit="0" * 40, dirty=False)
DATASET = result.DatasetFacts(name="embedded", sha256="0" * 64, lines=1000)
RUN = Run(
    schema_version=result.SCHEMA_VERSION,
    run_id="0" * 15,
    suite="smoke",
    variant="jpa",
    title="JPA",
    family="jpa",
    acknowledges="committed",
    scenario="ramp-smoke",
    repetition=1,
    position=1,
    runtime="native",
    seed=1,
    overrides={"INSTANCES": "2"},
    dataset=DATASET,
    code=CODE,
    started_at="2026-11-21T03:15:00.000Z",
    finished_at="2026-11-21T03:16:00.000Z",
    outcome="finished",
    error=None,
    verdict=Verdict(status="valid"),
    durability=result.Durability(level="A", settings={"fsync": "on"}),
    accept_latency_ms=result.Latency(min=1, mean=2.5, median=2.0, p95=None, p99=None, max=9.0),
    timings=(result.Step(step="start", seconds=8.0),),
)
SUITE = SuiteResult(
    schema_version=result.SCHEMA_VERSION,
    suite="smoke",
    title="Smoke",
    stamp="20261121T031500Z",
    status="running",
    started_at="2026-11-21T03:15:00.000Z",
    finished_at=None,
    seed=1,
    repetitions=1,
    runtime="native",
    scenario="ramp-smoke",
    phases=(result.SuitePhase(name="ramp-up", seconds=5, from_per_s=3, to_per_s=100),),
    warm_up_requests=400,
    warm_up_per_s=100,
    variants=(
        SuiteVariant(name="jpa", title="JPA", family="jpa", acknowledges="x", profiles=("jpa",), settings={}),
    ),
    overrides={},
    dataset=DATASET,
    code=CODE,
    blocks=(("jpa",),),
)


READ = queries.Read(
    schema_version=queries.QUERIES_SCHEMA_VERSION,
    run_id="0" * 15,
    suite="search",
    variant="jpa",
    title="JPA",
    family="jpa",
    mode="substring",
    search_index="none",
    block=1,
    position=1,
    again=False,
    runtime="native",
    seed=1,
    overrides={},
    dataset=DATASET,
    code=CODE,
    started_at="2026-11-21T03:15:00.000Z",
    finished_at="2026-11-21T03:16:00.000Z",
    outcome="finished",
    error=None,
    durability=result.Durability(level="A", settings={"search_index": "none"}),
    loading=queries.Loading(
        documents=1000,
        seconds=1.5,
        build_seconds=None,
        settle_seconds=0.5,
        store_bytes=4096,
        search_index_bytes=None,
        parts_bytes={"table": 4096},
        digest="0" * 64,
    ),
    hits=(
        queries.Hits(
            keyword="영화",
            mode="substring",
            expected=3,
            found=3,
            missed=0,
            surplus=0,
            as_word=2,
            explained=True,
        ),
    ),
    rounds=(
        queries.Round(
            keyword="영화", kind="first-page", round=1, cold=True, latency_ms=2.5, requests=1, posts=3
        ),
    ),
    capacity=Bracket(last_pass_per_s=20.0, first_fail_per_s=None, at_least=True, holds=6),
    holds=(hold(),),
    beside=queries.Beside(
        search_rate_per_s=10.0,
        write_rate_per_s=50.0,
        seconds=60.0,
        search_latency_ms=result.Latency(min=1.0, mean=2.5, median=2.0, p95=None, p99=None, max=9.0),
        write_latency_ms=result.Latency(min=1.0, mean=2.5, median=2.0, p95=None, p99=None, max=9.0),
        alone_latency_ms=None,
        visible_ms_median=None,
        visible_ms_p95=None,
        writes_acknowledged=3000,
        writes_found=3000,
        wrong_answers=0,
    ),
)
QUERIES = queries.QueriesSuite(
    schema_version=queries.QUERIES_SCHEMA_VERSION,
    suite="search",
    title="Search",
    stamp="20261121T031500Z",
    status="running",
    started_at="2026-11-21T03:15:00.000Z",
    finished_at=None,
    seed=1,
    repetitions=1,
    runtime="native",
    documents=1000,
    rounds=5,
    keywords=("영화",),
    slo_ms=500.0,
    hold_seconds=60.0,
    baseline="jpa",
    variants=SUITE.variants,
    overrides={},
    dataset=DATASET,
    code=CODE,
    blocks=(("jpa",),),
)


def test_a_run_is_read_as_it_was_saved(tmp_path: Path) -> None:
    result.save_run(RUN, tmp_path)
    assert result.load_run(tmp_path) == RUN


def test_a_suite_is_read_as_it_was_saved(tmp_path: Path) -> None:
    result.save_suite(SUITE, tmp_path)
    assert result.load_suite(tmp_path) == SUITE


def test_a_reading_and_its_index_are_read_as_they_were_saved(tmp_path: Path) -> None:
    queries.save_read(READ, tmp_path)
    queries.save_suite(QUERIES, tmp_path)
    assert queries.load_read(tmp_path) == READ
    assert queries.load_suite(tmp_path) == QUERIES
    assert '"class": "A"' in (tmp_path / queries.READ_FILE).read_text(encoding="utf-8")


SAVES = {
    "run": result.save_run,
    "suite": result.save_suite,
    "read": queries.save_read,
    "queries": queries.save_suite,
}


@pytest.mark.parametrize(
    ("name", "record"), [("run", RUN), ("suite", SUITE), ("read", READ), ("queries", QUERIES)]
)
def test_what_is_saved_satisfies_its_schema(name: str, record: Any, tmp_path: Path) -> None:
    SAVES[name](record, tmp_path)  # type: ignore[operator]
    written = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    committed = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(committed).validate(written)


def test_the_schemas_are_those_of_the_records() -> None:
    for name, text in schema.files().items():
        assert (ROOT / "schemas" / name).read_text(encoding="utf-8") == text, (
            "run: python -m writepath.result.schema"
        )


def test_a_broken_save_leaves_the_file_before_it(tmp_path: Path) -> None:
    result.save_run(RUN, tmp_path)
    with pytest.raises(ValueError, match="JSON"):
        result.save_run(replace(RUN, durable_per_s=float("nan")), tmp_path)
    assert result.load_run(tmp_path) == RUN


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"schema_version": 99}, "schema_version=99"),
        ({"surprise": 1}, "surprise: no such field"),
        ({"seed": "one"}, "seed='one': expected int"),
        ({"outcome": "fine"}, "outcome='fine': not one of"),
        ({"verdict": None}, "verdict=None: expected an object"),
    ],
)
def test_a_file_in_another_form_is_an_error_that_names_the_field(
    changed: dict[str, Any], message: str, tmp_path: Path
) -> None:
    result.save_run(RUN, tmp_path)
    data = json.loads((tmp_path / "run.json").read_text(encoding="utf-8")) | changed
    (tmp_path / "run.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        result.load_run(tmp_path)


def test_a_folder_without_the_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"run\.json: cannot be read"):
        result.load_run(tmp_path)
