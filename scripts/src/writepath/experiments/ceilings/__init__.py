"""Kind `ceilings`: the rates that the stores' own tools reach on this host."""

from __future__ import annotations

from writepath.experiments.ceilings.kind import CeilingsExperiment

__all__ = ["CeilingsExperiment"]
