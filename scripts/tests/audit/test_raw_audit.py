"""Tests of the audit of a fault cell from raw files: it agrees with the cell's own, and what is torn is no pass."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from faults.planted import CELL, ENTRY, MATRIX
from writepath.analysis import raw
from writepath.analysis.audit import NOT_READ_AGAIN
from writepath.errors import UsageError
from writepath.load import ledger, parquet
from writepath.measure import audit_cli
from writepath.measure.raw_audit import recompute
from writepath.records import Reading, Requests
from writepath.records.faults import CELL_FILE, load_cell, save_cell, save_faults
from writepath.selfcheck import planted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from writepath.records import Audit

FILES = (ledger.FILE, raw.STORED_FILE)
NUMBER = 4_000
ONE_FOLDER = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


def plant(truth: planted.Planted, folder: Path) -> Audit:
    """A fault cell with a record that tells the truth; gives its audit."""
    audit = planted.write(truth, folder)
    requests = Requests(
        planned=truth.requests,
        started=truth.requests,
        dropped=0,
        acknowledged=audit.acknowledged,
        rejected=audit.rejected_present,
        indeterminate=audit.recovered + audit.never_read,
        by_status={},
        by_error={},
    )
    save_cell(replace(CELL, run_id=planted.RUN_ID, requests=requests, audit=audit), folder)
    return audit


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cell in which nothing is wrong."""
    folder = tmp_path_factory.mktemp("honest")
    plant(planted.plant(NUMBER, ()), folder)
    return folder


@pytest.fixture
def copy(honest: Path, tmp_path: Path) -> Path:
    return shutil.copytree(honest, tmp_path / "copy", dirs_exist_ok=True)


def audit(folder: Path) -> Audit:
    return recompute(folder).audit


def rewrite(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """Changes the rows of a file."""
    parquet.save_table(change(parquet.load_table(path)), path)


def test_an_honest_cell_passes_and_agrees_with_its_record(honest: Path) -> None:
    found = audit(honest)
    assert replace(found, seconds=0.0) == load_cell(honest).audit
    assert (found.verdict, found.ok) == ("PASS", NUMBER)


@pytest.mark.parametrize("names", [*((name,) for name in planted.CLASSES), planted.CLASSES])
def test_every_class_is_found_as_it_was_planted(names: tuple[str, ...], tmp_path: Path) -> None:
    truth = planted.plant(NUMBER, names)
    expected = plant(truth, tmp_path)
    found = recompute(tmp_path)
    assert replace(found.audit, seconds=0.0) == expected
    for name in planted.CLASSES:
        assert np.array_equal(found.comparison.members[name], truth.of(name)), name


@pytest.mark.parametrize("name", [*FILES, CELL_FILE])
def test_a_missing_file_is_unknown_with_a_sentence(name: str, copy: Path) -> None:
    (copy / name).unlink()
    found = audit(copy)
    assert found.verdict == "UNKNOWN"
    assert any(name in words for words in found.unread)


@pytest.mark.parametrize("name", [*FILES, CELL_FILE])
@pytest.mark.parametrize("left", [b"", b"\n", b"\x1f\x8b", b"[]", b"null", b"\xff\x00" * 99])
def test_a_file_of_something_else_is_never_a_pass(name: str, left: bytes, copy: Path) -> None:
    (copy / name).write_bytes(left)
    assert audit(copy).verdict == "UNKNOWN"


@pytest.mark.parametrize("name", FILES)
@ONE_FOLDER
@given(share=st.floats(0, 1, exclude_max=True))
@example(share=0.0)
@example(share=0.9999)  # within the last word
def test_a_file_cut_anywhere_is_one_sentence_of_what_was_not_read(
    name: str, share: float, honest: Path, copy: Path
) -> None:
    whole = (honest / name).read_bytes()
    (copy / name).write_bytes(whole[: int(len(whole) * share)])
    found = audit(copy)
    assert found.verdict == "UNKNOWN"
    assert sum(f"{name}: cannot be read" in words for words in found.unread) == 1


@pytest.mark.parametrize("name", FILES)
@ONE_FOLDER
@given(share=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_is_never_a_false_word(
    name: str, share: float, bit: int, honest: Path, copy: Path
) -> None:
    """Some bytes of a Parquet file (its writer's name) change nothing; pages have checksums."""
    whole = bytearray((honest / name).read_bytes())
    whole[int(len(whole) * share)] ^= 1 << bit
    (copy / name).write_bytes(whole)
    found = audit(copy)
    assert found.verdict != "FAIL" or found.unread or found.identities_broken
    if found.verdict == "PASS":
        assert replace(found, seconds=0.0) == load_cell(honest).audit


@pytest.mark.parametrize("name", FILES)
@ONE_FOLDER
@given(random=st.integers(0, 2**32))
def test_the_order_of_rows_changes_nothing(name: str, random: int, honest: Path, copy: Path) -> None:
    shutil.copy(honest / name, copy / name)
    rewrite(copy / name, lambda rows: rows.take(np.random.default_rng(random).permutation(rows.num_rows)))
    assert replace(audit(copy), seconds=0.0) == load_cell(honest).audit


@pytest.mark.parametrize("name", FILES)
@ONE_FOLDER
@given(at=st.integers(0, NUMBER - 1), again=st.booleans())
def test_a_row_too_many_or_too_few_is_never_a_pass(
    name: str, at: int, again: bool, honest: Path, copy: Path
) -> None:
    shutil.copy(honest / name, copy / name)
    middle = [at, at] if again else []
    rewrite(
        copy / name,
        lambda rows: rows.take([*range(at), *middle, *range(at + 1, rows.num_rows)]),
    )
    found = audit(copy)
    assert found.verdict != "PASS"
    assert found.identities_broken


@pytest.mark.parametrize("reads", [[raw.SECOND], [raw.FIRST, 3], [0]])
def test_reads_that_no_run_makes_are_an_edited_file(reads: list[int], copy: Path) -> None:
    whole = parquet.load_table(copy / FILES[1])
    first = whole.slice(0, NUMBER)
    changed = [first.set_column(0, "read", pa.array([read] * NUMBER, pa.int8())) for read in reads]
    parquet.save_table(pa.concat_tables(changed), copy / FILES[1])
    found = audit(copy)
    assert found.verdict == "UNKNOWN"
    assert any("not those of a run; it was edited" in words for words in found.unread)


def test_a_store_that_was_empty_in_both_reads_is_all_lost(copy: Path) -> None:
    rewrite(copy / FILES[1], lambda rows: rows.slice(0, 0))
    run = load_cell(copy)
    assert run.audit is not None
    empty = replace(run.audit, reads=(Reading(store_rows=0, left_in_queue=0),) * 2)
    save_cell(replace(run, audit=empty), copy)
    found = audit(copy)
    assert (found.lost, found.ok, found.identities_broken) == (NUMBER, 0, ())
    assert found.verdict != "PASS"


def test_a_second_read_that_was_not_kept_is_unknown_and_not_all_vanished(copy: Path) -> None:
    rewrite(copy / FILES[1], lambda rows: rows.slice(0, NUMBER))
    found = audit(copy)
    assert (found.verdict, found.vanished, found.ok) == ("UNKNOWN", 0, NUMBER)
    assert NOT_READ_AGAIN in found.unread


def test_rows_that_an_earlier_run_left_are_unexpected(copy: Path) -> None:
    theirs = [{"read": raw.FIRST, "foreign_id": f"{name:036x}"} for name in range(50)]
    more = pa.Table.from_pylist(theirs, schema=raw.STORED_SCHEMA)
    rewrite(copy / FILES[1], lambda rows: pa.concat_tables([rows.cast(raw.STORED_SCHEMA), more]))
    found = audit(copy)
    assert found.unexpected == 50
    assert found.verdict != "PASS"


def test_raw_files_that_contradict_the_record_are_no_pass(copy: Path) -> None:
    run = load_cell(copy)
    assert run.audit is not None
    save_cell(replace(run, audit=replace(run.audit, ok=run.audit.ok - 1, late=1)), copy)
    found = audit(copy)
    assert found.verdict == "UNKNOWN"
    assert (
        "the raw files contradict cell.json: ok 4000, in the record 3999; late 0, in the record 1"
        in found.unread
    )


def test_offenders_stand_beside_the_fault_that_is_nearest(tmp_path: Path) -> None:
    truth = planted.Planted(requests=NUMBER, members={"absent": np.array([16, 17, 18, 24, 3_200])})
    plant(truth, tmp_path)
    sent = planted.SENT_US / 1000
    events = [
        {"at_ms": sent + 215.5, "until_ms": sent + 300, "what": "kill database"},
        {"at_ms": sent + 400, "until_ms": None, "what": "restart queue"},
    ]
    (tmp_path / "timeline.json").write_text(json.dumps(events), encoding="utf-8")
    assert list(recompute(tmp_path).beside("absent")) == [
        "16..18 24 (00:00:00.002-00:00:00.015, 0.2 s before kill database)",
        "3200 (00:00:00.400-00:00:00.412, during restart queue)",
    ]


@pytest.mark.parametrize("text", ["{", "[1]", '[{"at_ms": "noon", "what": "x"}]', '[{"what": "x"}]', "7"])
def test_a_broken_timeline_is_no_pass(text: str, copy: Path) -> None:
    (copy / "timeline.json").write_text(text, encoding="utf-8")
    assert audit(copy).verdict == "UNKNOWN"


def test_the_exit_code_is_the_verdict_and_the_worst_run_decides(copy: Path, tmp_path: Path) -> None:
    said: list[str] = []
    assert audit_cli.run(tmp_path, copy, said.append) == 0
    assert said[-1].startswith("  PASS in ")
    bad = tmp_path / "bad"
    bad.mkdir()
    plant(planted.plant(NUMBER, ("absent",)), bad)
    said.clear()
    assert audit_cli.run(tmp_path, bad, said.append) == 1
    assert any(line.startswith("  absent: ") for line in said)
    (copy / FILES[1]).unlink()
    assert audit_cli.run(tmp_path, copy, said.append) == 3
    with pytest.raises(UsageError, match="not the folder of a run or of a suite run"):
        audit_cli.run(tmp_path, tmp_path, said.append)


def test_a_cell_that_ended_before_its_audit_says_so(copy: Path) -> None:
    save_cell(replace(load_cell(copy), requests=None), copy)
    assert "ended before its audit" in audit(copy).unread[0]


def test_every_cell_of_a_matrix_is_audited_and_the_worst_decides(copy: Path, tmp_path: Path) -> None:
    matrix, entries = tmp_path / "matrix", []
    for key in ("kill-database", "kill-proxy"):
        shutil.copytree(copy, matrix / "jpa" / key)
        entries.append(replace(ENTRY, fault=key, folder=f"jpa/{key}"))
    save_faults(replace(MATRIX, cells=tuple(entries)), matrix)
    said: list[str] = []
    assert audit_cli.run(tmp_path, matrix, said.append) == 0
    assert [line for line in said if not line.startswith(" ")] == ["jpa/kill-database", "jpa/kill-proxy"]
    (matrix / "jpa/kill-proxy" / FILES[1]).unlink()
    assert audit_cli.run(tmp_path, matrix, said.append) == 3
