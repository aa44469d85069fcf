"""A checkout of the configuration that a test may change."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("variants.yaml", "suites.yaml", "docker-compose.yml", ".env"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "k6" / "scenarios", tmp_path / "k6" / "scenarios")
    return tmp_path
