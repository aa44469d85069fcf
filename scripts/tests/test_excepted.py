"""The contract's exceptions name tests that exist, and only tutorial twins have any."""

from __future__ import annotations

import re
from pathlib import Path

from contract.excepted import TUTORIALS, excepted
from writepath.config import registry

ROOT = Path(__file__).resolve().parents[2]


def test_every_exception_is_a_test_of_the_contract() -> None:
    written = "".join(file.read_text("utf-8") for file in (ROOT / "scripts/tests/contract").glob("test_*.py"))
    assert set(TUTORIALS) <= set(re.findall(r"^def (test_\w+)", written, re.MULTILINE))


def test_only_variants_as_tutorials_have_it_are_excepted() -> None:
    for variant in registry.load(ROOT).variants.values():
        asked = [name for name in TUTORIALS if not excepted(variant, name)]
        assert bool(asked) == (variant.tutorial_of is None), variant.name
        assert not excepted(variant, "test_content_is_stored_as_it_was_sent")
