"""The audit and the verdict of a derived load: each class and each rule."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from planted_tables import FACTS, RUN, WRITES, Planted, result_of
from writepath.analysis.audit import NOT_READ_AGAIN
from writepath.analysis.load_result import reduce_load
from writepath.load.ledger import UNREAD, WRONG_ACK
from writepath.load.plan import encode_id
from writepath.records.measures import Audit

ONCE = np.ones(WRITES, int)


def audited(**changed: Any) -> Audit:
    return result_of(Planted(**changed).evidence()).audit


def but(sequence: int, value: int) -> Any:
    values = ONCE.copy()
    values[sequence] = value
    return values


def status(sequence: int, value: int) -> Any:
    values = np.full(WRITES, 201)
    values[sequence] = value
    return values


def test_a_load_without_a_fault_passes_and_is_valid() -> None:
    result = result_of(Planted().evidence())
    assert (result.audit.verdict, result.audit.ok, result.audit.stored_rows) == ("PASS", WRITES, WRITES)
    assert (result.audit.identities_broken, result.audit.offenders, result.audit.noted) == ((), {}, {})
    assert (result.verdict.status, result.verdict.reasons) == ("valid", ())


@pytest.mark.parametrize(
    ("name", "listed", "changed"),
    [
        ("lost", "absent", {"copies": (but(17, 0), but(17, 0))}),
        ("stranded", "absent", {"copies": (but(17, 0), but(17, 0)), "left": 1}),
        ("vanished", "vanished", {"copies": (ONCE, but(17, 0))}),
        ("duplicated", "duplicated", {"copies": (ONCE, but(17, 2))}),
        ("corrupted", "corrupted", {"differs": ({17}, set())}),
        ("corrupted", "corrupted", {"differs": (set(), {17})}),
        ("rejected_present", "rejected_present", {"status": status(17, 409)}),
        ("wrong_ack", "wrong_ack", {"error_code": np.where(np.arange(WRITES) == 17, WRONG_ACK, 0)}),
        (
            "never_read",
            "never_read",
            {"status": status(17, 0), "error_code": np.where(np.arange(WRITES) == 17, UNREAD, 0)},
        ),
        ("late", "late", {"durable_at_us": Planted().start_us + 1 + 6_000_000 * (np.arange(WRITES) == 17)}),
        ("recovered", "recovered", {"status": status(17, 503)}),
    ],
)
def test_a_write_of_each_class_is_counted_and_named(name: str, listed: str, changed: dict[str, Any]) -> None:
    found = audited(**changed)
    assert getattr(found, name) == 1
    offenders = (found.offenders | found.noted)[listed]
    assert (offenders.count, offenders.intervals) == (1, "17")
    assert offenders.first_ids == (encode_id(RUN, 17),)
    assert found.identities_broken == ()


def test_a_refused_or_failed_write_that_is_absent_is_clean() -> None:
    absent = (but(17, 0), but(17, 0))
    assert audited(status=status(17, 409), copies=absent).clean_reject == 1
    assert audited(status=status(17, 503), copies=absent).clean_fail == 1


def test_rows_that_no_request_sent_are_unexpected_each_id_once() -> None:
    found = audited(others=[(1, 5000, None), (2, 5000, None), (1, None, "stranger"), (2, None, "stranger")])
    assert (found.unexpected, found.stored_rows, found.stored_ids) == (2, WRITES + 2, WRITES + 2)
    offenders = found.offenders["unexpected"]
    assert (offenders.intervals, offenders.first_ids) == ("5000", (encode_id(RUN, 5000), "stranger"))
    assert found.verdict == "FAIL"


def test_a_store_read_once_is_unknown_unless_one_read_is_all_that_was_required() -> None:
    once = Planted(reads=1)
    found = result_of(once.evidence())
    assert (found.audit.verdict, found.audit.unread) == ("UNKNOWN", (NOT_READ_AGAIN,))
    assert found.verdict.status == "unknown"
    earlier = Planted(reads=1, facts=dataclasses.replace(FACTS, reads_required=1))
    found = result_of(earlier.evidence())
    assert (found.audit.verdict, found.audit.vanished, found.audit.ok) == ("PASS", None, WRITES)
    assert found.verdict.status == "valid"


def test_a_store_that_was_not_read_is_unknown() -> None:
    unread = dataclasses.replace(FACTS, unread=("the store is down",))
    raw = Planted().raw()
    del raw["stored"]
    found = result_of(reduce_load(raw, unread))
    assert (found.audit.verdict, found.audit.unread) == ("UNKNOWN", ("the store is down",))
    assert found.time_to_durable_ms.median is None
    assert found.drain.seconds == 0.5  # by polling, as no moment is known


def test_the_systems_own_count_of_rows_is_checked() -> None:
    planted = Planted()
    first, second = planted.known().reads
    reads = (first, dataclasses.replace(second, store_rows=999))
    found = audited(facts=dataclasses.replace(FACTS, reads=reads))
    assert found.identities_broken == ("rows read back after the restart 1000 = rows the store counts 999",)


def test_intervals_are_cut_and_the_count_is_not() -> None:
    copies = (np.arange(WRITES) % 2, np.arange(WRITES) % 2)
    offenders = audited(copies=copies).offenders["absent"]
    assert offenders.count == 500
    assert offenders.intervals.endswith("196 198 ...")
    assert len(offenders.first_ids) == 20


@pytest.mark.parametrize(
    ("metric", "values", "reason"),
    [
        (("k6", "cpu_seconds"), [0.9 * second for second in range(11)], "k6 was saturated: 90%"),
        (("host", "busy_seconds"), [1.9 * second for second in range(11)], "other programs used 78%"),
    ],
)
def test_samples_decide_the_verdict(metric: tuple[str, str], values: list[float], reason: str) -> None:
    samples = {**Planted().samples, metric: values}
    found = result_of(Planted(samples=samples).evidence()).verdict
    assert any(reason in words for words in found.reasons), found.reasons


def test_without_samples_of_the_generator_a_load_is_unknown() -> None:
    found = result_of(Planted(samples={}).evidence())
    assert found.verdict.reasons == ("the CPU use of k6 could not be sampled",)
    assert (found.queue_peak, found.disk_written_bytes, found.foreign_cpu_share) == (None, None, None)
