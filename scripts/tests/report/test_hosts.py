"""Are runs of several hosts never mixed in a published median, and named in a raw report?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from writepath.errors import UsageError
from writepath.report import cli_report, publish
from writepath.report.figures import suite_figures
from writepath.report.raw import read_suite
from writepath.report.tables import tables

if TYPE_CHECKING:
    from report.conftest import RunSpec, SuiteSpec

FIRST, SECOND = (f"Testor {name}, 2 cores, 8.00 GiB, 6.1, ext4" for name in (3000, 4000))


@pytest.fixture
def two_hosts(suite: SuiteSpec, run_spec: type[RunSpec]) -> SuiteSpec:
    """One variant, its second repetition on another host."""
    suite.repetitions = 2
    suite.runs = [run_spec(), run_spec(repetition=2, cpu_model="Testor 4000")]
    return suite


def test_a_suite_run_of_several_hosts_is_not_published(two_hosts: SuiteSpec) -> None:
    folder = two_hosts.write()
    with pytest.raises(
        UsageError, match=f"several hosts: {FIRST} and {SECOND}.*rerun the whole suite on one host"
    ):
        publish.publish(two_hosts.root, folder)
    assert not (two_hosts.root / "results/published").exists()


def test_the_page_of_a_raw_suite_run_names_all_hosts(two_hosts: SuiteSpec) -> None:
    folder = two_hosts.write()
    cli_report(two_hosts.root, folder)
    page = (folder / "report/report.md").read_text(encoding="utf-8")
    assert f"native runtime on {FIRST} and {SECOND}; 2 repetitions" in page


def test_every_table_that_mixes_hosts_says_so_in_its_heading(two_hosts: SuiteSpec) -> None:
    found = tables(suite_figures(read_suite(two_hosts.write())))
    mixed = {table.key for table in found if table.title.endswith(" (mixes hosts, not publishable)")}
    assert {table.key for table in found} - mixed == {"runs", "fingerprint"}


def test_a_suite_run_of_one_host_is_not_marked(suite: SuiteSpec, run_spec: type[RunSpec]) -> None:
    suite.repetitions = 2
    suite.runs = [run_spec(), run_spec(repetition=2)]
    found = tables(suite_figures(read_suite(suite.write())))
    assert not [table.title for table in found if "hosts" in table.title]
