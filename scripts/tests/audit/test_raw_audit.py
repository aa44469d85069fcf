"""Does the audit from raw files agree with the run's own, and is what is torn, missing or changed never a pass?"""

from __future__ import annotations

import gzip
import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from faults.planted import CELL, ENTRY, MATRIX
from writepath import result
from writepath.errors import UsageError
from writepath.harness import planted
from writepath.result.faults import save_cell, save_faults
from writepath.run import audit_cli
from writepath.run.raw_audit import PLAN_FILE, recompute

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from writepath.result import Audit

FILES = ("ledger.csv.gz", "stored.csv.gz", "stored-after-crash.csv.gz")
NUMBER = 4_000
ONE_FOLDER = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which nothing is wrong."""
    folder = tmp_path_factory.mktemp("honest")
    planted.write(planted.plant(NUMBER, ()), folder)
    return folder


@pytest.fixture
def copy(honest: Path, tmp_path: Path) -> Path:
    return shutil.copytree(honest, tmp_path / "copy", dirs_exist_ok=True)


def audit(folder: Path) -> Audit:
    return recompute(folder).audit


def rewrite(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    """Changes the lines of a packed file, the header kept."""
    header, *lines = gzip.decompress(path.read_bytes()).decode().splitlines(keepends=True)
    path.write_bytes(gzip.compress("".join([header, *change(lines)]).encode(), 1))


def test_an_honest_run_passes_and_agrees_with_its_run_json(honest: Path) -> None:
    found = audit(honest)
    assert replace(found, seconds=0.0) == result.load_run(honest).audit
    assert (found.verdict, found.ok) == ("PASS", NUMBER)


@pytest.mark.parametrize("names", [*((name,) for name in planted.CLASSES), planted.CLASSES])
def test_every_class_is_found_as_it_was_planted(names: tuple[str, ...], tmp_path: Path) -> None:
    truth = planted.plant(NUMBER, names)
    expected = planted.write(truth, tmp_path)
    found = recompute(tmp_path)
    assert replace(found.audit, seconds=0.0) == expected
    for name in planted.CLASSES:
        assert np.array_equal(found.comparison.members[name], truth.of(name)), name


@pytest.mark.parametrize("name", [*FILES, "plan.json", "run.json"])
def test_a_missing_file_is_unknown_with_a_sentence(name: str, copy: Path) -> None:
    (copy / name).unlink()
    found = audit(copy)
    assert found.verdict == "UNKNOWN"
    assert any(name in words for words in found.unread)


@pytest.mark.parametrize("name", [*FILES, "plan.json", "run.json"])
@pytest.mark.parametrize("left", [b"", b"\n", b"\x1f\x8b", b"[]", b"null", b"\xff\x00" * 99])
def test_a_file_of_something_else_is_never_a_pass(name: str, left: bytes, copy: Path) -> None:
    (copy / name).write_bytes(left)
    assert audit(copy).verdict == "UNKNOWN"


@pytest.mark.parametrize("name", FILES)
@ONE_FOLDER
@given(share=st.floats(0, 1, exclude_max=True))
@example(share=0.0)
@example(share=0.9999)  # within the checksum
def test_an_archive_cut_anywhere_is_never_a_pass(name: str, share: float, honest: Path, copy: Path) -> None:
    whole = (honest / name).read_bytes()
    (copy / name).write_bytes(whole[: int(len(whole) * share)])
    assert audit(copy).verdict == "UNKNOWN"


@pytest.mark.parametrize("name", FILES)
def test_an_archive_cut_in_its_header_or_its_checksum_is_never_a_pass(
    name: str, honest: Path, copy: Path
) -> None:
    whole = (honest / name).read_bytes()
    for cut in (*range(20), *range(len(whole) - 12, len(whole))):
        (copy / name).write_bytes(whole[:cut])
        assert audit(copy).verdict == "UNKNOWN", cut


@pytest.mark.parametrize("name", FILES)
@ONE_FOLDER
@given(share=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_is_never_a_false_word(
    name: str, share: float, bit: int, honest: Path, copy: Path
) -> None:
    """Bits of the archive's own header (its time, its system) change nothing; all others break its checksum."""
    whole = bytearray((honest / name).read_bytes())
    at = int(len(whole) * share)
    whole[at] ^= 1 << bit
    (copy / name).write_bytes(whole)
    found = audit(copy)
    assert found.verdict == "UNKNOWN" or (at < 10 and found.verdict == "PASS")


@pytest.mark.parametrize("name", FILES)
@ONE_FOLDER
@given(random=st.integers(0, 2**32))
def test_the_order_of_lines_changes_nothing(name: str, random: int, honest: Path, copy: Path) -> None:
    shutil.copy(honest / name, copy / name)
    rewrite(
        copy / name, lambda lines: [lines[at] for at in np.random.default_rng(random).permutation(len(lines))]
    )
    assert replace(audit(copy), seconds=0.0) == result.load_run(honest).audit


@pytest.mark.parametrize("name", FILES)
@ONE_FOLDER
@given(at=st.integers(0, NUMBER - 1), again=st.booleans())
def test_a_line_too_many_or_too_few_is_never_a_pass(
    name: str, at: int, again: bool, honest: Path, copy: Path
) -> None:
    shutil.copy(honest / name, copy / name)
    rewrite(copy / name, lambda lines: lines[:at] + ([lines[at]] * 2 if again else []) + lines[at + 1 :])
    found = audit(copy)
    assert found.verdict != "PASS"
    assert found.identities_broken


@pytest.mark.parametrize(
    "bad", ["", "x", "1,2", "-1,1,,", "5,2,,", "5,,,", ",,,", "5,1,,abc", "9" * 30 + ",1,,"]
)
def test_a_malformed_row_is_named_by_its_line(bad: str, copy: Path) -> None:
    rewrite(copy / FILES[1], lambda lines: [*lines[:7], bad + "\n", *lines[7:]])
    found = audit(copy)
    assert found.verdict == "UNKNOWN"
    assert f"{FILES[1]}: 1 lines cannot be read (line 9)" in found.unread


def test_a_malformed_line_of_the_ledger_is_named(copy: Path) -> None:
    rewrite(copy / FILES[0], lambda lines: [*lines[:7], "garbage\n", *lines[8:]])
    found = audit(copy)
    assert found.verdict == "UNKNOWN"
    assert f"{FILES[0]}: 1 lines cannot be read (line 9)" in found.unread


def test_an_empty_store_is_all_lost(copy: Path) -> None:
    for name in FILES[1:]:
        rewrite(copy / name, lambda _lines: [])
    found = audit(copy)
    assert (found.lost, found.ok) == (NUMBER, 0)
    assert found.verdict != "PASS"


def test_rows_that_an_earlier_run_left_are_unexpected(copy: Path) -> None:
    rewrite(copy / FILES[1], lambda lines: [*lines, *(f",,,{name:036x}\n" for name in range(50))])
    found = audit(copy)
    assert found.unexpected == 50
    assert found.verdict != "PASS"


def test_raw_files_that_contradict_run_json_are_no_pass(copy: Path) -> None:
    run = result.load_run(copy)
    assert run.audit is not None
    result.save_run(replace(run, audit=replace(run.audit, ok=run.audit.ok - 1, late=1)), copy)
    found = audit(copy)
    assert found.verdict == "UNKNOWN"
    assert (
        "the raw files contradict run.json: ok 4000, in the record 3999; late 0, in the record 1"
        in found.unread
    )


def test_a_run_of_the_first_schema_is_read_and_does_not_pass(copy: Path) -> None:
    data = json.loads((copy / "run.json").read_text(encoding="utf-8"))
    now = data["audit"]
    gone = (
        "verdict",
        "unread",
        "reads",
        "acknowledged",
        "late",
        "vanished",
        "never_read",
        "noted",
        "wrong_ack",
    )
    data["schema_version"] = 1
    data["audit"] = {k: v for k, v in now.items() if k not in gone} | {"status": "read", "wrong_echo": 0}
    (copy / "run.json").write_text(json.dumps(data), encoding="utf-8")
    (copy / FILES[2]).unlink()
    found = audit(copy)
    assert (found.verdict, found.ok) == ("UNKNOWN", NUMBER)
    assert any("earlier version" in words for words in found.unread)


def test_offenders_stand_beside_the_fault_that_is_nearest(tmp_path: Path) -> None:
    truth = planted.Planted(requests=NUMBER, members={"absent": np.array([16, 17, 18, 24, 3_200])})
    planted.write(truth, tmp_path)
    sent = planted.SENT_MS
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
    planted.write(planted.plant(NUMBER, ("absent",)), bad)
    said.clear()
    assert audit_cli.run(tmp_path, bad, said.append) == 1
    assert any(line.startswith("  absent: ") for line in said)
    (copy / FILES[2]).unlink()
    assert audit_cli.run(tmp_path, copy, said.append) == 3
    with pytest.raises(UsageError, match="not the folder of a run or of a suite run"):
        audit_cli.run(tmp_path, tmp_path, said.append)


def test_a_cell_of_a_fault_run_is_audited_from_its_own_record(copy: Path, tmp_path: Path) -> None:
    run = result.load_run(copy)
    folder = tmp_path / "matrix/jpa/kill-database"
    shutil.copytree(copy, folder)
    (folder / result.RUN_FILE).unlink()
    (folder / PLAN_FILE).unlink()
    cell = replace(CELL, run_id=run.run_id, requests=run.requests, audit=run.audit)
    save_cell(cell, folder)
    found = recompute(folder).audit
    assert replace(found, seconds=0.0) == run.audit
    save_cell(replace(cell, requests=None), folder)
    assert "ended before its audit" in recompute(folder).audit.unread[0]


def test_every_cell_of_a_matrix_is_audited_and_the_worst_decides(copy: Path, tmp_path: Path) -> None:
    run, matrix = result.load_run(copy), tmp_path / "matrix"
    entries = []
    for key in ("kill-database", "kill-proxy"):
        shutil.copytree(copy, matrix / "jpa" / key)
        cell = replace(CELL, fault=key, run_id=run.run_id, requests=run.requests, audit=run.audit)
        save_cell(cell, matrix / "jpa" / key)
        entries.append(replace(ENTRY, fault=key, folder=f"jpa/{key}"))
    save_faults(replace(MATRIX, cells=tuple(entries)), matrix)
    said: list[str] = []
    assert audit_cli.run(tmp_path, matrix, said.append) == 0
    assert [line for line in said if not line.startswith(" ")] == ["jpa/kill-database", "jpa/kill-proxy"]
    (matrix / "jpa/kill-proxy" / FILES[2]).unlink()
    assert audit_cli.run(tmp_path, matrix, said.append) == 3
