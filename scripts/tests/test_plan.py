"""Are requests planned as k6 schedules them, and is each started one given its planned moment?"""

import dataclasses
import uuid
from math import inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.planted_cell import CLOSED
from writepath.config import registry
from writepath.config.registry import Phase, Scenario
from writepath.config.settings import Factor, Given
from writepath.errors import UsageError
from writepath.load import plan
from writepath.load.plan import ArrivalPlan, ClosedPlan, align, arrival_plan, constant_plan
from writepath.measure.loading import plan_of, require_rates

ROOT = Path(__file__).resolve().parents[2]
ORIGIN_US = 1_795_231_568_103_000
RATES = st.integers(min_value=1, max_value=200_000).map(lambda thousandths: thousandths / 1000)
PHASES = st.lists(
    st.builds(
        lambda ms, start, end: Phase(name="x", seconds=ms / 1000, from_per_s=start, to_per_s=end),
        st.integers(min_value=1, max_value=30_000),
        RATES,
        RATES,
    ),
    min_size=1,
    max_size=4,
)


def phase(seconds: float, from_per_s: float, to_per_s: float) -> Phase:
    return Phase(name="p", seconds=seconds, from_per_s=from_per_s, to_per_s=to_per_s)


def area(phases: list[Phase], until_s: float = inf) -> float:
    """Requests that the rate adds up to until then."""
    total = 0.0
    for each in phases:
        seconds = max(0.0, min(each.seconds, until_s))
        reached_per_s = each.from_per_s + (each.to_per_s - each.from_per_s) * seconds / each.seconds
        total += seconds * (each.from_per_s + reached_per_s) / 2
        until_s -= each.seconds
    return total


@given(PHASES)
def test_a_request_is_due_when_the_area_below_the_rate_reaches_its_number(phases: list[Phase]) -> None:
    try:
        made = arrival_plan(phases)
    except UsageError:  # too short to send one request
        assert area(phases) < 1.000001
        return
    assert made.planned in {int(area(phases) - 1e-6), int(area(phases) + 1e-6)}
    assert (np.diff(made.starts_ns) >= 0).all()
    for number in {0, made.planned // 2, made.planned - 1}:
        assert area(phases, until_s=made.starts_ns[number] / 1e9) == pytest.approx(number + 1, abs=1e-4)


def test_the_original_experiment_has_its_66_360_requests() -> None:
    original = arrival_plan([phase(60, 3, 3), phase(120, 3, 100), phase(600, 100, 100)])
    assert original.planned == 66_360
    assert np.bincount(original.phase_indices()).tolist() == [180, 6180, 60_000]


def test_the_rate_follows_the_phases_and_is_0_outside() -> None:
    made = arrival_plan([phase(10, 0.5, 10.5), phase(10, 20, 20)])
    assert [made.rate_at(at) for at in (-1, 0, 5, 10, 19.9, 20)] == [0, 0.5, 5.5, 20, 20, 0]


@given(st.integers(min_value=1, max_value=5000), RATES)
def test_a_constant_plan_has_exactly_the_requests_asked_for(requests: int, rate: float) -> None:
    assert constant_plan("load", requests, rate).planned == requests


def test_virtual_users_carry_the_deadline_of_the_proxy_at_the_peak() -> None:
    assert arrival_plan([phase(60, 3, 100)]).virtual_users == 1050
    assert arrival_plan([phase(60, 3, 5000)]).virtual_users == plan.MOST_VIRTUAL_USERS


STEADY = arrival_plan([phase(10, 50, 50)])  # 20 ms apart
SEQUENCES = np.arange(STEADY.planned)
STARTS_US = STEADY.starts_ns // 1000


@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_without_drops_the_slot_is_the_sequence(seed: int) -> None:
    delays = np.random.default_rng(seed).integers(0, 15_000, STEADY.planned)
    delays[[0, 250, -1]] = 0
    started = ORIGIN_US + STARTS_US + delays
    aligned = align(STEADY, SEQUENCES, started)
    assert (aligned.slots == SEQUENCES).all()
    assert aligned.origin_us == ORIGIN_US
    assert (np.maximum(aligned.behind_ns(), 0) == delays * 1000).all()


@given(st.sets(st.integers(min_value=1, max_value=498), max_size=200), st.integers(min_value=2, max_value=4))
def test_drops_of_a_process_move_only_its_own_slots(dropped: set[int], processes: int) -> None:
    taken = np.array(sorted(set(range(500)) - dropped))
    stripes = [taken[taken % processes == first] for first in range(processes)]
    sequences = np.concatenate(
        [first + processes * np.arange(len(stripe)) for first, stripe in enumerate(stripes)]
    )
    order = np.argsort(sequences)
    slots = np.concatenate(stripes)[order]
    aligned = align(STEADY, sequences[order], ORIGIN_US + STARTS_US[slots], processes)
    assert (aligned.slots == slots).all()


@given(st.sets(st.integers(min_value=1, max_value=498), max_size=200))
def test_drops_move_the_slots_behind_them(dropped: set[int]) -> None:
    taken = np.array(sorted(set(range(500)) - dropped))
    aligned = align(STEADY, np.arange(len(taken)), ORIGIN_US + STARTS_US[taken])
    assert (aligned.slots == taken).all()
    assert (np.maximum(aligned.behind_ns(), 0) == 0).all()
    gaps = np.array(sorted({0, 499, *range(500)} - dropped))  # of records, not of requests
    assert (align(STEADY, gaps, ORIGIN_US + STARTS_US[gaps]).slots == gaps).all()
    assert len(align(STEADY, gaps[:0], gaps[:0]).slots) == 0


def test_a_stall_without_drops_is_lateness() -> None:
    started = ORIGIN_US + STARTS_US
    started[100:110] = started[110]  # 200 ms without a start, then all at once
    aligned = align(STEADY, SEQUENCES, started)
    assert (aligned.slots == SEQUENCES).all()
    assert aligned.behind_ns().max() == 200_000_000


def test_a_sequence_beyond_the_plan_is_an_error() -> None:
    with pytest.raises(ValueError, match="sequence 500 is beyond the 500 scheduled requests"):
        align(STEADY, np.array([500]), np.array([ORIGIN_US]))


RUNS = st.integers(min_value=0, max_value=2**60 - 1).map(lambda bits: f"{bits:015x}")


@given(RUNS, st.integers(min_value=0, max_value=2**60 - 2))
def test_an_id_gives_back_run_and_sequence(run_id: str, sequence: int) -> None:
    text = plan.encode_id(run_id, sequence)
    assert plan.decode_id(text) == (run_id, sequence)
    parsed = uuid.UUID(text)
    assert str(parsed) == text
    assert (parsed.version, parsed.variant) == (8, uuid.RFC_4122)
    assert text < plan.encode_id(run_id, sequence + 1)
    assert plan.encode_id(plan.new_run_id(), sequence) != text


@given(st.uuids(version=4) | st.uuids(version=1) | st.text(max_size=40))
def test_other_ids_belong_to_no_run(other: object) -> None:
    assert plan.decode_id(str(other)) is None


OPEN = Scenario(
    name="ramp",
    script="k6/scenarios/ramp.js",
    phases=(
        Phase(name="up", seconds=2.0, from_per_s=3, to_per_s=90),
        Phase(name="on", seconds=1.0, from_per_s=90, to_per_s=90),
    ),
)


def test_rate_scales_every_phase_so_that_the_peak_is_that_rate_and_users_bound_what_is_in_flight() -> None:
    plain, faster, bound = (
        plan_of(OPEN, one) for one in ({"POOL_SIZE": "5"}, {"RATE": "100"}, {"VIRTUAL_USERS": "4"})
    )
    assert isinstance(plain, ArrivalPlan)
    assert isinstance(faster, ArrivalPlan)
    assert (plain.phases, plain.virtual_users) == (OPEN.phases, 950)  # computed: 90/s for 10 s, and 50 spare
    assert [(phase.from_per_s, phase.to_per_s) for phase in faster.phases] == [(3.333, 100), (100, 100)]
    assert (faster.seconds, bound.virtual_users) == (3.0, 4)


def test_virtual_users_are_a_closed_loads() -> None:
    plan = plan_of(CLOSED, {"VIRTUAL_USERS": "4"})
    assert isinstance(plan, ClosedPlan)
    assert (plan.virtual_users, plan.seconds) == (4, CLOSED.seconds)
    assert plan_of(CLOSED, {}).virtual_users == CLOSED.virtual_users


def test_seconds_are_of_a_load_with_one_phase_and_have_one_value() -> None:
    of_suite = registry.load(ROOT).suite("smoke")
    closed = dataclasses.replace(of_suite, scenario=CLOSED)
    require_rates(closed, Given(values={"SECONDS": "7"}))
    assert closed.lasting(7.0).load.seconds == 7.0
    of_one = dataclasses.replace(of_suite, scenario=dataclasses.replace(OPEN, phases=OPEN.phases[:1]))
    assert [phase.seconds for phase in of_one.lasting(7.0).load.phases] == [7.0]
    with pytest.raises(UsageError, match="SECONDS=7: scenario 'ramp-smoke' has several phases"):
        require_rates(of_suite, Given(values={"SECONDS": "7"}))
    several = Given(factors=(Factor(name="SECONDS", scope="load", levels=("7", "8")),))
    with pytest.raises(UsageError, match=r"SECONDS=7,8.*Give one value"):
        require_rates(closed, several)


@pytest.mark.parametrize("name", ["RATE", "RATE_SCALE"])
def test_a_closed_load_has_no_rate_to_set(name: str) -> None:
    closed = dataclasses.replace(registry.load(ROOT).suite("smoke"), scenario=CLOSED)
    words = f"{name}=2: scenario 'closed' is a closed load.*use VIRTUAL_USERS"
    with pytest.raises(UsageError, match=words):
        require_rates(closed, Given(values={name: "2"}))
