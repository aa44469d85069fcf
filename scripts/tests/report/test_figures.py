"""Do the figures of a run come out as planted, and are contradictions refused?"""

from __future__ import annotations

import gzip
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from writepath import result
from writepath.errors import UsageError
from writepath.load import ledger
from writepath.report.figures import suite_figures
from writepath.report.raw import Samples, read_run, read_stored, read_suite
from writepath.report.used import used

if TYPE_CHECKING:
    from pathlib import Path

    from report.conftest import RunSpec, SuiteSpec
    from writepath.report.figures import Figures

PLANNED = 1200


def figures_of(suite: SuiteSpec, *runs: RunSpec) -> Figures:
    suite.runs = list(runs)
    return suite_figures(read_suite(suite.write())).runs[0]


def test_percentiles_are_of_the_planned_requests(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    figures = figures_of(suite, run_spec())
    assert figures.accept is not None
    assert (figures.accept.min_served, figures.accept.max_served) == pytest.approx((0.1, 120.0))
    assert figures.accept.mean_served == pytest.approx(60.05)
    assert (figures.accept.median, figures.accept.p95, figures.accept.p99) == pytest.approx(
        (60.0, 114.0, 118.8)
    )
    assert figures.counts


def test_what_the_generator_lagged_behind_is_in_the_latency_from_the_planned_moment(
    suite: SuiteSpec, run_spec: type[RunSpec]
) -> None:
    suite.runs = [run_spec(latency_ms=np.full(PLANNED, 10.0))]
    path = suite.write() / "jpa/flat/rep-01/ledger.csv.gz"
    late = ledger.read(path)
    late.records["start_ms"][600:670] += 45.0
    late.records["status"][700:703] = 503
    ledger.write(late, path)
    run = suite.root / "results/default" / suite.stamp / "jpa/flat/rep-01/run.json"
    text = run.read_text(encoding="utf-8").replace('"acknowledged": 1200', '"acknowledged": 1197')
    run.write_text(text.replace('"indeterminate": 0', '"indeterminate": 3'), encoding="utf-8")
    figures = suite_figures(read_suite(suite.root / "results/default" / suite.stamp)).runs[0]
    assert figures.accept is not None
    assert figures.accept_from_planned is not None
    assert (figures.accept.p95, figures.accept.max_served) == pytest.approx((10.0, 10.0))
    assert figures.accept_from_planned.median == pytest.approx(10.0)
    assert figures.accept_from_planned.p95 == pytest.approx(55.0)
    assert figures.accept_from_planned.unserved == 3
    ramp, sustained = figures.phases
    assert ramp.accept_from_planned.max_served == pytest.approx(10.0)
    assert sustained.accept_from_planned.p95 == pytest.approx(55.0)


def test_dropped_and_failed_requests_stand_at_infinity(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    status = np.full(PLANNED, 201)
    status[:9] = 503
    figures = figures_of(suite, run_spec(status=status, dropped=4))
    assert figures.accept is not None
    assert figures.accept.unserved == 13
    assert figures.accept.p99 == math.inf
    assert figures.accept.p95 is not None
    assert figures.accept.p95 < math.inf


def test_a_request_belongs_to_the_phase_of_its_planned_moment(
    suite: SuiteSpec, run_spec: type[RunSpec]
) -> None:
    figures = figures_of(suite, run_spec(dropped=50))
    ramp, sustained = figures.phases
    assert (ramp.name, ramp.accept.planned, ramp.accept.unserved) == ("ramp-up", 200, 0)
    assert (sustained.accept.planned, sustained.accept.unserved) == (1000, 50)
    assert ramp.achieved_per_s == 20
    assert sustained.achieved_per_s == 95
    assert ramp.accept.p99 is None
    assert sustained.accept.p99 == math.inf


def test_every_planned_request_has_exactly_one_answer(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    status, error = np.full(PLANNED, 201), np.zeros(PLANNED, dtype=int)
    planted = {
        "status_4xx": (413, 0), "status_500": (500, 1500), "status_502": (502, 1502), "status_503": (503, 1503),
        "status_504": (504, 1504), "status_other": (507, 1507), "refused": (0, 1212), "reset": (0, 1220),
        "closed": (0, 9002), "no_answer": (0, 1000), "timed_out": (0, 1050),
    }  # fmt: skip
    for count, (code, kind) in enumerate(planted.values(), 1):
        at = count * (count - 1) // 2
        status[at : at + count], error[at : at + count] = code, kind
    figures = figures_of(suite, run_spec(status=status, error_code=error, dropped=20))
    assert figures.answers is not None
    assert {key: figures.answers[key] for key in planted} == {key: n for n, key in enumerate(planted, 1)}
    assert figures.answers["dropped"] == 20
    assert sum(figures.answers.values()) == PLANNED


def test_rates_are_of_acknowledged_requests(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    figures = figures_of(suite, run_spec(latency_ms=np.full(PLANNED, 5.0)))
    assert figures.planned_per_s == 60
    assert figures.planned_peak_per_s == 100
    assert figures.achieved_per_s == pytest.approx(60, abs=0.02)  # the last answer comes after the plan's end
    assert figures.achieved_peak_per_s == pytest.approx(100, abs=1)


def test_a_late_answer_stretches_the_window(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    latency = np.full(PLANNED, 5.0)
    latency[-1] = 10_000.0
    figures = figures_of(suite, run_spec(latency_ms=latency))
    assert figures.achieved_per_s == pytest.approx(1200 / 30, rel=0.01)


def test_rows_durable_before_their_answer_are_not_later(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    figures = figures_of(suite, run_spec())
    assert figures.durable is not None
    assert figures.durable.median == pytest.approx(59.99, abs=0.002)
    assert not figures.durable_later


def test_time_to_durable_counts_from_sending(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    delays = np.arange(1, PLANNED + 1) + 1000.0
    figures = figures_of(suite, run_spec(delay_ms=delays, queue_ready=(0, 7, 3)))
    assert figures.durable is not None
    assert (figures.durable.median, figures.durable.p99) == pytest.approx((1600, 2188), abs=0.01)
    assert figures.durable_later
    assert figures.queue_peak == 8  # 7 ready and 1 unacknowledged in one reading


def test_an_acknowledged_row_that_is_absent_is_never_durable(
    suite: SuiteSpec, run_spec: type[RunSpec]
) -> None:
    figures = figures_of(suite, run_spec(absent=tuple(range(12))))
    assert figures.durable is not None
    assert figures.durable.unserved == 12
    assert figures.stored_rows == PLANNED - 12


def test_unknown_moments_of_durability_give_no_time(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    figures = figures_of(suite, run_spec(delay_ms=np.full(PLANNED, np.nan)))
    assert figures.durable is None
    assert figures.stored_rows == PLANNED


def test_no_success_at_all_still_has_figures(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    figures = figures_of(suite, run_spec(status=np.full(PLANNED, 503)))
    assert figures.accept is not None
    assert (figures.accept.median, figures.accept.mean_served) == (math.inf, None)
    assert figures.achieved_per_s == 0


def test_a_cut_ledger_leaves_no_figures_and_a_reason(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    suite.runs = [run_spec()]
    folder = suite.write()
    path = folder / "jpa/flat/rep-01/ledger.csv.gz"
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(lines[:-1])))
    figures = suite_figures(read_suite(folder)).runs[0]
    assert figures.accept is None
    assert not figures.counts
    assert "1,200 ≠ lines in the ledger 1,199" in figures.reasons[0]


def test_a_removed_row_contradicts_the_audit(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    suite.runs = [run_spec()]
    folder = suite.write()
    path = folder / "jpa/flat/rep-01/stored.csv.gz"
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(lines[:-1])))
    reasons = suite_figures(read_suite(folder)).runs[0].reasons
    assert any("stored rows 1,200 ≠ rows read back 1,199" in reason for reason in reasons)
    assert any("lost + stranded 0 ≠ 201s without a row 1" in reason for reason in reasons)


def test_a_replaced_process_loses_none_of_its_cpu_time_and_guesses_no_writes() -> None:
    at = np.arange(4.0)
    series = {
        ("k6", "cpu_seconds"): Samples(at_ms=at, value=np.array([0.0, 0.5, 2.0, 0.1])),
        ("k6", "rss_bytes"): Samples(at_ms=at, value=np.array([1.0, 9.0, 3.0, 0.0])),
        ("k6", "write_bytes"): Samples(at_ms=at[:1], value=np.array([0.0])),
    }
    assert used(series) == {"k6": result.Resource(cpu_seconds=2.1, rss_peak_bytes=9, write_bytes=None)}


def test_resources_that_contradict_the_samples_leave_no_figures(suite: SuiteSpec) -> None:
    folder = suite.write()
    path = folder / "jpa/flat/rep-01/run.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"cpu_seconds": 3.0', '"cpu_seconds": 2.5'), encoding="utf-8")
    (reason,) = suite_figures(read_suite(folder)).runs[0].reasons
    assert reason == "sums do not agree: CPU of postgres 2.50 s ≠ samples 3.00 s"


def test_a_failed_run_has_its_error_for_a_reason(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    invalid = result.Verdict(status="invalid")
    figures = figures_of(suite, run_spec(failed="postgres did not start", verdict=invalid))
    assert figures.reasons == ("postgres did not start",)
    assert figures.accept is None


def test_a_run_without_its_ledger_is_an_error_that_names_it(suite: SuiteSpec) -> None:
    folder = suite.write()
    (folder / "jpa/flat/rep-01/ledger.csv.gz").unlink()
    with pytest.raises(UsageError, match=r"ledger\.csv\.gz: missing"):
        read_run(folder / "jpa/flat/rep-01")


def test_rows_of_other_runs_are_counted_as_foreign(tmp_path: Path) -> None:
    path = tmp_path / "stored.csv.gz"
    text = "seq,content_ok,durable_at_ms,foreign_id\n1,1,5.5,\n,,,abc\n2,0,,\n,,,\"=cmd|'x'\"\n"
    path.write_bytes(gzip.compress(text.encode()))
    rows = read_stored(path)
    assert rows.seq.tolist() == [1, 2]
    assert rows.content_ok.tolist() == [1, 0]
    assert np.isnan(rows.durable_at_ms).tolist() == [False, True]
    assert rows.foreign_rows == 2


def test_a_store_without_rows_is_read_as_empty(tmp_path: Path) -> None:
    path = tmp_path / "stored.csv.gz"
    path.write_bytes(gzip.compress(b"seq,content_ok,durable_at_ms,foreign_id\n"))
    assert read_stored(path).seq.size == 0


def test_a_torn_gz_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "stored.csv.gz"
    path.write_bytes(gzip.compress(b"seq,content_ok,durable_at_ms,foreign_id\n1,1,5.5,\n" * 50)[:-20])
    with pytest.raises(UsageError, match="truncated or not gzip"):
        read_stored(path)


def test_a_folder_outside_of_the_suite_is_refused(suite: SuiteSpec) -> None:
    folder = suite.write()
    path = folder / "suite.json"
    path.write_text(
        path.read_text(encoding="utf-8").replace("jpa/flat/rep-01", "../../../../etc"), encoding="utf-8"
    )
    with pytest.raises(UsageError, match="leads out of the suite's folder"):
        read_suite(folder)
