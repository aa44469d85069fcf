"""How does a suite come to what is published, whole or not at all, and never too large for git?"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.errors import UsageError
from writepath.report import manifest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PUBLISHED = "results/published"  # folders below a checkout
PAGES = "docs/results"


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where from, where to."""

    source: Path  # named in the error
    target: Path
    limit_bytes: int


def put(place: Place, copy: Callable[[Path], None], less: str) -> None:
    """Copies into a folder next to the place, with digests of all files, then moves it there.

    UsageError where it is larger than it may be; less: what a smaller one has fewer of.
    """
    staged = place.target.with_name(f"{place.target.name}.part")
    shutil.rmtree(staged, ignore_errors=True)
    try:
        copy(staged)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    manifest.write(staged)
    size = sum(path.stat().st_size for path in manifest.files(staged))
    if size > place.limit_bytes:
        shutil.rmtree(staged)
        raise UsageError(
            f"{place.source}: {size:,} bytes when compressed, more than the {place.limit_bytes:,} a suite may take in"
            f" git; publish a run with fewer {less}"
        )
    shutil.rmtree(place.target, ignore_errors=True)
    staged.rename(place.target)
