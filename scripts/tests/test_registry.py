"""Is every mistake in variants.yaml and suites.yaml explained, and are both files as shipped sound?"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from writepath import registry
from writepath.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("variants.yaml", "suites.yaml", "docker-compose.yml"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "schemas", tmp_path / "schemas")
    shutil.copytree(ROOT / "k6" / "scenarios", tmp_path / "k6" / "scenarios")
    return tmp_path


def complaint(checkout: Path, file: str, old: str, new: str) -> str:
    path = checkout / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        registry.load(checkout)
    return str(caught.value)


def test_the_shipped_files_load() -> None:
    shipped = registry.load(ROOT)
    assert shipped.variant("elasticsearch-8s1r").profiles == ("elasticsearch", "replica")
    assert [phase.seconds for phase in shipped.suite("original").scenario.phases] == [60, 120, 600]


def test_settings_become_strings() -> None:
    settings = registry.load(ROOT).variant("elasticsearch-8s1r").settings
    assert settings == {"ELASTICSEARCH_SHARDS": "8", "ELASTICSEARCH_REPLICAS": "1"}


@pytest.mark.parametrize("written", ["on", "010", "1e3", "1.50", "true", "12:30"])
def test_a_setting_is_taken_as_it_is_written(checkout: Path, written: str) -> None:
    path = checkout / "variants.yaml"
    text = path.read_text(encoding="utf-8").replace(
        "settings: {STORE: jpa}", f"settings: {{POOL_SIZE: {written}}}"
    )
    path.write_text(text, encoding="utf-8")
    assert registry.load(checkout).variant("rabbitmq-jpa").settings == {"POOL_SIZE": written}


def test_a_rate_with_an_exponent_is_a_number(checkout: Path) -> None:
    path = checkout / "suites.yaml"
    text = path.read_text(encoding="utf-8").replace("rate_per_s: 200}", "rate_per_s: 1e3}")
    path.write_text(text, encoding="utf-8")
    warm_up = registry.load(checkout).scenarios["ramp-smoke"].warm_up
    assert warm_up is not None
    assert warm_up.rate_per_s == 1000


def test_twins_declare_what_they_promise_and_the_others_promise_disk() -> None:
    variants = registry.load(ROOT).variants.values()
    naive = {v.name: (v.naive_twin_of, v.level) for v in variants if v.naive_twin_of}
    assert naive == {
        "jpa-async-commit": ("jpa", "B"),
        "rabbitmq-jpa-unconfirmed": ("rabbitmq-jpa", "C"),
        "rabbitmq-jpa-transient": ("rabbitmq-jpa", "C"),
        "rabbitmq-jpa-auto-ack": ("rabbitmq-jpa", "C"),
        "rabbitmq-jpa-not-mandatory": ("rabbitmq-jpa", "C"),
        "elasticsearch-1s0r-async": ("elasticsearch-1s0r", "B"),
        "elasticsearch-1s0r-auto-ids": ("elasticsearch-1s0r", "A"),
    }
    tutorials = {v.name: (v.tutorial_of, v.level) for v in variants if v.tutorial_of}
    assert tutorials == {"jpa-tutorial": ("jpa", "A"), "rabbitmq-tutorial": ("rabbitmq-jpa", "C")}
    assert {v.level for v in variants if not v.naive_twin_of and not v.tutorial_of} == {"A"}


VARIANT_MISTAKES = [
    pytest.param(
        "naive_twin_of: jpa", "naive_twin_of: jap",
        "variants.yaml: variants.jpa-async-commit.naive_twin_of: variants.yaml has no variant 'jap'; did you mean"
        " 'jpa'?",
        id="twin of nobody",
    ),
    pytest.param(
        "naive_twin_of: rabbitmq-jpa\n", "naive_twin_of: jpa-async-commit\n",
        "variants.yaml: variants.rabbitmq-jpa-unconfirmed.naive_twin_of: 'jpa-async-commit' is itself"
        " a weakened control; name a correct variant",
        id="twin of a naive one",
    ),
    pytest.param(
        "tutorial_of: jpa\n", "tutorial_of: jpa-async-commit\n",
        "variants.yaml: variants.jpa-tutorial.tutorial_of: 'jpa-async-commit' is itself a weakened control;"
        " name a correct variant",
        id="tutorial of a naive one",
    ),
    pytest.param(
        "level: B", "level: D",
        "variants.yaml: variants.jpa-async-commit.level: 'D' is not one of ['A', 'B', 'C']",
        id="unknown level",
    ),
    pytest.param(
        "    profiles: [jpa]", "    profles: [jpa]",
        "variants.yaml: variants.jpa: unknown key 'profles'; did you mean 'profiles'?", id="misspelt key",
    ),
    pytest.param(
        "    family: jpa\n", "", "variants.yaml: variants.jpa: key 'family' is missing", id="missing key"
    ),
    pytest.param(
        "    title: JPA\n", "    title: JPA\n    title: Again\n",
        "variants.yaml: key 'title' is defined twice (line 7)", id="key twice",
    ),
    pytest.param(
        "profiles: [jpa]", "profiles: [jap]",
        "variants.yaml: variants.jpa.profiles: docker-compose.yml has no profile 'jap'; did you mean 'jpa'?",
        id="unknown profile",
    ),
    pytest.param(
        "ingress: jpa-writer", "ingress: jpa-writter",
        "variants.yaml: variants.jpa.ingress: docker-compose.yml has no service 'jpa-writter'; "
        "did you mean 'jpa-writer'?",
        id="unknown ingress",
    ),
    pytest.param(
        "inspector: jpa-writer", "inspector: rabbitmq-consumer",
        "variants.yaml: variants.jpa.inspector: none of its profiles starts 'rabbitmq-consumer'; "
        "add one of: rabbitmq, rabbitmq-elasticsearch",
        id="inspector that is not started",
    ),
    pytest.param(
        "{STORE: jpa}", "{STOER: jpa}",
        "variants.yaml: variants.rabbitmq-jpa.settings: docker-compose.yml has no variable 'STOER'; "
        "did you mean 'STORE'?",
        id="unknown setting",
    ),
    pytest.param(
        "{STORE: jpa}", "{STORE: }",
        "variants.yaml: variants.rabbitmq-jpa.settings.STORE: must be text, but is empty", id="empty setting",
    ),
    pytest.param(
        "profiles: [jpa]", "profiles: []", "variants.yaml: variants.jpa.profiles: must not be empty",
        id="no profile",
    ),
    pytest.param(
        "title: JPA", "title: 12", "variants.yaml: variants.jpa.title: must be text, but is 12", id="wrong type"
    ),
    pytest.param(
        "  jpa: &jpa\n", "  J PA: &jpa\n",
        'variants.yaml: variants: "J PA" is not lower-case letters, digits and single hyphens, as in '
        "'rabbitmq-jpa'",
        id="name unfit for a folder",
    ),
    pytest.param("variants:\n", "variants: [\n", "variants.yaml: not YAML: ", id="not YAML"),
    pytest.param(
        "variants:\n", "variants: &loop\n  <<: *loop\n",
        "variants.yaml: an alias is inside the value that it names", id="loop",
    ),
    pytest.param(
        "title: JPA", "title: !!python/name:os.system x", "variants.yaml: tag ", id="tag"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), VARIANT_MISTAKES)
def test_a_mistake_in_variants_is_explained(checkout: Path, old: str, new: str, expected: str) -> None:
    assert complaint(checkout, "variants.yaml", old, new).startswith(expected)


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
        "documents: 50000", "documents: 999",
        "suites.yaml: suites.search.queries.documents: 999 is too small; at least 1000", id="too few posts",
    ),
    pytest.param(
        "keywords: [영화,", "keywords: [영화, 영화,",
        "suites.yaml: suites.search.queries.keywords: '영화' is listed twice", id="keyword twice",
    ),
    pytest.param(
        "    queries: {documents", "    capacity: {slo_ms: 100}\n    queries: {documents",
        "suites.yaml: suites.search: a suite cannot have both capacity and queries; remove one of them",
        id="two suites in one",
    ),
    pytest.param(
        "repetitions: 1", "repetitions: yes",
        'suites.yaml: suites.smoke.repetitions: must be a whole number, but is "yes"', id="word for a number",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), SUITE_MISTAKES)
def test_a_mistake_in_suites_is_explained(checkout: Path, old: str, new: str, expected: str) -> None:
    assert complaint(checkout, "suites.yaml", old, new).startswith(expected)


def test_a_missing_file_is_named(checkout: Path) -> None:
    (checkout / "suites.yaml").unlink()
    with pytest.raises(UsageError, match=r"suites\.yaml: cannot be read"):
        registry.load(checkout)


def test_an_unknown_variant_names_the_nearest() -> None:
    with pytest.raises(
        UsageError, match=r"VARIANT=elasticsearch-9s1r: .* did you mean 'elasticsearch-8s1r'\?"
    ):
        registry.load(ROOT).variant("elasticsearch-9s1r")


def test_a_name_like_no_other_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"SUITE=xyz: .* known: capacity, compare, "):
        registry.load(ROOT).suite("xyz")


def test_a_new_variant_takes_one_entry(checkout: Path) -> None:
    with (checkout / "variants.yaml").open("a", encoding="utf-8") as file:
        file.write(
            "\n  jpa-pool-20:\n    title: JPA, pool of 20\n    family: jpa\n    profiles: [jpa]\n"
            "    ingress: jpa-writer\n    inspector: jpa-writer\n    acknowledges: committed\n"
            "    settings: {POOL_SIZE: 20}\n"
        )
    assert registry.load(checkout).variant("jpa-pool-20").settings == {"POOL_SIZE": "20"}
