"""The pages of loads of reads: do they say what was planted, in words of reads, next to the original's figures?"""

import re
from functools import cache

import pytest

from report.planted_closed import specs
from report.planted_reads import feed, points, sessions
from report.planted_suite import Planted, report
from writepath.records.measures import Verdict
from writepath.report.model import Report, Table, texts

OF_WRITES = re.compile(r"\b(acknowledged|201s?|writes?|durable|audit|lost)\b")


@cache
def pages() -> dict[str, Report]:
    return {"sessions": sessions(), "points": points(), "feed": feed()}


def table(of: Report, key: str) -> Table:
    return next(one for one in of.tables if one.key == key)


def lines(of: Report, key: str) -> list[list[str]]:
    found = table(of, key)
    return [texts(found, row) for row in found.rows]


def drawn(of: Report) -> str:
    """Comments of a picture have its texts, which are paths."""
    assert of.picture is not None
    return " ".join(re.findall(r"<!-- (.*?) -->", of.picture.svg.decode()))


@pytest.mark.parametrize("name", ["sessions", "points", "feed"])
def test_a_page_of_reads_has_no_audit_and_no_words_of_writes(name: str) -> None:
    page = pages()[name]
    assert not {"audit", "order", "result", "throughput", "phases", "twins"} & {
        one.key for one in page.tables
    }
    said = [*page.answer, *(one.caption for one in page.tables)]
    said += [column.header for one in page.tables for column in one.columns]
    said += [note for one in page.tables if one.key in ("latency", "tps", "tps_counts") for note in one.notes]
    assert [words for words in said if OF_WRITES.search(words)] == []
    assert len(page.table.columns) <= 7


def test_a_suite_of_reads_of_which_no_cell_has_figures_has_no_audit_either() -> None:
    failed = Planted(variant="jpa-reader", failed="it did not start", verdict=Verdict(status="invalid"))
    page = report(failed, suite="feed", params={"reads": "feed"})
    assert page.answer == ("No cell has valid figures; the table of runs has the reasons.",)
    assert page.table.key == "read_times"
    assert "audit" not in [one.key for one in page.tables]


# Sessions


def test_the_answer_names_the_rate_the_times_at_it_and_the_failures() -> None:
    assert pages()["sessions"].answer == (
        "Highest rate that was tried without a failed request: 60 sessions/s.",
        (
            "Time of a session at 60/s: median 24.0 to 180 ms (lowest: formula; highest: far-too-large), p95 45.6 to"
            " 342 ms (lowest: formula; highest: far-too-large), p99 47.5 to ∞ ms (lowest: formula; highest:"
            " far-too-large)."
        ),
        "At 1.17 times that rate (boot-overload): median ∞, p95 ∞, p99 ∞.",
        "Failed requests: boot-overload 277 of 8,424 (12 log-ins), far-too-large 208 of 7,200.",
        "One repetition: small differences may be noise.",
    )


def test_failures_are_apart_in_the_first_table_and_by_cause_in_another() -> None:
    page = pages()["sessions"]
    assert [row[0] for row in lines(page, "read_times")] == [
        "boot", "boot-overload", "driver", "far-too-large", "formula",
    ]  # fmt: skip
    assert lines(page, "read_times")[0][1:] == ["60.0", "114", "119", "0", "0", "0"]
    assert lines(page, "read_times")[1][4:] == ["277", "12", "240"]
    assert lines(page, "causes") == [
        ["boot-overload", "client", "request timed out", "277"],
        ["far-too-large", "client", "HTTP 500", "208"],
    ]


def test_the_original_s_pools_are_next_to_ours() -> None:
    rows = lines(pages()["sessions"], "sessions")
    assert [row[:2] for row in rows] == [
        ["boot", "here"],
        ["boot-overload", "here"],
        ["driver", "original"],
        ["driver", "here"],
        ["far-too-large", "original"],
        ["far-too-large", "here"],
        ["formula", "original"],
        ["formula", "here"],
    ]
    assert rows[2][2:] == [
        "–", "60", "360", "3", "861", "115", "39.3", "528.6", "645.6", "0", "–", "0",
        "–", "698.5", "223.7", "3,134.5", "3,752.7", "3,897.9",
    ]  # fmt: skip
    assert rows[3][2:] == [
        "100", "60.0", "360", "0.0500", "60.0", "30.0", "30.0", "57.0", "59.4", "0", "0", "0",
        "0.120", "72.1", "72.0", "137", "143", "144",
    ]  # fmt: skip
    assert (rows[6][2], rows[7][2]) == ("9", "5")  # as written up; twice the processors, and one
    assert "What can carry over" in table(pages()["sessions"], "sessions").notes[-1]
    assert [row[1] for row in lines(sessions(suite="mine"), "sessions")] == ["here"] * 5


def test_where_rows_of_one_pool_differ_more_than_pools_do_the_answer_says_that_it_is_not_resolved() -> None:
    assert (
        "Which pool is best is not resolved: boot and boot-idle-0 have the same pool, and differ by 20.0 times in the"
        " median; the pools differ by 11.2 times." in sessions(again=20.0).answer
    )
    assert not [words for words in sessions(again=1.1).answer if "not resolved" in words]


def test_the_rates_that_were_tried_follow_the_original_s() -> None:
    assert lines(pages()["sessions"], "found_rates") == [
        ["original", "1", "60", "–", "0", "–"],
        ["original", "2", "70", "–", "277", "–"],
        ["here", "1", "40.0", "2,400", "0", "0"],
        ["here", "2", "60.0", "3,600", "0", "0"],
        ["here", "3", "90.0", "5,400", "31", "44"],
        ["here", "4", "60.0", "3,590", "0", "0"],
    ]


def test_the_picture_has_the_percentiles_of_each_pool() -> None:
    words = drawn(pages()["sessions"])
    assert "percentiles over scheduled sessions" in words
    assert "∞ not served" in words
    assert "acknowledged" not in words
    assert "formula" in words


# Points


def test_the_answer_says_what_limits_the_highest_throughput_and_where_it_goes_with_a_quota() -> None:
    assert pages()["points"].answer[1:] == (
        (
            "Bottleneck at the highest throughput (pool-50, VIRTUAL_USERS=50): host CPU (98 % used: application 58 %,"
            " database 25 %)."
        ),
        (
            "Bottlenecks of the 6 rows without errors: host CPU in 3, CPU quota of the application in 2 and connection"
            " pool in 1."
        ),
        "Longest mean wait for a connection: 20.0 ms, then it is in use for 1.50 ms (pool-10-half, VIRTUAL_USERS=50).",
        (
            "With 0.5 processors for the application (pool-10-half, VIRTUAL_USERS=50): 480 TPS, bottleneck CPU quota of"
            " the application (96 % of it used); without it 810 TPS, bottleneck connection pool (a read waits 12.0 ms"
            " for a connection and has it for 0.800 ms)."
        ),
    )


def test_errors_under_a_quota_are_said_with_their_place() -> None:
    answer = points(failing=("pool-10-half", "50")).answer
    assert "Not ranked, because of errors: pool-10-half, VIRTUAL_USERS=50." in answer
    assert answer[-1].startswith(
        "With 0.5 processors for the application (pool-10-half, VIRTUAL_USERS=50): 120 requests failed, 120 of them at"
        " the proxy; without it 810 TPS"
    )


def test_waits_processors_and_errors_are_in_one_table() -> None:
    found = table(pages()["points"], "connections")
    row = dict(zip((column.key for column in found.columns), texts(found, found.rows[1]), strict=True))
    assert row == {
        "variant": "pool-10, VIRTUAL_USERS=50", "read_bottleneck": "connection pool", "read_wait_ms": "12.0",
        "read_held_ms": "0.800", "read_slow": "7", "read_slow_seconds": "3", "read_application_percent": "45.0",
        "read_database_percent": "20.0", "read_proxy_percent": "5.00", "read_errors_proxy": "0",
        "read_errors_application": "0",
    }  # fmt: skip


def test_conditions_are_listed_once_and_drawn_down_the_heat_map() -> None:
    page = pages()["points"]
    assert lines(page, "conditions") == [
        ["pool-10", "POOL_SIZE=10"],
        ["pool-50", "POOL_SIZE=50"],
        ["pool-10-half", "POOL_SIZE=10, APPLICATION_CPUS=0.5"],
    ]
    assert page.picture is not None
    assert page.picture.alt == "Heat map of throughput by VIRTUAL_USERS and CONDITION"


def test_the_original_s_words_are_next_to_our_figures() -> None:
    rows = lines(pages()["points"], "original_reads")
    assert rows[0] == ["pool-10, VIRTUAL_USERS=20", "original", "800", "1.00", "1,275", "0", "–", "–", "–"]
    assert rows[1][:5] == ["pool-10, VIRTUAL_USERS=20", "here", "800", "1.00", "960"]
    assert rows[1][-1] == "bottleneck host CPU (95 % used: application 55 %, database 25 %)"
    assert "getConnection()" in rows[2][-1]
    assert rows[4][:2] == ["pool-50, VIRTUAL_USERS=30", "original"]
    assert rows[5][0] == "an application host twice as large"


def test_cost_is_per_request_served() -> None:
    found = table(pages()["points"], "resources")
    assert [column.title for column in found.columns][-2:] == [
        "CPU per 1,000 requests",
        "written per 1,000 requests",
    ]
    assert texts(found, found.rows[0])[-2:] == ["7.50", "20.0"]
    of_sessions = table(pages()["sessions"], "resources")
    assert texts(of_sessions, of_sessions.rows[0])[-2:] == ["1.25", "3.33"]


# Feeds


def test_each_strategy_has_its_ratio_to_the_first_next_to_the_original_s() -> None:
    page = pages()["feed"]
    assert page.answer[0] == (
        "TPS by strategy: per-parent 200, by-key 240 (× 1.20), denormalised 250 (× 1.25), two-queries 400 (× 2.00);"
        " the original: 208, 244.6 (× 1.18), 253.5 (× 1.22), 339.7 (× 1.63)."
    )
    assert page.answer[1] == (
        "Highest throughput: 400 TPS (FEED_STRATEGY=two-queries); lowest: 200 TPS (FEED_STRATEGY=per-parent)."
        " One repetition: small differences may be noise."
    )
    assert page.table.key == "feed"
    assert lines(page, "feed")[3] == ["FEED_STRATEGY=two-queries", "400", "2.00", "119", "2.00", "55.0", "0"]
    assert [row[1:4] for row in lines(page, "original_reads")][-2:] == [
        ["original", "339.7", "1.63"],
        ["here", "400", "2.00"],
    ]


def test_a_strategy_with_errors_has_no_ratio_and_is_not_in_the_answer() -> None:
    page = feed(failing="by-key")
    assert "by-key 240" not in page.answer[0]
    assert lines(page, "feed")[1][:3] == ["FEED_STRATEGY=by-key (errors)", "240", "–"]
    first = feed(failing="per-parent", suite="mine")
    assert first.answer[0] == "TPS by strategy: by-key 240, denormalised 250, two-queries 400."


def test_a_load_of_writes_has_no_table_of_reads() -> None:
    keys = {one.key for one in report(*specs(), suite="threads", baseline="jpa").tables}
    assert "audit" in keys
    assert not keys & {"connections", "feed", "original_reads", "sessions", "read_times"}
