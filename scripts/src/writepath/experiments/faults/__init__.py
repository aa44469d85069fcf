"""Kind `faults`: what each write path loses, and how fast it recovers, when something breaks under load."""

from writepath.experiments.faults.kind import FaultExperiment

__all__ = ["FaultExperiment"]
