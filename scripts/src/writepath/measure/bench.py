"""What all cells of an experiment share while it runs."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.measure.host import CanaryCage
    from writepath.progress import Progress
    from writepath.records import Host
    from writepath.runtime.base import Runtime


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
