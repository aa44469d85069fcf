"""Is every mistake in variants.yaml explained, and is the file as shipped sound?"""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.edited import change, complaint
from writepath.config import registry
from writepath.errors import UsageError

ROOT = Path(__file__).resolve().parents[3]


def test_the_shipped_files_load() -> None:
    shipped = registry.load(ROOT)
    assert shipped.variant("elasticsearch-8s1r").profiles == ("elasticsearch", "replica")
    assert [phase.seconds for phase in shipped.suite("original").scenario.phases] == [60, 120, 600]


def test_settings_become_strings() -> None:
    settings = registry.load(ROOT).variant("elasticsearch-8s1r").settings
    assert settings == {"ELASTICSEARCH_SHARDS": "8", "ELASTICSEARCH_REPLICAS": "1"}


@pytest.mark.parametrize("written", ["on", "no", "5", "true", "12:30", "5s", "2020-01-01"])
def test_a_setting_is_taken_as_it_is_written(checkout: Path, written: str) -> None:
    change(checkout, "variants.yaml", "settings: {STORE: jpa}", f"settings: {{POOL_SIZE: {written}}}")
    assert registry.load(checkout).variant("rabbitmq-jpa").settings == {"POOL_SIZE": written}


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
        "variants.yaml: variants.jpa-async-commit.level: \"D\" is not one of 'A', 'B' or 'C'",
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
        'variants.yaml: not YAML: found duplicate key "title" with value "Again" (original value: "JPA") (line 7,',
        id="key twice",
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
        "profiles: [jpa]", "profiles: &loop [*loop]",
        "variants.yaml: an alias is inside the value that it names", id="loop",
    ),
    pytest.param(
        "title: JPA", "title: !!python/name:os.system x",
        "variants.yaml: not YAML: could not determine a constructor for the tag", id="tag",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), VARIANT_MISTAKES)
def test_a_mistake_in_variants_is_explained(checkout: Path, old: str, new: str, expected: str) -> None:
    assert complaint(checkout, "variants.yaml", old, new).startswith(expected)


def test_a_missing_file_is_named(checkout: Path) -> None:
    (checkout / "suites.yaml").unlink()
    with pytest.raises(UsageError, match=r"suites\.yaml: cannot be read"):
        registry.load(checkout)


def test_an_unknown_variant_names_the_nearest() -> None:
    with pytest.raises(
        UsageError, match=r"VARIANT=elasticsearch-9s1r: .* did you mean 'elasticsearch-8s1r'\?"
    ):
        registry.load(ROOT).variant("elasticsearch-9s1r")


def test_a_new_variant_takes_one_entry(checkout: Path) -> None:
    with (checkout / "variants.yaml").open("a", encoding="utf-8") as file:
        file.write(
            "\n  jpa-pool-20:\n    title: JPA, pool of 20\n    family: jpa\n    profiles: [jpa]\n"
            "    ingress: jpa-writer\n    inspector: jpa-writer\n    acknowledges: committed\n"
            "    settings: {POOL_SIZE: 20}\n"
        )
    assert registry.load(checkout).variant("jpa-pool-20").settings == {"POOL_SIZE": "20"}
