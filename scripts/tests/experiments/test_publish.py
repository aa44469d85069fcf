"""Publishing a load suite: only whole, valid suites of one host, and every published byte can be derived again."""

import hashlib
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import planted_index
import planted_runs
from planted_runs import LATER, PlantedCell
from planted_tables import WRITES, Planted
from writepath.errors import InvalidRunError, UsageError
from writepath.experiments import publish, read
from writepath.experiments.registry import kind_of
from writepath.records.base import read_json, write_json
from writepath.records.index import SCHEMA_VERSION, load_index, save_index
from writepath.report import front
from writepath.report.data import SuiteData
from writepath.report.render import markdown

LINKS = {"assets": "x", "reading": "reading.md", "raw": "raw"}
SUITE = "flat"  # the README is about `default`, whose pictures take a while


def published(root: Path, *cells: PlantedCell, **changes: Any) -> Path:
    folder = planted_runs.write(root, *(cells or (PlantedCell(),)), **{"suite": SUITE, **changes})
    publish.publish(root, folder)
    return root / "results/published" / folder.parent.name


def nothing_is_published(root: Path) -> bool:
    place = root / "results/published"
    return not place.exists() or not list(place.iterdir())


def page(data: SuiteData[Any]) -> str:
    return markdown(kind_of(data.index.kind).report(data), LINKS)


def mixed() -> Planted:
    """Answers of several kinds, rows that are durable later, and writes that a search found."""
    status, error = np.full(WRITES, 201), np.zeros(WRITES, np.int64)
    status[7:12], error[7:12] = 0, 1050
    status[20:23], error[20:23] = 503, 1503
    copies = (status == 201).astype(int)
    planted = Planted(status=status, error_code=error, copies=(copies, copies))
    planted.durable_at_us = planted.start_us + 100_000 + 800 * np.arange(WRITES)
    planted.visible = [
        (one, int(planted.start_us[one]) + 100, int(planted.start_us[one]) + 900_000)
        for one in range(100, WRITES, 10)
    ]
    return planted


def test_the_page_of_what_is_published_is_that_of_the_raw_run(checkout: Path) -> None:
    cells = (
        PlantedCell(levels={"POOL_SIZE": "5"}, load=mixed()),
        PlantedCell(levels={"POOL_SIZE": "10"}),
    )
    folder = published(checkout, *cells)
    raw = read.raw(checkout / "results" / SUITE / planted_index.STAMP)
    kept = read.published(folder)
    assert r"| JPA, POOL\_SIZE=10 | A | 1,000 of 1,000 |" in page(raw)
    assert page(kept) == page(raw)
    assert [cell.result for cell in kept.cells] == [cell.result for cell in raw.cells]


def test_pages_and_readme_are_written_and_agree(checkout: Path) -> None:
    published(checkout, suite="default")
    assert publish.differences(checkout) == []
    text = (checkout / "docs/results/default.md").read_text(encoding="utf-8")
    assert "<summary>Accept latency</summary>" in text
    assert "](default/latency-over-time.svg)" in text
    assert "[A suite](default.md)" in (checkout / "docs/results/README.md").read_text(encoding="utf-8")
    readme = (checkout / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("# Project\n\nBefore.\n\n<!-- results:answer:begin -->\n")
    assert "| JPA | " in readme
    assert readme.endswith("<!-- results:answer:end -->\n\nAfter.\n")
    assert "old" not in readme


def test_the_list_of_pages_says_when_each_suite_began_and_how_long_it_took(checkout: Path) -> None:
    published(checkout, started_at="2026-11-21T22:30:00.000Z", finished_at="2026-11-22T00:44:40.000Z")
    listed = (checkout / "docs/results/README.md").read_text(encoding="utf-8")
    assert f"- [A suite]({SUITE}.md): suite {SUITE}, 2026-11-21 22:30, 135 min\n" in listed


def test_with_nothing_published_the_readme_says_so(checkout: Path) -> None:
    publish.write_pages(checkout)
    assert publish.differences(checkout) == []
    assert front.NOTHING in (checkout / "README.md").read_text(encoding="utf-8")


def test_publishing_again_changes_no_file(checkout: Path) -> None:
    published(checkout)
    before = {path: path.read_bytes() for path in checkout.rglob("*") if path.is_file()}
    assert publish.publish(checkout, checkout / "results" / SUITE / planted_index.STAMP) == []
    assert before == {path: path.read_bytes() for path in checkout.rglob("*") if path.is_file()}


def test_a_new_publication_replaces_the_old_one_with_its_pages(checkout: Path) -> None:
    published(checkout, PlantedCell(variant="old"))
    folder = published(checkout, PlantedCell(variant="new"), stamp=LATER)
    assert sorted(path.name for path in folder.iterdir()) == ["index.json", "manifest.sha256", "new"]
    assert publish.differences(checkout) == []
    shutil.rmtree(folder)
    publish.write_pages(checkout)
    left = [path.name for path in (checkout / "docs/results").rglob("*") if path.is_file()]
    assert left == ["README.md"]


def test_the_manifest_is_one_that_sha256sum_checks(checkout: Path) -> None:
    folder = published(checkout, PlantedCell(levels={"POOL_SIZE": "5"}))
    lines = (folder / "manifest.sha256").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len([path for path in folder.rglob("*") if path.is_file()]) - 1
    for line in lines:
        found = re.fullmatch(r"([0-9a-f]{64})  (\S.*)", line)
        assert found is not None
        assert hashlib.sha256((folder / found[2]).read_bytes()).hexdigest() == found[1]


def test_no_published_file_names_a_path_of_this_machine_or_a_secret(checkout: Path) -> None:
    folder = published(checkout)
    settings = json.loads((folder / "jpa/block-01/settings.json").read_text(encoding="utf-8"))
    assert settings == {"app": {"POSTGRES_PASSWORD": "***", "DATA": "(path) of me", "POOL_SIZE": "5"}}
    texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.json")]
    assert not [text for text in texts if "hunter2" in text or str(checkout) in text]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"load": planted_runs.losing(3)}, r"1 acknowledged writes are not in the store \(sequence 3\)"),
        ({"load": planted_runs.unseen()}, "the audit is incomplete: planted: nobody looked"),
        ({"failed": "postgres did not start"}, "failed: postgres did not start"),
    ],
    ids=["invalid", "unknown", "failed"],
)
def test_a_cell_that_does_not_count_is_refused_by_name(
    checkout: Path, fault: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidRunError, match=f"rabbitmq-jpa, block 1: {words}"):
        published(checkout, PlantedCell(), PlantedCell(variant="rabbitmq-jpa", **fault))
    assert nothing_is_published(checkout)


def test_a_record_that_its_raw_files_do_not_give_is_refused(checkout: Path) -> None:
    folder = planted_runs.write(checkout, PlantedCell())
    path = folder / "jpa/block-01/cell.json"
    record = read_json(path, SCHEMA_VERSION)
    record["result"]["requests"]["acknowledged"] = 999
    write_json(record, path)
    with pytest.raises(InvalidRunError, match=r"requests\.acknowledged: 999, recomputed 1000"):
        publish.publish(checkout, folder)
    assert nothing_is_published(checkout)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"status": "aborted"}, "is aborted, 1 of 1 cells finished; finish it with RESUME=1"),
        ({"order": (("jpa",), ("jpa",))}, "1 of 2 cells finished; missing: jpa, block 2"),
    ],
)
def test_an_unfinished_suite_run_is_refused(checkout: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        published(checkout, **changes)
    assert nothing_is_published(checkout)


def test_a_suite_too_large_for_git_is_refused(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "LIMIT_BYTES", 1000)
    with pytest.raises(UsageError, match="more than the 1,000"):
        published(checkout)
    assert nothing_is_published(checkout)


def test_missing_markers_leave_everything_as_it_was(checkout: Path) -> None:
    (checkout / "README.md").write_text("# Project\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"README\.md: the markers <!-- results:answer:begin -->"):
        published(checkout)
    assert nothing_is_published(checkout)


def test_an_index_that_leads_out_of_its_folder_is_refused(checkout: Path) -> None:
    folder = planted_runs.write(checkout, PlantedCell())
    index = load_index(folder)
    save_index(replace(index, cells=(replace(index.cells[0], folder="../../../../etc"),)), folder)
    with pytest.raises(UsageError, match="which is outside; the index was edited"):
        publish.publish(checkout, folder)
