"""Is each architecture asked the whole contract, each setting what it can change, and nothing else left out?"""

import re
from pathlib import Path

from contract.chosen import ALL, CHANGES, READS, TUTORIALS, chosen_of
from writepath.config import registry

KNOWN = registry.load(Path(__file__).resolve().parents[2])
FOLDER = Path(__file__).parent / "contract"


def names(words: str) -> list[str]:
    return [asked.variant.name for asked in chosen_of(KNOWN, words)]


def test_each_architecture_is_asked_everything_and_each_setting_what_it_changes() -> None:
    short = {asked.variant.name: asked.files for asked in chosen_of(KNOWN, "")}
    whole = {name for name, files in short.items() if files is None}
    assert whole == {
        *("jpa", "rabbitmq-jpa", "elasticsearch-8s1r", "rabbitmq-elasticsearch-1s0r"),
        *("jpa-tutorial", "rabbitmq-tutorial", "elasticsearch-tutorial"),  # code of their own
    }
    in_part = {"jpa-batched", "jpa-trigram", "jpa-bigram", "elasticsearch-tutorial-no-refresh"}
    in_part |= {"elasticsearch-8s0r-single", "elasticsearch-8s0r-bigrams"}
    assert short.keys() - whole == {*in_part, "jpa-reader"}


def test_weakened_controls_are_asked_where_they_are_named_alone_and_whoever_is_named_everything() -> None:
    assert not {"jpa-async-commit", "jpa-slowed"} & set(names(ALL))
    assert set(names("")) < set(names(ALL))
    assert names("jpa-slowed,jpa") == ["jpa-slowed", "jpa"]
    every = {asked.variant.name: asked.files for asked in chosen_of(KNOWN, ALL)}
    assert {name for name, files in every.items() if files is not None} == {"jpa-reader"}
    assert chosen_of(KNOWN, "jpa-trigram")[0].files is None


def test_who_stores_nothing_is_asked_nothing_of_posts_however_it_is_chosen() -> None:
    for words in ("", ALL, "jpa-reader"):
        files = {asked.variant.name: asked.files for asked in chosen_of(KNOWN, words)}
        assert files["jpa-reader"] == READS


def test_files_and_exceptions_exist_and_only_tutorials_are_excepted() -> None:
    files = {file.stem: file.read_text(encoding="utf-8") for file in FOLDER.glob("test_*.py")}
    assert frozenset().union(READS, *CHANGES.values()) <= files.keys()
    assert TUTORIALS.keys() <= set(re.findall(r"^def (test_\w+)", "".join(files.values()), re.MULTILINE))
    for asked in chosen_of(KNOWN, ALL):
        if asked.variant.serves == "reads":
            continue
        excepted = [name for name in TUTORIALS if not asked.asks("test_write", name)]
        assert bool(excepted) == (asked.variant.tutorial_of is not None)
