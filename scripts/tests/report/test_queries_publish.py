"""Are only sound searches published, with a page that follows from them, and is any change found?"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from report import planted_capacity
from report.planted_paths import PATHS
from report.planted_queries import Planted
from writepath import verify
from writepath.errors import InvalidRunError, UsageError
from writepath.experiments import publish, reporting
from writepath.report import capacity_publish
from writepath.report.queries_publish import refuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from writepath.records.queries import Read
    from writepath.report.queries_raw import QueriesData

PUBLISHED = "results/published/search"
READ = f"{PUBLISHED}/jpa/block-01/read.json"
PAGE = "docs/results/search.md"


@pytest.fixture
def checkout(published_queries: Path, tmp_path: Path) -> Path:
    """A copy of it to be spoiled."""
    return Path(shutil.copytree(published_queries, tmp_path / "checkout"))


def raw_of(root: Path) -> Path:
    return next((root / "results/search").iterdir())


def test_the_page_has_the_originals_rounds_beside_ours_and_its_links_lead_somewhere(
    published_queries: Path,
) -> None:
    page = published_queries / PAGE
    text = page.read_text(encoding="utf-8")
    assert "# Results: How fast posts are found again" in text
    assert "| Elasticsearch, 1 shard | – | 영화 | original | 11,441 |" in text
    assert "![Latency against rate, by variant](search/search-curves.svg)" in text
    drawing = (page.parent / "search/search-curves.svg").read_text(encoding="utf-8")
    assert "passed" in drawing
    assert "unstable" not in drawing  # a search leaves no backlog
    assert "(../../results/published/search)" in text


def test_the_index_names_what_is_published(published_queries: Path) -> None:
    index = (published_queries / "docs/results/README.md").read_text(encoding="utf-8")
    assert "[How fast posts are found again](search.md)" in index


def test_without_anything_published_there_is_no_page(checkout: Path) -> None:
    shutil.rmtree(checkout / PUBLISHED)
    publish.write_pages(checkout)
    assert not (checkout / PAGE).exists()


@pytest.mark.parametrize("name", [PAGE, "docs/results/search/search-curves.svg"])
def test_a_changed_page_is_found(checkout: Path, name: str) -> None:
    (checkout / name).write_bytes((checkout / name).read_bytes() + b" ")
    assert publish.differences(checkout) == [f"{name}: differs from what the published raw data give"]


def test_a_changed_record_is_found_by_its_digest(checkout: Path) -> None:
    (checkout / READ).write_bytes((checkout / READ).read_bytes() + b" ")
    assert publish.differences(checkout) == ["search/jpa/block-01/read.json: changed since it was published"]


def test_publishing_again_changes_nothing(checkout: Path) -> None:
    assert publish.publish(checkout, raw_of(checkout)) == []


def test_published_writes_of_the_same_variants_stand_beside_and_are_linked(checkout: Path) -> None:
    planted = planted_capacity.Planted(root=checkout, blocks=1, paths=PATHS[:1])
    shutil.copytree(planted.write(), checkout / "results/published/capacity")
    publish.write_pages(checkout)
    text = (checkout / PAGE).read_text(encoding="utf-8")
    assert "[Maximum sustainable write rate of each path](capacity.md)" in text
    line = next(line for line in text.splitlines() if line.startswith("| JPA | substring | none | 5,000 |"))
    assert line.endswith("| 2,277 |")


def test_writes_are_those_of_the_one_published_suite_that_made_most_of_the_variants(checkout: Path) -> None:
    for name, paths in (("capacity", PATHS[:1]), ("index-cost", PATHS[:2])):
        planted = planted_capacity.Planted(root=checkout, blocks=1, paths=paths, suite=name)
        shutil.copytree(planted.write(), checkout / "results/published" / name)
    one, two = (path.name for path in PATHS[:2])
    most = {names: capacity_publish.that_made_most_of(names, checkout) for names in ((one,), (one, two))}
    assert [figures.suite.suite for figures in most.values() if figures] == ["capacity", "index-cost"]
    assert capacity_publish.that_made_most_of(["another"], checkout) is None


def test_a_run_too_large_for_git_is_refused(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "LIMIT_BYTES", 1000)
    with pytest.raises(UsageError, match="more than the 1,000"):
        publish.publish(checkout, raw_of(checkout))
    assert (checkout / READ).is_file()


def test_a_missing_ledger_is_an_error_that_names_it(checkout: Path) -> None:
    (raw_of(checkout) / "jpa/block-01/beside-writes/requests.parquet").unlink()
    with pytest.raises(UsageError, match=r"beside-writes/requests\.parquet: missing"):
        publish.publish(checkout, raw_of(checkout))


def test_an_unfinished_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is aborted"):
        refuse(Planted(root=tmp_path, status="aborted").data())


def test_a_missing_block_is_refused_by_name(tmp_path: Path) -> None:
    data = Planted(root=tmp_path).data()
    reads = tuple(found for found in data.reads if found.folder != "jpa/block-02")
    with pytest.raises(UsageError, match="missing: jpa, block 2; finish it with RESUME=1"):
        refuse(replace(data, reads=reads))


def test_what_failed_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidRunError, match="jpa, block 2: postgres did not start"):
        refuse(Planted(root=tmp_path, failed=(("jpa", 2),)).data())


def test_other_posts_are_refused_with_who_had_them(tmp_path: Path) -> None:
    planted = Planted(root=tmp_path, blocks=1, digests={"jpa-trigram": "e" * 64})
    with pytest.raises(
        InvalidRunError,
        match=r"the variants searched different posts \(dddddddd…: .*; eeeeeeee…: jpa-trigram block 1\)",
    ):
        refuse(planted.data())


def spoiled(data: QueriesData, change: Callable[[Read], Read]) -> QueriesData:
    """The first record is another one."""
    first, *rest = data.reads
    return replace(data, reads=(replace(first, read=change(first.read)), *rest))


SPOILED: dict[str, Callable[[Read], Read]] = {
    "jpa, block 1: the hits of '영화' are not explained .mode substring: 14,999 found, 15,000 contain it, 1 missed": (
        lambda read: replace(
            read, hits=(replace(read.hits[0], found=14_999, missed=1, explained=False), *read.hits[1:])
        )
    ),
    "jpa, block 1: the hits of '영화' are missing": lambda read: replace(read, hits=read.hits[1:]),
    "jpa, block 1: '영화', first page: 4 of 5 rounds": lambda read: replace(read, rounds=read.rounds[1:]),
    "jpa, block 1: the record of its bulk load is missing": lambda read: replace(read, loading=None),
    "jpa, block 1: its maximum sustainable rate was not measured": lambda read: replace(read, capacity=None),
    "jpa, block 1: step 11 at 777/s was noisy and not retried": lambda read: replace(
        read, holds=(*read.holds[:-1], replace(read.holds[-1], rate_per_s=777.0, verdict="noise"))
    ),
    "jpa, block 1: searches during writes were noisy and not rerun .3% of": lambda read: replace(
        read, beside=replace(read.beside, noise=("3% of its processor time stolen",)) if read.beside else None
    ),
}


@pytest.mark.parametrize("words", SPOILED)
def test_a_record_that_says_too_little_or_something_false_is_refused_in_words(
    tmp_path: Path, words: str
) -> None:
    with pytest.raises(InvalidRunError, match=f"not published: {words}"):
        refuse(spoiled(Planted(root=tmp_path).data(), SPOILED[words]))


def test_fewer_posts_than_the_suite_loads_are_refused(tmp_path: Path) -> None:
    def fewer(read: Read) -> Read:
        assert read.loading is not None
        return replace(read, loading=replace(read.loading, documents=7))

    with pytest.raises(InvalidRunError, match="7 posts were loaded, not 50,000"):
        refuse(spoiled(Planted(root=tmp_path).data(), fewer))


def test_the_command_line_reports_publishes_and_verifies(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = raw_of(checkout)
    (checkout / "results/latest").symlink_to(folder)
    assert reporting.report(checkout, None) == 0
    assert {"report.md", "rounds.csv", "hits.csv", "holds.csv", "search-curves.svg", "tables.json"} <= {
        path.name for path in (folder / "report").iterdir()
    }
    printed = capsys.readouterr().out
    assert printed.index("Search times, round by round") < printed.index("Hits: what")
    assert reporting.publish(checkout, Path("results/search")) == 0
    assert verify.run(checkout, Path("results/latest"), print) == 0
