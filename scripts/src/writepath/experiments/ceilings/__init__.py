"""Kind `ceilings`: the rates that the stores' own tools reach on this host."""

from writepath.experiments.ceilings.kind import CeilingsExperiment

__all__ = ["CeilingsExperiment"]
