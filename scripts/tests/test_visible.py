import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from writepath.analysis import raw
from writepath.config.registry import Phase
from writepath.errors import AuditError
from writepath.load import ledger, parquet
from writepath.load.plan import arrival_plan, encode_id, new_run_id
from writepath.measure import visible
from writepath.measure.visible import Prober, sampled

DEFAULT_LOAD = (  # before the climb
    Phase(name="ramp-up", seconds=20, from_per_s=3, to_per_s=100),
    Phase(name="sustained", seconds=30, from_per_s=100, to_per_s=100),
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


def seen(of: Prober, folder: Path) -> list[dict[str, Any]]:
    of.save(folder)
    rows: list[dict[str, Any]] = parquet.load_table(folder / raw.VISIBLE_FILE).to_pylist()
    return rows


def test_the_default_load_has_the_thousand_samples_a_p99_needs() -> None:
    plan = arrival_plan(DEFAULT_LOAD)
    chosen = sampled(plan, 1)
    assert 1000 < len(chosen) < 1700
    assert np.array_equal(chosen, sampled(plan, 1))
    assert not np.array_equal(chosen, sampled(plan, 2))
    assert (np.diff(chosen) > 0).all()
    ramp = (chosen < 1000).mean() / (1000 / plan.planned)
    assert ramp == pytest.approx(1, abs=0.2)  # the same share everywhere


def test_the_visible_moment_is_that_of_the_first_answer_that_has_it(tmp_path: Path) -> None:
    store = Store(shown_from_s={0: 1000.055, 1: 1000.0})
    probe = prober(store, [0.0, 0.0])
    for _ in range(3):
        probe.question()
        store.now_s += 0.04
    found = seen(probe, tmp_path)
    assert [row["visible_at_us"] for row in found] == [1_000_060_000, 1_000_010_000]
    assert found[0]["not_before_us"] == 1_000_000_000  # when the question that missed it was sent
    assert found[1]["not_before_us"] is None
    assert store.asked == [[0, 1], [0]]


def test_only_so_many_that_are_due_are_asked_for_at_once() -> None:
    store = Store(shown_from_s={})
    probe = prober(store, [0.0] * (visible.MOST_ASKED + 10) + [0.5])
    for _ in range(2):
        probe.question()
    store.now_s += 0.6
    probe.question()
    assert [len(asked) for asked in store.asked] == [visible.MOST_ASKED, 10, visible.MOST_ASKED]
    assert store.asked[2][0] == 0  # the longest unasked first


def test_a_question_is_no_longer_than_an_application_takes() -> None:
    ids = [encode_id(new_run_id(), sequence) for sequence in range(visible.MOST_ASKED)]
    assert len(",".join(ids)) < 15 * 1024  # of the 16 KB of a request's head, other lines with it


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


def test_a_question_without_an_answer_says_nothing_of_the_writes(tmp_path: Path) -> None:
    store = Store(shown_from_s={0: 0.0}, down=True)
    probe = prober(store, [0.0])
    probe.question()
    probe.save(tmp_path)
    assert not [*tmp_path.iterdir()]
    store.down = False
    probe.question()
    assert seen(probe, tmp_path)[0]["not_before_us"] is None
    assert probe.answered == 1


def test_a_sample_that_was_acknowledged_is_waited_for_and_another_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(visible, "CAP_S", 0.2)
    probe = prober(Store(shown_from_s={}), [0.0, 0.0])
    records = np.zeros(2, ledger.RECORD)
    records["seq"], records["status"] = [0, 1], 503
    probe.settle(ledger.Ledger(records=records))
    began = time.monotonic()
    records["status"] = [503, 201]
    probe.settle(ledger.Ledger(records=records))
    assert time.monotonic() - began >= 0.2
