"""Does the contract's short choice leave out numbers alone, and does the long one leave out nothing that promises?"""

from __future__ import annotations

from pathlib import Path

from contract.chosen import ALL, chosen_of
from writepath.config import registry

KNOWN = registry.load(Path(__file__).resolve().parents[2])


def names(words: str) -> list[str]:
    return [variant.name for variant in chosen_of(KNOWN, words)]


def test_variants_that_differ_in_numbers_alone_are_asked_once() -> None:
    short = names("")
    assert len({"elasticsearch-1s0r", "elasticsearch-8s0r", "elasticsearch-8s1r"} & set(short)) <= 1
    assert {"jpa", "rabbitmq-jpa-4-consumers", "elasticsearch-8s0r-single", "jpa-tutorial"} <= set(short)
    assert len(short) < len(names(ALL))


def test_every_word_of_a_setting_is_asked() -> None:
    def words(variants: list[str]) -> set[tuple[str, str]]:
        settings = (KNOWN.variant(name).settings.items() for name in variants)
        return {(name, value) for own in settings for name, value in own if not value[:1].isdecimal()}

    assert words(names("")) == words(names(ALL))


def test_every_service_is_asked() -> None:
    def services(variants: list[str]) -> set[str]:
        known = [KNOWN.variant(name) for name in variants]
        return {service for one in known for service in (one.ingress, one.inspector)}

    assert services(names("")) == services(names(ALL))


def test_twins_that_lose_and_controls_are_asked_where_they_are_named_alone() -> None:
    assert not {"jpa-async-commit", "jpa-slowed"} & set(names(ALL))
    assert names("jpa-slowed,jpa") == ["jpa-slowed", "jpa"]
