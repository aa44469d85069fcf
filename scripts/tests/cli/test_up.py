"""Does `make up` say where what it started is asked?"""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from writepath import commands
from writepath.config import registry

KNOWN = registry.load(Path(__file__).resolve().parents[3])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("jpa", ("a 201 guarantees: committed", "POST and GET http://127.0.0.1:5/api/posts")),
        ("jpa-reader", ("nothing is written", "GET http://127.0.0.1:5/api/feed")),
    ],
)
def test_what_is_started_is_asked_for_what_it_serves(name: str, said: tuple[str, ...]) -> None:
    stack: Any = SimpleNamespace(
        base_url="http://127.0.0.1:5", inspector_urls=lambda service: [f"http://{service}"]
    )
    text = commands._addresses(KNOWN.variant(name), stack, ())  # noqa: SLF001 it prints and waits
    assert all(part in text for part in (*said, f"http://{KNOWN.variant(name).inspector}"))
