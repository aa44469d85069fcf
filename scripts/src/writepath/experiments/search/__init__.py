"""Kind `search`: posts are bulk loaded, then one client searches for keywords in rounds."""

from __future__ import annotations

from writepath.experiments.search.kind import SearchExperiment

__all__ = ["SearchExperiment"]
