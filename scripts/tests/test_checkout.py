"""Tests of the digest that decides whether a suite run is continued, and a published suite counts."""

from pathlib import Path

import pytest

from writepath import checkout

RUNNER = "scripts/src/writepath/experiments/load/kind.py"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """With a runner, in no git repository."""
    changed(tmp_path, RUNNER)
    return tmp_path


def changed(project: Path, file: str) -> str:
    """The digest once the file has one more line."""
    path = project / file
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as text:
        text.write("line\n")
    return str(checkout.code(project).digest)


@pytest.mark.parametrize(
    "file", [RUNNER, "services/pom.xml", "k6/scenarios/ramp.js", ".env", "scripts/src/writepath/process.py"]
)
def test_a_change_of_what_measures_changes_the_digest(project: Path, file: str) -> None:
    before = checkout.code(project).digest
    assert changed(project, file) != before


@pytest.mark.parametrize(
    "file",
    [
        "docs/usage.md",
        "scripts/src/writepath/report/model.py",
        "scripts/src/writepath/experiments/load/tables.py",
        "scripts/src/writepath/experiments/capacity/search_tables.py",
        "scripts/src/writepath/experiments/load/sections_reads.py",
        "scripts/src/writepath/experiments/campaign.py",
    ],
)
def test_a_change_of_what_only_reports_or_publishes_leaves_the_digest(project: Path, file: str) -> None:
    before = checkout.code(project).digest
    assert changed(project, file) == before
