"""Gives facts the form that records have them in."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from writepath.records.measures import DatasetFacts

if TYPE_CHECKING:
    from writepath.load.dataset import Dataset


def moment(epoch_s: float) -> str:
    """ISO-8601 UTC with milliseconds."""
    return datetime.fromtimestamp(epoch_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def dataset_facts(dataset: Dataset) -> DatasetFacts:
    """What records say of a dataset."""
    return DatasetFacts(name=dataset.name, sha256=dataset.sha256, lines=len(dataset.lines))
