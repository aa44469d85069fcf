"""What the engine is told of kind `load`."""

from dataclasses import replace

import pytest

from experiments.planted_cell import CLOSED
from lifecycle import fakes
from writepath.config.registry import Scenario
from writepath.experiments.load.kind import LoadExperiment, LoadParams
from writepath.records import base
from writepath.records.load_facts import PhaseFacts

KIND = LoadExperiment()


def params(scenario: Scenario) -> LoadParams:
    return KIND.params_of(replace(fakes.suite("jpa"), scenario=scenario), {})


def test_the_index_keeps_the_scenario_of_an_open_load() -> None:
    kept = params(fakes.SCENARIO)
    assert (kept.scenario, kept.model, kept.virtual_users) == ("short", "open", None)
    assert kept.phases == (PhaseFacts(name="sustained", seconds=0.5, from_per_s=100, to_per_s=100),)
    assert base.from_data(LoadParams, base.to_data(kept), "params") == kept


def test_the_index_keeps_the_users_of_a_closed_load() -> None:
    kept = params(CLOSED)
    assert (kept.model, kept.phases, kept.virtual_users, kept.seconds) == ("closed", (), 3, 0.5)


@pytest.mark.parametrize(("scenario", "seconds"), [(fakes.SCENARIO, 0.6), (CLOSED, 0.5)])
def test_a_cell_takes_its_load_and_its_warm_up(scenario: Scenario, seconds: float) -> None:
    assert KIND.load_seconds(params(scenario)) == pytest.approx(seconds)
