"""Are only whole, valid suites published, and can every published byte be derived again?"""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from writepath import result
from writepath.errors import InvalidRunError, UsageError
from writepath.report import cli_compare, cli_publish, cli_report, front, publish, scrub
from writepath.report.exports import markdown
from writepath.report.figures import suite_figures
from writepath.report.raw import read_suite
from writepath.report.tables import tables

if TYPE_CHECKING:
    from report.conftest import RunSpec, SuiteSpec

ROOT = Path(__file__).resolve().parents[3]


def published(suite: SuiteSpec) -> Path:
    publish.publish(suite.root, suite.write())
    return suite.root / "results/published" / suite.suite


def test_the_committed_docs_are_what_the_committed_raw_data_give() -> None:
    assert publish.differences(ROOT) == []


def test_with_nothing_published_the_check_passes(checkout: Path) -> None:
    publish.write_pages(checkout)
    assert publish.differences(checkout) == []
    assert front.NOTHING in (checkout / "README.md").read_text(encoding="utf-8")


def test_published_tables_are_those_of_the_raw_run(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    status, error = np.full(1200, 201), np.zeros(1200, dtype=int)
    status[7:12], error[7:12] = 0, 1050
    delays = np.linspace(100, 900, 1200)
    suite.runs = [
        run_spec(),
        run_spec(variant="q", status=status, error_code=error, delay_ms=delays, queue_ready=(3, 9)),
    ]
    folder = published(suite)
    raw = suite_figures(read_suite(suite.root / "results/default" / suite.stamp))
    kept = suite_figures(publish.read_published(folder))
    assert [markdown(table) for table in tables(kept)] == [markdown(table) for table in tables(raw)]


def test_times_are_kept_to_ten_microseconds(suite: SuiteSpec) -> None:
    folder = published(suite)
    (kept,) = publish.read_published(folder).read
    (raw,) = read_suite(suite.root / "results/default" / suite.stamp).read
    kept_run, raw_run = kept(), raw()
    assert kept_run.ledger is not None
    assert raw_run.ledger is not None
    for name in ("seq", "start_ms", "blocked_ms", "duration_ms", "status", "error_code"):
        assert np.abs(kept_run.ledger.records[name] - raw_run.ledger.records[name]).max() <= 0.00501
    assert kept_run.stored is not None
    assert raw_run.stored is not None
    assert np.abs(kept_run.stored.durable_at_ms - raw_run.stored.durable_at_ms).max() <= 0.00501


def test_docs_and_readme_are_written_and_agree(suite: SuiteSpec) -> None:
    published(suite)
    assert publish.differences(suite.root) == []
    page = (suite.root / "docs/results/default.md").read_text(encoding="utf-8")
    assert "## Accept latency" in page
    assert "](default/latency-over-time.svg)" in page
    assert "native runtime on Testor 3000, 2 cores; one repetition" in page
    assert "[A suite](default.md)" in (suite.root / "docs/results/README.md").read_text(encoding="utf-8")
    readme = (suite.root / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("# Project\n\nBefore.\n\n<!-- results:answer:begin -->\n")
    assert "| JPA | " in readme
    assert readme.endswith("<!-- results:answer:end -->\n\nAfter.\n")
    assert "old" not in readme


def test_publishing_again_changes_nothing(suite: SuiteSpec) -> None:
    folder = published(suite)
    before = {path: path.read_bytes() for path in suite.root.rglob("*") if path.is_file()}
    assert publish.publish(suite.root, suite.root / "results/default" / suite.stamp) == []
    assert before == {path: path.read_bytes() for path in suite.root.rglob("*") if path.is_file()}
    assert folder.is_dir()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("docs/results/default.md", "differs from what the published raw data give"),
        ("docs/results/default/latency-percentiles.svg", "differs from"),
        ("results/published/default/jpa/flat/rep-01/run.json", "changed since it was published"),
        ("results/published/default/jpa/flat/rep-01/requests.txt.xz", "changed since it was published"),
    ],
)
def test_a_changed_file_is_found(suite: SuiteSpec, name: str, problem: str) -> None:
    published(suite)
    path = suite.root / name
    path.write_bytes(
        path.read_bytes().replace(b"JPA", b"BEST") if path.suffix == ".md" else path.read_bytes() + b" "
    )
    (found,) = publish.differences(suite.root)
    assert problem in found


def test_a_missing_and_a_stray_file_are_found(suite: SuiteSpec) -> None:
    folder = published(suite)
    (suite.root / "docs/results/gone.md").write_text("# Gone\n", encoding="utf-8")
    (suite.root / "docs/results/default.md").unlink()
    assert publish.differences(suite.root) == [
        "docs/results/default.md: missing",
        "docs/results/gone.md: nothing published gives this file",
    ]
    (folder / "extra").write_text("", encoding="utf-8")
    assert publish.differences(suite.root) == ["default/extra: not in manifest.sha256"]


def test_the_manifest_is_one_that_sha256sum_checks(suite: SuiteSpec) -> None:
    folder = published(suite)
    for line in (folder / "manifest.sha256").read_text(encoding="utf-8").splitlines():
        digest, name = re.fullmatch(r"([0-9a-f]{64})  (\S+)", line).groups()  # type: ignore[union-attr]
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest


@pytest.mark.parametrize("status", ["invalid", "unknown"])
def test_a_run_that_does_not_count_is_refused_by_name(
    suite: SuiteSpec, run_spec: type[RunSpec], status: result.VerdictStatus
) -> None:
    verdict = result.Verdict(status=status, reasons=("2 writes lost",))
    suite.runs = [run_spec(), run_spec(variant="rabbitmq-jpa", verdict=verdict)]
    with pytest.raises(InvalidRunError, match="rabbitmq-jpa, repetition 1: 2 writes lost"):
        published(suite)
    assert not (suite.root / "results/published").exists()


def test_a_valid_run_whose_sums_do_not_agree_is_refused(suite: SuiteSpec) -> None:
    folder = suite.write()
    (folder / "jpa/flat/rep-01/stored.csv.gz").unlink()
    with pytest.raises(InvalidRunError, match="rows read back are missing"):
        publish.publish(suite.root, folder)


def test_an_unfinished_suite_is_refused(suite: SuiteSpec) -> None:
    suite.status = "aborted"
    with pytest.raises(UsageError, match=r"is aborted, 1 of 1 runs made"):
        published(suite)


def test_a_missing_repetition_is_refused_by_name(suite: SuiteSpec) -> None:
    suite.repetitions = 2
    with pytest.raises(UsageError, match="missing: jpa, repetition 2"):
        published(suite)


def test_a_suite_too_large_for_git_is_refused(suite: SuiteSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "LIMIT_BYTES", 1000)
    with pytest.raises(UsageError, match="more than the 1,000"):
        published(suite)
    assert list((suite.root / "results/published").iterdir()) == []


def test_missing_markers_leave_everything_as_it_was(suite: SuiteSpec) -> None:
    (suite.root / "README.md").write_text("# Project\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"README\.md: the markers <!-- results:answer:begin -->"):
        published(suite)
    assert not (suite.root / "results/published/default").exists()


def test_pages_of_what_is_no_longer_published_are_removed(suite: SuiteSpec) -> None:
    folder = published(suite)
    shutil.rmtree(folder)
    publish.write_pages(suite.root)
    assert [path.name for path in (suite.root / "docs/results").rglob("*") if path.is_file()] == ["README.md"]


def test_a_new_publication_replaces_the_old_one(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    suite.runs = [run_spec(variant="old")]
    published(suite)
    suite.runs, suite.stamp = [run_spec(variant="new")], "20260103T000000Z"
    folder = published(suite)
    assert [path.name for path in sorted(folder.iterdir())] == ["manifest.sha256", "new", "suite.json"]
    assert publish.differences(suite.root) == []


def test_published_settings_name_no_path_no_user_and_no_secret() -> None:
    settings = {
        "postgres": {
            "HOME": "anything",
            "POSTGRES_PASSWORD": "hunter2",
            "command": ["-D", "/var/lib/data dir", "-Xlog:file=/tmp/a.log:time"],
            "url": "jdbc:postgresql://127.0.0.1:5432/writepath",
            "limits": {"memory": 3},
        }
    }
    assert scrub.scrubbed(settings) == {
        "postgres": {
            "POSTGRES_PASSWORD": "***",
            "command": ["-D", "(path) dir", "-Xlog:file=(path):time"],
            "url": "jdbc:postgresql://127.0.0.1:5432/writepath",
            "limits": {"memory": 3},
        }
    }


def test_the_command_line_reports_publishes_and_compares(
    suite: SuiteSpec, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = suite.write()
    (suite.root / "results/latest").symlink_to(folder)
    assert cli_report(suite.root, None) == 0
    assert {path.suffix for path in (folder / "report").iterdir()} == {".md", ".csv", ".json", ".svg"}
    assert cli_publish(suite.root) == 0
    assert cli_compare(suite.root, [folder, Path("results/published/default")]) == 0
    assert "wrote docs/results/default.md" in capsys.readouterr().out


@pytest.mark.parametrize(("status", "code"), [("valid", 0), ("unknown", 3), ("invalid", 1)])
def test_the_report_exits_with_the_worst_verdict(
    suite: SuiteSpec, run_spec: type[RunSpec], status: result.VerdictStatus, code: int
) -> None:
    suite.runs = [
        run_spec(),
        run_spec(variant="x", verdict=result.Verdict(status=status, reasons=("why",) * (code > 0))),
    ]
    assert cli_report(suite.root, suite.write()) == code


def test_a_folder_without_results_is_an_error_with_a_remedy(checkout: Path) -> None:
    with pytest.raises(UsageError, match="no results yet; `make bench-all`"):
        cli_report(checkout, None)
    with pytest.raises(UsageError, match="RUN=nowhere: no such folder"):
        cli_report(checkout, Path("nowhere"))
