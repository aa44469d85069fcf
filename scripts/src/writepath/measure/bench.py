"""What all cells of an experiment share while it runs, and facts in the form that records have them in."""

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from writepath.load.dataset import Dataset
from writepath.measure.host import CanaryCage
from writepath.progress import Progress
from writepath.records.measures import DatasetFacts, Host
from writepath.runtime.base import Runtime


def moment(epoch_s: float) -> str:
    """ISO-8601 UTC with milliseconds."""
    return datetime.fromtimestamp(epoch_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def dataset_facts(dataset: Dataset) -> DatasetFacts:
    """What records say of a dataset."""
    return DatasetFacts(name=dataset.name, sha256=dataset.sha256, lines=len(dataset.lines))


@dataclass(frozen=True, kw_only=True)
class Bench:
    """The runtime, the host, and what k6 reads."""

    runtime: Runtime
    progress: Progress
    cage: CanaryCage
    host: Host
    content: Path  # the dataset as k6 reads it
    pids: Path  # where the next command finds a load generator that outlived its runner
    root: Path
    stopped: threading.Event = field(default_factory=threading.Event)  # the user has stopped the command
