"""Does the audit name exactly what a lying store does, one lie at a time and all at once, and nothing else?"""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from audit.stub import CLASS_OF, INVENTED, NUMBER, OTHER_RUN, Lies, Stub, audited
from writepath.analysis.audit import NOTED
from writepath.load.plan import encode_id

FOREIGN = tuple(encode_id(OTHER_RUN, seq) for seq in range(INVENTED))
ACTS = [one.name for one in fields(Lies)]


def planted() -> dict[str, frozenset[int]]:
    """One write in a thousand for each act, no write for two of them."""
    names = [name for name in ACTS if name not in ("beyond", "foreign")]
    drawn = np.random.default_rng(3).choice(NUMBER - 1, (len(names), NUMBER // 1000), replace=False)
    acts = {name: frozenset(part.tolist()) for name, part in zip(names, drawn, strict=True)}
    return acts | {"beyond": frozenset({NUMBER, NUMBER + 7, 2**40})}


def members(acts: dict[str, frozenset[int]]) -> dict[str, set[int]]:
    """By class, what the audit has to say."""
    found: dict[str, set[int]] = {}
    for act, seqs in acts.items():
        found.setdefault(CLASS_OF[act], set()).update(seqs)
    return found


def lying(acts: dict[str, frozenset[int]], foreign: tuple[str, ...] = ()) -> None:
    """Asserts that exactly these acts are found."""
    found = audited(Stub(lies=Lies(**acts, foreign=foreign)))
    assert {name: set(seq.tolist()) for name, seq in found.members.items() if len(seq)} == members(acts)
    assert found.foreign == foreign
    assert found.audit.identities_broken == ()
    harmless = all(name in NOTED for name in members(acts)) and not foreign
    assert found.audit.verdict == ("PASS" if harmless else "FAIL")


def test_an_honest_store_passes() -> None:
    lying({})


@pytest.mark.parametrize("act", [name for name in ACTS if name != "foreign"])
def test_one_lie_is_found_and_no_other(act: str) -> None:
    lying({act: planted()[act]})


@pytest.mark.parametrize("act", [name for name in ACTS if name != "foreign"])
def test_a_single_write_is_enough(act: str) -> None:
    lying({act: frozenset({min(planted()[act])})})


def test_rows_of_an_earlier_run_are_found() -> None:
    lying({}, FOREIGN)


def test_all_lies_at_once_are_told_apart() -> None:
    lying(planted(), FOREIGN)
