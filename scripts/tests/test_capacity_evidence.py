"""A capacity run's figures are the same from raw files, from evidence, and from evidence that was saved."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import planted_steps as planted
from planted_capacity import step
from planted_steps import HOST, answers, by_second, plan, sampled, save, stored
from writepath.analysis import capacity, evidence
from writepath.analysis.capacity import OVERLOAD_FOLDER, derive_capacity, plan_of, reduce_capacity
from writepath.analysis.evidence import Evidence
from writepath.analysis.load_result import HOP_NAMES, hops
from writepath.analysis.raw import Sample
from writepath.analysis.steps import folder_of
from writepath.analysis.times import Times
from writepath.errors import LoadError
from writepath.load.ledger import END_OF_FILE, INTERRUPTED, RECORD, REFUSED_BY_APPLICATION, REFUSED_BY_STORE
from writepath.records import base
from writepath.records.capacity_run import CapacityFacts, Overload, OverloadFacts
from writepath.records.steps import StepFacts, unresolved

CAPACITY = 100.0  # 50/s for 20 s, 200/s for 20 s, 50/s for 60 s
OVERLOAD = plan_of(CAPACITY)
OFFSET_S = OVERLOAD.starts_ns / 1e9
DURING = (OFFSET_S > 20) & (OFFSET_S <= 40)


def saved_run(folder: Path, run: CapacityFacts) -> Evidence:
    evidence.save_facts(base.to_data(run), folder)
    return reduce_capacity(folder, HOST)


def two_steps(folder: Path) -> CapacityFacts:
    """A ramp step that passes, and a bisection step that is too slow, on a queue path."""
    records = answers(plan())
    samples = [*by_second("consumer", "queue_ready", 1.0), *by_second("k6", "cpu_seconds", 0.3)]
    save(folder_of(folder, 1), records, samples)
    slow = answers(plan(), took_us=150_000)
    save(folder_of(folder, 2), slow, samples, stored(slow))
    ramp = planted.step(kind="ramp", before=None, after=None)
    return planted.run(
        ramp, planted.step(rows=len(slow), number=2), queue_path=True, ended="stopped by the user"
    )


def test_evidence_that_was_saved_gives_the_same_result(tmp_path: Path) -> None:
    run = two_steps(tmp_path)
    save(tmp_path / OVERLOAD_FOLDER, answers(OVERLOAD))
    made = saved_run(
        tmp_path, replace(run, overload=OverloadFacts(capacity_per_s=CAPACITY, sent=planted.sent()))
    )
    evidence.save(made, tmp_path / "published")
    again = derive_capacity(evidence.load(tmp_path / "published"))
    assert again == derive_capacity(made)
    assert [step.verdict for step in again.steps] == ["pass", "fail"]
    assert again.overload is not None


def test_the_samples_of_a_ramp_step_are_summed_up_before_they_are_left_out(tmp_path: Path) -> None:
    made = saved_run(tmp_path, two_steps(tmp_path))
    kept = made.tables["samples"].to_pylist()
    assert {row["metric"] for row in kept if row["step"] == 1} == {"cpu_seconds"}
    assert {row["metric"] for row in kept if row["step"] == 2} == {"cpu_seconds", "queue_ready"}
    ramp = derive_capacity(made).steps[0]
    assert ramp.backlog is not None
    assert ramp.backlog.slope_per_s == pytest.approx(1.0)
    assert ramp.limited_by is not None


def test_interval_and_verdict_follow_from_the_steps(tmp_path: Path) -> None:
    found = derive_capacity(saved_run(tmp_path, two_steps(tmp_path)))
    low, high = found.sustained.interval_per_s
    assert low < planted.RATE < high  # it passed once and failed once
    assert found.verdict.status == "valid"
    assert found.verdict.notes == (
        f"inconclusive: stopped by the user; the limit is between {low:,.0f}/s and {high:,.0f}/s",
    )
    assert found.verdict.exit_code == 3


@pytest.mark.parametrize(
    ("changed", "status", "words"),
    [
        ({"sent": planted.sent(withheld=replace(planted.QUIET, steal_share=0.5))}, "unknown", "not retried"),
        ({"reads": (), "unread": ("nothing answered",)}, "valid", ""),
        ({"reads": planted.step(rows=1).reads}, "invalid", "the audit of step 2 failed (BROKEN: "),
    ],
)
def test_a_step_that_noise_left_open_makes_the_run_unknown_and_a_failed_audit_makes_it_invalid(
    tmp_path: Path, changed: dict[str, Any], status: str, words: str
) -> None:
    run = two_steps(tmp_path)
    found = derive_capacity(
        saved_run(tmp_path, replace(run, steps=(run.steps[0], replace(run.steps[1], **changed))))
    )
    assert found.verdict.status == status
    assert words in " ".join(found.verdict.reasons)


def test_noise_leaves_a_fitted_limit_known_once_a_step_passed_and_one_failed(tmp_path: Path) -> None:
    run, slow = two_steps(tmp_path), answers(plan(), took_us=150_000)
    save(folder_of(tmp_path, 3), slow, (), stored(slow))
    disturbed = planted.sent(withheld=replace(planted.QUIET, steal_share=0.5))
    noisy = planted.step(rows=len(slow), number=3, sent=disturbed)

    def status(*before: StepFacts) -> str:
        changed = replace(run, steps=(*before, noisy))
        return derive_capacity(saved_run(tmp_path, changed)).verdict.status

    assert status(*run.steps) == "valid"
    assert status(run.steps[0]) == "unknown"


def test_a_run_without_a_step_has_no_figures(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="before its first load step"):
        derive_capacity(saved_run(tmp_path, planted.run()))


def test_buckets_keep_ranks_and_limits_exact() -> None:
    values = np.sort(np.random.default_rng(1).integers(500, 400_000, 5000))
    value, count = np.unique(values, return_counts=True)
    found = Times(
        value_us=value, count=count, low_us=int(value[0]), high_us=int(value[-1]), sum_us=int(values.sum())
    )
    kept, counts = found.coarse(5010, 32, limits_us=(100_000,))
    coarse = replace(found, value_us=kept, count=counts)
    assert len(kept) < len(value) / 10
    assert coarse.latency(5010) == found.latency(5010)
    assert counts[kept <= 100_000].sum() == (values <= 100_000).sum()


def overloaded(
    folder: Path,
    records: NDArray[np.void],
    samples: Sequence[Sample] = (),
    *,
    queue: bool = False,
    **changed: Any,
) -> Overload:
    save(folder_of(folder, 1), answers(plan()))
    save(folder / OVERLOAD_FOLDER, records, samples)
    facts = OverloadFacts(capacity_per_s=CAPACITY, sent=planted.sent(**changed))
    ramp = planted.step(kind="ramp", before=None, after=None)
    found = derive_capacity(saved_run(folder, planted.run(ramp, overload=facts, queue_path=queue))).overload
    assert found is not None
    return found


def test_the_overload_is_half_twice_and_half_of_the_capacity(tmp_path: Path) -> None:
    found = overloaded(tmp_path, answers(OVERLOAD))
    assert [(p.name, p.rate_per_s, p.seconds, p.planned) for p in found.phases] == [
        ("before", 50.0, 20.0, 1000), ("overload", 200.0, 20.0, 4000), ("after", 50.0, 60.0, 3000),
    ]  # fmt: skip
    assert [(p.goodput_per_s, p.p95_ms) for p in found.phases] == [(50.0, 5.0), (200.0, 5.0), (50.0, 5.0)]
    assert (found.recovered_after_s, found.generator_faults) == (0.0, ())


def test_goodput_is_what_was_acknowledged_within_the_slo_from_the_scheduled_send_time(tmp_path: Path) -> None:
    records = answers(OVERLOAD)
    slow, late = np.flatnonzero(DURING)[:1000], np.flatnonzero(DURING)[1000:1500]
    records["duration_us"][slow] = 101_000
    records["start_us"][late] += 100_000  # the answer itself took 5 ms
    found = overloaded(tmp_path, records).phases[capacity.DURING]
    assert (found.acknowledged, found.goodput_per_s) == (4000, 125.0)


def test_errors_are_told_by_the_hop_that_made_them_and_by_phase(tmp_path: Path) -> None:
    records = answers(OVERLOAD)
    during = np.flatnonzero(DURING)
    records["status"][during[:300]], records["error_code"][during[:300]] = 503, REFUSED_BY_STORE
    records["status"][during[300:500]], records["error_code"][during[300:500]] = 503, REFUSED_BY_APPLICATION
    records["status"][-1] = 504
    before, high, after = overloaded(tmp_path, records[:-10], dropped=10).phases
    nothing = dict.fromkeys(HOP_NAMES, 0)
    assert before.errors_by_hop == nothing
    assert high.errors_by_hop == {**nothing, "store": 300, "application": 200}
    assert high.p95_ms is None  # its rank falls on a refusal
    assert after.errors_by_hop == {**nothing, "generator": 10}


def test_the_hop_follows_from_status_and_error_code() -> None:
    records = np.zeros(7, RECORD)
    records["status"] = [502, 504, 0, 0, 503, 503, 500]
    refused = (REFUSED_BY_APPLICATION, REFUSED_BY_STORE)
    records["error_code"] = [1502, 1504, END_OF_FILE, INTERRUPTED, *refused, 1500]
    assert [HOP_NAMES[index] for index in hops(records["status"], records["error_code"])] == [
        "proxy", "proxy", "proxy", "generator", "application", "store", "application",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("slow_until_s", "took_ms", "recovered"), [(52, 400.0, 11.8), (100, 7.2, 0.0), (100, 7.3, None)]
)
def test_recovery_is_the_start_of_the_first_five_seconds_as_good_as_before(
    tmp_path: Path, slow_until_s: float, took_ms: float, recovered: float | None
) -> None:
    records = answers(OVERLOAD)
    records["duration_us"][(OFFSET_S > 20) & (slow_until_s >= OFFSET_S)] = round(took_ms * 1000)
    assert overloaded(tmp_path, records).recovered_after_s == recovered


def test_without_a_p95_before_there_is_nothing_to_come_back_to(tmp_path: Path) -> None:
    records = answers(OVERLOAD)
    records["status"][OFFSET_S <= 20] = 503
    assert overloaded(tmp_path, records).recovered_after_s is None


@pytest.mark.parametrize(("seconds", "drained"), [(60, 20.0), (48, 7.0), (45, None)])
def test_the_backlog_is_drained_when_the_queue_is_no_deeper_than_before(
    tmp_path: Path, seconds: float, drained: float | None
) -> None:
    ready = {0.0: 5.0, 10.0: 30.0, 25.0: 100.0, 39.0: 900.0, 45.0: 500.0, 47.0: 20.0, 48.0: 400.0, 60.0: 0.0}
    waiting = {
        10.0: 10.0,
        47.0: 25.0 if seconds > 48 else 0.0,
        60.0: 40.0,
    }  # 20 + 25 is more than 30 + 10 was
    samples = [
        sample
        for metric, values in (("queue_ready", ready), ("queue_unacknowledged", waiting))
        for sample in sampled(
            "consumer", metric, {at: value for at, value in values.items() if at <= seconds}
        )
    ]
    assert overloaded(tmp_path, answers(OVERLOAD), samples, queue=True).backlog_drained_after_s == drained


def test_a_generator_that_was_full_late_or_stopped_is_named(tmp_path: Path) -> None:
    records = answers(OVERLOAD)
    records["start_us"][OFFSET_S > 20] += 300_000
    samples = list(by_second("k6", "cpu_seconds", 0.9, seconds=100))
    found = overloaded(tmp_path, records, samples, generator_faults=("did not send all",)).generator_faults
    assert [words.partition(":")[0] for words in found] == ["did not send all", "was saturated", "was late"]


def test_a_noisy_step_is_unresolved_until_its_rate_is_retried() -> None:
    made = [step(rate, verdict) for rate, verdict in ((1000, "noise"), (1000, "pass"), (1200, "noise"))]
    assert [step.rate_per_s for step in unresolved(made)] == [1200]
