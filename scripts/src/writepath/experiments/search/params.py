"""What a suite says of its searches, as the index keeps it: the part `search:` of suites.yaml."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from writepath.config.checked import Names
from writepath.records.base import record

if TYPE_CHECKING:
    from collections.abc import Mapping

OPTIONS = {"DOCS": "documents", "ROUNDS": "rounds"}  # of the command line: the field that it replaces


@record
class SearchParams:
    """Posts, rounds and keywords."""

    documents: Annotated[int, Field(ge=1_000, le=1_000_000)]  # posts that are loaded first
    rounds: Annotated[int, Field(ge=1, le=1_000)]  # how often one client searches for each keyword
    keywords: Names

    def over(self, options: Mapping[str, int]) -> SearchParams:
        """With what the user asked for."""
        changed: dict[str, Any] = {OPTIONS[name]: value for name, value in options.items()}
        return dataclasses.replace(self, **changed)
