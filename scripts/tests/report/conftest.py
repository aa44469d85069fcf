"""Checkouts to publish into, and what is published of planted capacity and search suites."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from report import planted_documents, planted_queries
from report.planted_capacity import Planted
from report.planted_paths import PATHS
from writepath.experiments import publish

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """An empty checkout: its documents, and nothing published."""
    planted_documents.write(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def published_capacity(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with a raw run of a search for two paths' capacity, and what is published of it; not to be changed."""
    root = tmp_path_factory.mktemp("capacity")
    planted_documents.write(root)
    publish.publish(root, Planted(root=root, paths=PATHS[:2], blocks=1, scale=0.2, raw=True).write())
    return root


@pytest.fixture(scope="session")
def published_queries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Likewise of a suite of searches: two variants, and the A/A twin."""
    root = tmp_path_factory.mktemp("queries")
    planted_documents.write(root)
    chosen = (planted_queries.VARIANTS[0], planted_queries.VARIANTS[2])
    planted = planted_queries.Planted(root=root, variants=chosen, blocks=1, scale=0.2, raw=True)
    publish.publish(root, planted.write())
    return root
