from __future__ import annotations

from pathlib import Path

import pytest

from writepath.config import registry
from writepath.errors import UsageError
from writepath.faults import catalogue, wanted
from writepath.faults.wanted import Asked

ROOT = Path(__file__).resolve().parents[3]
KNOWN = registry.load(ROOT)
FILE = wanted.load(ROOT, KNOWN)
TWINS = {name: one.naive_twin_of for name, one in KNOWN.variants.items() if one.naive_twin_of}


def keys(*, faults: list[str] | None = None, variants: list[str] | None = None) -> set[str]:
    return {cell.key for cell in wanted.cells(ROOT, KNOWN, FILE, Asked(faults=faults, variants=variants))}


def test_a_variant_is_struck_only_in_parts_that_it_has() -> None:
    jpa = keys(variants=["jpa"])
    assert "jpa/kill-database" in jpa
    assert not any("broker" in key or "consumer" in key or "index" in key for key in jpa)
    queue = keys(variants=["rabbitmq-jpa"])
    assert {
        f"rabbitmq-jpa/kill-{role}" for role in ("application", "consumer", "broker", "database", "proxy")
    } <= queue


def test_every_kill_asked_for_twenty_times_is_run_twenty_times() -> None:
    trials = {cell.key: cell.trials for cell in wanted.cells(ROOT, KNOWN, FILE, Asked())}
    assert trials["jpa/kill-database"] == trials["rabbitmq-jpa/kill-broker"] == 20
    assert trials["rabbitmq-jpa/kill-consumer"] == trials["elasticsearch-1s0r/kill-index"] == 20
    assert min(trials.values()) >= 6


def test_every_weakened_control_is_struck_where_it_must_lose_and_nowhere_else() -> None:
    naive = {name for name, variant in KNOWN.variants.items() if variant.naive_twin_of}
    struck = {key for key in keys() if key.partition("/")[0] in naive}
    assert struck == {f"{name}/{fault}" for name in naive for fault in FILE.only[name]}
    assert naive == TWINS.keys()


def test_every_fault_of_a_weakened_control_also_strikes_its_correct_variant() -> None:
    everything = keys()
    for name, correct in TWINS.items():
        assert {f"{correct}/{fault}" for fault in FILE.only[name]} <= everything


def test_a_fault_that_a_variant_is_not_struck_by_is_run_where_the_user_names_both() -> None:
    assert not keys(faults=["kill-proxy"]) & {"jpa-async-commit/kill-proxy"}
    assert keys(faults=["kill-proxy"], variants=["jpa-async-commit"]) == {"jpa-async-commit/kill-proxy"}


def test_kill_each_strikes_every_part_of_each_family_once() -> None:
    cells = wanted.cells(ROOT, KNOWN, FILE, Asked(faults=["kill-each"]))
    assert {cell.variant.name: cell.trials for cell in cells} == {
        "jpa": 3,
        "rabbitmq-jpa": 5,
        "elasticsearch-1s0r": 3,
    }
    assert not any("kill-each" in key for key in keys())  # the matrix kills each part in a separate cell


def test_a_misspelt_fault_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="FAULT=kill-databse: no such fault; did you mean 'kill-database'"):
        keys(faults=["kill-databse"])


def test_a_fault_that_no_chosen_variant_can_suffer_is_an_error() -> None:
    with pytest.raises(UsageError, match="none of these faults applies to these variants"):
        keys(faults=["kill-broker"], variants=["jpa"])


def test_every_fault_has_words_and_a_key_that_names_action_and_role() -> None:
    for key, fault in catalogue.FAULTS.items():
        assert fault.words
        assert (
            fault.role is None
            or key in (fault.action, f"{fault.action}-{fault.role}")
            or key.startswith("kill-")
        )
