"""Are variants.yaml and suites.yaml as shipped sound, and are they read as they are written?"""

import shutil
from pathlib import Path

import pytest

from own_checkout import change
from writepath.config import registry
from writepath.config.settings import Factor
from writepath.errors import UsageError
from writepath.experiments.registry import kind_of

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = registry.load(ROOT)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The configuration, which a test may change."""
    for name in ("variants.yaml", "suites.yaml", "docker-compose.yml", ".env"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "k6" / "scenarios", tmp_path / "k6" / "scenarios")
    return tmp_path


def test_twins_declare_what_they_promise_and_the_others_promise_disk() -> None:
    variants = SHIPPED.variants.values()
    assert {v.name: (v.naive_twin_of, v.level) for v in variants if v.naive_twin_of} == {
        "jpa-async-commit": ("jpa", "B"),
        "jpa-no-fsync": ("jpa", "B"),
        "rabbitmq-jpa-unconfirmed": ("rabbitmq-jpa", "C"),
        "rabbitmq-jpa-transient": ("rabbitmq-jpa", "C"),
        "rabbitmq-jpa-classic": ("rabbitmq-jpa", "B"),
        "rabbitmq-jpa-auto-ack": ("rabbitmq-jpa", "C"),
        "rabbitmq-jpa-not-mandatory": ("rabbitmq-jpa", "C"),
        "elasticsearch-1s0r-async": ("elasticsearch-1s0r", "B"),
        "elasticsearch-1s0r-auto-ids": ("elasticsearch-1s0r", "A"),
    }
    tutorials = {v.name: (v.tutorial_of, v.level) for v in variants if v.tutorial_of}
    assert tutorials == {
        "jpa-tutorial": ("jpa", "A"),
        "rabbitmq-tutorial": ("rabbitmq-jpa", "C"),
        "elasticsearch-tutorial": ("elasticsearch-1s0r", "A"),
        "elasticsearch-tutorial-no-refresh": ("elasticsearch-1s0r", "A"),
    }
    assert {v.level for v in variants if not v.naive_twin_of and not v.tutorial_of} == {"A"}


def test_one_virtual_user_warms_reads_up_and_leaves_processors_to_the_compilers_of_the_jvm() -> None:
    scenarios = SHIPPED.scenarios.values()
    warm_ups = {
        one.name: one.warm_up and one.warm_up.virtual_users for one in scenarios if one.reads is not None
    }
    assert warm_ups == {"sessions": 1, "closed-points": 1, "closed-feed": 1}


def test_a_setting_is_taken_as_it_is_written(checkout: Path) -> None:
    old = "settings: {STORE: jpa}"
    for written in ("on", "no", "5", "true", "12:30", "5s", "2020-01-01"):
        new = f"settings: {{POOL_SIZE: {written}}}"
        change(checkout, "variants.yaml", old, new)
        assert registry.load(checkout).variant("rabbitmq-jpa").settings == {"POOL_SIZE": written}
        old = new


def test_a_suite_has_a_kind_settings_factors_and_the_part_of_its_kind(checkout: Path) -> None:
    more = "settings: {INSTANCES: 2}\n    factors: {POOL_SIZE: [5, 10], RATE: [50, 100]}\n    toy: {any: [1, two]}"
    change(checkout, "suites.yaml", "    kind: load\n", f"    kind: toy\n    {more}\n")
    suite = registry.load(checkout).suite("smoke")
    assert (suite.kind, suite.settings, suite.params) == ("toy", {"INSTANCES": "2"}, {"any": [1, "two"]})
    assert suite.factors == (
        Factor(name="POOL_SIZE", scope="stack", levels=("5", "10")),
        Factor(name="RATE", scope="load", levels=("50", "100")),
    )


def test_a_scenario_with_users_is_closed_and_a_rate_may_have_an_exponent(checkout: Path) -> None:
    scenario = "scenarios:\n  users: {script: k6/scenarios/ramp.js, virtual_users: 20, seconds: 30}"
    change(checkout, "suites.yaml", "scenarios:", scenario)
    change(checkout, "suites.yaml", "from_per_s: 3, to_per_s: 100}", "from_per_s: 3, to_per_s: 1e3}")
    scenarios = registry.load(checkout).scenarios
    users, (rise, *_) = scenarios["users"], scenarios["ramp-smoke"].phases
    assert (users.model, users.virtual_users, users.seconds, users.phases) == ("closed", 20, 30, ())
    assert scenarios["ramp"].model == "open"
    assert rise.to_per_s == 1000


def test_the_kinds_of_the_shipped_suites_accept_their_parts() -> None:
    for suite in SHIPPED.suites.values():
        assert kind_of(suite.kind).params_of(suite, {})


def test_a_missing_file_and_an_unknown_name_say_what_there_is(checkout: Path) -> None:
    with pytest.raises(UsageError, match=r"SUITE=xyz: .* known: capacity, ceilings, closed, compare, "):
        SHIPPED.suite("xyz")
    (checkout / "suites.yaml").unlink()
    with pytest.raises(UsageError, match=r"suites\.yaml: cannot be read"):
        registry.load(checkout)


# What is replaced, by what, and what is said of it.
IN_VARIANTS = [
    ("naive_twin_of: jpa", "naive_twin_of: jap", "jpa-async-commit.naive_twin_of: variants.yaml has no variant 'jap'"),
    ("naive_twin_of: rabbitmq-jpa\n", "naive_twin_of: jpa-async-commit\n",
     "rabbitmq-jpa-unconfirmed.naive_twin_of: 'jpa-async-commit' is itself a weakened control; name a correct variant"),
    ("tutorial_of: jpa\n", "tutorial_of: jpa-async-commit\n",
     "jpa-tutorial.tutorial_of: 'jpa-async-commit' is itself a weakened control; name a correct variant"),
    ("level: B", "level: D", "jpa-async-commit.level: \"D\": Input should be 'A', 'B' or 'C'"),
    ("    profiles: [jpa]", "    profles: [jpa]", "jpa: unknown key 'profles'; did you mean 'profiles'?"),
    ("    family: jpa\n", "", "jpa: key 'family' is missing"),
    ("profiles: [jpa]", "profiles: [jap]",
     "jpa.profiles: docker-compose.yml has no profile 'jap'; did you mean 'jpa'?"),
    ("ingress: jpa-writer", "ingress: jpa-writter",
     "jpa.ingress: docker-compose.yml has no service 'jpa-writter'; did you mean 'jpa-writer'?"),
    ("inspector: jpa-writer", "inspector: rabbitmq-consumer",
     "jpa.inspector: none of its profiles starts 'rabbitmq-consumer'; add one of: rabbitmq, rabbitmq-elasticsearch"),
    ("{STORE: jpa}", "{STOER: jpa}",
     "rabbitmq-jpa.settings: docker-compose.yml has no variable 'STOER'; did you mean 'STORE'?"),
    ("{STORE: jpa}", "{STORE: }", "rabbitmq-jpa.settings.STORE: empty: Input should be a valid string"),
    ("profiles: [jpa]", "profiles: []", "jpa.profiles: at least 1 values are needed"),
    ("title: JPA", "title: 12", "jpa.title: 12: Input should be a valid string"),
]  # fmt: skip
OF_VARIANTS = [
    ("  jpa: &jpa\n", "  J PA: &jpa\n", 'variants: "J PA" is not lower-case letters, digits and single hyphens'),
    ("    title: JPA\n", "    title: JPA\n    title: Again\n", 'not YAML: found duplicate key "title" with value'),
    ("variants:\n", "variants: [\n", "not YAML: "),
    ("profiles: [jpa]", "profiles: &loop [*loop]", "an alias is inside the value that it names"),
    ("title: JPA", "title: !!python/name:os.system x", "not YAML: could not determine a constructor for the tag"),
]  # fmt: skip
IN_SUITES = [
    ("variants: [jpa,", "variants: [jpa-async-commit,",
     "suites.smoke.variants: 'jpa-async-commit' is a weakened control of 'jpa', only for fault runs; no suite may"),
    ("from_per_s: 3,", "from_per_s: 0,",
     "scenarios.ramp-smoke.phases[0].from_per_s: 0: Input should be greater than 0"),
    ("from_per_s: 3,", "from_per_s: 0.0005,",
     "scenarios.ramp-smoke.phases[0].from_per_s: 0.0005 has more than three decimals; round it"),
    ("name: sustained", "name: ramp-up", "scenarios.ramp-smoke.phases: two phases are named 'ramp-up'; reports need a"),
    ("k6/scenarios/ramp.js", "k6/scenarios/rump.js", "scenarios.ramp-smoke.script: there is no k6/scenarios/rump.js"),
    ("script: k6/scenarios/ramp.js", "script: ../ramp.js",
     'scenarios.ramp-smoke.script: "../ramp.js" is not a k6 script'),
    (
        "    script: k6/scenarios/ramp.js\n",
        "    name: x\n    script: k6/scenarios/ramp.js\n",
        "scenarios.ramp-smoke.name: the entry's key is its name; remove `name`",
    ),
    ("[jpa, rabbitmq-jpa,", "[jpa, jpa,", "suites.smoke.variants: 'jpa' is listed twice"),
    ("[jpa, rabbitmq-jpa,", "[jpa, rabbit-jpa,",
     "suites.smoke.variants: variants.yaml has no variant 'rabbit-jpa'; did you mean 'rabbitmq-jpa'?"),
    ("scenario: ramp-smoke", "scenario: ramp-smok",
     "suites.smoke.scenario: suites.yaml has no scenario 'ramp-smok'; did you mean 'ramp-smoke'?"),
    ("references: ceilings\n", "references: ceiling\n",
     "suites.capacity.references: suites.yaml has no suite 'ceiling'; did you mean 'ceilings'?"),
    ("references: ceilings\n", "references: index-cost\n",
     "suites.capacity.references: 'index-cost' is of the same kind; name a suite of another kind"),
    ("    suites: [", "    suites: [{suite: proxi}, ",
     "series.tuning.suites: suites.yaml has no suite 'proxi'; did you mean 'proxy'?"),
    ("{suite: closed}", "{suite: pool}", "series.tuning.suites: 'pool' is listed twice"),
    ("{suite: smoke, ", "{suite: smok, ", "campaign.suites: suites.yaml has no suite 'smok'; did you mean 'smoke'?"),
    ("minutes: 69", "minutes: 101", "campaign.suites[4].minutes: 101: Input should be less than or equal to 100"),
    ("  tuning:\n", "  proxy:\n", "series.proxy: a suite has this name; choose another one"),
    ("    suites: [", "    suites: []  # [", "series.tuning.suites: at least 1 values are needed"),
    ("repetitions: 1", "repetitions: 0", "suites.smoke.repetitions: 0: Input should be greater than or equal to 1"),
    ("repetitions: 1", "repetitions: yes", 'suites.smoke.repetitions: "yes": Input should be a valid integer'),
    ("    kind: load\n", "", "suites.smoke: key 'kind' is missing"),
    ("scenarios:\n", "scenarios:\n  users: {script: k6/scenarios/ramp.js, virtual_users: 20}\n",
     "scenarios.users: needs either phases (open load) or virtual_users and seconds (closed load)"),
    ("script: k6/scenarios/ramp.js\n", "script: k6/scenarios/ramp.js\n    virtual_users: 20\n",
     "scenarios.ramp-smoke: needs either phases (open load)"),
    ("script: k6/scenarios/ramp.js\n", "script: k6/scenarios/ramp.js\n    pause_after_error_seconds: 1\n",
     "scenarios.ramp-smoke.pause_after_error_seconds: an open load sends on schedule"),
    ("warm_up: {virtual_users: 16, for_seconds: 5}", "warm_up: {virtual_users: 16}",
     "scenarios.ramp-smoke.warm_up: needs either at_most_seconds (until the path is steady) or for_seconds"),
]  # fmt: skip
IN_SMOKE = [
    ("load: fast", '.load: "fast": Input should be an object'),
    ("other: {slo_ms: 100}", ": unknown key 'other'; known: baseline,"),
    ("settings: {POOL_SIZ: 5}", ".settings: there is no setting 'POOL_SIZ'; did you mean 'POOL_SIZE'?"),
    ("factors: {POOL_SIZE: [5, 0]}", ".factors: POOL_SIZE=0: must be a whole number from 1 to 65535"),
    ("factors: {POOL_SIZE: [5]}", ".factors.POOL_SIZE: at least 2 values are needed"),
    ("factors: {RATE: [100.5, 200]}",
     '.factors.RATE[0]: 100.5 may be written in several ways; quote it: "100.5"'),
    ("conditions: {a: {}}", ".conditions: at least 2 values are needed"),
    ("conditions: {a: {}, b: {POOL_SIZ: 5}}", ".conditions.b: there is no setting 'POOL_SIZ'"),
    ("conditions: {a: {}, b: {POOL_SIZE: 0}}", ".conditions.b: POOL_SIZE=0: must be a whole number"),
    ("factors: {POOL_SIZE: [5, 10]}\n    conditions: {a: {}, b: {POOL_SIZE: 7}}",
     ": 'POOL_SIZE' is both a factor and part of a condition; remove one of them"),
    ("baseline_levels: {POOL_SIZE: 5}", ".baseline_levels: the suite has no factor 'POOL_SIZE'"),
    ("factors: {POOL_SIZE: [5, 10]}\n    baseline_levels: {POOL_SIZE: 7}",
     ".baseline_levels.POOL_SIZE: the factor has no level '7'"),
    ("settings: {POOL_SIZE: 5}\n    factors: {POOL_SIZE: [5, 10]}",
     ": 'POOL_SIZE' is both a setting and a factor; remove one of them"),
]  # fmt: skip
IN_SEARCH = [
    ("documents: 150000", "documents: 999", ".documents: 999: Input should be greater than or equal to 1000"),
    ("documents: 150000", "docs: 50000", ": unknown key 'docs'; did you mean 'documents'?"),
    ("keywords: [영화,", "keywords: [영화, 영화,", ".keywords: '영화' is listed twice"),
]  # checked by the kind
MISTAKES = [
    *(("variants.yaml", old, new, f"variants.{said}") for old, new, said in IN_VARIANTS),
    *(("variants.yaml", old, new, said) for old, new, said in OF_VARIANTS),
    *(("suites.yaml", old, new, said) for old, new, said in IN_SUITES),
    *(
        ("suites.yaml", "kind: load", f"kind: load\n    {new}", f"suites.smoke{said}")
        for new, said in IN_SMOKE
    ),
    *(("suites.yaml", old, new, f"suites.search.search{said}") for old, new, said in IN_SEARCH),
]


def test_a_mistake_is_explained_by_its_place_and_remedy(checkout: Path, subtests: pytest.Subtests) -> None:
    for file, old, new, said in MISTAKES:
        change(checkout, file, old, new)
        with subtests.test(new):
            with pytest.raises(UsageError) as caught:
                kind_of("search").params_of(registry.load(checkout).suite("search"), {})
            assert str(caught.value).startswith(f"{file}: {said}")
        shutil.copy(ROOT / file, checkout)
