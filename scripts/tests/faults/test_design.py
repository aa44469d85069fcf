from pathlib import Path

import pytest

from experiments.test_engine import planned
from writepath.config import registry
from writepath.errors import UsageError
from writepath.experiments.base import Plan
from writepath.experiments.faults import kind
from writepath.experiments.faults.catalogue import FAULTS, STEADY_SECONDS, STORES, schedule
from writepath.experiments.faults.kind import FaultExperiment, FaultSuite
from writepath.experiments.plan import order_of
from writepath.options import Asked
from writepath.records.faults import FaultParams

ROOT = Path(__file__).resolve().parents[3]
KNOWN = registry.load(ROOT)
SUITE = KNOWN.suite("faults")
FILE = SUITE.checked_params(FaultSuite)
CONTROLS = {name: one.naive_twin_of for name, one in KNOWN.variants.items() if one.naive_twin_of}


def designed(*, faults: list[str] | None = None, variants: list[str] | None = None) -> Plan:
    of_kind = {} if faults is None else {"FAULT": faults}
    asked = Asked(variants=variants, of_kind=of_kind)
    return FaultExperiment().designed(planned(ROOT, suite=SUITE), KNOWN, asked)


def trials(*, faults: list[str] | None = None, variants: list[str] | None = None) -> dict[str, int]:
    """By `variant/fault`, how often it strikes; the engine runs these cells and no other."""
    plan = designed(faults=faults, variants=variants)
    assert isinstance(plan.params, FaultParams)
    (block,) = order_of(plan)
    assert sorted(block) == sorted(plan.params.trials)
    return {name.replace(",FAULT=", "/"): count for name, count in plan.params.trials.items()}


def test_a_variant_is_struck_only_in_parts_that_it_has() -> None:
    jpa = trials(variants=["jpa"])
    assert "jpa/kill-database" in jpa
    assert not any("broker" in key or "consumer" in key or "index" in key for key in jpa)
    roles = ("application", "consumer", "broker", "database", "proxy")
    assert {f"rabbitmq-jpa/kill-{role}" for role in roles} <= trials(variants=["rabbitmq-jpa"]).keys()


def test_a_fault_of_nodes_or_of_copies_strikes_only_where_there_are_two() -> None:
    faults = ["kill-primary", "kill-replica", "cut-nodes"]
    variants = ["elasticsearch-1s0r", "elasticsearch-8s1r"]
    expected = {f"elasticsearch-8s1r/{fault}" for fault in faults}
    assert trials(faults=faults, variants=variants).keys() == expected <= trials().keys()


def test_every_store_of_every_path_of_the_default_suite_loses_its_power() -> None:
    found = {key for key in trials() if "power-cut" in key}
    cuts = {role: f"power-cut-{role}" for role in ("database", "broker", "index")}
    for variant in (
        "jpa",
        "rabbitmq-jpa",
        "elasticsearch-1s0r",
        "elasticsearch-8s1r",
        "rabbitmq-elasticsearch-1s0r",
    ):
        own = kind.components_of(ROOT, KNOWN.variant(variant))
        assert {f"{variant}/{cut}" for role, cut in cuts.items() if STORES[role] in own} <= found


def test_kills_of_a_correct_variant_come_twenty_times_and_every_other_fault_six_times() -> None:
    found = trials()
    assert found["jpa/kill-database"] == found["rabbitmq-jpa/kill-broker"] == 20
    assert found["rabbitmq-jpa/kill-consumer"] == found["elasticsearch-1s0r/kill-index"] == 20
    assert found["jpa-async-commit/kill-database"] == min(found.values()) == 6


def test_a_weakened_control_is_struck_where_it_must_lose_and_its_correct_variant_too() -> None:
    found = trials()
    wanted = {f"{name}/{fault}" for name in CONTROLS for fault in FILE.only[name]}
    assert {key for key in found if key.partition("/")[0] in CONTROLS} == wanted
    assert {f"{CONTROLS[key.partition('/')[0]]}/{key.partition('/')[2]}" for key in wanted} <= found.keys()


def test_writes_that_share_a_commit_lose_application_database_and_the_way_to_it() -> None:
    found = trials()
    ways = {f"{action}-database" for action in ("kill", "pause", "cut", "reset", "blackhole-from")}
    ways |= {"power-cut-database"}
    wanted = {f"jpa-batched/{fault}" for fault in ways | {"none", "kill-application"}}
    assert wanted <= found.keys()
    assert {found[key] for key in wanted} == {6}


def test_a_fault_that_a_variant_is_not_struck_by_is_run_where_the_user_names_both() -> None:
    assert "jpa-async-commit/kill-proxy" not in trials(faults=["kill-proxy"])
    assert trials(faults=["kill-proxy"], variants=["jpa-async-commit"]) == {"jpa-async-commit/kill-proxy": 6}


def test_kill_each_strikes_every_part_of_each_family_once() -> None:
    expected = {"jpa/kill-each": 3, "rabbitmq-jpa/kill-each": 5, "elasticsearch-1s0r/kill-each": 3}
    assert trials(faults=["kill-each"]) == expected
    assert not any("kill-each" in key for key in trials())  # the suite kills each part in a cell of its own
    replicated = "elasticsearch-8s1r"  # whose first node is known by two roles
    assert trials(faults=["kill-each"], variants=[replicated]) == {f"{replicated}/kill-each": 4}


def test_an_overload_needs_the_machine_to_itself() -> None:
    assert designed(variants=["jpa"]).alone == {"jpa,FAULT=overload"}


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("kill-databse", "FAULT=kill-databse: no such fault; did you mean 'kill-database'"),
        ("kill-broker", "none of these faults applies to these variants"),
    ],
)
def test_an_unknown_fault_and_one_that_cannot_strike_are_errors(fault: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        designed(faults=[fault], variants=["jpa"])


def test_the_list_of_faults_names_who_can_suffer_each() -> None:
    lines = {line.split()[0]: line for line in kind.listing(ROOT, SUITE).splitlines()}
    assert lines.keys() == FAULTS.keys()
    assert lines["kill-broker"].endswith("  rabbitmq-jpa")
    assert all(fault.words for fault in FAULTS.values())


def test_the_seed_alone_decides_when_a_fault_strikes_and_how_long_it_lasts() -> None:
    fault = FAULTS["pause-database"]
    assert schedule(7, fault, 20) == schedule(7, fault, 20) != schedule(8, fault, 20)
    assert schedule(7, fault, 20)[:6] == schedule(7, fault, 6)  # more trials begin with the same ones
    assert schedule(7, fault, 6) != schedule(7, FAULTS["kill-broker"], 6)


def test_every_draw_lies_within_the_faults_bounds_and_freezes_outlast_the_time_outs() -> None:
    waits_s = 2.0  # pool, confirm, bulk
    for fault in FAULTS.values():
        low, high = fault.lasts_seconds
        assert fault.action not in ("pause", "blackhole-from", "blackhole-to") or low >= 2 * waits_s
        for moment in schedule(3, fault, 50):
            assert low <= moment.lasts_seconds <= high
            assert STEADY_SECONDS[0] <= moment.steady_seconds <= STEADY_SECONDS[1]
