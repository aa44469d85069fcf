"""A checkout to publish into."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from report import planted_documents

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Its documents, and nothing published."""
    planted_documents.write(tmp_path)
    return tmp_path
