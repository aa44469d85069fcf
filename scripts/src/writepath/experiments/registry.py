"""The kinds of experiments, by name."""

from typing import Any

from writepath.config.checked import nearest
from writepath.errors import UsageError
from writepath.experiments.base import Experiment
from writepath.experiments.capacity.kind import CapacityExperiment
from writepath.experiments.ceilings import CeilingsExperiment
from writepath.experiments.faults.kind import FaultExperiment
from writepath.experiments.load.kind import LoadExperiment
from writepath.experiments.pair.kind import PairExperiment
from writepath.experiments.search.kind import SearchExperiment

KINDS: dict[str, Experiment[Any]] = {
    kind.kind: kind
    for kind in (
        LoadExperiment(),
        CapacityExperiment(),
        PairExperiment(),
        SearchExperiment(),
        FaultExperiment(),
        CeilingsExperiment(),
    )
}


def kind_of(name: str) -> Experiment[Any]:
    """The kind of that name; UsageError names the nearest."""
    if name not in KINDS:
        raise UsageError(
            f"kind '{name}': this Writepath has no such kind of experiment; {nearest(name, KINDS)}"
        )
    return KINDS[name]
