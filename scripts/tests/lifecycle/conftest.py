"""What a run needs beside its spec: everything real but the runtime, and no wait for what is quiet anyway."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from lifecycle import fakes
from lifecycle.fakes import FakeRuntime, dataset
from writepath import result
from writepath.progress import Progress
from writepath.run import drain, host, visible
from writepath.run.host import CanaryCage
from writepath.run.runner import Bench

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from writepath.result import Run


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeRuntime], Bench]:
    monkeypatch.setattr(drain, "QUIET_S", 0.0)
    monkeypatch.setattr(visible, "QUIET_S", 0.0)
    fakes.on_any_host(monkeypatch)

    def made(runtime: FakeRuntime) -> Bench:
        content = tmp_path / "content.json"
        content.write_text(json.dumps(dataset().lines), encoding="utf-8")
        real = result.save_run

        def telling(run: Run, folder: Path) -> None:
            real(run, folder)
            runtime.events.append("saved")

        monkeypatch.setattr(result, "save_run", telling)
        return Bench(
            runtime=runtime,
            progress=Progress(console=Console(file=io.StringIO())),
            cage=CanaryCage(folder=tmp_path),
            host=host.facts(tmp_path),
            content=content,
            pids=tmp_path,
            root=tmp_path,
        )

    return made
