"""Is each disk counted once, are stalls read where a kernel tells them, and is the busiest core the busiest?"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import psutil
import pytest

from writepath.measure.machine import Machine

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


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


def test_each_disk_has_its_own_time_under_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disks(monkeypatch, tmp_path, vda=100, vda1=100, sdb=20, dm_0=120, loop0=7)
    read = dict(Machine(devices=tmp_path, pressure=tmp_path).read())
    busy = {name: value for name, value in read.items() if name.startswith("disk_busy")}
    assert busy == {"disk_busy_seconds@1": 0.2, "disk_busy_seconds@2": 1.0}
    assert read["disk_write_bytes"] == 120  # without partitions and what is made of disks


def test_stalls_are_the_seconds_in_which_something_waited(tmp_path: Path) -> None:
    some = "some avg10=0.41 avg60=1.08 avg300=1.03 total={}\nfull avg10=0.0 avg60=0.0 avg300=0.0 total=9\n"
    (tmp_path / "io").write_text(some.format(12_500_000), encoding="ascii")
    (tmp_path / "memory").write_text(some.format(0), encoding="ascii")
    (tmp_path / "cpu").write_text("", encoding="ascii")
    read = dict(Machine(devices=tmp_path, pressure=tmp_path).read())
    assert read == {"pressure_io_seconds": 12.5, "pressure_memory_seconds": 0.0}


def test_the_busiest_core_is_that_of_the_time_between_two_readings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = iter([cores((90, 10), (0, 100)), cores((91, 19), (8, 102))])
    monkeypatch.setattr(psutil, "cpu_times", lambda percpu: next(readings) if percpu else None)
    machine = Machine(devices=tmp_path, pressure=tmp_path)
    assert list(machine.read()) == []
    assert dict(machine.read()) == {"core_busy_max": pytest.approx(0.8)}


def test_this_machine_can_be_read() -> None:
    machine = Machine()
    list(machine.read())
    for name, value in machine.read():
        assert value >= 0, name
