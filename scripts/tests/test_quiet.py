"""Is a noisy host waited for until it is quiet for a while, and not for ever?"""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from writepath.analysis.noise import STEAL_LIMIT, Withheld
from writepath.measure import quiet
from writepath.progress import Progress

if TYPE_CHECKING:
    from pathlib import Path

NOISY, QUIET = STEAL_LIMIT * 2, STEAL_LIMIT / 2


def progress() -> Progress:
    return Progress(console=Console(file=io.StringIO()))


def test_quiet_must_last_for_some_looks_running_and_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = [NOISY, QUIET, QUIET, NOISY, QUIET, QUIET, QUIET, NOISY]

    def look(_: Path) -> Withheld:
        share = shares.pop(0) if len(shares) > 1 else shares[0]
        return Withheld(steal_share=share, throttled_share=None, swapped_pages=None)

    monkeypatch.setattr(quiet, "look", look)
    monkeypatch.setattr(quiet, "LONGEST_S", 60.0)
    assert quiet.wait(tmp_path, progress())
    assert shares == [NOISY]
    monkeypatch.setattr(quiet, "LONGEST_S", 0.05)
    assert not quiet.wait(tmp_path, progress())


def test_a_look_reads_the_real_host_while_it_flushes_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quiet, "LOOK_S", 0.3)
    flushed: list[int] = []

    def counted(file: int) -> None:
        fsync(file)
        flushed.append(file)

    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", counted)
    seen = quiet.look(tmp_path)
    assert seen.steal_share is not None
    assert 0 <= seen.steal_share <= 1
    assert len(set(flushed)) == os.cpu_count()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        quiet.look(tmp_path / "gone")
