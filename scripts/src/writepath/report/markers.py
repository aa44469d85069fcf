"""Replaces the generated parts of a written document: what is between `<!-- name:begin -->` and `<!-- name:end -->`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def filled(document: Path, parts: Mapping[str, str]) -> str:
    """The document's text with each named part replaced; UsageError where its markers are missing."""
    text = document.read_text(encoding="utf-8")
    for name, part in parts.items():
        begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise UsageError(
                f"{document.name}: the markers {begin} and {end} are missing; put them where the generated part goes"
            )
        text = f"{before}{begin}\n{part}\n{end}{after}"
    return text
