"""ADD=1: blocks of a later suite run stand behind those that are published, if the design is the same."""

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import pytest

import planted_runs
from planted_index import STAMP
from planted_runs import LATER, PlantedCell
from report import planted_documents
from writepath.config.settings import Factor
from writepath.errors import UsageError
from writepath.experiments import publish, read, reporting
from writepath.records.cell import load_cell
from writepath.records.index import load_index
from writepath.records.measures import DatasetFacts
from writepath.report.data import SuiteData

PUBLISHED, ADDED = "results/published/flat", f"results/flat/{LATER}"


def planted(root: Path, *, host: str = "a", **changes: Any) -> Path:
    """A block of a suite run with an A/A control."""
    slow = PlantedCell(variant="slow", load=planted_runs.slower(2), cpu_model=host)
    cells = (PlantedCell(cpu_model=host), slow, PlantedCell(control=True, cpu_model=host))
    return planted_runs.write(root, *cells, **{"suite": "flat", "baseline": "jpa", **changes})


def later(root: Path, **changes: Any) -> Path:
    return planted(root, **{"stamp": LATER, "seed": 2, **changes})


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with two raw suite runs; the first is published."""
    root = tmp_path_factory.mktemp("checkout")
    planted_documents.write(root)
    later(root)
    publish.publish(root, planted(root))
    return root


@pytest.fixture
def checkout(original: Path, tmp_path: Path) -> Path:
    return shutil.copytree(original, tmp_path / "checkout")


def blocks(data: SuiteData[Any], *, control: bool = False) -> list[tuple[int, int]]:
    """Number and seed of the baseline's."""
    return [(cell.record.block, cell.record.seed) for cell in data.of(data.rows[0], control=control)]


def test_added_blocks_are_renumbered_and_stand_behind_the_published_ones(checkout: Path) -> None:
    before = {
        path: path.read_bytes() for path in (checkout / PUBLISHED).glob("*/*/*") if path.name != "cell.json"
    }
    publish.publish(checkout, checkout / ADDED, add=True)
    data = read.published(checkout / PUBLISHED)
    assert data.index.repetitions == len(data.index.order) == 2
    assert (data.index.stamp, data.index.seed) == (STAMP, 1)
    assert blocks(data) == blocks(data, control=True) == [(1, 1), (2, 2)]
    assert data.index.order[1:] == load_index(checkout / ADDED).order
    assert before == {path: path.read_bytes() for path in before}
    for cell in data.cells:
        assert cell.entry.folder == f"{cell.entry.name}/block-{cell.record.block:02d}"
        assert load_cell(checkout / PUBLISHED / cell.entry.folder).run_id == cell.record.run_id
    said: list[str] = []
    assert reporting.verify(checkout, None, said.append) == 0, said
    assert "2 repetitions" in (checkout / "docs/results/flat.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": 1}, "SEED=1 already gave the order of published blocks; run with another seed, SEED=2"),
        ({"runtime": "docker"}, "RUNTIME differs: published native, now docker"),
        ({"processors": "split (1 + 1)"}, r"PROCESSORS differs: published shared, now split \(1 \+ 1\)"),
        ({"params": {"scenario": "other"}}, "what suites.yaml or an option says of the load differs"),
        ({"baseline": "slow"}, "the baseline differs"),
        ({"settings": {"INSTANCES": "4"}}, "settings differs"),
        ({"factors": (Factor(name="POOL_SIZE", scope="stack", levels=("5",)),)}, "factors differs"),
        ({"dataset": DatasetFacts(name="embedded", sha256="f" * 64, lines=9)}, "DATASET differs"),
        ({"dataset": DatasetFacts(name="a.tsv", sha256="f" * 64, lines=1000)}, "DATASET differs"),
        ({"order": (("jpa", "slow"),)}, "VARIANTS differs"),
    ],
)
def test_blocks_of_another_design_are_refused(changes: dict[str, Any], words: str, original: Path) -> None:
    added = dataclasses.replace(load_index(original / ADDED), **changes)
    with pytest.raises(UsageError, match=f"ADD=1: {words}"):
        publish.require_addable(original / PUBLISHED, added, ())


def test_a_variant_that_is_defined_otherwise_by_now_is_refused(original: Path) -> None:
    index = load_index(original / ADDED)
    other = dataclasses.replace(index.variants[0], settings={"POOL_SIZE": "99"})
    added = dataclasses.replace(index, variants=(other, *index.variants[1:]))
    with pytest.raises(UsageError, match=r"settings in variants.yaml differs: .*POOL_SIZE"):
        publish.require_addable(original / PUBLISHED, added, ())


def test_blocks_of_another_host_are_refused_and_nothing_changes(checkout: Path) -> None:
    with pytest.raises(UsageError, match=r"ran on several hosts: a, .* and other, "):
        publish.publish(checkout, later(checkout, host="other", stamp="20260304T050607Z"), add=True)
    assert [path.name for path in (checkout / "results/published").iterdir()] == ["flat"]
    assert publish.differences(checkout) == []


def test_the_same_blocks_twice_are_refused_and_nothing_changes(checkout: Path) -> None:
    publish.publish(checkout, checkout / ADDED, add=True)
    with pytest.raises(UsageError, match=f"suite run {LATER} is already published"):
        publish.publish(checkout, checkout / ADDED, add=True)
    assert publish.differences(checkout) == []
    assert load_index(checkout / PUBLISHED).repetitions == 2
