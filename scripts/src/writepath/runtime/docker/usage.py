"""What has a component used, over all lives of its containers? The engine counts from each start anew."""

from __future__ import annotations

from dataclasses import dataclass, field

from writepath.runtime.base import Usage


@dataclass(kw_only=True)
class Meter:
    """One component."""

    cpu_seconds: dict[str, float] = field(default_factory=dict)  # by life of a container
    written: dict[str, int] = field(default_factory=dict)

    def read(self, present: dict[str, Usage]) -> Usage:
        """By life, what the engine says now: nothing of a container that has ended, whose use stays counted."""
        for life, usage in present.items():
            self.cpu_seconds[life] = max(self.cpu_seconds.get(life, 0.0), usage.cpu_seconds)
            if usage.write_bytes is not None:
                self.written[life] = max(self.written.get(life, 0), usage.write_bytes)
        return Usage(
            cpu_seconds=sum(self.cpu_seconds.values()),
            rss_bytes=sum(usage.rss_bytes for usage in present.values()),
            write_bytes=sum(self.written.values()) if self.written else None,
        )
