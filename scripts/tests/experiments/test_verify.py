"""`make verify` sees one changed value in any published file, and names file, figure and both values."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import planted_index
import planted_runs
from planted_runs import PlantedCell
from report import planted_documents
from writepath.experiments import publish, reporting
from writepath.load.parquet import load_table, save_table
from writepath.report import staging

ROOT = Path(__file__).resolve().parents[3]
SUITE, RAW = Path("results/published/flat"), Path("results/flat") / planted_index.STAMP
CELL = SUITE / "slow/block-01"
PAGE = Path("docs/results/flat.md")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with one raw load suite, and what is published of it."""
    root = tmp_path_factory.mktemp("whole")
    planted_documents.write(root)
    cells = (PlantedCell(), PlantedCell(variant="slow", load=planted_runs.slower(2)))
    publish.publish(root, planted_runs.write(root, *cells, suite="flat"))
    return root


@pytest.fixture
def copied(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "checkout")


def said(root: Path, path: Path | None = None) -> tuple[int, str]:
    lines: list[str] = []
    code = reporting.verify(root, path, lines.append)
    return code, "\n".join(lines)


def edit(path: Path, *keys: str | int, to: Callable[[Any], Any]) -> None:
    """A value of a JSON file."""
    data = place = json.loads(path.read_text(encoding="utf-8"))
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = to(place[keys[-1]])
    path.write_text(json.dumps(data, indent=1), encoding="utf-8")


def edit_table(path: Path, column: str, row: int, value: object) -> None:
    """A value of a Parquet file."""
    table = load_table(path)
    values = table.column(column).to_pylist()
    values[row] = value
    place = table.schema.names.index(column)
    save_table(table.set_column(place, column, pa.array(values, table.schema.field(column).type)), path)


def test_every_committed_cell_says_what_its_evidence_gives() -> None:
    assert reporting.wrong_published(ROOT) == []


def test_what_was_published_passes_with_its_raw_run(whole: Path) -> None:
    words = f"all published figures match their raw data: flat, and their pages; {RAW}"
    assert said(whole, RAW) == (0, words)


@pytest.mark.parametrize(
    ("figure", "before", "now"),
    [
        ("requests.by_status.201", 1000, 999),
        ("accept_latency_ms.p95", 190.0, 190.001),
        ("time_to_durable_ms.median", 99.95, 99.951),
        ("durable_per_s", None, 1.0),
        ("phases.2.accept_latency_ms.max", 200.0, 200.1),
        ("audit.lost", 0, 1),
        ("resources.app.cpu_seconds", 2.0, 2.001),
    ],
)
def test_a_changed_figure_is_named_with_both_values_even_where_the_digests_were_made_again(
    figure: str, before: object, now: object, copied: Path
) -> None:
    keys = [int(key) - 1 if key.isdecimal() and key != "201" else key for key in figure.split(".")]
    found: list[Any] = []

    def changed(value: Any) -> object:
        found.append(value)
        return now

    edit(copied / CELL / "cell.json", "result", *keys, to=changed)
    staging.write_manifest(copied / SUITE)
    assert reporting.wrong_published(copied) == [
        f"{CELL}/cell.json: result.{figure}: {now}, recomputed {found[0]}"
    ]
    assert before is None or found == [before]


@pytest.mark.parametrize(
    ("keys", "value", "figure"),
    [
        (("duration_us",), 190_001, "accept_latency_ms.p95"),
        (("status",), 503, "requests.acknowledged: 1000, recomputed 999"),
        (("durable_us",), 900_000, "time_to_durable_ms.max: 199.95, recomputed 900.0"),
        (("copies_2",), 0, "audit.vanished: 0, recomputed 1"),
        (("content_ok_1",), False, "audit.corrupted: 0, recomputed 1"),
        (("facts", "reads", 1, "store_rows"), 999, "audit.reads.2.store_rows: 1000, recomputed 999"),
        (("facts", "unread"), ["edited"], "verdict.status: valid, recomputed unknown"),
        (("facts", "drain", "dead_letters"), 2, "drain.dead_letters: 0, recomputed 2"),
        (("facts", "exit_code"), 99, "generator.exit_code: 0, recomputed 99"),
    ],
)
def test_a_changed_value_in_a_table_or_a_fact_is_found_by_its_digest_and_by_the_figures(
    keys: tuple[Any, ...], value: object, figure: str, copied: Path
) -> None:
    if keys[0] == "facts":
        file = copied / CELL / "facts.json"
        edit(file, *keys[1:], to=lambda _: value)
    else:
        file = copied / CELL / "requests.parquet"
        edit_table(file, keys[0], 949, value)
    assert publish.differences(copied) == [f"flat/slow/block-01/{file.name}: changed since it was published"]
    staging.write_manifest(copied / SUITE)
    assert any(
        f"{CELL}/cell.json: result.{figure}" in problem for problem in reporting.wrong_published(copied)
    )


def test_an_index_that_says_otherwise_than_the_cell_is_found(copied: Path) -> None:
    edit(copied / SUITE / "index.json", "cells", 1, "position", to=lambda position: position + 5)
    assert publish.differences(copied) == ["flat/index.json: changed since it was published"]
    staging.write_manifest(copied / SUITE)
    assert reporting.wrong_published(copied) == [
        f"{CELL}/cell.json: position: 2 in cell.json, 7 in index.json"
    ]


def test_an_index_that_lacks_a_cell_is_found(copied: Path) -> None:
    edit(copied / SUITE / "index.json", "cells", to=lambda cells: cells[:1])
    staging.write_manifest(copied / SUITE)
    code, words = said(copied)
    assert code == 1
    assert "1 of 2 cells finished; missing: slow, block 1" in words


def test_a_changed_a_missing_and_a_stray_page_are_found(copied: Path) -> None:
    page, picture = copied / PAGE, Path("docs/results/flat/latency-percentiles.svg")
    page.write_text(page.read_text(encoding="utf-8").replace("198", "98"), encoding="utf-8")
    (copied / picture).unlink()
    (copied / "docs/results/gone.md").write_text("# Gone\n", encoding="utf-8")
    assert publish.differences(copied) == [
        f"{PAGE}: differs from what the published raw data give",
        f"{picture}: missing",
        "docs/results/gone.md: nothing published gives this file",
    ]


def test_a_file_that_the_manifest_lacks_or_has_alone_is_found(copied: Path) -> None:
    (copied / SUITE / "extra").write_text("", encoding="utf-8")
    (copied / CELL / "unexpected.parquet").unlink()
    assert publish.differences(copied) == [
        "flat/slow/block-01/unexpected.parquet: missing",
        "flat/extra: not in manifest.sha256",
    ]
    assert any(
        f"{CELL}/cell.json: the figures cannot be derived" in one for one in reporting.wrong_published(copied)
    )


def test_evidence_that_cannot_be_read_any_more_is_a_difference(copied: Path) -> None:
    (copied / CELL / "requests.parquet").write_bytes(b"no longer")
    code, words = said(copied)
    assert code == 1
    assert f"{CELL}/cell.json: the figures cannot be derived" in words
    assert "slow/block-01/requests.parquet: cannot be read" in words


@pytest.mark.parametrize("file", ["requests", "stored", "samples"])
def test_a_raw_run_whose_files_do_not_give_its_record_fails(file: str, copied: Path) -> None:
    column, value = {
        "requests": ("duration_us", 900_000),
        "stored": ("sequence", 1),
        "samples": ("value", 9.0),
    }[file]
    edit_table(copied / RAW / f"slow/block-01/{file}.parquet", column, 5, value)
    assert reporting.wrong_published(copied) == []
    code, words = said(copied, RAW)
    assert code == 1
    assert words.startswith(f"{RAW}/slow/block-01/cell.json: result.")
    assert ", recomputed " in words
