"""Do the tables of a load suite say what its results say?"""

from dataclasses import replace

import pytest

from report.planted_suite import (
    CANARY,
    CLIMB,
    NO_LATENCY,
    PLANNED,
    Planted,
    audit,
    constant,
    report,
    result,
    suite,
    tables,
)
from writepath.experiments.load import sections
from writepath.records.measures import Order, Resource, Verdict
from writepath.report.model import Table, shown, texts

INVALID = Verdict(status="invalid", reasons=("k6 was late",))
LATER = {"durable_later": True, "time_to_durable_ms": constant(500.0)}
LATER |= {"durable_of_acknowledged_ms": constant(500.0)}
ORDER = Order(overtaken_share=0.005, redelivered=3)


def line(table: Table, row: int = 0) -> list[str]:
    return texts(table, table.rows[row])


def keyed(table: Table, row: int = 0) -> dict[str, str]:
    return dict(zip((column.key for column in table.columns), line(table, row), strict=True))


def test_the_first_table_has_seven_columns_with_the_planted_values() -> None:
    table = report(Planted()).table
    assert line(table) == ["JPA", "A", "1,200 of 1,200", "60.0", "114", "119", "119"]
    assert [column.key for column in table.columns] == [
        "variant", "durability", "acknowledged_of_planned", "median_ms", "p95_ms", "p99_ms", "to_durable_p99_ms",
    ]  # fmt: skip
    assert table.notes == ()


def test_the_latency_table_has_the_planted_values() -> None:
    table = tables(Planted())["latency"]
    assert line(table) == [
        "JPA", "flushed", "A", "1,200", "0", "0.100", "120", "60.0", "60.0", "114", "119", "60.0", "114", "119",
    ]  # fmt: skip
    assert table.columns[-1].header == "p99 from scheduled time (ms)"


def test_a_rank_on_an_unserved_request_is_infinite_and_one_of_too_few_requests_is_absent() -> None:
    found = tables(Planted(unserved=700))
    assert line(found["latency"])[-6:] == ["∞"] * 6
    few = replace(result(Planted()).phases[0], planned=100, accept_latency_ms=NO_LATENCY)
    table = tables(Planted(changes={"phases": (few,)}))["phases"]
    values = keyed(table)
    assert (values["phase_median_ms"], values["phase_p95_ms"], values["phase_p99_ms"]) == ("∞", "–", "–")


def test_a_closed_load_has_no_times_from_a_schedule_and_no_phases() -> None:
    found = tables(Planted(closed=True))
    assert line(found["latency"])[-4:] == ["119", "–", "–", "–"]
    assert "phases" not in found
    assert "load: 16 virtual users for 20 s" in report(Planted(closed=True)).facts


def test_without_a_known_time_nothing_is_said_of_durability() -> None:
    assert line(report(Planted(changes={"time_to_durable_ms": NO_LATENCY})).table)[-1] == "–"


def test_levels_of_factors_have_rows_in_the_factors_order() -> None:
    specs = [Planted(levels={"POOL_SIZE": level}, scale=float(level)) for level in ("10", "5")]
    table = report(*specs).table
    assert [line(table, row)[:4] for row in (0, 1)] == [
        ["JPA, POOL_SIZE=10", "A", "1,200 of 1,200", "600"],
        ["JPA, POOL_SIZE=5", "A", "1,200 of 1,200", "300"],
    ]


def test_resources_are_summed_and_divided_by_stored_rows() -> None:
    table = tables(Planted())["resources"]
    assert line(table) == ["JPA", "all but k6", "9.00", "768", "24.0", "7.50", "20.0"]
    components = [shown(row.cells[1], table.columns[1]) for row in table.rows]
    assert components == ["all but k6", "jpa-writer", "postgres", "k6"]
    assert line(table, 3)[-1] == "–"


def test_where_each_component_tells_what_it_wrote_the_disks_are_not_asked() -> None:
    written = {
        name: Resource(cpu_seconds=1.0, rss_peak_bytes=1, write_bytes=count << 20)
        for name, count in (("jpa-writer", 0), ("postgres", 12))
    }
    table = tables(Planted(changes={"resources": written}))["resources"]
    assert [line(table, row)[4] for row in range(3)] == ["12.0", "0", "12.0"]


def test_writes_are_rows_stored() -> None:
    table = tables(Planted(changes={"audit": audit(600)}))["resources"]
    assert line(table)[-2:] == ["15.0", "40.0"]


def test_the_audit_table_has_the_verdict() -> None:
    lost = Verdict(status="invalid", reasons=("2 lost",))
    table = tables(Planted(lost=2, verdict=lost))["audit"]
    values = keyed(table)
    assert (values["acknowledged"], values["stored"], values["lost"]) == ("1,200", "1,198", "2")
    assert values["verdict"] == "invalid"
    assert table.rows[0].mark == "invalid"


def test_the_audit_says_whether_the_store_was_read_after_a_restart() -> None:
    once = tables(Planted(changes={"audit": audit(PLANNED, reads=1)}))["audit"]
    assert "after a kill and restart" not in once.caption
    assert "after a kill and restart" in tables(Planted())["audit"].caption


def test_repetitions_show_median_and_range() -> None:
    specs = [
        Planted(block=block, changes={"accept_latency_ms": constant(value)})
        for block, value in ((1, 10.0), (2, 14.0), (3, 11.0))
    ]
    values = keyed(tables(*specs)["latency"])
    assert values["median_ms"] == "11.0 (10.0–14.0)"
    assert values["planned"] == "1,200"
    assert line(report(*specs).table)[2] == "1,200 of 1,200"


def test_an_invalid_repetition_is_left_out_of_the_cells_and_named_among_the_runs() -> None:
    found = tables(Planted(), Planted(block=2, scale=2.0, verdict=INVALID))
    assert line(found["latency"])[-1] == "119"
    assert found["latency"].rows[0].mark == ""
    assert [row.mark for row in found["runs"].rows] == ["", "invalid"]
    assert "k6 was late" in line(found["runs"], 1)[-1]


def test_a_valid_verdict_with_another_problem_does_not_count() -> None:
    found = tables(Planted(problems=("sums do not agree",)))
    assert found["latency"].rows[0].mark == "invalid"
    assert line(found["runs"])[-1] == "sums do not agree"
    assert keyed(found["runs"])["run_verdict"] == "invalid"


def test_a_failed_cell_has_its_error_for_a_reason_and_no_figures() -> None:
    found = tables(Planted(failed="postgres did not start", verdict=Verdict(status="invalid")))
    assert line(found["runs"])[-1] == "postgres did not start"
    assert set(line(found["latency"])[3:]) == {"–"}


def test_a_later_durability_is_marked_and_explained() -> None:
    found = tables(Planted(), Planted(variant="rabbitmq-jpa", changes=LATER))
    assert [row.cells[0].text for row in found["latency"].rows] == ["JPA", "RABBITMQ-JPA †"]
    assert "† The 201 comes before" in found["latency"].notes[-1]
    assert [keyed(found["throughput"], row)["durable_p99_ms"] for row in (0, 1)] == ["–", "500"]
    assert "† The 201 comes before" in found["result"].notes[-1]


def test_the_original_suite_is_compared_with_the_original_figures() -> None:
    table = tables(Planted(), suite="original")["original"]
    theirs, ours = line(table, 0), line(table, 1)
    assert theirs[:5] == ["JPA", "original", "66,433", "41,051", "2,976"]
    assert theirs[-5:] == ["70.1", "81,614.5", "86.5", "60,104.2", "67,472.8"]
    assert ours[:5] == ["JPA", "here", "1,200", "1,200", "1,200"]
    assert ours[-3:] == ["60.0", "114", "119"]
    assert "neither confirms nor refutes" in table.notes[-1]
    assert "original" not in tables(Planted())


def test_a_queue_in_front_of_the_index_is_next_to_the_originals_row_of_the_index() -> None:
    """Its write-up calls the same row by both names."""
    names = ("elasticsearch-8s0r", "elasticsearch-8s1r", "rabbitmq-elasticsearch-8s0r")
    table = tables(*(Planted(variant=name) for name in names), suite="original")["original"]
    assert [values[:2] for values in lines(table)] == [
        ["ELASTICSEARCH-8S0R", "original"],
        ["ELASTICSEARCH-8S0R", "here"],
        ["RABBITMQ-ELASTICSEARCH-8S0R", "here"],
        ["ELASTICSEARCH-8S1R", "original"],
        ["ELASTICSEARCH-8S1R", "here"],
    ]
    assert line(table, 0)[2:4] == ["66,376", "66,376"]
    assert "whether a queue was in front" in table.notes[-1]


def test_every_delay_stands_below_the_one_row_of_the_original() -> None:
    specs = [Planted(levels={"DATABASE_DELAY_MS": level}) for level in ("0", "500")]
    table = tables(*specs, suite="original-slow-database")["original"]
    assert [values[:2] for values in lines(table)] == [
        ["JPA", "original"],
        ["JPA, DATABASE_DELAY_MS=0", "here"],
        ["JPA, DATABASE_DELAY_MS=500", "here"],
    ]
    assert "a pool of n connections carries" in table.notes[-1]


def test_a_page_of_a_climb_opens_with_the_limit_of_each_path() -> None:
    never = replace(
        CLIMB,
        leaves_slo_per_s=None,
        goodput_per_s=None,
        errors_by_hop={},
        drained_seconds=None,
        limited_by=None,
    )
    page = report(Planted(changes={"climb": CLIMB}), Planted(variant="b", changes={"climb": never}))
    table = page.table
    assert [column.title for column in table.columns][1:3] == ["p99 at 100/s", "p99 leaves 100 ms at"]
    assert line(table, 0) == [
        "JPA",
        "119",
        "1,840",
        "connection pool (app)",
        "900",
        "application 1,200, store 30",
        "2.50",
    ]
    assert line(table, 1) == ["B", "119", "> 4,000", "–", "–", "none", "–"]
    assert "The p99 leaves 100 ms at: JPA 1,840/s, B above 4,000/s." in page.answer
    assert [plot.file for plot in page.plots] == ["latency-over-time.svg"]  # no percentiles: infinite
    assert tables(Planted())["result"].key == report(Planted()).table.key
    assert "result" not in {section.key for section in page.details}


def test_the_limit_of_a_refresh_interval_is_next_to_the_time_until_a_post_is_visible() -> None:
    specs = [
        Planted(
            levels={"ELASTICSEARCH_REFRESH_INTERVAL": level},
            changes={"climb": CLIMB, "time_to_visible_ms": constant(ms), "visible_samples": PLANNED},
        )
        for level, ms in (("1s", 500.0), ("30s", 15_000.0))
    ]
    table = report(*specs).table
    assert [column.key for column in table.columns][2:4] == ["leaves_slo_per_s", "to_visible_median_ms"]
    assert [line(table, row)[2:4] for row in (0, 1)] == [["1,840", "500"], ["1,840", "15,000"]]


def lines(table: Table) -> list[list[str]]:
    return [texts(table, row) for row in table.rows]


def test_the_fingerprint_merges_what_all_variants_share() -> None:
    facts = lines(tables(Planted(), Planted(variant="rabbitmq-jpa"))["fingerprint"])
    assert ["suite", "load", "ramp-up 10 s, 20/s; sustained 10 s, 100/s", "all"] in facts
    warm_up = "100 requests at 50/s, excluded from all results"
    assert ["suite", "warm-up before the load", warm_up, "all"] in facts
    assert ["host", "processor", "Testor 3000, 2 cores", "all"] in facts


def test_the_fingerprint_names_levels_and_factors() -> None:
    specs = [Planted(levels={"POOL_SIZE": level}, block=block) for block, level in ((1, "5"), (2, "10"))]
    specs[1].cpu_model = "Other"
    facts = lines(tables(*specs)["fingerprint"])
    assert ["suite", "POOL_SIZE, varied", "5, 10", "all"] in facts
    assert ["host", "processor", "Other, 2 cores", "block 2"] in facts


def test_three_clocks_are_in_one_table() -> None:
    seen = {"time_to_visible_ms": replace(constant(900.0), p99=None), "visible_samples": PLANNED}
    seen |= {"visible_error_ms_median": 50.0, "visible_error_ms_max": 50.0}
    table = tables(Planted(changes={**LATER, **seen}))["clocks"]
    assert line(table) == [
        "JPA †", "60.0", "114", "119", "500", "500", "500", "900", "900", "∞", "1,200", "50.0", "50.0",
    ]  # fmt: skip


def test_what_was_not_measured_has_no_table() -> None:
    assert not {"clocks", "order", "twins", "comparison"} & set(tables(Planted()))


def test_the_order_of_queue_paths_has_rows_of_queue_paths_alone() -> None:
    table = tables(Planted(), Planted(variant="rabbitmq-jpa", changes={"order": ORDER}))["order"]
    assert lines(table) == [["RABBITMQ-JPA", "0.500", "3"]]


def test_a_weakened_control_is_in_no_table_that_ranks() -> None:
    found = tables(Planted(), Planted(variant="jpa-naive", naive_twin_of="jpa", lost=2))
    names = {key: {row.cells[0].text for row in table.rows} for key, table in found.items()}
    assert {key for key, own in names.items() if "JPA-NAIVE" in own} == {"twins", "runs"}
    values = keyed(found["twins"])
    assert (values["twin_of"], values["acknowledged"], values["lost"]) == ("JPA", "1,200", "2")


def test_every_table_that_mixes_hosts_says_so_in_its_heading() -> None:
    mixed = report(Planted(), Planted(block=2, cpu_model="Testor 4000"))
    said = {table.key for table in mixed.tables if table.title.endswith(" (mixes hosts, not publishable)")}
    assert {table.key for table in mixed.tables} - said == {"runs", "fingerprint"}
    hosts = [f"Testor {name}, 2 cores, 8.00 GiB, 6.1, ext4" for name in (3000, 4000)]
    assert f"native runtime on {' and '.join(hosts)}; 2 repetitions" in mixed.facts


def test_a_page_says_how_fast_its_hosts_were_and_how_much_that_changed() -> None:
    said, steady = (
        report(
            Planted(),
            Planted(variant="rabbitmq-jpa", canary=replace(CANARY, cpu_ms=cpu_ms)),
            Planted(block=2),
        ).facts
        for cpu_ms in (90.0, 52.0)
    )
    assert (
        "Speed of the host: its fixed CPU task takes 40.0 ms (40.0–90.0). It changed by a factor of 2.25:"
        in said
    )
    assert "takes 40.0 ms (40.0–52.0)." in steady
    assert "It changed" not in steady


def test_blocks_of_another_split_are_of_another_host() -> None:
    mixed = report(Planted(), Planted(block=2, processors="1/0"))
    own = "Testor 3000, 2 cores, 1 for the load generator, 8.00 GiB, 6.1, ext4"
    assert f"8.00 GiB, 6.1, ext4 and {own}; 2 repetitions" in mixed.facts
    table = next(table for table in mixed.tables if table.key == "fingerprint")
    split = [values[2:] for values in lines(table) if values[1] == "processors"]
    assert split == [
        ["shared by load generator and system", "block 1"],
        ["load generator 1, system under test 0", "block 2"],
    ]


@pytest.mark.parametrize("count", [1, 2])
def test_replaced_runs_are_counted(count: int) -> None:
    data = suite(Planted())
    entries = tuple(replace(entry, replaced=count) for entry in data.index.cells)
    found = sections.report(replace(data, index=replace(data.index, cells=entries)))
    words = "1 run was rerun" if count == 1 else "2 runs were rerun"
    assert words in found.facts
