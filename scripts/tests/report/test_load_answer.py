"""Does the page's first sentence say what the figures decide, and no more?"""

from dataclasses import replace

from report.planted_suite import CANARY, CLIMB, NO_LATENCY, Planted, constant, report, suite
from writepath.experiments.load.sections import answer
from writepath.records.measures import Verdict


def said(*specs: Planted) -> str:
    return " ".join(answer(suite(*specs)))


def test_close_values_of_one_repetition_are_not_ranked() -> None:
    words = said(Planted(), Planted(variant="b", scale=1.2))
    assert words == (
        "Time until the 201 at up to 100/s: median 60.0 to 72.0 ms, p99 119 to 143 ms. One repetition: small"
        " differences may be noise. No acknowledged write was lost."
    )


def test_one_repetition_names_what_is_twice_as_slow() -> None:
    words = said(Planted(), Planted(variant="b", scale=1.2), Planted(variant="c", scale=3.0))
    assert "median 60.0 to 180 ms (highest: C), p99 119 to 356 ms (highest: C)." in words


def test_one_repetition_names_nothing_that_a_slower_host_explains() -> None:
    slower = replace(CANARY, cpu_ms=2 * CANARY.cpu_ms)
    words = [
        said(Planted(), Planted(variant="b"), Planted(variant="c", scale=scale, canary=slower))
        for scale in (3.9, 4.1)
    ]
    assert ["(highest: C)" in each for each in words] == [False, True]


def test_one_repetition_on_a_host_that_changed_says_by_how_much() -> None:
    slower = replace(CANARY, cpu_ms=90.0)
    words = said(Planted(), Planted(variant="b", canary=slower))
    note = "the host's speed changed by a factor of 2.25: smaller differences may be noise."
    assert f" One repetition, and {note} " in words
    assert "One repetition" not in said(Planted(canary=slower))


def test_repetitions_that_do_not_overlap_are_ranked() -> None:
    specs = [
        Planted(variant=name, block=block, scale=scale + block / 100)
        for name, scale in (("a", 1.0), ("b", 1.1), ("c", 1.1))
        for block in (1, 2)
    ]
    words = said(*specs)
    assert "(lowest: A)" in words
    assert "highest" not in words
    assert "One repetition" not in words


def test_a_rank_that_was_not_acknowledged_is_said_to_be_infinite() -> None:
    assert "p99 119 to ∞ ms (lowest: JPA; highest: B)" in said(Planted(), Planted(variant="b", unserved=700))


def test_losses_are_counted_whatever_the_verdict_is() -> None:
    bad = Verdict(status="invalid", reasons=("3 lost",))
    words = said(Planted(), Planted(variant="b", lost=3, verdict=bad))
    assert words.endswith("3 acknowledged writes were lost (B).")
    assert "median 60.0 ms (JPA)" in words


def test_what_each_delay_of_the_database_leaves_is_said() -> None:
    specs = [
        Planted(variant=name, levels={"DATABASE_DELAY_MS": level}, unserved=lost)
        for name, level, lost in (
            ("jpa", "0", 0),
            ("jpa", "40", 900),
            ("b", "0", 0),
            ("b", "40", 0),
            ("c", "0", 0),
        )
    ]
    assert (
        "Acknowledged by delay of the database: JPA 100 % at 0 ms, 25 % at 40 ms; B 100 % at 0 ms, 100 % at 40 ms."
    ) in said(*specs)


def test_what_a_refresh_interval_changes_is_said_by_interval() -> None:
    specs = [
        Planted(
            variant="b",
            levels={"ELASTICSEARCH_REFRESH_INTERVAL": level},
            changes={
                "time_to_visible_ms": seen, "visible_samples": 30, "climb": replace(CLIMB, leaves_slo_per_s=leaves)
            },
        )
        for level, seen, leaves in (
            ("1s", constant(651.0), 900.0), ("30s", constant(15_980.0), None), ("60s", NO_LATENCY, 1100.0)
        )
    ]  # fmt: skip
    words = said(*specs)
    assert "The p99 leaves 100 ms at: B 900/s at 1s, above 4,000/s at 30s, 1,100/s at 60s." in words
    assert "A post is searchable after (median): B 650 ms at 1s, 16,000 ms at 30s, ∞ at 60s." in words


def test_a_store_that_was_not_read_back_is_said() -> None:
    data = suite(Planted(), Planted(variant="b"))
    cell = data.cells[1]
    assert cell.result is not None
    assert cell.result.audit is not None
    unread = replace(cell.result, audit=replace(cell.result.audit, reads=(), unread=("the store",)))
    data = replace(data, cells=(data.cells[0], replace(cell, result=unread)))
    assert answer(data)[1] == "In 1 of 2 cells the store was not read back."


def test_without_a_cell_that_counts_there_is_no_time() -> None:
    words = said(Planted(verdict=Verdict(status="unknown", reasons=("noisy host",))))
    assert words.startswith("No cell has valid figures")


def test_different_loads_have_no_rate_in_the_sentence() -> None:
    specs = (Planted(), Planted(variant="b", changes={"planned_peak_per_s": 200.0}))
    assert said(*specs).startswith("Time until the 201: median")


def test_controls_are_not_ranked() -> None:
    slow = Planted(variant="slow", scale=9.0, control_of="jpa")
    assert report(Planted(), slow).answer[0].startswith("Time until the 201 at up to 100/s: median 60.0 ms")
