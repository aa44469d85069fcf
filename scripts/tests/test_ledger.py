"""Does the table that is kept of a load hold every request, and say of every other line what is wrong with it?"""

from __future__ import annotations

import gzip
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from writepath.errors import AuditError
from writepath.load import ledger
from writepath.load.ledger import HEADER, RECORD, Ledger, Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

EPOCH_MS = 1_795_231_568_103.0
TIMES = st.integers(min_value=0, max_value=20_000_000).map(lambda us: us / 1000)
RECORDS = st.lists(
    st.tuples(
        st.integers(min_value=0, max_value=10**8 - 1),
        TIMES.map(lambda ms: EPOCH_MS + ms),
        TIMES,
        TIMES,
        st.sampled_from([0, 200, 201, 400, 409, 429, 500, 502, 503, 504]),
        st.sampled_from([0, 1000, 1050, 1212, 1220, 1503, ledger.WRONG_ACK]),
    ),
    max_size=40,
    unique_by=lambda record: record[0],
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ledgers")


def table(records: list[Any]) -> NDArray[np.void]:
    return np.array(records, RECORD)


def raw(records: list[Any]) -> str:
    """Its lines."""
    return "".join(f"{s},{a:.3f},{b:.3f},{d:.3f},{status},{code}\n" for s, a, b, d, status, code in records)


def read(folder: Path, text: str) -> Ledger:
    path = folder / "ledger.csv.gz"
    path.write_bytes(gzip.compress(text.encode(), 1))
    return ledger.read(path)


def line(seq: int, status: int = 201, code: int = 0) -> str:
    return f"{seq},1795231568103,0.309,11.300,{status},{code}\n"


def test_of_searches_a_200_is_served_and_a_wrong_total_is_not(folder: Path) -> None:
    text = line(0, 200) + line(1, 200, ledger.WRONG_TOTAL) + line(2, 201) + line(3, 503, 1503) + line(4, 400)
    read(folder, text)
    found = ledger.read(folder / "ledger.csv.gz", ledger.FOUND_STATUS)
    assert found.outcomes().tolist() == [
        Outcome.ACKNOWLEDGED,
        Outcome.INDETERMINATE,
        Outcome.INDETERMINATE,
        Outcome.INDETERMINATE,
        Outcome.REJECTED,
    ]
    assert found.by_error() == {"wrong total": 1, "k6 error 0": 1, "HTTP 503": 1, "HTTP 400": 1}
    assert ledger.concluded(found, 6).success == ledger.FOUND_STATUS


@given(RECORDS)
def test_lines_are_read_in_the_order_of_the_sequence(folder: Path, records: list[Any]) -> None:
    read_back = read(folder, raw(records))
    assert read_back.records.tolist() == table(sorted(records)).tolist()
    assert (read_back.malformed, read_back.repeated, read_back.truncated) == (0, 0, False)


@given(RECORDS, st.integers(min_value=0, max_value=50))
def test_a_written_ledger_is_read_as_it_was(folder: Path, records: list[Any], more: int) -> None:
    small = [(seq % 1000, *rest) for seq, *rest in records]
    before = read(folder, raw(list({record[0]: record for record in small}.values())))
    whole = ledger.concluded(before, len(before.records) + more)
    ledger.write(whole, folder / "kept.csv.gz")
    after = ledger.read(folder / "kept.csv.gz")
    for field in RECORD.names or ():
        np.testing.assert_array_equal(after.records[field], whole.records[field])
    assert (after.malformed, after.repeated, after.truncated) == (0, 0, False)


@given(st.integers(min_value=1, max_value=30), st.data())
def test_a_ledger_cut_anywhere_loses_only_the_line_that_is_cut(folder: Path, lines: int, data: Any) -> None:
    text = "".join(line(seq) for seq in range(lines))
    cut = data.draw(st.integers(min_value=0, max_value=len(text)))
    torn = read(folder, text[:cut])
    assert len(torn.records) == text[:cut].count("\n")
    assert torn.truncated == (cut > 0 and text[cut - 1] != "\n")
    assert torn.malformed == 0


@given(st.integers(min_value=0, max_value=10_000))
def test_an_archive_cut_anywhere_gives_what_is_left(folder: Path, cut: int) -> None:
    whole = gzip.compress("".join([HEADER, "\n", *(line(seq) for seq in range(400))]).encode(), mtime=0)
    path = folder / "torn.csv.gz"
    path.write_bytes(whole[:cut])
    torn = ledger.read(path)
    assert torn.truncated == (cut < len(whole))
    assert torn.records["seq"].tolist() == list(range(len(torn.records)))


@given(st.text(max_size=60))
def test_no_text_is_taken_for_a_record_by_mistake(folder: Path, text: str) -> None:
    taken = read(folder, f"{text}\n")
    assert all(record["seq"] >= 0 and record["start_ms"] >= 0 for record in taken.records)


MALFORMED = ["garbage", "", "1,2,3", "1,2,3,4,201,0,7", "1.5,2,3,4,201,0", "-1,2,3,4,201,0", "7,nan,nan,nan,201,0",
             "7,inf,0,0,201,0", "7,5,-1,0,201,0", "7,5,0,0,99999,0", "0123456789012,5,0,0,201,0",
             "5,,,,201,0"]  # fmt: skip


@pytest.mark.parametrize("bad", MALFORMED)
def test_a_malformed_line_is_reported_and_its_neighbours_are_kept(folder: Path, bad: str) -> None:
    mixed = read(folder, line(0) + bad + "\n" + line(1))
    assert mixed.records["seq"].tolist() == [0, 1]
    assert mixed.malformed == 1
    assert mixed.problems[0].startswith("line 2: not a record: ")


def test_a_repeated_sequence_is_reported_and_the_first_kept(folder: Path) -> None:
    twice = read(folder, line(3) + line(4) + line(3, 503))
    assert twice.records["status"].tolist() == [201, 201]
    assert (twice.repeated, twice.problems) == (1, ("line 3: seq 3 is repeated",))


def test_line_numbers_count_the_header(folder: Path) -> None:
    assert read(folder, f"{HEADER}\n{line(0)}bad\n").problems == ("line 3: not a record: 'bad'",)


def test_only_ten_problems_are_named(folder: Path) -> None:
    broken = read(folder, "x\n" * 30)
    assert (broken.malformed, len(broken.problems)) == (30, 10)


def test_an_empty_ledger_is_no_error(folder: Path) -> None:
    empty = read(folder, "")
    assert (len(empty.records), empty.by_status(), empty.by_error()) == (0, {}, {})


def test_a_missing_ledger_is_an_audit_error(folder: Path) -> None:
    with pytest.raises(AuditError, match="nowhere"):
        ledger.read(folder / "nowhere.csv.gz")


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (201, Outcome.ACKNOWLEDGED),
        *((status, Outcome.REJECTED) for status in (400, 409, 413, 415, 429)),
        *((status, Outcome.INDETERMINATE) for status in (0, 200, 202, 302, 404, 500, 502, 503, 504)),
    ],
)
def test_an_answer_says_what_became_of_the_write(folder: Path, status: int, outcome: Outcome) -> None:
    assert read(folder, line(0, status)).outcomes().tolist() == [outcome]


def test_errors_are_counted_by_their_kind(folder: Path) -> None:
    codes = [(201, 0), (201, 9001), (0, 1212), (0, 1212), (0, 1220), (0, 1211), (0, 1050), (0, 9002), (503, 1503),
             (429, 1429), (0, 4711)]  # fmt: skip
    mixed = read(folder, "".join(line(seq, *pair) for seq, pair in enumerate(codes)))
    assert mixed.by_error() == {
        "wrong ack": 1, "connection refused": 2, "connection reset": 1, "dial timed out": 1,
        "request timed out": 1,         "connection closed": 1, "HTTP 503": 1, "HTTP 429": 1, "k6 error 4711": 1,
    }  # fmt: skip
    assert mixed.by_status() == {"0": 7, "201": 2, "429": 1, "503": 1}


def test_iterations_without_a_line_are_added_as_indeterminate(folder: Path) -> None:
    whole = ledger.concluded(read(folder, line(0) + line(3)), 6)
    assert whole.records["seq"].tolist() == list(range(6))
    assert np.isnan(whole.records["start_ms"]).tolist() == [False, True, True, False, True, True]
    assert whole.outcomes().tolist() == [0, 2, 2, 0, 2, 2]
    assert whole.by_error() == {"interrupted": 4}


@pytest.mark.parametrize(
    "text", [f"{HEADER}\n{line(0)}{line(2)}3,1", f"{HEADER}\n{line(0)}garbage\n{line(2)}"]
)
def test_what_a_torn_or_damaged_ledger_lacks_is_unread_and_not_interrupted(folder: Path, text: str) -> None:
    known = ledger.concluded(read(folder, text), started=4)
    assert known.records["error_code"].tolist()[1::2] == [ledger.UNREAD] * 2
    assert known.outcomes().tolist()[1::2] == [Outcome.INDETERMINATE] * 2


def test_a_half_written_archive_never_bears_the_name(folder: Path) -> None:
    target = folder / "once.csv.gz"
    ledger.write(read(folder, line(0)), target)
    assert gzip.decompress(target.read_bytes()).decode().splitlines()[0] == HEADER
    assert not target.with_name("once.csv.gz.part").exists()


def test_a_bad_line_among_200_000_does_not_make_reading_slow(folder: Path) -> None:
    """Line by line this takes half a minute; the bound leaves room for a busy machine."""
    text = "".join(line(seq) for seq in range(200_000)).replace("\n777,", "\n7x7,", 1)
    began = time.process_time()
    mixed = read(folder, text)
    assert (len(mixed.records), mixed.malformed) == (199_999, 1)
    assert time.process_time() - began < 10
