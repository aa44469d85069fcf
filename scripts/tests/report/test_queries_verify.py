"""Does every published number of searches follow from raw values, and is any forged one found?"""

from __future__ import annotations

import json
import lzma
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from writepath.errors import UsageError
from writepath.experiments import publish
from writepath.records.queries import load_read
from writepath.report import packed, queries_verify

if TYPE_CHECKING:
    from collections.abc import Callable

PUBLISHED = "results/published/search"
WHERE = "elasticsearch-1s0r/block-01"
HOLDS = f"{PUBLISHED}/{WHERE}/holds.txt.xz"
READ = f"{PUBLISHED}/{WHERE}/read.json"


@pytest.fixture
def checkout(published_queries: Path, tmp_path: Path) -> Path:
    """A copy of it to be spoiled."""
    return Path(shutil.copytree(published_queries, tmp_path / "checkout"))


def raw_of(root: Path) -> Path:
    return next((root / "results/search").iterdir())


def changed(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data), encoding="utf-8")


def test_every_published_number_follows_from_the_published_raw_values(published_queries: Path) -> None:
    assert publish.differences(published_queries) == []
    assert queries_verify.problems(published_queries) == []


def test_the_published_values_are_those_of_the_raw_run(published_queries: Path) -> None:
    assert queries_verify.of_raw(published_queries, raw_of(published_queries)) == []


def test_the_planted_run_has_what_there_is_to_verify(published_queries: Path) -> None:
    read = load_read(published_queries / PUBLISHED / WHERE)
    assert {hold.verdict for hold in read.holds} == {"pass", "fail"}
    assert any(hold.requests.indeterminate for hold in read.holds)
    assert {hold.audit for hold in read.holds} == {None}
    assert read.beside is not None
    assert (read.beside.wrong_answers, read.beside.writes_acknowledged) == (2, 990)
    assert read.beside.visible_ms_p95 is not None
    assert read.beside.search_latency_ms.p99 is None


FORGED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "step 1: requests.acknowledged=": lambda read: read["holds"][0]["requests"].update(acknowledged=7),
    "step 6: planned_latency_ms.p99=": lambda read: read["holds"][5]["planned_latency_ms"].update(p99=50.0),
    "step 6: verdict=": lambda read: read["holds"][5].update(verdict="pass"),
    "capacity.last_pass_per_s=": lambda read: read["capacity"].update(last_pass_per_s=9999.0),
    "rounds: one occurs twice": lambda read: read["rounds"].append(read["rounds"][0]),
    "rounds of '영화', first page: [1, 2, 3, 4, 5], cold []": lambda read: read["rounds"][0].update(
        cold=False
    ),
    "'영화': mode=substring": lambda read: read["hits"][0].update(mode="substring"),
    "'영화': found=11256 ≠ 15000 - 3750 missed + 7 surplus": lambda read: read["hits"][0].update(
        found=11_256
    ),
    "'영화': as_word=15001": lambda read: read["hits"][0].update(as_word=15_001),
    "'영화': every match, round 1: 11256 posts in 12 pages of 11257": lambda read: read["rounds"][1].update(
        posts=11_256
    ),
    "'영화': first page, round 1: 20 posts in 3 pages of 11257": lambda read: read["rounds"][0].update(
        requests=3
    ),
    "searches during writes: search_latency_ms.p95=": lambda read: read["beside"]["search_latency_ms"].update(
        p95=9.0
    ),
    "searches during writes: write_latency_ms.median=": lambda read: read["beside"][
        "write_latency_ms"
    ].update(median=9.0),
    "searches during writes: alone_latency_ms.max=": lambda read: read["beside"]["alone_latency_ms"].update(
        max=9.0
    ),
    "searches during writes: visible_ms_median=": lambda read: read["beside"].update(visible_ms_median=1.0),
    "searches during writes: visible_ms_p95=": lambda read: read["beside"].update(visible_ms_p95=None),
    "searches during writes: writes_acknowledged=991 ≠ 990": lambda read: read["beside"].update(
        writes_acknowledged=991
    ),
    "searches during writes: writes_found=995 of 990": lambda read: read["beside"].update(writes_found=995),
    "searches during writes: wrong_answers=0 ≠ 2": lambda read: read["beside"].update(wrong_answers=0),
    "block=2, in queries.json 1": lambda read: read.update(block=2),
}


@pytest.mark.parametrize("words", FORGED)
def test_a_forged_number_is_found(checkout: Path, words: str) -> None:
    changed(checkout / READ, FORGED[words])
    found = queries_verify.problems(checkout)
    assert any(problem.startswith(f"search/{WHERE}: {words}") for problem in found), found


def test_a_substring_search_that_is_called_explained_and_missed_posts_is_found(checkout: Path) -> None:
    path = checkout / PUBLISHED / "jpa/block-01/read.json"
    changed(path, lambda read: read["hits"][0].update(missed=1, surplus=1))
    assert queries_verify.problems(checkout) == [
        "search/jpa/block-01: '영화': explained, with 1 missed and 1 surplus"
    ]


def test_wrong_totals_that_a_hold_does_not_tell_are_found(checkout: Path) -> None:
    def wrong(line: str) -> str:
        name, status, _, count = line.split()
        return f"{name} {status} 0 {int(count) - 3} {status} 9007 3"

    found = with_line(checkout, "01/answers", wrong)
    assert "step 1: 3 answers with a wrong total, but no reason says that it is broken" in found


def with_line(checkout: Path, whose: str, change: Callable[[str], str]) -> list[str]:
    """What is found where one line of the raw values is another."""
    path = checkout / HOLDS
    lines = lzma.decompress(path.read_bytes()).decode().splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith(f"{whose} "))
    packed.save([*lines[:at], change(lines[at]), *lines[at + 1 :]], path)
    return [problem.split(": ", 1)[1] for problem in queries_verify.problems(checkout)]


@pytest.mark.parametrize(
    ("begin", "words"),
    [("03/", "step 3: no raw values"), ("beside/", "searches during writes: no raw values")],
)
def test_what_has_no_raw_values_is_found(checkout: Path, begin: str, words: str) -> None:
    path = checkout / HOLDS
    lines = lzma.decompress(path.read_bytes()).decode().splitlines()
    packed.save([line for line in lines if not line.startswith(begin)], path)
    assert queries_verify.problems(checkout) == [f"search/{WHERE}: {words}"]
    whose = "step 3" if begin == "03/" else "'beside'"
    assert queries_verify.against_raw(checkout / PUBLISHED, raw_of(checkout)) == [
        f"{WHERE}: the raw values of {whose} differ from the raw run's"
    ]


def test_a_forged_number_of_a_raw_run_is_found(checkout: Path) -> None:
    changed(raw_of(checkout) / WHERE / "read.json", lambda read: read["holds"][0].update(seconds=21.0))
    found = queries_verify.of_raw(checkout, raw_of(checkout))
    assert f"{WHERE}/read.json: differs from the raw run's" in found
    assert any(problem.startswith(f"{WHERE}: step 1: ") for problem in found)


def test_raw_values_that_are_no_numbers_are_an_error_that_names_the_file(checkout: Path) -> None:
    with pytest.raises(UsageError, match=r"holds\.txt\.xz: its lines do not fit together"):
        with_line(checkout, "beside/visible", lambda _: "beside/visible none")
