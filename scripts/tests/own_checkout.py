"""A copy of the project that a test may change and run as a user would, beside whatever runs in this one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def copied(folder: Path) -> Path:
    """With the built jars, and with the cache of this one: nothing is fetched again."""
    copy = folder / "writepath"
    shutil.copytree(
        ROOT, copy, ignore=shutil.ignore_patterns(".git", ".writepath", "node_modules", "results")
    )
    state = copy / ".writepath"
    state.mkdir()
    for cached in (ROOT / ".writepath").iterdir():
        if cached.is_dir() and cached.name not in {"run", "venv", "stacks"}:
            (state / cached.name).symlink_to(cached)
    return copy


def started(checkout: Path, command: str, **variables: str) -> subprocess.Popen[str]:
    """One command of the project under way, with the output of its words and errors together."""
    return subprocess.Popen(
        [sys.executable, "-m", "writepath", command],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout / "scripts/src"), "RUNTIME": "native", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # A shell's background job inherits SIGINT as ignored, and these tests may run in one.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no thread runs yet
    )


def latest(checkout: Path) -> Path:
    """The folder of the newest suite run."""
    return (checkout / "results" / "latest").resolve()
