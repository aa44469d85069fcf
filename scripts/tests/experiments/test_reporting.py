"""`report`, `audit` and `compare` on load suites, raw and published, and what RUN= may name."""

import csv
import dataclasses
from pathlib import Path

import pytest

import planted_runs
from planted_capacity import bracket, run, suite, variant
from planted_index import STAMP
from planted_runs import LATER, PlantedCell
from planted_tables import Planted
from writepath.errors import UsageError
from writepath.experiments import publish, read, registry, reporting
from writepath.experiments.registry import kind_of
from writepath.records.index import load_index, save_index
from writepath.report.comparison import compared

SUITE = "flat"


def planted(root: Path, *cells: PlantedCell, stamp: str = STAMP) -> Path:
    return planted_runs.write(root, *(cells or (PlantedCell(),)), suite=SUITE, stamp=stamp)


def test_the_report_of_a_raw_suite_run_is_beside_its_index(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = (PlantedCell(), PlantedCell(variant="slow", load=planted_runs.slower(2)))
    folder = planted(checkout, *cells)
    assert reporting.report(checkout, folder) == 0
    names = {path.name for path in (folder / "report").iterdir()}
    assert names >= {"report.md", "report.html", "latency.csv", "latency-percentiles.svg"}
    with (folder / "report/latency.csv").open(encoding="utf-8", newline="") as file:
        assert [row["median_ms"] for row in csv.DictReader(file)] == ["50", "100"]
    said = capsys.readouterr().out
    assert f"A suite: {SUITE} {STAMP}, finished, 2 of 2 cells" in said
    assert f"SVG: results/{SUITE}/{STAMP}/report" in said


@pytest.mark.parametrize(("load", "code"), [(planted_runs.unseen(), 3), (planted_runs.losing(3, 4), 1)])
def test_report_and_audit_exit_with_the_worst_cell(load: Planted, code: int, checkout: Path) -> None:
    folder = planted(checkout, PlantedCell(), PlantedCell(variant="slow", load=load))
    assert reporting.report(checkout, folder) == code
    said: list[str] = []
    assert reporting.audit(checkout, folder, said.append) == code
    first, second = said.index("jpa, block 1"), said.index("slow, block 1")
    assert "  ok 1000, late 0, recovered 0, clean_fail 0, clean_reject 0" in said[first:second]
    begins = {3: "  UNKNOWN in", 1: "  lost 2, stranded 0, vanished 0"}[code]
    assert any(line.startswith(begins) for line in said[second:])


def test_an_audit_that_its_record_contradicts_is_not_passed(checkout: Path) -> None:
    folder = planted(checkout)
    path = folder / "jpa/block-01/cell.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"ok": 1000', '"ok": 999'), encoding="utf-8")
    said: list[str] = []
    assert reporting.audit(checkout, folder, said.append) == 3
    assert "  result.audit.ok: 999, recomputed 1000" in said
    assert reporting.report(checkout, folder) == 1


def test_the_report_of_several_hosts_names_them(checkout: Path) -> None:
    folder = planted(checkout, PlantedCell(cpu_model="one"), PlantedCell(block=2, cpu_model="other"))
    assert reporting.report(checkout, folder) == 0
    page = (folder / "report/report.md").read_text(encoding="utf-8")
    assert "native runtime on one, 2 cores" in page
    assert "and other, 2 cores" in page
    assert "(mixes hosts, not publishable)" in page


def test_suite_runs_raw_and_published_are_compared_two_or_three_at_a_time(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = planted(checkout)
    second = planted(checkout, PlantedCell(load=planted_runs.slower(2)), stamp=LATER)
    publish.publish(checkout, first)
    kept = Path("results/published") / SUITE
    assert reporting.compare(checkout, [first, second]) == 0
    assert "50.0" in (said := capsys.readouterr().out)
    assert "100" in said
    assert reporting.compare(checkout, [kept, second, first], ["kept", "slow", "same"]) == 0
    said = capsys.readouterr().out
    assert "slow" in said
    assert "same" in said


def test_suite_runs_on_different_splits_are_not_compared(checkout: Path) -> None:
    first, second = planted(checkout), planted(checkout, stamp=LATER)
    save_index(dataclasses.replace(load_index(second), processors="split (1 + 1)"), second)
    with pytest.raises(UsageError, match=r"different PROCESSORS \(shared, split \(1 \+ 1\)\)"):
        reporting.compare(checkout, [first, second])


def test_suite_runs_of_different_kinds_are_not_compared(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = planted(checkout), planted(checkout, stamp=LATER)
    monkeypatch.setitem(registry.KINDS, "other", registry.KINDS["load"])
    save_index(dataclasses.replace(load_index(second), kind="other"), second)
    with pytest.raises(UsageError, match=r"different kinds \(load, other\) have no figures in common"):
        reporting.compare(checkout, [first, second])


@pytest.mark.parametrize(
    "given",
    [
        None,
        "results/latest",
        "latest",
        f"results/{SUITE}",
        SUITE,
        f"results/{SUITE}/{STAMP}",
        f"results/{SUITE}/{STAMP}/jpa",
        f"results/{SUITE}/{STAMP}/jpa/block-01",
    ],
)
def test_a_suite_run_is_found_by_its_folder_and_those_around_it(given: str | None, checkout: Path) -> None:
    folder = planted(checkout)
    (checkout / "results/latest").symlink_to(folder)
    assert read.suite_folder(checkout, None if given is None else Path(given)) == folder


def test_a_folder_without_results_is_an_error_with_a_remedy(checkout: Path) -> None:
    with pytest.raises(UsageError, match="no results yet; `make bench-all`"):
        reporting.report(checkout, None)
    with pytest.raises(UsageError, match="RUN=nowhere: no such folder"):
        reporting.report(checkout, Path("nowhere"))
    with pytest.raises(UsageError, match="RUN=docs: no index of a suite run in this folder"):
        reporting.publish(checkout, Path("docs"))


def test_capacity_suites_are_compared_by_their_rates_and_costs() -> None:
    runs = [[run(bracket(rate, 1.04 * rate))] for rate in (1000, 1500)]
    figures, *_ = compared([suite([(variant("jpa"), own)]) for own in runs], kind_of("capacity").report)
    told = {row.cells[1].text: row.cells[4].figure for row in figures.rows}
    assert told["sustained (1/s)"] is not None
    assert told["sustained (1/s)"].median == pytest.approx(50.0)
    assert "CPU per 1,000 stored writes (s)" not in told  # the same in both
