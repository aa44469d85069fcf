"""Do blocks that were made later join those that are published, and nothing that is not alike?"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from report import planted_documents, planted_queries
from report.planted_capacity import Planted
from report.planted_paths import PATHS
from writepath.errors import UsageError
from writepath.experiments import publish
from writepath.records import capacity, measures
from writepath.records.faults import FAULTS_FILE
from writepath.report import capacity_verify, join, manifest, queries_raw, queries_verify
from writepath.report.capacity_raw import read
from writepath.report.queries_figures import digests

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.report.capacity_raw import CapacityData

PUBLISHED = "results/published/capacity"
SEARCHES = "results/published/search"
EARLIER, LATER = "20260102T030405Z", "20260203T040506Z"


def planted(root: Path, seed: int, stamp: str) -> Path:
    return Planted(root=root, paths=PATHS[:2], blocks=1, scale=0.1, raw=True, seed=seed, stamp=stamp).write()


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with two raw runs of one block each; the first is published."""
    root = tmp_path_factory.mktemp("checkout")
    planted_documents.write(root)
    first, _ = planted(root, 1, EARLIER), planted(root, 2, LATER)
    publish.publish(root, first)
    return root


def planted_searches(root: Path, seed: int, stamp: str) -> Path:
    variants = planted_queries.VARIANTS[:2]
    return planted_queries.Planted(
        root=root, variants=variants, blocks=1, scale=0.1, raw=True, seed=seed, stamp=stamp
    ).write()


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of searches over posts."""
    root = tmp_path_factory.mktemp("searched")
    planted_documents.write(root)
    first, _ = planted_searches(root, 1, EARLIER), planted_searches(root, 2, LATER)
    publish.publish(root, first)
    return root


@pytest.fixture
def checkout(original: Path, tmp_path: Path) -> Path:
    return shutil.copytree(original, tmp_path / "checkout")


def raw(root: Path, stamp: str = LATER) -> Path:
    return root / "results/capacity" / stamp


def test_added_blocks_stand_behind_the_published_ones_and_are_derived_again(checkout: Path) -> None:
    before = (checkout / PUBLISHED / "jpa/block-01/search.json").read_bytes()
    publish.publish(checkout, raw(checkout), add=True)
    data = read(checkout / PUBLISHED)
    assert data.suite.repetitions == len(data.suite.blocks) == 2
    assert [found.search.block for found in data.of("jpa")] == [1, 2]
    assert [found.search.seed for found in data.of("jpa")] == [1, 2]
    assert [tools.block for tools in data.ceilings] == [1, 2]
    assert (checkout / PUBLISHED / "jpa/block-01/search.json").read_bytes() == before
    assert manifest.problems(checkout / PUBLISHED) == []
    assert publish.differences(checkout) == []
    assert capacity_verify.problems(checkout) == []
    assert "2 blocks" in (checkout / "docs/results/capacity.md").read_text(encoding="utf-8")


def test_both_raw_runs_are_still_those_of_the_published_blocks(checkout: Path) -> None:
    publish.publish(checkout, raw(checkout), add=True)
    for folder in (checkout / "results/capacity").iterdir():
        assert capacity_verify.of_raw(checkout, folder) == []
    path = checkout / PUBLISHED / "jpa/block-02/search.json"
    search = json.loads(path.read_text(encoding="utf-8"))
    search["holds"][5]["requests"]["dropped"] += 1
    path.write_text(json.dumps(search), encoding="utf-8")
    assert capacity_verify.of_raw(checkout, raw(checkout, EARLIER)) == []
    assert "jpa/block-02/search.json: differs from the raw run's" in capacity_verify.of_raw(
        checkout, raw(checkout)
    )


def test_without_add_what_was_published_is_replaced(checkout: Path) -> None:
    publish.publish(checkout, raw(checkout))
    data = read(checkout / PUBLISHED)
    assert (data.suite.stamp, data.suite.repetitions) == (LATER, 1)


def test_add_with_nothing_published_publishes(checkout: Path) -> None:
    shutil.rmtree(checkout / PUBLISHED)
    publish.publish(checkout, raw(checkout), add=True)
    assert read(checkout / PUBLISHED).suite.stamp == LATER


def test_the_same_blocks_twice_are_refused_and_nothing_changes(checkout: Path) -> None:
    publish.publish(checkout, raw(checkout), add=True)
    with pytest.raises(UsageError, match=f"suite run {LATER} is already published"):
        publish.publish(checkout, raw(checkout), add=True)
    assert publish.differences(checkout) == []
    assert read(checkout / PUBLISHED).suite.repetitions == 2


def test_blocks_that_cannot_be_copied_leave_what_is_published_and_nothing_beside_it(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(capacity, "save_search", broken)
    with pytest.raises(OSError, match="no space left"):
        publish.publish(checkout, raw(checkout), add=True)
    assert [path.name for path in (checkout / "results/published").iterdir()] == ["capacity"]
    assert publish.differences(checkout) == []


def test_a_seed_that_is_published_is_refused_with_another(original: Path) -> None:
    data = read(raw(original))
    again = replace(data, suite=replace(data.suite, seed=1))
    with pytest.raises(UsageError, match=r"SEED=1 already gave the order of published blocks.* SEED=2"):
        refuse(read(original / PUBLISHED), again)


def refuse(kept: CapacityData, added: CapacityData) -> None:
    known, new = ([one.search for one in data.searches] for data in (kept, added))
    join.refuse(kept.suite, added.suite, known, new, join.OF_CAPACITY)


def changed(data: CapacityData, **fields: object) -> CapacityData:
    return replace(data, suite=replace(data.suite, **fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"hold_seconds": 60.0}, "HOLD_SECONDS differs: published 20.0, now 60.0"),
        ({"slo_ms": 50.0}, "SLO_MS differs"),
        ({"runtime": "docker"}, "RUNTIME differs"),
        ({"overrides": {"POOL_SIZE": "9"}}, "settings differs"),
        ({"blocks": (("jpa", "elsewhere"),)}, "VARIANTS differ in .*elsewhere"),
        ({"dataset": measures.DatasetFacts(name="embedded", sha256="f" * 64, lines=9)}, "DATASET differs"),
        ({"dataset": measures.DatasetFacts(name="a.tsv", sha256="f" * 64, lines=1000)}, "DATASET differs"),
    ],
)
def test_blocks_of_another_design_are_refused(original: Path, fields: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        refuse(read(original / PUBLISHED), changed(read(raw(original)), **fields))


def test_a_variant_that_is_defined_otherwise_by_now_is_refused_by_its_setting(original: Path) -> None:
    added = read(raw(original))
    variant = added.suite.variants[0]
    other = replace(variant, settings={**variant.settings, "POOL_SIZE": "99"})
    with pytest.raises(UsageError, match=r"settings in variants.yaml differ \(jpa: POOL_SIZE\)"):
        refuse(read(original / PUBLISHED), changed(added, variants=(other, *added.suite.variants[1:])))


def test_blocks_of_searches_stand_behind_the_published_ones_and_are_derived_again(
    searched: Path, tmp_path: Path
) -> None:
    checkout = shutil.copytree(searched, tmp_path / "checkout")
    folder = checkout / "results/search"
    publish.publish(checkout, folder / LATER, add=True)
    data = queries_raw.read(checkout / SEARCHES)
    assert [(found.read.block, found.read.seed) for found in data.of("jpa")] == [(1, 1), (2, 2)]
    assert [len(found) for found in digests(data).values()] == [1, 1]  # ids are drawn from the seed
    assert publish.differences(checkout) == []
    assert queries_verify.problems(checkout) == []
    for run in folder.iterdir():
        assert queries_verify.of_raw(checkout, run) == []
    text = (checkout / "docs/results/search.md").read_text(encoding="utf-8")
    assert "2 blocks" in text
    assert "not those of all" not in text
    path = checkout / SEARCHES / "jpa/block-02/read.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    record["rounds"][0]["latency_ms"] += 1
    path.write_text(json.dumps(record), encoding="utf-8")
    assert queries_verify.of_raw(checkout, folder / EARLIER) == []
    assert "jpa/block-02/read.json: differs from the raw run's" in queries_verify.of_raw(
        checkout, folder / LATER
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"documents": 9}, "DOCS differs: published 50000, now 9"),
        ({"rounds": 9}, "ROUNDS differs"),
        ({"keywords": ("영화",)}, "the suite's keywords differs"),
        ({"dataset": measures.DatasetFacts(name="a.tsv", sha256="f" * 64, lines=1000)}, "DATASET differs"),
        ({"seed": 1}, "SEED=1 already gave the order"),
    ],
)
def test_blocks_of_other_searches_are_refused(searched: Path, fields: dict[str, object], words: str) -> None:
    kept, added = queries_raw.read(searched / SEARCHES), queries_raw.read(searched / "results/search" / LATER)
    known, new = ([one.read for one in data.reads] for data in (kept, added))
    suite = replace(added.suite, **fields)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=words):
        join.refuse(kept.suite, suite, known, new, join.OF_QUERIES)


def test_a_matrix_of_faults_has_no_blocks_to_add(tmp_path: Path) -> None:
    planted_documents.write(tmp_path)
    (tmp_path / FAULTS_FILE).touch()
    with pytest.raises(UsageError, match=r"ADD=1: .* is a matrix of faults"):
        publish.publish(tmp_path, tmp_path, add=True)
