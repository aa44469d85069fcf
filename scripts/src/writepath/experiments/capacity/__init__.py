"""Kind `capacity`: the maximum sustainable rate of each variant, found in load steps."""

from writepath.experiments.capacity.kind import CapacityExperiment

__all__ = ["CapacityExperiment"]
