"""A load step's figures follow from its raw files, and so does what makes it fail or count as noise."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import planted_steps as planted
from planted_steps import ORIGIN_US, RATE, SECONDS, answers, by_second, plan, sampled, save, step, stored
from writepath.analysis.raw import Sample, Stored
from writepath.analysis.steps import derive_step, reduce_step
from writepath.load.ledger import SEARCH, WRONG_TOTAL
from writepath.records.capacity_run import CapacityFacts
from writepath.records.load_facts import OperationFacts
from writepath.records.measures import Host
from writepath.records.steps import LoadStep, StepDrain, StepFacts

PLAN = plan()
SEARCHES = planted.run(operation=OperationFacts(name=SEARCH.name, served=SEARCH.served))
QUEUE = planted.run(queue_path=True)
SHARED_HOST = Host(cpu_model="a", cores=2, memory_bytes=1, kernel="k", filesystem="f")


def derived(
    folder: Path,
    records: NDArray[np.void],
    facts: StepFacts,
    run: CapacityFacts | None = None,
    *,
    samples: Sequence[Sample] = (),
    rows: Stored | None = None,
    host: Host | None = None,
) -> LoadStep:
    known = run or planted.run()
    tables = reduce_step(save(folder / "step", records, samples, rows), known, facts)
    return derive_step(tables, known, facts, host or SHARED_HOST)


def written(folder: Path, records: NDArray[np.void], rows: Stored | None = None, **changed: Any) -> LoadStep:
    """A step of writes that were read back."""
    back = stored(records) if rows is None else rows
    return derived(folder, records, step(rows=len(back.seq) + len(back.foreign_ids), **changed), rows=back)


def test_a_step_that_keeps_every_limit_passes_with_its_figures(tmp_path: Path) -> None:
    records = answers(PLAN)
    records["duration_us"] = 1000 + np.arange(len(records))  # 1.000 to 4.999 ms
    used = [*by_second("jpa-writer", "cpu_seconds", 0.5), *by_second("jpa-writer", "rss_bytes", 100.0)]
    found = derived(tmp_path, records, step(rows=4000), samples=used, rows=stored(records))
    assert (found.verdict, found.burst, found.reasons, found.audit) == ("pass", True, (), "PASS")
    assert (found.requests.planned, found.requests.acknowledged, found.requests.dropped) == (4000, 4000, 0)
    latency = found.accept_latency_ms
    assert (latency.min, latency.median, latency.p95, latency.p99) == (
        1.0,
        2.999,
        4.799,
        4.959,
    )  # exact ranks
    assert (latency.max, latency.mean) == (4.999, 2.9995)
    assert found.stored_per_s == pytest.approx(RATE, abs=1)
    assert found.drain_seconds == 0.001
    assert found.resources["jpa-writer"].cpu_seconds == SECONDS / 2
    assert found.resources["jpa-writer"].rss_peak_bytes == 2000


def test_a_dropped_request_fails_a_step_and_stands_at_infinity(tmp_path: Path) -> None:
    records = answers(PLAN)[:3900]
    found = written(tmp_path, records, sent=planted.sent(dropped=100))
    assert found.verdict == "fail"
    assert found.reasons[0] == "100 of 4,000 scheduled requests were dropped (limit 0)"
    assert found.planned_latency_ms.p99 is None


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda rows: replace(rows, seq=rows.seq[:-2], content_ok=rows.content_ok[:-2],
                              durable_at_us=rows.durable_at_us[:-2]), "2 acknowledged writes are not in the store"),
        (lambda rows: replace(rows, content_ok=rows.content_ok & (rows.seq != 7)),
         "1 writes are stored with different content"),
        (lambda rows: replace(rows, foreign_ids=("someone",)), "1 rows are stored that no request sent"),
    ],
    ids=["lost", "corrupted", "unexpected"],
)  # fmt: skip
def test_what_the_audit_finds_fails_a_step_even_on_a_noisy_host(
    tmp_path: Path, spoil: Any, words: str
) -> None:
    records = answers(PLAN)
    noisy = planted.sent(withheld=replace(planted.QUIET, steal_share=0.5))
    found = written(tmp_path, records, spoil(stored(records)), sent=noisy)
    assert (found.verdict, found.audit) == ("fail", "FAIL")
    assert any(words in reason for reason in found.reasons)


def test_a_store_that_counts_other_rows_than_were_read_is_a_sum_that_does_not_agree(tmp_path: Path) -> None:
    records = answers(PLAN)
    found = derived(tmp_path, records, step(rows=4001), rows=stored(records))
    assert found.audit == "FAIL"
    assert any("rows read back" in reason for reason in found.reasons)


def test_a_drain_that_was_given_up_leaves_nothing_audited(tmp_path: Path) -> None:
    records = answers(PLAN)
    capped = replace(step(rows=3000), drain=StepDrain(busy_seconds=20.0, capped=True))
    found = derived(tmp_path, records, capped, rows=stored(records[:3000]))
    assert (found.verdict, found.audit, found.drain_seconds) == ("fail", None, None)
    assert "nothing was audited" in found.reasons[-1]


def test_a_store_that_could_not_be_read_is_unknown(tmp_path: Path) -> None:
    drained = replace(step(rows=0), reads=(), unread=("the inspector did not answer",))
    found = derived(tmp_path, answers(PLAN), drained)
    assert (found.verdict, found.audit) == ("fail", "UNKNOWN")


def test_a_backlog_that_grows_fails_sustained_and_passes_as_a_burst(tmp_path: Path) -> None:
    records = answers(PLAN)
    half = stored(records[::2])
    ready = by_second("consumer", "queue_ready", RATE / 2)
    capped = replace(step(rows=2000), drain=StepDrain(busy_seconds=20.0, capped=True))
    found = derived(tmp_path, records, capped, QUEUE, samples=list(ready), rows=half)
    assert (found.verdict, found.burst) == ("fail", True)
    assert found.backlog is not None
    assert found.backlog.slope_per_s == pytest.approx(RATE / 2)
    assert found.reasons[0].startswith("unstable: 1,900 posts waiting after 20 s, 19 s of work")


def test_a_queue_that_was_sampled_too_rarely_is_noise(tmp_path: Path) -> None:
    records = answers(PLAN)
    rare = list(sampled("consumer", "queue_ready", {1.0: 0.0, 2.0: 0.0}))
    found = derived(tmp_path, records, step(rows=4000), QUEUE, samples=rare, rows=stored(records))
    assert found.verdict == "noise"
    assert "sampled fewer than 3 times" in found.reasons[0]


@pytest.mark.parametrize(
    "changed",
    [
        {"sent": planted.sent(withheld=replace(planted.QUIET, steal_share=0.03))},
        {"sent": planted.sent(withheld=replace(planted.QUIET, swapped_pages=300))},
        {"after": replace(planted.CANARY, cpu_ms=70.0)},
    ],
    ids=["steal", "swap", "canary"],
)
def test_what_the_host_withheld_makes_a_step_noise(tmp_path: Path, changed: dict[str, Any]) -> None:
    found = written(tmp_path, answers(PLAN), **changed)
    assert found.verdict == "noise"
    assert all(reason.startswith("noisy host: ") for reason in found.reasons)


def test_other_programs_on_the_host_make_a_step_noise(tmp_path: Path) -> None:
    records = answers(PLAN)
    busy = {"total_seconds": 2.0, "busy_seconds": 1.5, "runner_seconds": 0.1}
    samples = [sample for metric, per_s in busy.items() for sample in by_second("host", metric, per_s)]
    found = derived(tmp_path, records, step(rows=4000), samples=samples, rows=stored(records))
    assert (found.verdict, found.noise.foreign_cpu_share) == ("noise", 0.7)


def test_a_lost_component_and_a_fault_of_k6_break_a_step(tmp_path: Path) -> None:
    faults = planted.sent(generator_faults=("did not send the whole schedule",))
    found = written(tmp_path, answers(PLAN), lost_components=("jpa-writer (exit code 137)",), sent=faults)
    assert found.reasons == (
        "BROKEN: component lost: jpa-writer (exit code 137)",
        "BROKEN: k6: did not send the whole schedule",
    )


def test_searches_are_judged_by_their_answers_alone(tmp_path: Path) -> None:
    records = answers(PLAN, status=200)
    records["operation"] = 1
    found = derived(tmp_path, records, step(), SEARCHES)
    assert (found.verdict, found.audit, found.drain_seconds, found.backlog) == ("pass", None, None, None)
    records["error_code"][:3] = WRONG_TOTAL
    wrong = derived(tmp_path / "wrong", records, step(), SEARCHES)
    assert wrong.verdict == "fail"
    assert wrong.reasons[0] == "BROKEN: 3 searches returned a wrong total"
    assert wrong.requests.acknowledged == 3997


def test_a_late_generator_may_be_why_a_step_fails_unless_the_host_was_full(tmp_path: Path) -> None:
    records = answers(PLAN)
    records["start_us"][100:] += 150_000
    slow = written(tmp_path / "idle", records)
    assert (slow.verdict, slow.generator_bound, slow.generator.lateness_ms_p99) == ("fail", True, 150.0)
    full = {"total_seconds": 2.0, "busy_seconds": 1.95, "runner_seconds": 1.9}
    samples = [sample for metric, per_s in full.items() for sample in by_second("host", metric, per_s)]
    found = derived(tmp_path / "full", records, step(rows=4000), samples=samples, rows=stored(records))
    assert (found.verdict, found.generator_bound) == ("fail", False)
    assert found.limited_by is not None
    assert found.limited_by.first is not None
    assert found.limited_by.first.resource == "host-cpu"


def test_rows_that_became_durable_after_the_load_are_in_no_rate(tmp_path: Path) -> None:
    records = answers(PLAN)
    rows = stored(records)
    rows.durable_at_us[2000:] = ORIGIN_US + 23_000_000
    found = written(tmp_path, records, rows)
    assert found.stored_per_s == 100.0
    assert found.drain_seconds == pytest.approx(3.0, abs=0.01)
