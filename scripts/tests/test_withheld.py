"""What the host withholds, and what its disks and processors do, is read right and said only above its limit."""

import io
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from rich.console import Console

from writepath import control_groups
from writepath.analysis import verdict
from writepath.analysis.verdict import STEAL_LIMIT, noise_reasons, slower_reasons
from writepath.measure import host, sampler
from writepath.measure.host import Counters, read_counters, withheld_between
from writepath.measure.sampler import Machine
from writepath.processors import Split, available
from writepath.progress import Progress
from writepath.records.load_facts import WithheldFacts
from writepath.records.measures import Canary

CANARY = Canary(
    fsync_ms_p50=0.3, fsync_ms_p99=2.0, cpu_ms=40.0, steal_share=None, load_average_1m=0.2, disk_free_bytes=1
)
QUIET = Counters(steal_s=10.0, total_s=1000.0, throttled_s=5.0, wall_s=100.0, swapped_pages=7)
SECOND = os.sysconf("SC_CLK_TCK")


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A /proc; /sys/fs/cgroup is next to it."""
    proc = tmp_path / "proc"
    monkeypatch.setattr(psutil, "PROCFS_PATH", str(proc))
    monkeypatch.setattr(control_groups, "GROUPS", tmp_path / "cgroup")
    (proc / "self").mkdir(parents=True)
    ticks = [100, 1, 50, 700, 5, 0, 4, 40, 60, 0]  # 60 of guests are in the 100 already
    (proc / "stat").write_text(
        f"cpu  {' '.join(str(tick * SECOND) for tick in ticks)}\ncpu0 1 1 1 1 1 1 1 1 1 1\nbtime 1\n",
        encoding="ascii",
    )
    (proc / "vmstat").write_text("pgpgin 99\npswpin 30\npswpout 12\n", encoding="ascii")
    return proc


@pytest.mark.usefixtures("proc")
def test_processor_time_counts_guests_once_and_stolen_time_by_itself() -> None:
    found = read_counters()
    assert (found.steal_s, found.total_s, found.swapped_pages) == (40.0, 900.0, 42)


@pytest.mark.parametrize(
    ("cgroup", "stat", "throttled_s"),
    [
        ("0::/a/b\n", {"a/b": "usage_usec 9\nnr_throttled 3\nthrottled_usec 2500000\n"}, 2.5),
        # a group above
        ("0::/a/b\n", {"a/b": "throttled_usec 1000000\n", "a": "throttled_usec 4000000\n"}, 4.0),
        # no quota
        ("0::/a/b\n", {"a/b": "usage_usec 9\n", ".": "usage_usec 9\n"}, None),
        # version 1, in a container, and another controller
        ("3:memory:/a\n2:cpu,cpuacct:/a\n", {"cpu,cpuacct/a": "throttled_time 3000000000\n"}, 3.0),
        ("1:cpu:/outside/this/container\n0::/\n", {"cpu": "nr_throttled 0\nthrottled_time 0\n"}, 0.0),
        ("2:cpuacct:/a\n", {"cpu/a": "throttled_time 3000000000\n"}, None),
    ],
)
def test_throttling_is_that_of_this_process_and_of_the_groups_it_is_in(
    cgroup: str, stat: dict[str, str], throttled_s: float | None, proc: Path
) -> None:
    (proc / "self" / "cgroup").write_text(cgroup, encoding="utf-8")
    for folder, text in stat.items():
        (control_groups.GROUPS / folder).mkdir(parents=True, exist_ok=True)
        (control_groups.GROUPS / folder / "cpu.stat").write_text(text, encoding="ascii")
    assert read_counters().throttled_s == throttled_s


def test_what_cannot_be_read_is_none_and_never_zero(proc: Path) -> None:
    (proc / "vmstat").write_text("pgpgin 99\n", encoding="ascii")
    nothing = read_counters()
    assert (nothing.throttled_s, nothing.swapped_pages) == (None, None)
    found = withheld_between(nothing, replace(nothing, wall_s=nothing.wall_s + 1, throttled_s=1.0))
    assert found == WithheldFacts(steal_share=None, throttled_share=None, swapped_pages=None)
    assert noise_reasons(found) == ()


def test_this_machine_is_read_and_its_counters_only_grow() -> None:
    first, machine = read_counters(), Machine()
    end = time.monotonic() + 10  # processor time is counted in hundredths of a second
    while (last := read_counters()).total_s <= first.total_s and time.monotonic() < end:
        pass
    found = withheld_between(first, last)
    assert 0 <= (found.steal_share or 0) <= 1
    assert found.steal_share is not None
    shares = {"throttled": found.throttled_share or 0, "swapped": found.swapped_pages or 0}
    assert {name for name, value in (*shares.items(), *machine.read()) if value < 0} == set()


@pytest.mark.parametrize(
    ("grown", "words"),
    [
        ({"steal_s": 12.0}, ""),
        ({"steal_s": 12.1}, "2.1% of the CPU time was stolen during the load"),
        ({"throttled_s": 5.1}, ""),
        ({"throttled_s": 5.2}, "the CPU quota stopped the run for 2.0% of the load"),
        ({"swapped_pages": 7 + verdict.SWAPPED_LIMIT}, ""),
        ({"swapped_pages": 8 + verdict.SWAPPED_LIMIT}, "257 pages swapped"),
    ],
)
def test_only_what_is_above_its_limit_is_said(grown: dict[str, float], words: str) -> None:
    last = replace(QUIET, total_s=1100.0, wall_s=110.0)
    found = noise_reasons(withheld_between(QUIET, replace(last, **grown)))  # type: ignore[arg-type]
    assert len(found) == bool(words)
    assert words in "".join(found)


def test_a_host_is_slower_only_where_it_shows() -> None:
    fast, cpu = replace(CANARY, cpu_ms=10.0, fsync_ms_p50=0.1), replace(CANARY, cpu_ms=52.1)
    bearable = replace(CANARY, cpu_ms=52.0, fsync_ms_p50=1.0)  # three times, and nobody would notice
    assert [len(slower_reasons(CANARY, after)) for after in (fast, bearable)] == [0, 0]
    assert "took 52 ms after the load, 40 ms before it" in slower_reasons(CANARY, cpu)[0]
    (words,) = slower_reasons(CANARY, replace(CANARY, fsync_ms_p50=2.4))
    assert "an fsync took 2.4 ms after the load, 0.3 ms before it" in words


def test_a_moment_of_another_program_does_not_make_the_canary_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    took_ms = iter([88.0, 61.0, 60.0, 90.0, 75.0])
    monkeypatch.setattr(host, "_cpu_ms", lambda: next(took_ms))
    assert host.CanaryCage(folder=tmp_path).measure().cpu_ms == 60.0


def disks(monkeypatch: pytest.MonkeyPatch, devices: Path, **written: int) -> None:
    found = {
        name.replace("_", "-"): SimpleNamespace(write_bytes=count, busy_time=count * 10)
        for name, count in written.items()
    }
    monkeypatch.setattr(psutil, "disk_io_counters", lambda perdisk: found if perdisk else None)
    for name in ("vda/device", "sdb/device", "dm-0/dm", "loop0/loop"):
        (devices / name).mkdir(parents=True)


def cores(*times: tuple[float, float]) -> Sequence[SimpleNamespace]:
    """Of each core: user and idle."""
    return [SimpleNamespace(user=user, idle=idle) for user, idle in times]


@pytest.fixture
def devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No disks, and no /proc/pressure."""
    for name in ("BLOCK_DEVICES", "PRESSURE"):
        monkeypatch.setattr(sampler, name, tmp_path)
    return tmp_path


def machine(prefix: str) -> dict[str, float]:
    return {name: value for name, value in Machine().read() if name.startswith(prefix)}


def test_each_disk_has_its_own_time_under_a_number(devices: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disks(monkeypatch, devices, vda=100, vda1=100, sdb=20, dm_0=120, loop0=7)
    assert machine("disk") == {
        "disk_write_bytes": 120,  # without partitions and what is made of disks
        "disk_busy_seconds@1": 0.2,
        "disk_busy_seconds@2": 1.0,
    }


def test_stalls_are_the_seconds_in_which_something_waited(devices: Path) -> None:
    some = "some avg10=0.41 avg60=1.08 avg300=1.03 total={}\nfull avg10=0.0 avg60=0.0 avg300=0.0 total=9\n"
    (devices / "io").write_text(some.format(12_500_000), encoding="ascii")
    (devices / "memory").write_text("", encoding="ascii")
    assert machine("pressure") == {"pressure_io_seconds": 12.5}


def test_the_busiest_core_is_that_of_the_time_between_two_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([cores((90, 10), (0, 100)), cores((91, 19), (8, 102))])
    whole = psutil.cpu_times()
    monkeypatch.setattr(psutil, "cpu_times", lambda *, percpu=False: next(readings) if percpu else whole)
    machine = Machine()
    assert "core_busy_max" not in dict(machine.read())
    assert dict(machine.read())["core_busy_max"] == pytest.approx(0.8)


def test_each_side_of_a_split_is_read_and_the_busiest_core_is_the_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the number of a processor: one that is offline has no line in the kernel's table."""
    (tmp_path / "online").write_text("0,2-3\n", encoding="ascii")
    monkeypatch.setattr(sampler, "ONLINE", tmp_path / "online")
    readings = iter([cores((90, 10), (0, 100), (5, 5)), cores((91, 19), (8, 102), (9, 6))])
    whole = psutil.cpu_times()
    monkeypatch.setattr(psutil, "cpu_times", lambda *, percpu=False: next(readings) if percpu else whole)
    machine = Machine(split=Split.recorded("2/0,3"))
    first, second = dict(machine.read()), dict(machine.read())
    assert (first["generator_busy_seconds"], first["generator_total_seconds"]) == (0, 100)
    assert (first["system_busy_seconds"], first["system_total_seconds"]) == (95, 110)
    assert second["system_busy_seconds"] == 100
    assert second["core_busy_max"] == pytest.approx(0.8)


LOUD, STILL = STEAL_LIMIT * 2, STEAL_LIMIT / 2


def progress() -> Progress:
    return Progress(console=Console(file=io.StringIO()))


def test_quiet_must_last_for_some_looks_running_and_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = [LOUD, STILL, STILL, LOUD, STILL, STILL, STILL, LOUD]

    def look(_: Path) -> WithheldFacts:
        share = shares.pop(0) if len(shares) > 1 else shares[0]
        return WithheldFacts(steal_share=share, throttled_share=None, swapped_pages=None)

    monkeypatch.setattr(host, "look_for_noise", look)
    assert host.wait_until_quiet(tmp_path, progress(), 60.0)
    assert shares == [LOUD]
    assert not host.wait_until_quiet(tmp_path, progress(), 0.05)


def test_a_look_reads_the_real_host_while_it_flushes_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "LOOK_S", 0.3)
    flushed: list[int] = []

    def counted(file: int) -> None:
        fsync(file)
        flushed.append(threading.get_ident())

    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", counted)
    seen = host.look_for_noise(tmp_path)
    assert seen.steal_share is not None
    assert 0 <= seen.steal_share <= 1
    assert len(set(flushed)) == len(available())
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        host.look_for_noise(tmp_path / "gone")
