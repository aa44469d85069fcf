"""Is every mistake in suites.yaml explained, and is the file as shipped sound?"""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.edited import change, complaint
from writepath.config import registry
from writepath.config.settings import Factor
from writepath.errors import UsageError

ROOT = Path(__file__).resolve().parents[3]


def test_a_suite_has_a_kind_settings_factors_and_the_part_of_its_kind(checkout: Path) -> None:
    change(
        checkout,
        "suites.yaml",
        "    kind: load\n",
        "    kind: toy\n    settings: {INSTANCES: 2}\n    factors: {POOL_SIZE: [5, 10], RATE: [50, 100]}\n"
        "    toy: {any: [1, two]}\n",
    )
    suite = registry.load(checkout).suite("smoke")
    assert (suite.kind, suite.settings, suite.params) == ("toy", {"INSTANCES": "2"}, {"any": [1, "two"]})
    assert suite.factors == (
        Factor(name="POOL_SIZE", scope="stack", levels=("5", "10")),
        Factor(name="RATE", scope="load", levels=("50", "100")),
    )


def test_a_scenario_with_users_is_closed(checkout: Path) -> None:
    with (checkout / "suites.yaml").open("r+", encoding="utf-8") as file:
        text = file.read()
        file.seek(0)
        scenario = "scenarios:\n  users: {script: k6/scenarios/ramp.js, virtual_users: 20, seconds: 30}"
        file.write(text.replace("scenarios:", scenario, 1))
    scenarios = registry.load(checkout).scenarios
    users = scenarios["users"]
    assert (users.model, users.virtual_users, users.seconds, users.phases) == ("closed", 20, 30, ())
    assert scenarios["ramp"].model == "open"


def test_the_kinds_of_the_shipped_suites_accept_their_parts() -> None:
    kinds = {"capacity": registry.Goal, "search": registry.Questions}
    for suite in registry.load(ROOT).suites.values():
        assert suite.kind in ("load", *kinds)
        if suite.kind in kinds:
            assert suite.checked_params(kinds[suite.kind])
        else:
            assert suite.params == {}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "documents: 50000",
            "documents: 999",
            "suites.yaml: suites.search.search.documents: 999 is too small; at least 1000",
        ),
        (
            "documents: 50000",
            "docs: 50000",
            "suites.yaml: suites.search.search: unknown key 'docs'; did you mean 'documents'?",
        ),
        (
            "keywords: [영화,",
            "keywords: [영화, 영화,",
            "suites.yaml: suites.search.search.keywords: '영화' is listed twice",
        ),
    ],
)
def test_a_mistake_in_a_kinds_part_is_explained(checkout: Path, old: str, new: str, expected: str) -> None:
    change(checkout, "suites.yaml", old, new)
    with pytest.raises(UsageError) as caught:
        registry.load(checkout).suite("search").checked_params(registry.Questions)
    assert str(caught.value) == expected


def test_a_rate_with_an_exponent_is_a_number(checkout: Path) -> None:
    path = checkout / "suites.yaml"
    text = path.read_text(encoding="utf-8").replace("rate_per_s: 200}", "rate_per_s: 1e3}")
    path.write_text(text, encoding="utf-8")
    warm_up = registry.load(checkout).scenarios["ramp-smoke"].warm_up
    assert warm_up is not None
    assert warm_up.rate_per_s == 1000


SUITE_MISTAKES = [
    pytest.param(
        "variants: [jpa,", "variants: [jpa-async-commit,",
        "suites.yaml: suites.smoke.variants: 'jpa-async-commit' is a weakened control of 'jpa', only for fault runs;"
        " no suite may rank it. List 'jpa' instead",
        id="naive twin in a suite",
    ),
    pytest.param(
        "from_per_s: 3,", "from_per_s: 0,",
        "suites.yaml: scenarios.ramp-smoke.phases[0].from_per_s: 0 is too small; it must be more than 0",
        id="rate of nothing",
    ),
    pytest.param(
        "rate_per_s: 200}", "rate_per_s: -1}",
        "suites.yaml: scenarios.ramp-smoke.warm_up.rate_per_s: -1 is too small; it must be more than 0",
        id="negative rate",
    ),
    pytest.param(
        "from_per_s: 3,", "from_per_s: 0.0005,",
        "suites.yaml: scenarios.ramp-smoke.phases[0].from_per_s: 0.0005 has more than three decimals; round it",
        id="rate too fine for k6",
    ),
    pytest.param(
        "name: sustained", "name: ramp-up",
        "suites.yaml: scenarios.ramp-smoke.phases: two phases are named 'ramp-up';"
        " reports need a different name for each",
        id="phase name twice",
    ),
    pytest.param(
        "script: k6/scenarios/ramp.js", "script: k6/scenarios/rump.js",
        "suites.yaml: scenarios.ramp-smoke.script: there is no k6/scenarios/rump.js", id="no such script",
    ),
    pytest.param(
        "script: k6/scenarios/ramp.js", "script: ../ramp.js",
        'suites.yaml: scenarios.ramp-smoke.script: "../ramp.js" is not a k6 script', id="script elsewhere",
    ),
    pytest.param(
        "[jpa, rabbitmq-jpa,", "[jpa, jpa,", "suites.yaml: suites.smoke.variants: 'jpa' is listed twice",
        id="variant twice",
    ),
    pytest.param(
        "[jpa, rabbitmq-jpa,", "[jpa, rabbit-jpa,",
        "suites.yaml: suites.smoke.variants: variants.yaml has no variant 'rabbit-jpa'; "
        "did you mean 'rabbitmq-jpa'?",
        id="unknown variant",
    ),
    pytest.param(
        "scenario: ramp-smoke", "scenario: ramp-smok",
        "suites.yaml: suites.smoke.scenario: suites.yaml has no scenario 'ramp-smok'; did you mean 'ramp-smoke'?",
        id="unknown scenario",
    ),
    pytest.param(
        "repetitions: 1", "repetitions: 0",
        "suites.yaml: suites.smoke.repetitions: 0 is too small; at least 1", id="no repetition",
    ),
    pytest.param(
        "kind: load", "kind: capacity\n    search: {slo_ms: 100}",
        "suites.yaml: suites.smoke: unknown key 'search'; known: baseline,", id="part of another kind",
    ),
    pytest.param(
        "kind: load", "kind: load\n    load: fast",
        'suites.yaml: suites.smoke.load: must be a mapping of keys to values, but is "fast"', id="part without keys",
    ),
    pytest.param(
        "    kind: load\n", "", "suites.yaml: suites.smoke: key 'kind' is missing", id="no kind",
    ),
    pytest.param(
        "kind: load", "kind: load\n    settings: {POOL_SIZ: 5}",
        "suites.yaml: suites.smoke.settings: there is no setting 'POOL_SIZ'; did you mean 'POOL_SIZE'?",
        id="unknown setting",
    ),
    pytest.param(
        "kind: load", "kind: load\n    factors: {POOL_SIZE: [5, 0]}",
        "suites.yaml: suites.smoke.factors: POOL_SIZE=0: must be a whole number from 1 to 65535", id="wrong level",
    ),
    pytest.param(
        "kind: load", "kind: load\n    factors: {RATE: [100.5, 200]}",
        'suites.yaml: suites.smoke.factors.RATE[0]: 100.5 may be written in several ways; quote it: "100.5"',
        id="level with decimals",
    ),
    pytest.param(
        "kind: load", "kind: load\n    factors: {POOL_SIZE: [5]}",
        "suites.yaml: suites.smoke.factors.POOL_SIZE: at least 2 values are needed",
        id="one level",
    ),
    pytest.param(
        "kind: load", "kind: load\n    settings: {POOL_SIZE: 5}\n    factors: {POOL_SIZE: [5, 10]}",
        "suites.yaml: suites.smoke: 'POOL_SIZE' is both a setting and a factor; remove one of them",
        id="setting and factor",
    ),
    pytest.param(
        "scenarios:\n", "scenarios:\n  users: {script: k6/scenarios/ramp.js, virtual_users: 20}\n",
        "suites.yaml: scenarios.users: needs either phases (open load) or virtual_users and seconds (closed load)",
        id="users for no time",
    ),
    pytest.param(
        "script: k6/scenarios/ramp.js\n", "script: k6/scenarios/ramp.js\n    virtual_users: 20\n",
        "suites.yaml: scenarios.ramp-smoke: needs either phases (open load)", id="phases and users",
    ),
    pytest.param(
        "repetitions: 1", "repetitions: yes",
        'suites.yaml: suites.smoke.repetitions: must be a whole number, but is "yes"', id="word for a number",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), SUITE_MISTAKES)
def test_a_mistake_in_suites_is_explained(checkout: Path, old: str, new: str, expected: str) -> None:
    assert complaint(checkout, "suites.yaml", old, new).startswith(expected)


def test_a_name_like_no_other_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"SUITE=xyz: .* known: capacity, compare, "):
        registry.load(ROOT).suite("xyz")
