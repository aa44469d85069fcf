"""The committed JSON Schemas are those of the models."""

from __future__ import annotations

from pathlib import Path

import pytest

from writepath.config import schemas

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("file", schemas.files())
def test_the_committed_schemas_are_those_of_the_models(file: str) -> None:
    committed = (ROOT / "schemas" / file).read_text(encoding="utf-8")
    assert committed == schemas.files()[file], "run: python -m writepath.config.schemas"
