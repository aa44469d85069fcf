"""Edits of a configuration file, and what is said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from writepath.config import registry
from writepath.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def change(checkout: Path, file: str, old: str, new: str) -> None:
    path = checkout / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def complaint(checkout: Path, file: str, old: str, new: str) -> str:
    change(checkout, file, old, new)
    with pytest.raises(UsageError) as caught:
        registry.load(checkout)
    return str(caught.value)
