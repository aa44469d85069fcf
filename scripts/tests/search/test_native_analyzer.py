"""Elasticsearch's own standard analyzer cuts texts as our model of it does."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from search.test_analyzer import CUTS
from writepath import provision
from writepath.config import registry
from writepath.load.analyzer import words
from writepath.load.dataset import generate
from writepath.measure.inspector import plain_client
from writepath.runtime.native import NativeRuntime, backing

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

pytestmark = [pytest.mark.native, pytest.mark.timeout(600)]
ROOT = Path(__file__).resolve().parents[3]
READY_S = 120.0
AT_ONCE = 250
ODD = (
    "\u00b7\u318d\u2027\uff1a영화\u318d감동 재미\u2027감동 영화\uff1a굿",
    "①영화 영화② Ⅲ편 ⓐ급 ½점 10²점 ３점",
    "영화♥감동 영화★감동 영화♡ 👍👍 👍🏽영화 🇰🇷영화 1\ufe0f\u20e3등 ❤\ufe0f영화",
    "ㅠㅠㅠ.ㅠ ㅋ.ㅋ ^^; -_- ;_; _영화_ 영화__감동",
    "3:0 3;0 3,0 3.0 3'0 a.b a'b a:b a,b a;b 1.a a.1 1,a",
    "日本語テスト ひらがな カタカナー 々 ｶﾞ ﾊﾟ",
    "हिन्दी עברית العربية",
    "\u1112\u1161\u11ab\u1100\u1173\u11af ﾡﾢ ㄱ",
    "x\u00ady\u200cz\u200dw\ufeffv\u2060u",
    "Straße İstanbul ΣΑΣ Ǆ ﬁn",
)


@pytest.fixture(scope="module")
def index() -> Iterator[httpx.Client]:
    """Elasticsearch alone."""
    provision.setup(ROOT, print, only=backing.needs(["elasticsearch"]) | {"packages"})
    runtime = NativeRuntime(ROOT)
    runtime.reap(print)
    variant = registry.load(ROOT).variant("elasticsearch-1s0r")
    with runtime.start(variant, overrides={}, say=print, only=["elasticsearch"]) as stack:
        deadline = time.monotonic() + READY_S
        while not stack.is_ready("elasticsearch"):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        with plain_client(10.0, f"http://{stack.address('elasticsearch', 9200)}") as client:
            yield client


def analyzed(client: httpx.Client, text: str) -> list[str]:
    answer = client.post("/_analyze", json={"analyzer": "standard", "text": text})
    answer.raise_for_status()
    return [token["token"] for token in answer.json()["tokens"]]


def of_letters(tokens: list[str]) -> list[str]:
    """Without emoji, of which no keyword is made."""
    return [token for token in tokens if words(token)]


def test_every_cut_is_the_analyzers_own(index: httpx.Client) -> None:
    for text, cut in CUTS:
        assert of_letters(analyzed(index, text)) == cut


@pytest.mark.parametrize("text", ODD)
def test_odd_characters_are_cut_alike(index: httpx.Client, text: str) -> None:
    assert of_letters(analyzed(index, text)) == words(text)


def test_a_long_word_is_cut_alike(index: httpx.Client) -> None:
    assert analyzed(index, "ㅋ" * 600) == words("ㅋ" * 600)


def test_ten_thousand_reviews_are_cut_alike(index: httpx.Client) -> None:
    lines = generate(7, 10_000).lines
    for begin in range(0, len(lines), AT_ONCE):
        some = lines[begin : begin + AT_ONCE]
        assert of_letters(analyzed(index, "\n".join(some))) == [word for line in some for word in words(line)]
