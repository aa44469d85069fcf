from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from writepath.analysis.raw import read_samples, save_samples
from writepath.analysis.samples import (
    Series,
    foreign_share,
    generator_share,
    pool_waiting,
    resources,
    system_share,
    time_wait,
)
from writepath.analysis.stats import accumulated
from writepath.measure.sampler import HOST, K6, Machine, Sampler, redelivered
from writepath.runtime.base import Usage


@dataclass
class FakeTime:
    """A clock that waiting and slow readings move on; tells the sampler to end at a moment."""

    end_s: float
    slow_reading_s: float = 0.0
    now_s: float = 0.0
    readings: list[float] = field(default_factory=list)

    def wait(self, seconds: float) -> bool:
        self.now_s = min(self.now_s + seconds, max(self.now_s, self.end_s))
        return self.now_s >= self.end_s

    def usage(self) -> Mapping[str, Usage]:
        self.readings.append(self.now_s)
        self.now_s += self.slow_reading_s
        return {K6: Usage(cpu_seconds=self.now_s / 2, rss_bytes=100, write_bytes=None)}

    def sampler(self) -> Sampler:
        return Sampler(
            usage=self.usage,
            gauges=lambda: {"app": {"in_flight": 3.0}},
            clock=lambda: self.now_s,
            wait=self.wait,
        )


def test_every_second_of_the_window_is_read_and_its_end_too() -> None:
    fake = FakeTime(end_s=3.4)
    sampler = fake.sampler()
    sampler.run()
    assert fake.readings == [0.0, 1.0, 2.0, 3.0, 3.4]
    assert sampler.late == 0


def test_a_reading_that_overruns_makes_the_next_moment_skipped_and_one_that_comes_late_is_counted() -> None:
    fake = FakeTime(end_s=6.0, slow_reading_s=1.7)
    fake.sampler().run()
    assert fake.readings == [0.0, 2.0, 4.0, 6.0]
    late = FakeTime(end_s=4.0)
    sampler = late.sampler()
    # The wait of a busy machine.
    sampler._wait = lambda seconds: late.wait(seconds + 0.6 if late.now_s == 1.0 else seconds)  # noqa: SLF001
    sampler.run()
    assert sampler.late == 1


def test_a_reader_that_fails_costs_one_reading_and_the_next_reading_comes() -> None:
    fake = FakeTime(end_s=2.0)
    sampler = fake.sampler()
    failures = iter([OSError("gone")])
    real = sampler.usage

    def failing() -> Mapping[str, Usage]:
        for error in failures:
            raise error
        return real()

    sampler.usage = failing
    sampler.run()
    assert {s.at_us for s in sampler.samples} == {1_000_000, 2_000_000}
    assert {s.component for s in sampler.samples} == {K6, "app", HOST}


def test_samples_are_in_memory_what_they_are_in_the_file(tmp_path: Path) -> None:
    counted = iter([0.1 + 0.2, 0.3])  # the same seconds of two nodes, added up in another order
    fake = FakeTime(end_s=1.0)
    sampler = fake.sampler()
    sampler.gauges = lambda: {"app": {"gc_seconds": next(counted, 0.3)}}
    sampler.run()
    save_samples(sampler.samples, tmp_path / "samples.parquet")
    kept = read_samples(tmp_path / "samples.parquet")
    for (component, metric), (at_us, value) in kept.items():
        own = [s for s in sampler.samples if (s.component, s.metric) == (component, metric)]
        assert [s.value for s in own] == value.tolist()
        assert [s.at_us for s in own] == at_us.tolist()
    _, value = kept["app", "gc_seconds"]
    assert accumulated(value).tolist() == [0.0] * len(value)


def test_cpu_shares_are_the_mean_and_the_busiest_ten_seconds() -> None:
    used = [0.1 * t if t <= 10 else 1 + 0.9 * (t - 10) if t <= 20 else 10.0 for t in range(31)]
    assert shares(range(31), used) == pytest.approx((10 / 30, 0.9, 31))
    assert shares([0, 4], [0.0, 1.0]) == (0.25, 0.25, 2)  # below ten seconds
    assert shares([], []) == (0.0, 0.0, 0)


def shares(at_s: Sequence[int], used: Sequence[float]) -> tuple[float, float, int]:
    return generator_share({(K6, "cpu_seconds"): (np.array(at_s, int) * 1_000_000, np.array(used))})


def series(component: str, metrics: dict[str, list[float]]) -> Series:
    return {(component, name): (np.arange(len(v)), np.array(v)) for name, v in metrics.items()}


def test_resources_are_growth_of_counters_and_peak_of_memory() -> None:
    counters = {"cpu_seconds": [5.0, 7.5], "rss_bytes": [10.0, 30.0, 20.0], "write_bytes": [100.0, 160.0]}
    found = resources(series("app", counters))["app"]
    assert (found.cpu_seconds, found.rss_peak_bytes, found.write_bytes) == (2.5, 30, 60)


def test_the_foreign_share_is_what_neither_components_nor_runner_used() -> None:
    host = {"total_seconds": [0.0, 20.0], "busy_seconds": [0.0, 12.0], "runner_seconds": [0.0, 1.0]}
    own = {"cpu_seconds": [0.0, 5.0], "rss_bytes": [0.0, 1.0]}
    assert foreign_share({**series(HOST, host), **series("app", own)}) == pytest.approx(6 / 20)
    assert foreign_share({}) is None


def test_on_split_processors_the_foreign_share_is_that_of_the_side_that_lost_more() -> None:
    sides = {"system_busy_seconds": 7.0, "generator_busy_seconds": 6.0, "runner_seconds": 1.0}
    both = {"system_total_seconds": 10.0, "generator_total_seconds": 10.0, **sides}
    host = series(HOST, {name: [0.0, last] for name, last in both.items()})
    used = {name: series(name, {"cpu_seconds": [0.0, cpu_s]}) for name, cpu_s in ((K6, 1.0), ("app", 5.0))}
    assert foreign_share({**host, **used[K6], **used["app"]}) == pytest.approx(4 / 10)  # 2 of the system's


def test_a_closed_load_s_share_of_processors_waiting_requests_and_sockets() -> None:
    at_us = np.array([0, 10_000_000])
    seen: Series = {
        (K6, "cpu_seconds"): (at_us, np.array([0.0, 9.0])),
        ("app", "cpu_seconds"): (at_us, np.array([2.0, 8.0])),
        ("postgres", "cpu_seconds"): (at_us, np.array([0.0, 4.0])),
        ("app", "pool_waiting"): (at_us, np.array([1.0, 7.0])),
        (HOST, "time_wait_sockets"): (at_us, np.array([100.0, 300.0])),
    }
    assert system_share(seen, 2) == pytest.approx((6 + 4) / (10 * 2))
    assert system_share({}, 2) is None
    assert pool_waiting(seen).tolist() == [1.0, 7.0]
    assert time_wait(seen, "native").tolist() == [100.0, 300.0]
    assert not time_wait(seen, "docker").size


def test_sockets_in_time_wait_are_the_kernel_s_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "sockstat"
    table.write_text("sockets: used 368\nTCP: inuse 42 orphan 0 tw 463 alloc 304 mem 91\n", encoding="utf-8")
    monkeypatch.setattr("writepath.measure.sampler.SOCKETS", table)
    assert dict(Machine().read())["time_wait_sockets"] == 463.0
    monkeypatch.setattr("writepath.measure.sampler.SOCKETS", tmp_path / "none")
    assert "time_wait_sockets" not in dict(Machine().read())


def test_redeliveries_grow_by_instance_whichever_of_them_restarts() -> None:
    readings = [
        ("redelivered@1", 2.0),
        ("redelivered@2", 5.0),
        ("redelivered@1", 4.0),
        ("redelivered@2", 1.0),
    ]
    assert redelivered([*readings, ("x@1", 9.0), ("redelivered@1", 5.0)]) == (5 - 2) + 1
    assert redelivered([("redelivered@1", 7.0)]) == 0
    assert redelivered([("pool", 1.0)]) is None
