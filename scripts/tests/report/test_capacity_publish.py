"""Are only sound searches for capacity published, with pages that follow from them, and is any change found?"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from report.planted_capacity import Planted
from writepath import verify
from writepath.errors import InvalidRunError, UsageError
from writepath.experiments import publish, reporting
from writepath.report.capacity_publish import refuse
from writepath.report.capacity_raw import read

if TYPE_CHECKING:
    from collections.abc import Callable

    from writepath.records.capacity import Hold
    from writepath.report.capacity_raw import CapacityData

SEARCH = "results/published/capacity/jpa/block-01/search.json"
PUBLISHED = "results/published/capacity"


@pytest.fixture
def checkout(published_capacity: Path, tmp_path: Path) -> Path:
    """A copy of it to be spoiled."""
    return Path(shutil.copytree(published_capacity, tmp_path / "checkout"))


def changed(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data), encoding="utf-8")


def raw_of(root: Path) -> Path:
    return next((root / "results/capacity").iterdir())


@pytest.mark.parametrize(
    "name",
    ["docs/results/capacity.md", "docs/results/capacity.html", "docs/results/capacity/capacity-curves.svg"],
)
def test_a_changed_page_is_found(checkout: Path, name: str) -> None:
    (checkout / name).write_bytes((checkout / name).read_bytes() + b" ")
    assert publish.differences(checkout) == [f"{name}: differs from what the published raw data give"]


def test_a_changed_record_is_found_by_its_digest(checkout: Path) -> None:
    (checkout / SEARCH).write_bytes((checkout / SEARCH).read_bytes() + b" ")
    assert publish.differences(checkout) == [
        "capacity/jpa/block-01/search.json: changed since it was published"
    ]


def test_the_index_names_what_is_published(published_capacity: Path) -> None:
    index = (published_capacity / "docs/results/README.md").read_text(encoding="utf-8")
    assert "[How many writes a second each path carries](capacity.md)" in index


def test_links_of_the_summary_lead_to_the_folders_of_published_runs(published_capacity: Path) -> None:
    page = published_capacity / "docs/results/capacity.md"
    (summary,) = page.read_text(encoding="utf-8").split("## Summary")[1:]
    links = re.findall(r"<sub>(.*?)</sub>", summary)
    folders = [folder for link in links for folder in re.findall(r"\]\(([^)]+)\)", link)]
    assert folders
    assert all(any((page.parent / folder).glob("block-*/search.json")) for folder in folders)


def test_publishing_again_changes_nothing(checkout: Path) -> None:
    assert publish.publish(checkout, raw_of(checkout)) == []


def test_without_anything_published_there_is_no_page(checkout: Path) -> None:
    shutil.rmtree(checkout / PUBLISHED)
    publish.write_pages(checkout)
    assert not (checkout / "docs/results/capacity.html").exists()


def test_a_run_too_large_for_git_is_refused(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "LIMIT_BYTES", 1000)
    with pytest.raises(UsageError, match="more than the 1,000"):
        publish.publish(checkout, raw_of(checkout))
    assert (checkout / SEARCH).is_file()


def test_an_unfinished_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is aborted"):
        refuse(Planted(root=tmp_path, status="aborted").data())


def test_a_missing_search_is_refused_by_name(tmp_path: Path) -> None:
    data = Planted(root=tmp_path).data()
    searches = tuple(found for found in data.searches if found.folder != "jpa/block-02")
    with pytest.raises(UsageError, match="missing: jpa, block 2"):
        refuse(replace(data, searches=searches))


def test_a_failed_search_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidRunError, match="jpa, block 2: postgres did not start"):
        refuse(Planted(root=tmp_path, failed=(("jpa", 2),)).data())


def spoiled(data: CapacityData, change: Callable[[Hold], Hold]) -> CapacityData:
    """The last hold of the first search is another one."""
    first, *rest = data.searches
    *holds, last = first.search.holds
    search = replace(first.search, holds=(*holds, change(last)))
    return replace(data, searches=(replace(first, search=search), *rest))


def test_noise_that_was_not_made_again_is_refused(tmp_path: Path) -> None:
    data = spoiled(
        Planted(root=tmp_path).data(), lambda hold: replace(hold, rate_per_s=777.0, verdict="noise")
    )
    with pytest.raises(InvalidRunError, match="at 777/s was noisy and not retried"):
        refuse(data)


def test_a_failed_audit_is_refused(tmp_path: Path) -> None:
    data = spoiled(Planted(root=tmp_path).data(), lambda hold: replace(hold, audit="FAIL"))
    with pytest.raises(InvalidRunError, match="the audit of step 11 failed"):
        refuse(data)


def test_a_pass_that_nobody_audited_is_refused(tmp_path: Path) -> None:
    data = spoiled(Planted(root=tmp_path).data(), lambda hold: replace(hold, verdict="pass", audit="UNKNOWN"))
    with pytest.raises(InvalidRunError, match="step 11 passed but was not audited"):
        refuse(data)


def test_a_missing_ledger_is_an_error_that_names_it(checkout: Path) -> None:
    (raw_of(checkout) / "jpa/block-01/hold-03/requests.parquet").unlink()
    with pytest.raises(UsageError, match=r"hold-03/requests\.parquet: missing"):
        publish.publish(checkout, raw_of(checkout))


def test_the_command_line_reports_and_publishes(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = raw_of(checkout)
    (checkout / "results/latest").symlink_to(folder)
    assert reporting.report(checkout, None) == 0
    assert {"capacity.html", "report.md", "capacity.csv", "holds.csv", "tables.json"} <= {
        path.name for path in (folder / "report").iterdir()
    }
    printed = capsys.readouterr().out
    assert printed.index("Summary: maximum sustainable write rate") < printed.index("Latency and cost")
    assert reporting.publish(checkout, Path("results/capacity")) == 0
    assert verify.run(checkout, None, print) == 0


def test_different_commits_are_said_in_the_fingerprint(tmp_path: Path) -> None:
    from writepath.report.capacity_evidence import fingerprint  # noqa: PLC0415 - of this test alone
    from writepath.report.capacity_figures import capacity_figures  # noqa: PLC0415

    table = fingerprint(capacity_figures(Planted(root=tmp_path, commits=("a" * 40, "b" * 40)).data()))
    facts = {row.cells[1].text: row.cells[2].text for row in table.rows}
    assert facts["commit"] == "2 different commits"
    assert "jpa block 1" in (facts["commit aaaaaaaaaaaa"] or "")


def test_the_index_of_a_raw_run_is_read_strictly(checkout: Path) -> None:
    changed(raw_of(checkout) / "capacity.json", lambda suite: suite["searches"][0].update(folder="../../x"))
    with pytest.raises(UsageError, match="which is outside"):
        read(raw_of(checkout))
