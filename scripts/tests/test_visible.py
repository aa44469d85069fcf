"""Is a write's visible moment the first answer that has it, between bounds, and is the sample the plan's alone?"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest

from writepath import stats
from writepath.errors import AuditError
from writepath.load import ledger as ledgers
from writepath.load.plan import arrival_plan
from writepath.registry import Phase
from writepath.report.raw import read_visible
from writepath.run import visible
from writepath.run.figures import time_to_visible
from writepath.run.visible import Prober, Seen, sampled, save

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

DEFAULT_LOAD = (
    Phase(name="ramp-up", seconds=20, from_per_s=3, to_per_s=100),
    Phase(name="sustained", seconds=60, from_per_s=100, to_per_s=100),
)


@dataclass(kw_only=True)
class Store:
    """Shows a write from its moment on; every look takes 0.01 s of its own clock."""

    shown_from_s: dict[int, float]
    now_s: float = 1000.0
    asked: list[list[int]] = field(default_factory=list)
    down: bool = False

    def clock(self) -> float:
        return self.now_s

    def ask(self, sequences: Sequence[int]) -> Collection[int]:
        self.asked.append(list(sequences))
        self.now_s += 0.01
        if self.down:
            raise AuditError("down")
        return [s for s in sequences if self.shown_from_s.get(s, np.inf) <= self.now_s]


def prober(store: Store, due_s: Sequence[float]) -> Prober:
    return Prober(
        ask=store.ask, seq=np.arange(len(due_s)), due_s=np.array(due_s, dtype=float), clock=store.clock
    )


def seen(of: Prober) -> Seen:
    found = of.seen()
    assert found is not None
    return found


def test_the_default_load_has_the_thousand_samples_a_p99_needs() -> None:
    plan = arrival_plan(DEFAULT_LOAD)
    chosen = sampled(plan, 1)
    assert 1000 < len(chosen) < 1700
    assert np.array_equal(chosen, sampled(plan, 1))
    assert not np.array_equal(chosen, sampled(plan, 2))
    assert (np.diff(chosen) > 0).all()
    ramp = (chosen < 1000).mean() / (1000 / plan.planned)
    assert ramp == pytest.approx(1, abs=0.2)  # the same share everywhere


def test_the_visible_moment_is_that_of_the_first_answer_that_has_it() -> None:
    store = Store(shown_from_s={0: 1000.055, 1: 1000.0})
    probe = prober(store, [0.0, 0.0])
    for _ in range(3):
        probe.question()
        store.now_s += 0.04
    found = seen(probe)
    assert found.visible_at_ms == pytest.approx([1_000_060.0, 1_000_010.0])
    assert found.not_before_ms[0] == pytest.approx(1_000_000.0)  # when the question that missed it was sent
    assert np.isnan(found.not_before_ms[1])
    assert store.asked == [[0, 1], [0]]


def test_nothing_is_asked_before_it_is_due() -> None:
    store = Store(shown_from_s={})
    probe = prober(store, [0.0, 0.5])
    probe.question()
    store.now_s += 0.6
    probe.question()
    assert store.asked == [[0], [0, 1]]


def test_what_has_waited_long_is_asked_seldom_and_at_last_no_more() -> None:
    store = Store(shown_from_s={})
    probe = prober(store, [0.0])
    while store.now_s < 1000 + visible.GIVE_UP_S + 5:
        probe.question()
        store.now_s += visible.EVERY_S
    assert len(store.asked) < 400  # of 3,000 looks
    assert store.now_s > 1000 + visible.GIVE_UP_S
    before = len(store.asked)
    probe.question()
    assert len(store.asked) == before


@pytest.mark.parametrize(
    ("takes_s", "pause_s"), [(0.02, visible.EVERY_S), (0.6, 0.15), (30.0, visible.SELDOM_S)]
)
def test_a_store_that_shows_writes_late_is_asked_more_seldom(takes_s: float, pause_s: float) -> None:
    store = Store(shown_from_s=dict.fromkeys(range(5), 1000 + takes_s - 0.01))
    probe = prober(store, [0.0] * 5)
    assert probe.pause_s() == visible.EVERY_S
    store.now_s += takes_s - 0.01
    probe.question()
    assert probe.pause_s() == pytest.approx(pause_s)


def test_a_question_without_an_answer_says_nothing_of_the_writes() -> None:
    store = Store(shown_from_s={0: 0.0}, down=True)
    probe = prober(store, [0.0])
    probe.question()
    assert probe.seen() is None
    store.down = False
    probe.question()
    assert np.isnan(seen(probe).not_before_ms[0])
    assert (probe.failed, probe.answered) == (1, 1)


def test_a_question_is_never_longer_than_agreed() -> None:
    store = Store(shown_from_s={})
    probe = prober(store, [0.0] * (visible.MOST_ASKED + 10))
    probe.question()
    probe.question()
    assert [len(asked) for asked in store.asked] == [visible.MOST_ASKED, 10]


def test_the_file_comes_back_as_it_was(tmp_path: Path) -> None:
    nan = float("nan")
    kept = Seen(
        seq=np.array([3, 5, 9]),
        not_before_ms=np.array([1000.25, nan, 1001.0]),
        visible_at_ms=np.array([1050.5, 1060.0, nan]),
    )
    save(kept, tmp_path / "visible.csv.gz")
    back = read_visible(tmp_path / "visible.csv.gz")
    assert back.seq.tolist() == [3, 5, 9]
    np.testing.assert_array_equal(back.not_before_ms, kept.not_before_ms)
    np.testing.assert_array_equal(back.visible_at_ms, kept.visible_at_ms)
    assert gzip.decompress((tmp_path / "visible.csv.gz").read_bytes()).startswith(b"seq,not_before_ms,")


def test_times_count_from_sending_and_what_was_never_seen_is_at_infinity() -> None:
    records = np.zeros(40, ledgers.RECORD)
    records["seq"], records["start_ms"] = np.arange(40), 1000.0 + np.arange(40)
    records["status"] = np.where(np.arange(40) < 30, 201, 503)
    found = Seen(
        seq=np.arange(40),
        not_before_ms=np.full(40, 1100.0),
        visible_at_ms=np.where(np.arange(40) < 21, 1150.0 + np.arange(40), np.nan),
    )
    figures = time_to_visible(ledgers.Ledger(records=records), found)
    latency = figures.time_to_visible_ms
    assert latency is not None
    assert (latency.min, latency.median, latency.max) == (150.0, 150.0, 150.0)
    assert (figures.visible_samples, figures.visible_error_ms_max) == (40, 70.0)
    fewer = time_to_visible(
        ledgers.Ledger(records=records),
        Seen(seq=found.seq, not_before_ms=found.not_before_ms, visible_at_ms=np.full(40, np.nan)),
    )
    assert fewer.time_to_visible_ms is not None
    assert fewer.time_to_visible_ms.median is None


def test_the_width_of_the_interval_begins_with_sending_where_no_later_question_missed_it() -> None:
    nan = np.nan
    widths = stats.widths_ms(
        np.array([1, 2, 3]),
        np.array([100.0, 200.0, 300.0]),
        np.array([1, 2, 3, 4]),
        np.array([90.0, 240.0, nan, nan]),
        np.array([150.0, 260.0, 310.0, 320.0]),
    )
    assert widths.tolist() == [50.0, 20.0, 10.0]
