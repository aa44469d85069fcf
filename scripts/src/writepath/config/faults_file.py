"""The model of faults.yaml: the matrix of `make bench-faults`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from writepath.config import yaml_file
from writepath.config.checked import Names, entry, validated

if TYPE_CHECKING:
    from pathlib import Path

FAULTS_FILE = "faults.yaml"
Trials = Annotated[int, Field(ge=1, le=1_000)]


@entry
class FaultsFile:
    """faults.yaml."""

    rate_per_s: Annotated[float, Field(gt=0, le=1_000, description="constant rate, requests/s")]
    trials: Annotated[Trials, Field(description="faults per cell")]
    trials_of: Annotated[dict[str, Trials], Field(description="by fault: faults per cell if different")]
    variants: Names
    only: Annotated[
        dict[str, Names],
        Field(
            description="by variant: the faults that only this variant gets;"
            " for a weakened control those that must show a loss"
        ),
    ]


def load(root: Path) -> FaultsFile:
    """Reads root/faults.yaml; UsageError for what the model forbids."""
    return validated(FaultsFile, yaml_file.load(root / FAULTS_FILE), FAULTS_FILE)
