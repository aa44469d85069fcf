"""What of the contract does a variant not promise, and why? Only those as tutorials have it are excepted from any."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from writepath.config.registry import Variant

TUTORIALS: dict[str, str] = {
    "test_the_same_post_again_is_201_and_one_row": (
        "the database makes the key, and nothing says that the client's id is one: a repetition is a second row"
    ),
    "test_the_same_id_with_other_content_keeps_the_first": "for the same reason it is neither refused nor parked",
    "test_a_load_refuses_an_id_that_is_there": "for the same reason it is a second row",
    "test_without_its_backing_service_a_write_is_503_in_time_and_never_201": (
        "no wait is bounded below the proxy's and no exception translated: 500 or the proxy's 504 instead of 503"
    ),
}


def excepted(variant: Variant, test: str) -> bool:
    """Whether this variant is not asked this test."""
    return variant.tutorial_of is not None and test in TUTORIALS
