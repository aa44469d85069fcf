"""The report of a faults suite says what it covers, and never says no loss of what failed or was deleted."""

from dataclasses import replace
from pathlib import Path

import pytest

from faults.planted import READ, TRIAL, result, suite
from writepath.analysis import audit
from writepath.experiments import publish, reporting
from writepath.records.faults import FaultResult
from writepath.records.index import load_index
from writepath.report import faults
from writepath.report.faults import coverage_in_words, recovery_in_words, struck
from writepath.report.model import Table, texts

ROOT = Path(__file__).resolve().parents[3]
HELD = result(TRIAL)
CONTROL = result(replace(TRIAL, lost=7, exposed=40), weakened=True)
PLAIN = result(TRIAL, fault="none", words="no fault (control)")


def cells(table: Table) -> list[list[str]]:
    return [texts(table, row) for row in table.rows]


def said(one: FaultResult) -> str:
    """In the main table."""
    return cells(faults.report(suite(("jpa", one))).table)[0][1]


def test_the_page_has_the_outcome_the_figures_and_the_controls() -> None:
    data = suite(("jpa", HELD), ("jpa", PLAIN), ("jpa-async-commit", CONTROL))
    page = faults.report(data)
    assert page.answer == (
        "1 fault in correct variants: no loss. Variants: JPA.",
        "1 fault in weakened controls, which are meant to lose or duplicate data: JPA, asynchronous commit.",
    )
    held = "no loss in 1 fault (loss probability ≤ 95.0 %)"
    assert cells(page.table)[0] == ["kill -9 of the database", f"{held}; recovered in 2.0 s (max 2.0 s)"]
    assert "3 cells, 1 trials without a fault. postgresql 18.6." in page.facts
    assert [section.key for section in page.details] == ["faults-jpa", "twins"]
    assert cells(page.details[1].tables[0])[0][3:] == ["lost data in 1 of 1 fault", "7", held]
    evidence = cells(faults.evidence(struck(data)))
    assert [row[3:] for row in evidence] == [[held, "100"], ["lost data in 1 of 1 fault", "40"]]


def test_blocks_of_another_seed_add_their_faults() -> None:
    (both,) = struck(suite(("jpa", HELD), ("jpa", result(replace(TRIAL, recovered_after_seconds=None)))))
    assert (both.result.effective, both.result.status) == (2, "broke")
    assert both.result.loss_probability_bound == pytest.approx(1 - 0.05**0.5)
    assert recovery_in_words(both.result).endswith("; did not recover in time in 1 of 2")


def test_coverage_separates_faults_of_correct_variants_from_those_of_weakened_controls() -> None:
    broke = result(TRIAL, replace(TRIAL, lost=1), replace(TRIAL, effective=False, lost=1))
    other = replace(HELD, fault="kill-broker")
    data = suite(
        ("jpa", HELD),
        ("rabbitmq-jpa", broke),
        ("rabbitmq-jpa", other),
        ("jpa", PLAIN),
        ("jpa-async-commit", CONTROL),
    )
    assert coverage_in_words(struck(data)) == (
        "4 faults in correct variants: loss in 1; failed or unknown: 1 cell. Variants: JPA; RabbitMQ + JPA.",
        "1 fault in weakened controls, which are meant to lose or duplicate data: JPA, asynchronous commit.",
    )


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (
            result(replace(TRIAL, recovered_after_seconds=None)),
            "1 fault in correct variants: no loss; recovered too late: 1 cell.",
        ),
        (
            result(TRIAL, audit=replace(READ, verdict="FAIL", unexpected=1)),
            "1 fault in correct variants: loss in 0; failed or unknown: 1 cell.",
        ),
        (
            result(replace(TRIAL, lost=3, taken_along=3), audit=replace(READ, lost=3)),
            "1 fault in correct variants: no loss; 1 fault deleted a queue with acknowledged writes in it.",
        ),
        (PLAIN, "No fault in a correct variant."),
    ],
)
def test_no_loss_is_not_said_of_a_failed_audit_or_of_what_was_deleted(one: FaultResult, words: str) -> None:
    assert coverage_in_words(struck(suite(("jpa", one))))[0].startswith(words)


def test_the_words_of_a_cell_name_what_happened() -> None:
    assert said(result(replace(TRIAL, duplicated=4))).startswith("stored writes twice in 1 of 1 fault")
    assert said(result(TRIAL, trials_asked=2)).startswith("unknown: only 1 of 2 faults have proof")
    slow = result(TRIAL, replace(TRIAL, recovered_after_seconds=None))
    assert said(slow).startswith(
        "no loss in 2 faults (loss probability ≤ 77.6 %); failed: not recovered within 30 s in 1 of 2 faults; recovered"
    )
    unread = replace(slow, audit=audit.not_read())
    assert said(unread).startswith("failed: not recovered within 30 s in 1 of 2 faults; recovered in 2.0 s")


def test_of_many_variants_those_struck_by_most_faults_have_a_column() -> None:
    names = [f"path-{number}" for number in range(6)]
    twice = [(name, own) for name in names for own in (HELD, replace(HELD, fault="kill-proxy"))]
    page = faults.report(suite(("jpa", HELD), *twice))
    assert [column.title for column in page.table.columns] == ["fault", *names]
    assert "faults-jpa" in [section.key for section in page.details]
    assert [column.title for column in faults.report(suite(("jpa", HELD))).table.columns] == ["fault", "JPA"]


def test_a_failure_that_was_found_is_published_and_fails_the_command() -> None:
    failed = suite(("jpa", result(replace(TRIAL, lost=1))), ("jpa", PLAIN))
    publish.refuse(failed)
    assert reporting.exit_code(failed) == 1
    assert reporting.exit_code(suite(("jpa-async-commit", result(TRIAL, weakened=True)))) == 3


def test_what_did_not_run_natively_is_published_under_its_runtime() -> None:
    published = {folder.name: load_index(folder) for folder in publish.published_suites(ROOT)}
    assert {name: publish.name_of(index) for name, index in published.items()} == {
        name: name for name in published
    }
    assert published["faults-docker"].runtime == "docker"
