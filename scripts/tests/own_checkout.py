"""A copy of the project that a test may change and run as a user would, beside whatever runs in this one."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parents[2]
STOP_SECONDS = 60
VANISHING = ("__pycache__", ".*_cache", "surefire*", "failsafe*")  # other tests write there meanwhile


def copied(folder: Path) -> Path:
    """With the built jars, and with the cache of this one: nothing is fetched again."""
    copy = folder / "writepath"
    shutil.copytree(
        ROOT, copy, ignore=shutil.ignore_patterns(".git", ".writepath", "node_modules", "results", *VANISHING)
    )
    state = copy / ".writepath"
    state.mkdir()
    for cached in (ROOT / ".writepath").iterdir():
        if cached.is_dir() and cached.name not in {"run", "venv", "stacks"}:
            (state / cached.name).symlink_to(cached)
    return copy


def change(checkout: Path, file: str, old: str, new: str) -> None:
    """Replaces the first occurrence of a text that must be there."""
    text = (checkout / file).read_text(encoding="utf-8")
    assert old in text
    (checkout / file).write_text(text.replace(old, new, 1), encoding="utf-8")


class Command:
    """One command of the project under way; its words and errors go to one file. Ended with the block."""

    def __init__(self, checkout: Path, name: str, **variables: str) -> None:
        """Starts it. variables: as a user would write them behind `make`."""
        words = [f"{key}={value}" for key, value in ({"RUNTIME": "native"} | variables).items()]
        self._log = (checkout.parent / f"{name}.log").open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "writepath", name, *words],
            cwd=checkout,
            env={
                **os.environ,
                "PYTHONPATH": str(checkout / "scripts/src"),
            },
            stdout=self._log,
            stderr=subprocess.STDOUT,
            # A shell's background job inherits SIGINT as ignored, and these tests may run in one.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - forked before any thread
        )

    def __enter__(self) -> Self:
        """It runs already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Asks it to stop, as Ctrl-C does, where a failed test left it running."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(timeout=STOP_SECONDS)
        self._log.close()

    def said(self) -> str:
        """The end of what it printed so far."""
        self._log.flush()
        return Path(self._log.name).read_text(encoding="utf-8")[-6000:]

    def ended(self, within_s: float) -> int:
        """Its exit code, once it is there."""
        return self.process.wait(timeout=within_s)


def latest(checkout: Path) -> Path:
    """The folder of the newest suite run."""
    return (checkout / "results" / "latest").resolve()
