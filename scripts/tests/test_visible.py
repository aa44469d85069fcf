from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from writepath.analysis import stats
from writepath.analysis.figures import time_to_visible
from writepath.analysis.raw import Seen, read_visible, save_visible
from writepath.config.registry import Phase
from writepath.errors import AuditError
from writepath.load import ledger as ledgers
from writepath.load.ledger import NO_TIME
from writepath.load.plan import arrival_plan
from writepath.measure import visible
from writepath.measure.visible import Prober, Sent, sampled

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

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
    assert found.visible_at_us.tolist() == [1_000_060_000, 1_000_010_000]
    assert found.not_before_us[0] == 1_000_000_000  # when the question that missed it was sent
    assert found.not_before_us[1] == NO_TIME
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
    assert seen(probe).not_before_us[0] == NO_TIME
    assert (probe.failed, probe.answered) == (1, 1)


def test_a_question_is_never_longer_than_agreed() -> None:
    store = Store(shown_from_s={})
    probe = prober(store, [0.0] * (visible.MOST_ASKED + 10))
    probe.question()
    probe.question()
    assert [len(asked) for asked in store.asked] == [visible.MOST_ASKED, 10]


def test_the_file_comes_back_as_it_was(tmp_path: Path) -> None:
    kept = Seen(
        seq=np.array([3, 5, 9]),
        not_before_us=np.array([1_000_250, NO_TIME, 1_001_000]),
        visible_at_us=np.array([1_050_500, 1_060_000, NO_TIME]),
    )
    save_visible(kept, tmp_path / "visible.parquet")
    back = read_visible(tmp_path / "visible.parquet")
    assert back.seq.tolist() == [3, 5, 9]
    assert back.not_before_us.tolist() == kept.not_before_us.tolist()
    assert back.visible_at_us.tolist() == kept.visible_at_us.tolist()


def test_times_count_from_sending_and_what_was_never_seen_is_at_infinity() -> None:
    records = np.zeros(40, ledgers.RECORD)
    records["seq"], records["start_us"] = np.arange(40), 1_000_000 + 1000 * np.arange(40)
    records["status"] = np.where(np.arange(40) < 30, 201, 503)
    found = Seen(
        seq=np.arange(40),
        not_before_us=np.full(40, 1_100_000),
        visible_at_us=np.where(np.arange(40) < 21, 1_150_000 + 1000 * np.arange(40), NO_TIME),
    )
    figures = time_to_visible(ledgers.Ledger(records=records), found)
    latency = figures.time_to_visible_ms
    assert latency is not None
    assert (latency.min, latency.median, latency.max) == (150.0, 150.0, 150.0)
    assert (figures.visible_samples, figures.visible_error_ms_max) == (40, 70.0)
    fewer = time_to_visible(
        ledgers.Ledger(records=records),
        Seen(seq=found.seq, not_before_us=found.not_before_us, visible_at_us=np.full(40, NO_TIME)),
    )
    assert fewer.time_to_visible_ms is not None
    assert fewer.time_to_visible_ms.median is None


def test_the_width_of_the_interval_begins_with_sending_where_no_later_question_missed_it() -> None:
    widths = stats.widths_us(
        np.array([1, 2, 3]),
        np.array([100, 200, 300]),
        np.array([1, 2, 3, 4]),
        np.array([90, 240, NO_TIME, NO_TIME]),
        np.array([150, 260, 310, 320]),
    )
    assert widths.tolist() == [50, 20, 10]


class Growing(ledgers.Tail):
    """Of a closed load: so many records are there now."""

    def __init__(self, finished: int = 0) -> None:
        super().__init__(Path("nowhere"))
        self.finished = finished

    def poll(self) -> ledgers.Progress:
        self.highest = self.finished - 1
        return ledgers.Progress(finished=self.finished, acknowledged=self.finished, errors=0)


def closed(store: Store, tail: Growing, users: int = 10) -> Prober:
    sent = Sent(tail=tail, virtual_users=users, seed=1)
    nothing = np.empty(0, np.int64)
    return Prober(ask=store.ask, seq=nothing, due_s=nothing.astype(float), clock=store.clock, more=sent.more)


def test_of_a_closed_load_about_twenty_a_second_are_asked_for_by_its_first_rate() -> None:
    store, tail = Store(shown_from_s={}), Growing()
    probe = closed(store, tail)
    while store.now_s < 1021:
        tail.finished = round((store.now_s - 1000) * 400)  # 400/s
        probe.question()
        store.now_s += 0.05
    first = probe.seq[0]
    assert first >= 400  # those of the first second were sent before anybody knew the rate
    assert len(probe.seq) == pytest.approx(20 * visible.PER_S, rel=0.2)
    assert (np.diff(probe.seq) > 0).all()


def test_of_a_closed_load_a_write_is_asked_for_once_a_user_may_have_sent_it() -> None:
    store, tail = Store(shown_from_s={}), Growing(finished=10)  # so few that all are asked for
    probe = closed(store, tail, users=3)
    store.now_s += visible.FIRST_S
    probe.question()
    assert store.asked == []
    tail.finished = 12
    probe.question()
    assert store.asked == [[13, 14]]


def test_of_a_closed_load_what_was_never_sent_is_no_sample() -> None:
    store, tail = Store(shown_from_s={13: 0.0}), Growing(finished=10)
    probe = closed(store, tail, users=3)
    store.now_s += visible.FIRST_S
    probe.question()
    tail.finished = 12
    probe.question()
    records = np.zeros(14, ledgers.RECORD)
    records["seq"], records["status"] = np.arange(14), 201
    probe.settle(ledgers.Ledger(records=records))
    assert seen(probe).seq.tolist() == [13]


def test_without_a_record_nothing_of_a_closed_load_is_asked_for() -> None:
    store = Store(shown_from_s={})
    probe = closed(store, Growing())
    store.now_s += 5
    probe.question()
    assert (store.asked, probe.seen()) == ([], None)
