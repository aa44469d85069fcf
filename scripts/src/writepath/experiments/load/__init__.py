"""Kind `load`: one load of each variant, with an audit of everything that was acknowledged."""

from writepath.experiments.load.kind import LoadExperiment

__all__ = ["LoadExperiment"]
