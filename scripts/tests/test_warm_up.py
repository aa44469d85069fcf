"""A path is steady when its requests no longer become cheaper or faster; a page shows how it became so."""

import pytest

from report.planted_suite import Planted, report
from writepath.analysis.warm_up import is_steady
from writepath.records.warm_up import WarmUpFacts, WarmUpWindow
from writepath.report.model import texts


def windows(*measured: tuple[float | None, float | None]) -> tuple[WarmUpWindow, ...]:
    """Of 5 s each."""
    return tuple(
        WarmUpWindow(until_s=5.0 * place, rate_per_s=400.0, cpu_us_per_request=cpu, median_ms=median)
        for place, (cpu, median) in enumerate(measured, 1)
    )


@pytest.mark.parametrize(
    ("measured", "steady"),
    [
        (((500, 2.0),) * 4, True),
        (((500, 2.0),) * 3, False),  # nothing to compare with
        (((9000, 60.0), (500, 2.0), (500, 2.0), (500, 2.0)), False),
        (((500, 2.0), (480, 2.0), (480, 2.0), (480, 2.0)), True),  # 4 % lower
        (((500, 2.0), (490, 2.0), (480, 2.0), (470, 2.0)), False),  # 6 % lower, in small steps
        (((500, 2.0), (490, 1.9), (480, 1.8), (490, 1.8)), False),  # only the median falls
        (((500, 2.0), (900, 9.0), (500, 2.0), (700, 5.0)), True),  # a noisy host only adds
        (((500, 2.0), (900, 9.0), (300, 2.0), (700, 5.0)), False),
        (((None, None), (500, 2.0), (500, 2.0), (500, 2.0)), False),
    ],
)
def test_a_path_is_steady_when_neither_figure_falls_by_more_than_5_percent(
    measured: tuple[tuple[float | None, float | None], ...], steady: bool
) -> None:
    assert is_steady(windows(*measured)) == steady


def test_the_page_shows_the_warm_up_of_cells_that_had_one() -> None:
    found = WarmUpFacts(
        seconds=36.5, virtual_users=32, steady=True, windows=windows((9000, 60.0), *((500, 2.0),) * 4)
    )
    page = report(Planted(changes={"warm_up": found}))
    (section,) = [one for one in page.details if one.key == "warm_up"]
    (table,) = section.tables
    assert texts(table, table.rows[0]) == ["JPA", "yes", "36.5", "400", "9,000", "500", "60.0", "2.00"]
    assert [plot.file for plot in section.plots] == ["warm-up.svg"]
    assert not [one for one in report(Planted()).details if one.key == "warm_up"]
