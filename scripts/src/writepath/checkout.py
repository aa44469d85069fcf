"""Which version of Writepath is this? The git commit, and whether files differ from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath import process
from writepath.errors import WritepathError
from writepath.result import Code

if TYPE_CHECKING:
    from pathlib import Path


def code(root: Path) -> Code:
    """Unknown and dirty where this is no git checkout, or there is no git."""
    try:
        commit = process.call("git", "-C", root, "rev-parse", "--verify", "HEAD", timeout_s=10).strip()
        changed = process.call(
            "git", "-C", root, "status", "--porcelain", "--untracked-files=no", timeout_s=30
        )
    except WritepathError:
        return Code(commit="unknown", dirty=True)
    return Code(commit=commit, dirty=bool(changed.strip()))
