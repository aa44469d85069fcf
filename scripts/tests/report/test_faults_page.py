"""Is a matrix of faults published only when it says something, and can its pages be derived again?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from faults.planted import CELL, ENTRY, MATRIX, TRIAL
from writepath.errors import InvalidRunError, UsageError
from writepath.report import cli_publish, cli_report, publish
from writepath.result.faults import Cell, save_cell, save_faults

if TYPE_CHECKING:
    from pathlib import Path

TWIN = replace(
    CELL,
    variant="jpa-async-commit",
    title="JPA, asynchronous commit",
    naive_twin_of="jpa",
    acknowledges="in PostgreSQL's memory",
    status="loses",
    reasons=("guarantees broken in 1 of 1 faults",),
    trials=(replace(TRIAL, lost=7, exposed=40),),
)


@pytest.fixture
def docs(checkout: Path) -> Path:
    """A checkout whose page of promises has its markers."""
    (checkout / "docs").mkdir()
    (checkout / "docs/durability.md").write_text(
        "# Promises\n\n<!-- faults:evidence:begin -->\nNothing yet.\n<!-- faults:evidence:end -->\n\nEnd.\n",
        encoding="utf-8",
    )
    return checkout


def matrix(checkout: Path, *cells: Cell, runtime: str = "native") -> Path:
    """A raw one of these cells."""
    folder = checkout / "results/faults" / MATRIX.stamp / runtime
    entries = []
    for cell in cells:
        key = f"{cell.variant}/{cell.fault}"
        (folder / key).mkdir(parents=True)
        save_cell(replace(cell, runtime=runtime), folder / key)
        (folder / key / "timeline.json").write_text("[]\n", encoding="utf-8")
        entries.append(replace(ENTRY, variant=cell.variant, folder=key, status=cell.status))
    index = replace(MATRIX, runtime=runtime, wanted=tuple(e.folder for e in entries), cells=tuple(entries))
    save_faults(index, folder)
    return folder


def test_page_and_evidence_are_written_and_agree(docs: Path) -> None:
    assert cli_publish(docs, matrix(docs, CELL, TWIN)) == 0
    assert publish.differences(docs) == []
    page = (docs / "docs/results/faults.md").read_text(encoding="utf-8")
    assert "| kill -9 of the database | held: 0 of 1 lost data (≤ 95.0 %); well again after 2.0 s" in page
    assert "loses: 1 of 1 lost data" in page
    promises = (docs / "docs/durability.md").read_text(encoding="utf-8")
    assert "Nothing yet." not in promises
    assert promises.endswith("<!-- faults:evidence:end -->\n\nEnd.\n")
    evidence = promises.split("<!-- faults:evidence:begin -->")[1]
    rows = [line for line in evidence.splitlines() if line.startswith("| JPA")]
    assert [row.split(" | ")[3:] for row in rows] == [
        ["held: 0 of 1 lost data (≤ 95.0 %)", "100 |"],
        ["loses: 1 of 1 lost data (≤ 100.0 %)", "40 |"],
    ]
    assert "(faults.md)" in (docs / "docs/results/README.md").read_text(encoding="utf-8")


def test_both_runtimes_stand_on_one_page_and_one_can_be_replaced(docs: Path) -> None:
    cli_publish(docs, matrix(docs, CELL, runtime="docker"))
    cli_publish(docs, matrix(docs, CELL, TWIN))
    page = (docs / "docs/results/faults.md").read_text(encoding="utf-8")
    assert page.index("## native runtime") < page.index("## docker runtime")
    assert publish.differences(docs) == []


def test_a_trial_without_a_fault_is_not_counted_as_one(docs: Path) -> None:
    control = replace(CELL, fault="none")
    assert cli_publish(docs, matrix(docs, CELL, control)) == 0
    page = (docs / "docs/results/faults.md").read_text(encoding="utf-8")
    assert "2 cells, 1 effective faults, 1 trials without one as control," in page


def test_a_variant_struck_by_few_faults_gets_no_column_of_its_own(docs: Path) -> None:
    many = [replace(CELL, fault=f"fault-{number}") for number in range(5)]
    order = replace(CELL, variant="rabbitmq-jpa-4-consumers", title="Queue, 4 consumers")
    cli_publish(docs, matrix(docs, *many, order))
    page = (docs / "docs/results/faults.md").read_text(encoding="utf-8")
    head = next(line for line in page.splitlines() if line.startswith("| fault |"))
    assert head == f"| fault | {CELL.title} |"
    assert order.title in page


def test_a_changed_record_or_page_is_named(docs: Path) -> None:
    cli_publish(docs, matrix(docs, CELL))
    promises = docs / "docs/durability.md"
    promises.write_text(promises.read_text(encoding="utf-8").replace("0 of 1", "0 of 9"), encoding="utf-8")
    assert publish.differences(docs) == ["docs/durability.md: differs from what the published raw data give"]
    record = docs / "results/published/faults/native/jpa/kill-database/cell.json"
    record.write_text(record.read_text(encoding="utf-8").replace('"lost": 0', '"lost": 1'), encoding="utf-8")
    assert publish.differences(docs) == ["native/jpa/kill-database/cell.json: changed since it was published"]


def test_a_cell_that_says_nothing_is_not_published(docs: Path) -> None:
    unknown = replace(CELL, status="unknown", reasons=("only 0 of 1 faults have proof that they happened",))
    with pytest.raises(
        InvalidRunError, match="jpa/kill-database: only 0 of 1 faults have proof that they happened"
    ):
        cli_publish(docs, matrix(docs, unknown))
    assert not (docs / "results/published").exists()


def test_an_unfinished_matrix_is_not_published(docs: Path) -> None:
    folder = matrix(docs, CELL)
    save_faults(replace(MATRIX, status="aborted"), folder)
    with pytest.raises(UsageError, match="finish it with RESUME=1"):
        cli_publish(docs, folder)


def test_without_markers_nothing_is_replaced(docs: Path) -> None:
    cli_publish(docs, matrix(docs, CELL))
    (docs / "docs/durability.md").write_text("# Promises\n", encoding="utf-8")
    other = matrix(docs, replace(CELL, variant="other"), runtime="docker")
    with pytest.raises(UsageError, match="the markers"):
        cli_publish(docs, other)
    assert not (docs / "results/published/faults/docker").exists()


@pytest.mark.parametrize(("status", "code"), [("held", 0), ("broke", 1), ("unknown", 3)])
def test_report_prints_a_matrix_and_says_its_worst(
    status: str, code: int, docs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = matrix(docs, Cell(**{**vars(CELL), "status": status}))
    assert cli_report(docs, folder) == code
    assert f"{status}: " in capsys.readouterr().out
    assert (folder / "report.md").is_file()
