"""Is what the machine withholds read right, from files of either version, and said in words only above its limit?"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from writepath.analysis import noise
from writepath.analysis.noise import Withheld, reasons, slower
from writepath.measure import host
from writepath.measure.withheld import Counters, between, read
from writepath.records import Canary

if TYPE_CHECKING:
    from pathlib import Path

CANARY = Canary(
    fsync_ms_p50=0.3, fsync_ms_p99=2.0, cpu_ms=40.0, steal_share=None, load_average_1m=0.2, disk_free_bytes=1
)
QUIET = Counters(steal_s=10.0, total_s=1000.0, throttled_s=5.0, wall_s=100.0, swapped_pages=7)
SECOND = os.sysconf("SC_CLK_TCK")


def plant(root: Path, cgroup: str = "0::/a/b\n", stat: dict[str, str] | None = None) -> tuple[Path, Path]:
    """A /proc and a /sys/fs/cgroup; stat: text of cpu.stat by folder below the latter."""
    proc, groups = root / "proc", root / "cgroup"
    (proc / "self").mkdir(parents=True)
    ticks = [100, 1, 50, 700, 5, 0, 4, 40, 60, 0]  # 60 of guests are in the 100 already
    (proc / "stat").write_text(
        f"cpu  {' '.join(str(tick * SECOND) for tick in ticks)}\ncpu0 1 1 1 1 1 1 1 1 1 1\nbtime 1\n",
        encoding="ascii",
    )
    (proc / "vmstat").write_text("pgpgin 99\npswpin 30\npswpout 12\n", encoding="ascii")
    (proc / "self" / "cgroup").write_text(cgroup, encoding="utf-8")
    for folder, text in (stat or {}).items():
        (groups / folder).mkdir(parents=True, exist_ok=True)
        (groups / folder / "cpu.stat").write_text(text, encoding="ascii")
    return proc, groups


def test_processor_time_counts_guests_once_and_stolen_time_by_itself(tmp_path: Path) -> None:
    found = read(*plant(tmp_path))
    assert (found.steal_s, found.total_s, found.swapped_pages) == (40.0, 900.0, 42)


@pytest.mark.parametrize(
    ("cgroup", "stat", "throttled_s"),
    [
        ("0::/a/b\n", {"a/b": "usage_usec 9\nnr_throttled 3\nthrottled_usec 2500000\n"}, 2.5),
        ("0::/a/b\n", {"a/b": "throttled_usec 1000000\n", "a": "throttled_usec 4000000\n"}, 4.0),
        ("0::/a/b\n", {"a/b": "usage_usec 9\n", ".": "usage_usec 9\n"}, None),
        ("3:memory:/a\n2:cpu,cpuacct:/a\n", {"cpu,cpuacct/a": "throttled_time 3000000000\n"}, 3.0),
        ("1:cpu:/outside/this/container\n0::/\n", {"cpu": "nr_throttled 0\nthrottled_time 0\n"}, 0.0),
        ("2:cpuacct:/a\n", {"cpu/a": "throttled_time 3000000000\n"}, None),
    ],
    ids=[
        "version 2",
        "a group above",
        "no quota",
        "version 1",
        "a container of version 1",
        "another controller",
    ],
)
def test_throttling_is_that_of_this_process_and_of_the_groups_it_is_in(
    cgroup: str, stat: dict[str, str], throttled_s: float | None, tmp_path: Path
) -> None:
    assert read(*plant(tmp_path, cgroup, stat)).throttled_s == throttled_s


def test_what_cannot_be_read_is_none_and_never_zero(tmp_path: Path) -> None:
    proc, groups = plant(tmp_path)
    (proc / "vmstat").write_text("pgpgin 99\n", encoding="ascii")
    (proc / "self" / "cgroup").unlink()
    nothing = read(proc, groups)
    assert (nothing.throttled_s, nothing.swapped_pages) == (None, None)
    found = between(nothing, replace(nothing, wall_s=nothing.wall_s + 1, throttled_s=1.0))
    assert found == Withheld(steal_share=None, throttled_share=None, swapped_pages=None)
    assert reasons(found) == ()


def test_this_machine_is_read_and_its_counters_only_grow() -> None:
    first = read()
    end = time.monotonic() + 10  # processor time is counted in hundredths of a second
    while (last := read()).total_s <= first.total_s and time.monotonic() < end:
        pass
    found = between(first, last)
    assert found.steal_share is not None
    assert 0 <= found.steal_share <= 1
    assert all((share or 0) >= 0 for share in (found.throttled_share, found.swapped_pages))


@pytest.mark.parametrize(
    ("grown", "words"),
    [
        ({"steal_s": 12.0}, ""),
        ({"steal_s": 12.1}, "2.1% of the CPU time was stolen during the load"),
        ({"throttled_s": 5.1}, ""),
        ({"throttled_s": 5.2}, "the CPU quota stopped the run for 2.0% of the load"),
        ({"swapped_pages": 7 + noise.SWAPPED_LIMIT}, ""),
        ({"swapped_pages": 8 + noise.SWAPPED_LIMIT}, "257 pages swapped"),
    ],
)
def test_only_what_is_above_its_limit_is_said(grown: dict[str, float], words: str) -> None:
    last = replace(QUIET, total_s=1100.0, wall_s=110.0)
    found = reasons(between(QUIET, replace(last, **grown)))  # type: ignore[arg-type]
    assert len(found) == bool(words)
    assert words in "".join(found)


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ({"cpu_ms": 52.0}, ""),
        ({"cpu_ms": 52.1}, "took 52 ms after the load, 40 ms before it"),
        ({"fsync_ms_p50": 1.0}, ""),  # three times, and nobody would notice
        ({"fsync_ms_p50": 2.4}, "an fsync took 2.4 ms after the load, 0.3 ms before it"),
        ({"cpu_ms": 10.0, "fsync_ms_p50": 0.1}, ""),  # faster is no fault of the run
    ],
)
def test_a_host_is_slower_only_where_it_shows(after: dict[str, float], words: str) -> None:
    found = slower(CANARY, replace(CANARY, **after))  # type: ignore[arg-type]
    assert len(found) == bool(words)
    assert words in "".join(found)


def test_a_moment_of_another_program_does_not_make_the_canary_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    took_ms = iter([88.0, 61.0, 60.0, 90.0, 75.0])
    monkeypatch.setattr(host, "_cpu_ms", lambda: next(took_ms))
    assert host.CanaryCage(folder=tmp_path).measure().cpu_ms == 60.0
