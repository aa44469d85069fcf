"""Are run.json and suite.json read as they were written, and are their schemas those of the records?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from writepath import result
from writepath.errors import UsageError
from writepath.result import Run, SuiteResult, SuiteVariant, Verdict, schema

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


def test_a_run_is_read_as_it_was_saved(tmp_path: Path) -> None:
    result.save_run(RUN, tmp_path)
    assert result.load_run(tmp_path) == RUN


def test_a_suite_is_read_as_it_was_saved(tmp_path: Path) -> None:
    result.save_suite(SUITE, tmp_path)
    assert result.load_suite(tmp_path) == SUITE


@pytest.mark.parametrize(("name", "record"), [("run", RUN), ("suite", SUITE)])
def test_what_is_saved_satisfies_its_schema(name: str, record: Any, tmp_path: Path) -> None:
    (result.save_run if name == "run" else result.save_suite)(record, tmp_path)
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
