"""The report of a capacity suite claims no more than its runs carry: bounds as bounds, one host per median."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from planted_capacity import (
    CPU_S_PER_1000,
    HOST_CPU,
    LADDER,
    NEAREST,
    UNLIMITED,
    bracket,
    ceiling,
    cell,
    of_cells,
    run,
    step,
    suite,
    variant,
)
from planted_steps import CANARY, HOST
from writepath.errors import InvalidRunError
from writepath.experiments import publish
from writepath.experiments.capacity import tables
from writepath.experiments.capacity.kind import CapacityExperiment
from writepath.experiments.capacity.sections import answer, findings, report
from writepath.records.capacity_run import CapacityResult
from writepath.records.measures import Host
from writepath.records.steps import Bracket
from writepath.report import render
from writepath.report.capacity import (
    Capacity,
    CapacityFigures,
    about,
    by_host,
    capacity_figures,
    times,
)
from writepath.report.data import SuiteData
from writepath.report.model import Table, shown

JPA, OTHER, QUEUE = (
    variant("jpa"),
    variant("elasticsearch-1s0r"),
    variant("rabbitmq-jpa", family="rabbitmq-jpa"),
)
DEFAULTS = variant("jpa-tutorial", tutorial_of="jpa")
MEASURED = (bracket(1000, 1040), bracket(1100, 1150), bracket(1200, 1250))
LOWER = bracket(2000, 2090, lower_bound=True)
UNFAILED, BELOW = bracket(2000, None), bracket(None, 200)


def runs(*brackets: Bracket, **changed: Any) -> list[CapacityResult]:
    return [run(one, **changed) for one in brackets]


def figures(
    *brackets: Bracket, other: Sequence[Bracket] = (), control: Sequence[Bracket] = ()
) -> CapacityFigures:
    """Of the baseline and, if given, another path."""
    made = [(JPA, runs(*brackets)), *([(OTHER, runs(*other))] if other else [])]
    return capacity_figures(suite(made, runs(*control)))


def queue(sustained: Sequence[Bracket], burst: Sequence[Bracket]) -> list[CapacityResult]:
    return [run(one, more) for one, more in zip(sustained, burst, strict=True)]


def column(table: Table | None, key: str) -> list[str]:
    """By row, as it is shown."""
    assert table is not None
    index = [column.key for column in table.columns].index(key)
    return [shown(row.cells[index], table.columns[index]) for row in table.rows]


def told(found: CapacityFigures) -> list[str]:
    return [*answer(found), *findings(found)]


@pytest.mark.parametrize(
    ("brackets", "sustained", "confidence"),
    [
        (MEASURED, "1,100 (1,000–1,200)", "measured ±5 %"),
        ((MEASURED[0], LOWER, MEASURED[1]), "1,100 (1,000–≥ 2,000)", "measured ±5 %"),
        ((LOWER,) * 3, "≥ 2,000", "lower bound"),
        ((BELOW,) * 3, "< 200", "upper bound"),
        ((BELOW, bracket(556, None), bracket(650, None)), "≥ 556 (< 200–≥ 650)", "inconclusive (3 of 3)"),
        ((UNFAILED, *MEASURED[:2]), "1,100 (1,000–≥ 2,000)", "inconclusive (1 of 3)"),
    ],
)
def test_the_rate_is_the_median_of_the_blocks_with_the_signs_of_its_bounds(
    brackets: Sequence[Bracket], sustained: str, confidence: str
) -> None:
    table = tables.capacity(figures(*brackets))
    assert column(table, "sustained_per_s") == [sustained]
    assert column(table, "capacity_bound") == [confidence]
    assert any(note.startswith("Inconclusive") for note in table.notes) is confidence.startswith(
        "inconclusive"
    )


def test_a_run_is_told_in_a_line_with_the_words_of_the_tables() -> None:
    kind = CapacityExperiment()
    known = "sustained 1,000/s, measured ±5 % (90 %: 1,000–1,040/s)"
    assert kind.line(run(MEASURED[0])) == f"{known}; 5 load steps"
    assert kind.line(run(MEASURED[0], UNFAILED)) == (
        f"{known}; burst ≥ 2,000/s, inconclusive (1 of 1) (90 %: 2,000–7,500/s); 5 load steps"
    )
    assert kind.line(run(bracket(None, None))) == (
        "sustained not known, inconclusive (1 of 1) (90 %: 16.0–7,500/s); 5 load steps"
    )


def test_an_interval_decides_what_is_known_and_the_page_has_it_with_what_ended_the_run() -> None:
    wide = replace(bracket(1000, 1150), interval_per_s=(950.0, 1160.0))
    near = replace(bracket(1000, 1090), interval_per_s=(1000.0, 1100.0))
    found = capacity_figures(suite([(JPA, [run(near), run(wide, ended="no time")])]))
    assert column(tables.capacity(found), "capacity_bound") == ["90 % interval"]
    assert column(tables.rates(found), "sustained_interval_per_s") == ["950–1,160"]
    assert column(tables.rates(found), "capacity_ended") == ["known to ±5 %, no time"]


def early(low: float, high: float, *, suspected: bool = False) -> CapacityResult:
    """A run that ended in its ramp, with a rate that passed and one that failed next to its limit."""
    ramp = (
        step(low, kind="ramp"),
        step(high, "fail", kind="ramp", generator_bound=suspected),
        step(3 * high, "fail", kind="ramp"),
    )
    open_ended = replace(bracket(None, None), interval_per_s=(0.98 * low, 1.02 * high))
    return run(open_ended, steps=ramp, ended="no time")


def test_a_run_that_ended_early_gives_the_interval_of_its_limit_and_the_rates_next_to_it() -> None:
    found = capacity_figures(suite([(JPA, [early(310, 367)])]))
    table = tables.capacity(found)
    assert column(table, "sustained_per_s") == ["~337 (304–374)"]
    assert column(table, "capacity_bound") == ["90 % interval"]
    assert column(table, "capacity_p99_ms") == ["40.0"]
    assert column(table, "capacity_limited_by") == ["host CPU"]
    assert column(tables.rates(found), "first_fail_per_s") == ["367"]
    assert any(note.startswith("~ marks a rate") for note in table.notes)
    assert told(found)[0] == (
        "JPA (baseline): 304–374/s. p99 at 310/s: 40 ms; bottleneck above it: host CPU."
    )


def test_a_rate_with_an_interval_is_told_in_a_line() -> None:
    wide = replace(bracket(310, 367), interval_per_s=(304.0, 374.0))
    assert CapacityExperiment().line(run(wide)) == "sustained ~337/s (90 %: 304–374/s); 5 load steps"


def test_an_interval_that_only_the_load_generator_limits_is_inconclusive() -> None:
    found = capacity_figures(suite([(JPA, [early(310, 367, suspected=True)])]))
    table = tables.capacity(found)
    assert column(table, "sustained_per_s") == ["≥ 310"]
    assert column(table, "capacity_bound") == ["inconclusive (1 of 1)"]
    nothing_failed = run(
        replace(bracket(None, None), interval_per_s=(300.0, 7000.0)), steps=(step(310, kind="ramp"),)
    )
    table = tables.capacity(capacity_figures(suite([(JPA, [nothing_failed])])))
    assert column(table, "capacity_bound") == ["inconclusive (1 of 1)"]


def test_intervals_are_compared_where_they_are_apart() -> None:
    def compared(other: CapacityResult, base: CapacityResult) -> list[str]:
        found = capacity_figures(suite([(JPA, [base]), (OTHER, [other])]))
        return [*column(tables.capacity(found), "by_baseline")[1:], told(found)[1].partition(":")[0]]

    apart, near = early(310, 367), early(1000, 1150)
    assert compared(apart, near) == ["~0.315 (0.259–0.382)", "Sustains less than JPA"]
    assert compared(near, apart) == ["~3.18 (2.62–3.86)", "Sustains more than JPA"]
    assert compared(near, early(1100, 1300)) == ["not resolved", "Not resolved against JPA"]
    assert compared(run(bracket(1500, 1550)), near)[1] == "Sustains more than JPA"


def test_without_a_control_the_change_of_the_host_is_within_noise() -> None:
    def on(cpu_ms: float) -> Host:
        return replace(HOST, before=replace(CANARY, cpu_ms=cpu_ms))

    def compared(slower_ms: float) -> CapacityFigures:
        made = [(JPA, run(bracket(1000, 1040)), on(30.0)), (OTHER, run(bracket(1500, 1550)), on(slower_ms))]
        cells = [cell(own, result, host=host) for own, result, host in made]
        return capacity_figures(of_cells(cells, (JPA, OTHER)))

    steady, changed = compared(36.0), compared(60.0)
    assert told(steady)[1].startswith("Sustains more than JPA")
    assert told(changed)[1].startswith("No measurable difference from JPA")
    assert "The host changed by a factor of 2" in tables.capacity(changed).notes[-1]


def test_a_failing_rate_that_no_step_found_is_above_those_of_other_blocks() -> None:
    found = figures(BELOW, bracket(556, 608), bracket(650, None))
    assert column(tables.rates(found), "first_fail_per_s") == ["608 (200–∞)"]


@pytest.mark.parametrize("bound", [LOWER, UNFAILED, BELOW])
def test_a_bound_in_any_block_leaves_order_and_ratio_unresolved(bound: Bracket) -> None:
    more = bracket(2000, 2090)
    found = figures(*MEASURED, other=(more, bound, more))
    base, other = (one.sustained for one in found.variants)
    assert found.compare(other, base) == found.compare(base, other) == "not resolved"
    table = tables.capacity(found)
    assert column(table, "by_baseline") == ["–", "not resolved"]
    assert any(note.startswith("Not resolved: ") for note in table.notes)
    assert told(found)[1].startswith("Not resolved against JPA: ELASTICSEARCH-1S0R (")
    resolved = figures(*MEASURED, other=(more,) * 3)
    assert column(tables.capacity(resolved), "by_baseline")[1].startswith("1.8")
    assert told(resolved)[1] == "Sustains more than JPA: ELASTICSEARCH-1S0R (~2,000/s)."


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ((1.25, 1.25, 1.25), "Sustains more than JPA"),
        ((1.25, 1.02, 1.25), "No measurable difference from JPA"),
        ((0.5, 0.5, 0.5), "Sustains less than JPA"),
    ],
)
def test_a_path_is_ahead_only_where_it_is_so_in_every_block(shares: Sequence[float], words: str) -> None:
    base = (1000.0, 2000.0, 1500.0)  # blocks differ more than paths
    other = [bracket(share * rate, 1.04 * share * rate) for share, rate in zip(shares, base, strict=True)]
    found = figures(*(bracket(rate, 1.04 * rate) for rate in base), other=other)
    assert told(found)[1].startswith(words)
    one, of = found.variants[1].sustained, found.variants[0].sustained
    ratio = times(one, of).ratio
    assert ratio == pytest.approx((shares[0] * shares[1] * shares[2]) ** (1 / 3))


def test_the_control_widens_what_is_within_noise() -> None:
    other = [bracket(1.2 * rate, 1.25 * rate) for rate in (1000, 1100, 1200)]
    quiet = figures(*MEASURED, other=other, control=MEASURED)
    noisy = figures(*MEASURED, other=other, control=(bracket(1300, 1350), *MEASURED[1:]))
    assert told(quiet)[1].startswith("Sustains more than JPA")
    assert told(noisy)[1].startswith("No measurable difference from JPA")
    assert tables.capacity(noisy).notes[-1].startswith("A/A control: measured twice in each block")
    assert noisy.resolution == pytest.approx(0.3)


def test_without_a_control_or_with_one_of_bounds_the_resolution_is_unknown() -> None:
    assert tables.capacity(figures(*MEASURED)).notes[-1].startswith("There is no A/A control")
    bounds = figures(LOWER, LOWER, LOWER, control=MEASURED)
    assert tables.capacity(bounds).notes[-1].startswith("A/A control: not resolved.")


@pytest.mark.parametrize(
    ("brackets", "words"),
    [
        (MEASURED, "JPA (baseline): ~1,100/s. p99 at this rate: 40 ms; bottleneck above it: host CPU."),
        ((LOWER,), "JPA (baseline): at least 2,000/s; the load generator may have been the limit."),
        (
            (bracket(3000, None, lower_bound=True),),
            "JPA (baseline): at least 3,000/s; no higher rate failed.",
        ),
        ((BELOW,), "JPA (baseline): below 200/s; the lowest rate tried failed."),
    ],
)
def test_the_page_opens_with_the_baseline_and_what_is_known_of_it(
    brackets: Sequence[Bracket], words: str
) -> None:
    assert told(figures(*brackets))[0] == words


def test_a_rate_in_words_says_in_how_many_blocks_it_is_inconclusive() -> None:
    unsure = Capacity(by_block={2: bracket(555.6, None), 3: bracket(649.7, None)})
    assert about(unsure) == "at least 600/s, inconclusive in 2 of 2 blocks"
    assert about(Capacity(by_block={1: bracket(None, None)})) == "not known, inconclusive in 1 of 1 block"


def test_a_queue_has_a_dagger_and_a_burst_with_the_delay_of_its_last_row() -> None:
    bursts = [bracket(4000, None, lower_bound=True)] * 3
    found = capacity_figures(suite([(JPA, runs(*MEASURED)), (QUEUE, queue(MEASURED, bursts))]))
    assert column(tables.rates(found), "burst_per_s") == ["1,100 (1,000–1,200)", "≥ 4,000"]
    words = [line for line in told(found) if "RABBITMQ-JPA" in line]
    assert all(line.count("RABBITMQ-JPA") == line.count("RABBITMQ-JPA †") for line in words)
    assert (
        "RABBITMQ-JPA †, in bursts of 20 s: at least 4,000/s. The backlog grows; the last row is stored 7 s"
        in (" ".join(words))
    )
    assert tables.capacity(found).notes[0].startswith("† The 201 is sent before")
    assert column(tables.overload(found), "overload_drained_s") == ["–", "12.0 s"]


def test_a_path_with_defaults_is_a_reference_that_ranks_nowhere_else() -> None:
    half = runs(*(bracket(500, 520),) * 3)
    found = of_cells(
        [cell(JPA, one, block) for block, one in enumerate(runs(*MEASURED), 1)]
        + [cell(DEFAULTS, one, block, level="C") for block, one in enumerate(half, 1)],
        (JPA, DEFAULTS),
    )
    lines = [line for line in told(capacity_figures(found)) if "TUTORIAL" in line]
    assert lines == ["JPA-TUTORIAL: ~500/s; 0.46 × JPA. Its 201 guarantees less: durability class C, not A."]


def test_the_bottleneck_is_the_most_frequent_at_the_lowest_failing_rate_the_generator_first() -> None:
    plain = figures(*MEASURED)
    assert column(tables.capacity(plain), "capacity_limited_by") == ["host CPU, 6 of 6"]
    limited = tables.limited(plain)
    assert column(limited, "limited_evidence") == [HOST_CPU.evidence]
    bound = step(1040, "fail", generator_bound=True, limited_by=UNLIMITED)
    suspected = capacity_figures(suite([(JPA, [run(bracket(1000, 1040), steps=(step(1000), bound))])]))
    words = "load generator (suspected); none saturated; highest use: connection pool (jpa-writer)"
    assert column(tables.capacity(suspected), "capacity_limited_by") == [words]
    assert column(tables.limited(suspected), "limited_evidence") == [NEAREST.evidence]


def test_costs_are_at_rates_that_variants_passed_in_every_block_and_without_the_generator() -> None:
    found = figures(
        *(bracket(2100, 2180),) * 3, other=(bracket(2100, 2180), bracket(1100, 1140), bracket(2100, 2180))
    )
    assert found.common_rates_per_s == LADDER[1:2]
    table = tables.costs(found)
    assert column(table, "cost_rate") == ["1,000/s"] * 2 + ["highest passing rate"] * 2
    assert column(table, "cost_cpu_s_per_1000")[0] == f"{CPU_S_PER_1000:.2f}"


def test_bytes_that_the_runtime_cannot_tell_of_every_component_are_no_figure() -> None:
    unknown = {"app": replace(step(1).resources["app"], write_bytes=None)}
    found = capacity_figures(suite([(JPA, [run(MEASURED[0], steps=(step(1000, resources=unknown),))])]))
    assert column(tables.costs(found), "cost_written_mib_per_1000") == ["–"]


def test_a_share_is_of_the_lowest_ceiling_of_the_same_block_and_a_bound_where_the_rate_is() -> None:
    tools = [ceiling("postgres", "pgbench", 10_000.0 * block, block) for block in (1, 2)]
    made = [(JPA, runs(bracket(1000, 1040), bracket(3000, None, lower_bound=True)))]
    found = capacity_figures(suite(made, references=tools))
    assert column(tables.rates(found), "ceiling_share_percent") == ["≥ 12.5 (10.0–≥ 15.0)"]
    assert column(tables.ceilings(found), "ceiling_per_s") == ["15,000 (10,000–20,000)"]
    assert tables.ceilings(capacity_figures(suite(made))) is None


def test_steps_say_what_became_of_them_and_noise_is_counted_apart() -> None:
    more = (step(1100, "burst"), step(1150, "noise"), step(1150), step(1200, "noise"))
    data = suite([(JPA, [run(bracket(1000, 1040), more=more)])])
    table = tables.steps(data)
    assert column(table, "step_result")[-4:] == [
        "fail, passes as a burst",
        "noisy host",
        "pass",
        "noisy host",
    ]
    assert column(table, "step_why")[-1] == "because of noise"
    validity = tables.validity(data)
    assert column(validity, "validity_noise") == ["1"]
    assert column(validity, "validity_unresolved") == ["1"]


def test_a_failed_run_is_named_and_gives_no_figure() -> None:
    cells = [cell(JPA, run(MEASURED[0])), cell(JPA, None, 2, error="postgres did not start")]
    data = of_cells(cells, (JPA,))
    assert column(tables.validity(data), "validity_lost") == ["block 2: postgres did not start"]
    assert len(capacity_figures(data).variants[0].runs) == 1
    nothing = of_cells(cells[1:], (JPA,))
    assert report(nothing).answer == ("No capacity run has finished.",)


def test_programs_see_that_a_rate_is_a_bound() -> None:
    table = tables.capacity(figures(BELOW))
    assert "< 200" in render.csv(table).splitlines()[1].split(",")


AMD, XEON = replace(HOST, cpu_model="AMD"), replace(HOST, cpu_model="Xeon")


def on_two_hosts() -> SuiteData[CapacityResult]:
    """Block 1 on one host, blocks 2 and 3 on another."""
    hosts = (AMD, XEON, XEON)
    tools = [ceiling("postgres", "pgbench", 20_000.0, block, host) for block, host in enumerate(hosts, 1)]
    return suite([(JPA, runs(*MEASURED)), (OTHER, runs(*MEASURED))], runs(*MEASURED), tools, hosts)


def test_no_cell_has_a_median_of_two_hosts() -> None:
    page = report(on_two_hosts())
    tables = {table.key: table for table in page.tables}
    for key in ("capacity", "rates", "limited", "cost", "overload", "ceilings"):
        table = tables[key]
        assert table.columns[0].key == "host"
        assert column(table, "host") == sorted(column(table, "host"))
        repetitions = {
            one.figure.repetitions for row in table.rows if row.cells[0].text == "AMD, 2 cores" for one in row.cells
            if one.figure
        }  # fmt: skip
        assert repetitions <= {1}
    assert column(tables["capacity"], "sustained_per_s") == ["1,000", "1,000"] + ["1,150 (1,100–1,200)"] * 2
    assert [key for key in ("validity", "steps") if tables[key].columns[0].key == "host"] == []
    assert [plot.file for plot in page.plots] == ["capacity-curves.svg", "capacity-curves-2.svg"]
    assert page.answer[0].startswith("On AMD, 2 cores: JPA (baseline)")


def test_hosts_are_in_the_order_of_their_blocks_each_with_its_own_references() -> None:
    found = by_host(on_two_hosts())
    assert [host for host, _ in found] == ["AMD, 2 cores", "Xeon, 2 cores"]
    assert [list(own.variants[0].runs) for _, own in found] == [[1], [2, 3]]
    assert [[one.record.block for one in own.data.references] for _, own in found] == [[1], [2, 3]]


def test_a_suite_of_several_hosts_is_published_if_all_its_cells_count() -> None:
    publish.refuse(on_two_hosts())
    broken = suite(
        [(JPA, runs(MEASURED[0]))], references=[cell(JPA, None, role="reference", error="no pgbench")]
    )
    with pytest.raises(InvalidRunError, match="jpa@ceilings, block 1: no pgbench"):
        publish.refuse(broken)


def test_the_fingerprint_says_which_block_ran_on_which_host() -> None:
    def facts(data: SuiteData[CapacityResult]) -> set[tuple[str, ...]]:
        table = next(table for table in report(data).tables if table.key == "fingerprint")
        return set(zip(*(column(table, key) for key in ("fact", "fact_value", "fact_variants")), strict=True))

    assert ("processor", "Testor 3000, 2 cores", "all") in facts(suite([(JPA, runs(*MEASURED))]))
    several = facts(on_two_hosts())
    assert {
        ("processor", "AMD, 2 cores", "block 1"),
        ("processor", "Xeon, 2 cores", "block 2, block 3"),
    } <= several
    assert ("memory", "8.00 GiB", "all") in several
    assert ("SLO", "p99 from the scheduled send time at most 100 ms", "all") in several


def test_the_audit_of_a_capacity_run_is_that_of_its_worst_step() -> None:
    """Four steps were read back, after two of the ramp that were not."""
    kind, passed = CapacityExperiment(), run(MEASURED[0])
    found = kind.audit(passed)
    assert found == (
        "PASS",
        tuple(f"step {one.number}, {one.rate_per_s:g}/s: PASS" for one in passed.steps[2:]),
    )
    found = kind.audit(run(MEASURED[0], more=[step(1050, "fail", audit="FAIL"), step(1060, audit="UNKNOWN")]))
    assert found is not None
    assert (found[0], found[1][4:]) == ("FAIL", ("step 7, 1050/s: FAIL", "step 8, 1060/s: UNKNOWN"))
    assert kind.audit(replace(passed, steps=())) is None
