"""The page of a closed suite: does it say what was planted, and rank nothing that had errors?"""

import re
from functools import cache

from report.planted_closed import BASELINE, FULL, cell, limits, specs, with_errors
from report.planted_suite import Planted, report, report_of, suite
from writepath.records.warm_up import WarmUpFacts, WarmUpWindow
from writepath.report.comparison import reference
from writepath.report.model import Report, Table, texts


def page(*made: Planted, name: str = "threads") -> Report:
    return report(*(made or specs()), suite=name, baseline="jpa")


@cache
def planted() -> Report:
    """As it is."""
    return page()


def table(of: Report, key: str) -> Table:
    return next(one for one in of.tables if one.key == key)


def drawn(of: Report) -> str:
    """Comments of a picture have its texts, which are paths."""
    assert of.picture is not None
    return " ".join(re.findall(r"<!-- (.*?) -->", of.picture.svg.decode()))


def test_the_answer_names_each_factor_with_its_effect_or_that_there_is_none() -> None:
    first, effect, *_ = planted().answer
    assert re.match(
        r"Highest throughput: 2,\d+ TPS \(VIRTUAL_USERS=30, POOL_SIZE=1\d, INSTANCES=1\); lowest: 8\d\d",
        first,
    )
    assert "One repetition" not in first
    assert re.search(
        r"VIRTUAL_USERS: 15 \+(99|10\d) % .*; 30 \+1[45]\d % .*; against 1 \(A/A ±4.0 %\)", effect
    )
    assert re.search(r"POOL_SIZE: no measurable effect \([-+]0\.\d % … [-+]0\.\d %, A/A ±4.0 %\)", effect)
    assert re.search(r"INSTANCES: 2 -15 % \(-1\d % … -1\d %\); against 1", effect)


def test_the_load_is_said_once_for_every_number_of_users() -> None:
    assert "; load: 1, 15, 30 virtual users for 20 s, each waits for its answer. " in f"{planted().facts} "


def test_the_table_of_effects_has_every_factor_and_pair() -> None:
    found = [texts(table(planted(), "effects"), row) for row in table(planted(), "effects").rows]
    assert [row[1] for row in found[:6]] == [
        "VIRTUAL_USERS", "POOL_SIZE", "INSTANCES", "VIRTUAL_USERS × POOL_SIZE", "VIRTUAL_USERS × INSTANCES",
        "POOL_SIZE × INSTANCES",
    ]  # fmt: skip
    assert all(row[2].startswith("no measurable interaction (up to ") for row in found[3:6])
    assert {row[0] for row in found} == {"TPS", "mean time"}


def test_a_cell_has_the_mean_of_its_blocks_with_an_interval() -> None:
    main = table(planted(), "tps")
    assert len(main.columns) == 7
    assert len(main.rows) == 12
    first = texts(main, main.rows[0])
    assert first[0] == "VIRTUAL_USERS=1, POOL_SIZE=10, INSTANCES=1"
    assert re.match(r"(99\d|1,00\d) \((9[789]\d|1,0[01]\d)–1,0[012]\d\)", first[1])
    assert first[4:] == ["0", "87.5", "2.50"]


def test_a_cell_of_two_blocks_has_both_values() -> None:
    made = page(
        *(cell({"POOL_SIZE": "2"}, block, per_s) for block, per_s in ((1, 500.0), (2, 900.0))), name="mine"
    )
    main = table(made, "tps")
    assert texts(main, main.rows[0])[1] == "700 (500–900)"
    assert main.caption.startswith("Means of two blocks, and both values.")


def test_the_heat_map_has_a_panel_each_instance_and_every_cell() -> None:
    words = drawn(planted())
    assert "TPS, INSTANCES=1" in words
    assert "TPS, INSTANCES=2" in words
    assert len(re.findall(r"\b[12],?\d{3}\b|\b8\d\d\b", words)) == 12


def test_a_cell_with_errors_is_marked_and_neither_ranked_nor_in_an_effect() -> None:
    made = page(*specs(with_errors))
    name = "VIRTUAL_USERS=30, POOL_SIZE=10, INSTANCES=1"
    assert [texts(table(made, "tps"), row)[0] for row in table(made, "tps").rows if row.mark] == [
        f"{name} (errors)"
    ]
    assert name not in made.answer[0]
    assert f"Not ranked, because of errors: {name}." in made.answer
    assert "errors" in drawn(made)
    assert "9,999" not in made.answer[0]


def test_a_load_that_became_steady_shows_its_warm_up() -> None:
    window = WarmUpWindow(until_s=5.0, rate_per_s=400.0, cpu_us_per_request=500.0, median_ms=2.0)
    facts = WarmUpFacts(seconds=5.0, virtual_users=32, steady=True, windows=(window,))
    made = [cell({"POOL_SIZE": size}, 1, 500.0) for size in ("2", "4")]
    made[0].changes["warm_up"] = facts  # the other one ran on the same warm stack
    shown = page(*made, name="mine")
    assert [texts(table(shown, "warm_up"), row)[1:3] for row in table(shown, "warm_up").rows] == [
        ["yes", "5.00"],
        ["–", "–"],
    ]
    assert "warm-up.svg" in [plot.file for plot in shown.plots]
    assert "warm_up" not in [one.key for one in planted().tables]


def test_the_baseline_is_the_cell_that_has_the_control() -> None:
    found = reference(suite(*specs(), baseline="jpa"))
    assert found is not None
    assert dict(found.levels) == BASELINE


def test_the_original_s_cells_are_next_to_those_at_the_same_levels() -> None:
    rows = [texts(table(planted(), "original_cells"), row) for row in table(planted(), "original_cells").rows]
    fifteen = [row for row in rows if row[0] == "VIRTUAL_USERS=15, POOL_SIZE=10, INSTANCES=1"]
    assert [row[1] for row in fifteen] == ["original", "here"]
    assert fifteen[0][2:] == ["130.6", "200", "103.25", "3,403", "3,402", "1", "91.1"]
    assert [row[1] for row in rows if row[0].startswith("VIRTUAL_USERS=20")] == ["original"]
    assert "original_cells" not in [one.key for one in page(name="mine").tables]


def test_one_factor_is_drawn_as_bars_and_one_block_has_no_effects() -> None:
    made = page(
        *(cell({"POOL_SIZE": size}, 1, per_s) for size, per_s in (("2", 500.0), ("4", 900.0))), name="mine"
    )
    assert "effects" not in [one.key for one in made.tables]
    assert "900" in drawn(made)
    assert "POOL_SIZE=4" in made.answer[0]


def test_errors_are_counted_by_cause_as_client_and_proxy_saw_them() -> None:
    made = page(*limits(), name="proxy")
    found = [texts(table(made, "causes"), row) for row in table(made, "causes").rows]
    assert [row[:3] for row in found] == [
        ["start", "client", "connection closed"],
        ["start", "log of the proxy", FULL],
        ["connections", "log of the proxy", "accept4() failed: Too many open files"],
    ]
    assert found[0][3] == "600"
    assert found[1][3].startswith("150 (")
    assert "Not ranked, because of errors: start." in made.answer
    assert "start (errors)" in [texts(table(made, "tps"), row)[0] for row in table(made, "tps").rows]
    assert "causes" not in [one.key for one in planted().tables]


def test_where_every_row_has_errors_the_answer_has_those_of_each() -> None:
    made = page(*limits()[::3], name="proxy")  # of both blocks the first condition
    assert made.answer[0] == (
        "No row is without errors, so none is ranked. Errors of a load: start 600 (connection closed)."
    )


def test_a_condition_says_what_it_changes_and_what_carries_over() -> None:
    of = suite(*limits(), suite="proxy", settings={"NGINX_KEEPALIVE": "0"})
    for one in of.cells:
        changed = {"NGINX_KEEPALIVE": "1024"} if one.record.levels["CONDITION"] == "all" else {}
        one.record.settings.update({**of.index.settings, **changed})
    found = table(report_of(of), "conditions")
    said = {row.cells[0].text: row.cells[1].text for row in found.rows}
    assert (said["all"], said["start"]) == ("NGINX_KEEPALIVE=1024", "none: the starting point")
    assert "All cells: NGINX_KEEPALIVE=0." in found.caption
    assert "tcp_tw_reuse=2" in found.notes[0]
