"""What a suite says of the stores' own tools, as the index keeps it."""

from __future__ import annotations

from writepath.records.base import record


@record
class CeilingsParams:
    """The part `ceilings:` of a suite."""

    warm_up_seconds: float = 3.0
    seconds: float = 15.0  # of each run of a tool
