"""Figures of a load: those that were planted, by rows and by histograms alike, whatever the order of the rows."""

import dataclasses
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planted_tables
from planted_tables import FACTS, GAP_US, HALVES, RATE, WRITES, OfWrites, Planted, result_of
from writepath.analysis import evidence as evidences
from writepath.analysis import load_result
from writepath.analysis.load_result import bands, reduce_load
from writepath.errors import LoadError, UsageError
from writepath.load.ledger import END_OF_FILE, INTERRUPTED, NO_TIME, UNREAD
from writepath.records.measures import Latency

MS = 1000
NOTHING = Latency(min=None, mean=None, median=None, p95=None, p99=None, max=None)


def derived(**changed: Any) -> OfWrites:
    return result_of(Planted(**changed).evidence())


def test_accept_latency_is_ranked_over_all_scheduled_requests() -> None:
    found = derived().accept_latency_ms
    assert found == Latency(min=0.1, mean=50.05, median=50.0, p95=95.0, p99=99.0, max=100.0)


def test_unserved_requests_count_at_infinity_and_are_in_no_mean() -> None:
    status = np.full(WRITES, 201)
    status[20:] = np.where(np.arange(20, WRITES) < 40, 503, 201)  # 20 fast ones are refused
    copies = (status == 201).astype(int)
    found = derived(status=status, error_code=np.where(status == 503, 1503, 0), copies=(copies, copies))
    assert found.accept_latency_ms.median == 52.0  # the 500th of 980 served
    assert found.accept_latency_ms.p99 is None  # the 990th of 980
    assert found.accept_latency_ms.mean == 51.009184  # (1 + ... + 1,000 - 21 - ... - 40) / 980 tenths
    assert found.requests.by_error == {"HTTP 503": 20}
    assert (found.answers["status_503"], found.completed, sum(found.answers.values())) == (20, WRITES, WRITES)
    assert found.verdict.status == "valid"


def test_planned_latency_and_lateness_count_from_the_schedule() -> None:
    start = Planted().start_us
    start[500:] += 20 * MS
    found = derived(start_us=start)
    assert found.planned_latency_ms.max == 120.0
    assert found.accept_latency_ms.max == 100.0
    assert (found.generator.lateness_ms_p99, found.generator.lateness_ms_max) == (20.0, 20.0)


def test_what_one_of_two_k6_dropped_moves_no_request_of_the_other() -> None:
    slots = np.delete(np.arange(WRITES), 1)  # the first of the second process
    sequence = np.where(slots % 2 == 1, slots - 2, slots)
    order = np.argsort(sequence)
    own = {
        name: getattr(Planted(), name)[:-1] for name in ("blocked_us", "duration_us", "status", "error_code")
    }
    found = derived(
        facts=dataclasses.replace(FACTS, processes=2, dropped=1),
        sequence=sequence[order],
        start_us=Planted().start_us[slots[order]],
        copies=(np.ones(WRITES - 1, int), np.ones(WRITES - 1, int)),
        **own,
    )
    assert (found.requests.dropped, found.generator.lateness_ms_max) == (1, 0.0)


def test_durable_rows_are_timed_from_sending_and_ranked_over_scheduled_and_acknowledged() -> None:
    found = derived()
    assert found.time_to_durable_ms == found.durable_of_acknowledged_ms
    assert found.time_to_durable_ms.median == 49.95
    assert not found.durable_later
    later = Planted().start_us + 200 * MS
    assert derived(durable_at_us=later).durable_later
    assert derived(durable_at_us=later).drain.seconds == 0.1


def test_rates_count_to_the_later_of_the_schedules_end_and_the_last_201() -> None:
    found = derived()
    last_us = GAP_US * WRITES + 100 * MS
    assert found.planned_per_s == RATE
    assert found.planned_peak_per_s == RATE
    assert found.achieved_per_s == pytest.approx(WRITES / last_us * 1e6)
    assert found.answered_per_s == found.achieved_per_s
    assert found.achieved_peak_per_s == 99  # an answer each 10.1 ms
    assert found.durable_per_s == pytest.approx(WRITES / (last_us - planted_tables.DURABLE_BEFORE_US) * 1e6)


def test_each_phase_has_its_own_figures() -> None:
    first, second = derived().phases
    assert (first.name, first.planned, first.started, first.acknowledged) == ("first", 500, 500, 500)
    assert (first.accept_latency_ms.max, second.accept_latency_ms.min) == (50.0, 50.1)
    assert (first.achieved_per_s, second.planned_latency_ms.median) == (100.0, 75.0)
    assert first.accept_latency_ms.p99 is None  # 500 requests do not carry it


def test_resources_are_those_of_the_samples() -> None:
    found = derived()
    app = found.resources["app"]
    assert (app.cpu_seconds, app.rss_peak_bytes, app.write_bytes) == (2.0, 30, 7)
    assert (found.queue_peak, found.disk_written_bytes) == (6.0, 1000)
    assert (found.generator.cpu_share_mean, found.generator.samples) == (0.1, 11)
    assert found.foreign_cpu_share == 0.0  # 3.5 s busy; the run 3 s, its runner 0.5 s


def test_only_samples_that_a_figure_needs_are_published() -> None:
    table = Planted().evidence().tables["samples"]
    assert "context_switches" not in table.column("metric").to_pylist()


def test_visibility_is_timed_from_sending_and_its_error_from_the_last_miss() -> None:
    start = Planted().start_us
    visible = [
        (5, int(start[5]) + 3 * MS, int(start[5]) + 5 * MS),
        (9, None, int(start[9]) + 7 * MS),  # no question missed it
        (11, int(start[11]) + MS, None),  # never found
    ]
    found = derived(visible=visible)
    assert found.time_to_visible_ms is not None
    assert (found.time_to_visible_ms.min, found.time_to_visible_ms.max) == (5.0, 7.0)
    assert (found.visible_samples, found.visible_error_ms_median, found.visible_error_ms_max) == (3, 4.5, 7.0)
    assert derived().time_to_visible_ms is None


def test_order_is_counted_on_queue_paths_alone() -> None:
    durable = Planted().start_us + 150 * MS
    durable[0] += 1000 * MS  # passed by all that were sent up to a second later, but for its own 0.1 ms
    queue = dataclasses.replace(FACTS, queue_path=True, redelivered=3)
    order = derived(facts=queue, durable_at_us=durable).order
    assert order is not None
    assert (order.overtaken_share, order.redelivered) == (0.001, 3)
    assert derived(durable_at_us=durable).order is None


def test_an_interrupted_request_has_no_times_and_may_be_stored() -> None:
    changed = {name: getattr(Planted(), name) for name in ("start_us", "blocked_us", "duration_us")}
    for values in changed.values():
        values[7] = NO_TIME
    status, codes, durable = np.full(WRITES, 201), np.zeros(WRITES, int), Planted().start_us + 1
    status[7], codes[7], durable[7] = 0, INTERRUPTED, durable[-1] + 10**6
    found = derived(**changed, status=status, error_code=codes, durable_at_us=durable)
    assert (found.requests.indeterminate, found.audit.recovered, found.answers["no_answer"]) == (1, 1, 1)
    assert found.drain.seconds == pytest.approx(0.9, abs=0.001)
    assert found.phases[0].started == 499


def test_bands_are_by_second_of_the_scheduled_send_time() -> None:
    found = bands(Planted().evidence())
    assert found.served.tolist() == [99, *[100] * 8, 101]  # due from 10 ms to 10 s
    assert (found.median[0], found.p95[0], found.max[0]) == (5.0, 9.5, 9.9)
    assert found.unserved.sum() == 0


def test_a_second_without_a_201_has_no_latency() -> None:
    status = np.full(WRITES, 201)
    status[99:199] = 503
    copies = (status == 201).astype(int)
    found = bands(Planted(status=status, copies=(copies, copies)).evidence())
    assert math.isnan(found.median[1])
    assert (found.served[1], found.unserved[1]) == (0, 100)


def test_a_closed_load_has_no_schedule() -> None:
    closed = dataclasses.replace(FACTS, model="closed", phases=(), virtual_users=5)
    found = derived(facts=closed)
    assert (found.requests.planned, found.requests.started) == (WRITES, WRITES)
    assert (found.planned_latency_ms, found.planned_per_s, found.planned_peak_per_s) == (NOTHING, None, None)
    assert (found.generator.lateness_ms_p99, found.generator.lateness_ms_max) == (None, None)
    (phase,) = found.phases
    assert (phase.name, phase.seconds, phase.planned, phase.acknowledged) == ("load", 10.0, WRITES, WRITES)
    assert found.accept_latency_ms.p99 == 99.0
    assert found.achieved_per_s == pytest.approx(WRITES / (GAP_US * (WRITES - 1) + 100 * MS) * 1e6)
    assert found.verdict.status == "valid"
    assert bands(Planted(facts=closed).evidence()).served.sum() == WRITES


def test_a_closed_load_tells_its_errors_and_the_causes_in_the_log_of_the_proxy() -> None:
    status = np.full(WRITES, 201)
    status[:9] = [500, 502, 504, 503, 503, 0, 0, 0, 0]
    codes = np.zeros(WRITES, int)
    codes[5:9] = [1220, END_OF_FILE, INTERRUPTED, UNREAD]
    facts = dataclasses.replace(FACTS, model="closed", phases=(), virtual_users=5, proxy_errors={"full": 2})
    copies = (status == 201).astype(int)
    found = derived(facts=facts, status=status, error_code=codes, copies=(copies, copies)).closed
    assert found is not None
    assert (found.virtual_users, found.errors, found.errors_at_proxy) == (5, 9, 5)
    assert found.proxy_errors == {"full": 2}
    assert derived().closed is None


def test_dropped_requests_have_no_row_and_are_scheduled_all_the_same() -> None:
    few = Planted()
    kept = np.r_[0:400, 410:WRITES]
    changed = {name: getattr(few, name)[kept] for name in ("start_us", "blocked_us", "duration_us", "status")}
    ones = np.ones(990, int)
    found = derived(
        **changed,
        sequence=np.arange(990),
        error_code=np.zeros(990, int),
        copies=(ones, ones),
        facts=dataclasses.replace(FACTS, dropped=None),
    )
    assert (found.requests.planned, found.requests.dropped, found.answers["dropped"]) == (WRITES, 10, 10)
    assert found.planned_latency_ms.max == 100.0  # each is in the slot that it was due in
    assert [phase.started for phase in found.phases] == [490, 500]
    assert found.verdict.reasons == ("k6 dropped 10 of 1000 scheduled requests (limit 0)",)


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, f"{name}.{key}")
    elif isinstance(value, list | tuple):
        for place, part in enumerate(value):
            yield from leaves(part, f"{name}.{place}")
    else:
        yield name, value


def near(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=0.001)
    return bool(one == other)


@pytest.mark.parametrize("queue_path", [False, True])
def test_histograms_give_the_figures_of_rows_within_a_thousandth(
    queue_path: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rng = np.random.default_rng(3)
    duration = np.rint(rng.lognormal(9, 1, WRITES)).astype(int)
    first, second = (rng.choice(3, WRITES, p=[0.02, 0.97, 0.01]) for _ in range(2))
    planted = Planted(
        facts=dataclasses.replace(FACTS, queue_path=queue_path),
        duration_us=duration,
        status=rng.choice([201, 503, 409], WRITES, p=[0.95, 0.03, 0.02]),
        copies=(first, second),
        differs=({3, 4}, {4, 5}),
        durable_at_us=Planted().start_us + rng.integers(-500, 900_000, WRITES),
        others=[(1, 4000, None), (2, None, "stranger")],
        visible=[(5, None, int(Planted().start_us[5]) + 100)],
    )
    exact = planted.evidence()
    monkeypatch.setattr(load_result, "ROWS_MAX", WRITES - 1)
    evidences.save(planted.evidence(), tmp_path)
    summed = evidences.load(tmp_path)
    assert "requests" not in summed.tables
    rows, buckets = dict(leaves(result_of(exact))), dict(leaves(result_of(summed)))
    assert rows.keys() == buckets.keys()
    assert [name for name in rows if not near(rows[name], buckets[name])] == []
    assert np.array_equal(bands(exact).p95, bands(summed).p95, equal_nan=True)


def test_a_closed_load_is_summed_up_from_fewer_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_result, "CLOSED_ROWS_MAX", WRITES - 1)
    closed = Planted(facts=dataclasses.replace(FACTS, model="closed", phases=(), virtual_users=5))
    assert "requests" not in closed.evidence().tables
    assert "requests" in Planted().evidence().tables
    assert result_of(closed.evidence()).requests.acknowledged == WRITES


def test_saved_evidence_gives_the_same_result(tmp_path: Path) -> None:
    made = Planted(visible=[(5, None, None)]).evidence()
    evidences.save(made, tmp_path)
    assert result_of(evidences.load(tmp_path)) == result_of(made)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(1, WRITES))
def test_neither_the_order_of_rows_nor_the_parts_of_a_table_matter(seed: int, cut: int) -> None:
    planted = Planted(others=[(1, None, "b"), (1, None, "a"), (2, 5000, None)])
    rng = np.random.default_rng(seed)
    shuffled = {}
    for name, parts in planted.raw().items():
        whole = pa.concat_tables(parts)
        mixed = whole.take(rng.permutation(len(whole)))
        shuffled[name] = [mixed.slice(0, cut), mixed.slice(cut)]
    assert result_of(reduce_load(shuffled, planted.known())) == result_of(planted.evidence())


def test_a_cell_without_a_drain_or_without_an_answer_has_no_figures() -> None:
    with pytest.raises(LoadError, match="ended before its drain"):
        derived(facts=dataclasses.replace(FACTS, drain=None))
    nothing = np.full(WRITES, NO_TIME)
    with pytest.raises(LoadError, match="no request of the load ended"):
        derived(start_us=nothing, blocked_us=nothing, duration_us=nothing, durable_at_us=nothing)


def test_tables_that_do_not_belong_to_the_facts_are_refused() -> None:
    short = (dataclasses.replace(HALVES[0], seconds=1.0),)
    with pytest.raises(LoadError, match="100 requests are scheduled, but one has sequence 999"):
        derived(facts=dataclasses.replace(FACTS, phases=short))
    with pytest.raises(UsageError, match="operation=write in the requests"):
        derived(facts=dataclasses.replace(FACTS, operations=()))
    with pytest.raises(UsageError, match="sequence 0 has two requests"):
        derived(sequence=np.arange(WRITES) // 2)
