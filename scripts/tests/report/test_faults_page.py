"""Is a matrix of faults published only when it says something, and can its pages be derived again?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import planted_runs
from faults.planted import CELL, ENTRY, MATRIX, TRIAL
from planted_runs import PlantedCell
from writepath.errors import InvalidRunError, UsageError
from writepath.experiments import publish, reporting
from writepath.records.faults import Cell, save_cell, save_faults
from writepath.report.fault_tables import Coverage, Matrix, coverage, coverage_in_words

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
    """A checkout in which nothing is published."""
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
    assert reporting.publish(docs, matrix(docs, CELL, TWIN)) == 0
    assert publish.differences(docs) == []
    page = (docs / "docs/results/faults.md").read_text(encoding="utf-8")
    assert (
        "| kill -9 of the database | no loss in 1 fault (loss probability ≤ 95.0 %); recovered in 2.0 s (max 2.0 s) |"
        in page
    )
    assert "| lost data in 1 of 1 fault |" in page
    guarantees = (docs / "docs/durability.md").read_text(encoding="utf-8")
    assert "Nothing yet." not in guarantees
    assert guarantees.endswith("<!-- faults:evidence:end -->\n\nEnd.\n")
    evidence = guarantees.split("<!-- faults:evidence:begin -->")[1]
    rows = [line for line in evidence.splitlines() if line.startswith("| JPA")]
    assert [row.split(" | ")[3:] for row in rows] == [
        ["no loss in 1 fault (loss probability ≤ 95.0 %)", "100 |"],
        ["lost data in 1 of 1 fault", "40 |"],
    ]
    assert "(faults.md)" in (docs / "docs/results/README.md").read_text(encoding="utf-8")


def test_both_runtimes_are_on_one_page_and_one_can_be_replaced(docs: Path) -> None:
    reporting.publish(docs, matrix(docs, CELL, runtime="docker"))
    reporting.publish(docs, matrix(docs, CELL, TWIN))
    page = (docs / "docs/results/faults.md").read_text(encoding="utf-8")
    assert page.index("## native runtime") < page.index("## docker runtime")
    assert publish.differences(docs) == []


def test_a_trial_without_a_fault_is_not_counted_as_one(docs: Path) -> None:
    control = replace(CELL, fault="none")
    assert reporting.publish(docs, matrix(docs, CELL, control)) == 0
    page = (docs / "docs/results/faults.md").read_text(encoding="utf-8")
    assert "\n\n1 fault in correct variants: no loss. Variants: JPA.\n\n" in page
    assert "2 cells, 1 trials without a fault, 50/s," in page
    assert "| no loss in 1 trial (loss probability ≤ 95.0 %); recovered in 2.0 s (max 2.0 s) |" in page


def test_the_count_of_faults_says_what_it_covers_and_which_main_variants_it_leaves_out(
    docs: Path,
) -> None:
    cells = (PlantedCell(), PlantedCell(variant="elasticsearch-8s1r"))
    publish.publish(docs, planted_runs.write(docs, *cells))
    reporting.publish(docs, matrix(docs, CELL, replace(CELL, fault="none"), TWIN))
    page = (docs / "docs/results/faults.md").read_text(encoding="utf-8")
    assert page.split("## native runtime\n\n")[1].split("\n\n")[:3] == [
        "1 fault in correct variants: no loss. Variants: JPA.",
        "1 fault in weakened controls, which are meant to lose or duplicate data: JPA, asynchronous commit.",
        "Variants of suite default without a fault test: ELASTICSEARCH-8S1R.",
    ]


def test_coverage_separates_faults_of_correct_variants_from_those_of_weakened_controls() -> None:
    trials = (TRIAL, replace(TRIAL, lost=1), replace(TRIAL, effective=False, lost=1))
    broke = replace(CELL, variant="rabbitmq-jpa", title="RabbitMQ + JPA", status="broke", trials=trials)
    cells = (
        CELL,
        broke,
        replace(broke, fault="kill-broker", trials=(TRIAL,)),
        replace(CELL, fault="none"),
        TWIN,
    )
    found = Matrix(index=MATRIX, cells=cells)
    assert coverage(found) == Coverage(
        faults=4,
        losing=1,
        titles=("JPA", "RabbitMQ + JPA"),
        control_faults=1,
        controls=("JPA, asynchronous commit",),
    )


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (
            replace(CELL, status="broke", reasons=("2 lost",)),
            "1 fault in correct variants: loss in 0; failed or unknown: 1 cell.",
        ),
        (
            replace(CELL, status="destroyed", trials=(replace(TRIAL, lost=3, taken_along=3),)),
            "1 fault in correct variants: no loss; 1 fault deleted a queue with acknowledged writes in it.",
        ),
        (replace(CELL, fault="none"), "No fault in a correct variant."),
    ],
)
def test_no_loss_is_not_said_of_what_failed_or_was_deleted(cell: Cell, words: str) -> None:
    assert coverage_in_words(Matrix(index=MATRIX, cells=(cell,)))[0].startswith(words)


def test_a_trial_that_did_not_recover_is_named(docs: Path) -> None:
    trials = (TRIAL, replace(TRIAL, recovered_after_seconds=None))
    reporting.publish(docs, matrix(docs, replace(CELL, trials=trials, status="broke", reasons=("too slow",))))
    page = (docs / "docs/results/faults.md").read_text(encoding="utf-8")
    assert "failed: too slow; recovered in 2.0 s (max 2.0 s); did not recover in time in 1 of 2 |" in page


def test_writes_that_are_only_stored_twice_are_not_called_lost(docs: Path) -> None:
    twice = replace(TWIN, trials=(replace(TRIAL, duplicated=4),))
    reporting.publish(docs, matrix(docs, CELL, twice))
    page = (docs / "docs/results/faults.md").read_text(encoding="utf-8")
    assert "| stored writes twice in 1 of 1 fault |" in page
    assert "| lost data" not in page


def test_a_variant_struck_by_few_faults_gets_no_column_of_its_own(docs: Path) -> None:
    many = [replace(CELL, fault=f"fault-{number}") for number in range(5)]
    order = replace(CELL, variant="rabbitmq-jpa-4-consumers", title="Queue, 4 consumers")
    reporting.publish(docs, matrix(docs, *many, order))
    page = (docs / "docs/results/faults.md").read_text(encoding="utf-8")
    head = next(line for line in page.splitlines() if line.startswith("| fault |"))
    assert head == f"| fault | {CELL.title} |"
    assert order.title in page


def test_a_changed_record_or_page_is_named(docs: Path) -> None:
    reporting.publish(docs, matrix(docs, CELL))
    durability = docs / "docs/durability.md"
    durability.write_text(
        durability.read_text(encoding="utf-8").replace("1 fault", "9 faults"), encoding="utf-8"
    )
    assert publish.differences(docs) == ["docs/durability.md: differs from what the published raw data give"]
    record = docs / "results/published/faults/native/jpa/kill-database/cell.json"
    record.write_text(record.read_text(encoding="utf-8").replace('"lost": 0', '"lost": 1'), encoding="utf-8")
    assert publish.differences(docs) == ["native/jpa/kill-database/cell.json: changed since it was published"]


def test_a_cell_that_says_nothing_is_not_published(docs: Path) -> None:
    unknown = replace(CELL, status="unknown", reasons=("only 0 of 1 faults have proof that they happened",))
    with pytest.raises(
        InvalidRunError, match="jpa/kill-database: only 0 of 1 faults have proof that they happened"
    ):
        reporting.publish(docs, matrix(docs, unknown))
    assert not (docs / "results/published").exists()


def test_an_unfinished_matrix_is_not_published(docs: Path) -> None:
    folder = matrix(docs, CELL)
    save_faults(replace(MATRIX, status="aborted"), folder)
    with pytest.raises(UsageError, match="finish it with RESUME=1"):
        reporting.publish(docs, folder)


def test_without_markers_nothing_is_replaced(docs: Path) -> None:
    reporting.publish(docs, matrix(docs, CELL))
    (docs / "docs/durability.md").write_text("# Guarantees\n", encoding="utf-8")
    other = matrix(docs, replace(CELL, variant="other"), runtime="docker")
    with pytest.raises(UsageError, match="the markers"):
        reporting.publish(docs, other)
    assert not (docs / "results/published/faults/docker").exists()


@pytest.mark.parametrize(
    ("cell", "words", "code"),
    [
        (CELL, "no loss in 1 fault", 0),
        (replace(CELL, status="broke", trials=(replace(TRIAL, lost=1),)), "lost data in 1 of 1 fault", 1),
        (replace(CELL, status="unknown", reasons=("not read",)), "unknown: not read", 3),
    ],
)
def test_report_prints_a_matrix_and_says_its_worst(
    cell: Cell, words: str, code: int, docs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = matrix(docs, cell)
    assert reporting.report(docs, folder) == code
    printed = capsys.readouterr().out
    assert words in printed
    assert printed.startswith("1 fault in correct variants: ")
    assert "1 fault in correct variants: " in (folder / "report.md").read_text(encoding="utf-8")
