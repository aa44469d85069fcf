"""Kind `search`: posts are bulk loaded, then one client searches for keywords in rounds."""

from writepath.experiments.search.kind import SearchExperiment

__all__ = ["SearchExperiment"]
