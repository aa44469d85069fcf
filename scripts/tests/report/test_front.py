"""Do README and docs/choosing.md say what the published records give, and no more?"""

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from report.planted_suite import CLIMB, constant
from writepath.errors import UsageError
from writepath.experiments import publish, read
from writepath.records.load import LoadResult
from writepath.records.measures import Durability
from writepath.report import front, plots
from writepath.report.facts import Facts
from writepath.report.model import number

ROOT = Path(__file__).resolve().parents[3]
TEMPLATES = ROOT / "scripts/src/writepath/report/templates"
GIVEN = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\]\([^)]*\)|`[^`]*`", re.DOTALL)
NO_FIGURES = re.compile(r"\b(p99|201|50[34]|2-core|cores . 2|per 1,000)\b")  # names and units
MARKS = ("*measured*", "*advice*")
B_CLASS = Durability(level="B", settings={})


@pytest.fixture(scope="module")
def facts() -> Facts:
    loads = {folder.name: read.published(folder) for folder in publish.published_suites(ROOT)}
    return publish.published_facts(loads)


def changed(facts: Facts, change: Callable[[Any], Any]) -> Facts:
    """With another suite of writes: the result of each cell as `change` gives it."""
    assert facts.load is not None
    cells = tuple(
        dataclasses.replace(one, result=dataclasses.replace(one.result, **change(one.result)))
        for one in facts.load.cells
        if one.result is not None
    )
    return dataclasses.replace(facts, load=dataclasses.replace(facts.load, cells=cells))


def test_the_readme_is_short_and_its_table_has_six_columns() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 120
    table = [line for line in lines if line.startswith("| write path |")]
    assert [line.count("|") - 1 for line in table] == [6]


def test_of_a_load_that_climbs_the_table_has_the_phase_before_it_and_the_limit(facts: Facts) -> None:
    def climb(result: LoadResult) -> dict[str, Any]:
        phase = dataclasses.replace(
            result.phases[0], name="before", planned=3000, seconds=30.0, planned_latency_ms=constant(7.0)
        )
        after = dataclasses.replace(result.phases[-1], name="after", planned_latency_ms=constant(900.0))
        return {
            "phases": (phase, after),
            "climb": dataclasses.replace(CLIMB, before="before", durable_latency_ms=constant(9.0)),
        }

    climbing = changed(facts, climb)
    rows = [line.split("|")[1:-1] for line in front.table(climbing).splitlines()]
    assert [cell.strip() for cell in rows[0][2:4]] == ["p99 at 100/s (ms)", "p99 leaves 100 ms at"]
    assert {(row[2].strip(), row[3].strip()) for row in rows[2:]} == {("7.00", "1,840/s")}
    assert front.choosing(climbing) is not None


def test_the_guide_has_the_answers_of_the_suites_that_it_quotes_and_are_published(facts: Facts) -> None:
    answers = {
        "pool": ("Shortest sessions: 4 s.", "No request failed."),
        "threads": ("POOL_SIZE: +2 %.",),
        "original-slow-database": ("JPA 14 % at 200 ms.",),
    }
    guide = front.choosing(dataclasses.replace(facts, answers=answers))
    assert guide is not None
    assert "- Shortest sessions: 4 s. *measured*: [pool](results/pool.md)" in guide
    assert "- POOL\\_SIZE: +2 %. *measured*: [threads](results/threads.md)" in guide
    slow = "[original-slow-database](results/original-slow-database.md)"
    assert f"- JPA 14 % at 200 ms. *measured*: {slow}" in guide
    assert "No request failed" not in guide  # a sentence without a figure says nothing away from its page
    assert "results/proxy.md" not in guide


def test_every_variant_of_the_load_suite_has_a_row(facts: Facts) -> None:
    table = front.table(facts)
    assert [line.split("|")[1].strip(" †") for line in table.splitlines()[2:]] == [
        variant.title for variant in facts.variants
    ]


def test_no_figure_of_the_guide_is_written_by_hand() -> None:
    for name in (front.ANSWER, front.SENTENCES, front.CHOOSING):
        text = (TEMPLATES / name).read_text(encoding="utf-8")
        left = NO_FIGURES.sub("", GIVEN.sub("", text))
        lines = [line for line in left.splitlines() if re.search(r"\d", line)]
        assert [line for line in lines if not re.match(r"\d\. ", line)] == [], name


def test_every_statement_of_the_guide_is_measured_or_advice(facts: Facts) -> None:
    guide = front.choosing(facts)
    assert guide is not None
    statements = re.split(r"\n(?=- |\d\. |\| )", guide.partition("## What do you need?")[2])
    said = [one for one in statements[1:] if not re.match(r"\| (---|path) \|", one)]
    assert len(said) > 40
    assert [one for one in said if not any(mark in one for mark in MARKS)] == []
    assert [one for one in said if "*measured*" in one and "](results/" not in one] == []


def test_the_guide_quotes_faults_as_their_records_have_them(facts: Facts) -> None:
    cells = {(one.variant.name, one.result.fault): one.result for one in facts.faults}
    errors = sum(cells["jpa", "kill-database"].errors.values())
    guide = front.choosing(facts) or ""
    assert f"failed 0 requests with the queue and {errors:,} without it" in guide
    off = cells["jpa-async-commit", "kill-database"]
    assert f"data loss in {off.losing} of {off.effective} faults" in guide


def test_a_rate_above_the_latency_limit_is_not_called_far_from_it(facts: Facts) -> None:
    late = next(one for one in facts.variants if (facts.p99_ms(one.name) or 0) > facts.load_slo_ms)
    assert f"Above that limit at 100/s already: {late.title}" in front.footnote(facts)
    assert "far from" not in front.answer(facts)


def test_the_answer_names_the_paths_that_leave_the_limit_first_and_last(facts: Facts) -> None:
    late = {one.title for one in facts.variants if (facts.p99_ms(one.name) or 0.0) > facts.load_slo_ms}
    rates = {
        one.title: facts.leaves_slo_per_s(one.name) or 0.0 for one in facts.variants if one.title not in late
    }
    words = front.throughput(facts)
    assert late
    assert not any(f"({title})" in words for title in late)  # above it before the climb
    for pick in (min, max):
        title = pick(rates, key=rates.__getitem__)
        assert f"{number(rates[title])}/s ({title})" in words


def test_lower_bounds_are_not_ordered(facts: Facts) -> None:
    assert "measured" not in facts.sustainable("jpa")
    assert facts.order("rabbitmq-jpa", "jpa") == "Which is higher is not resolved."


def test_durability_classes_are_as_they_were_read_back(facts: Facts) -> None:
    suites = [read.published(folder) for folder in publish.published_suites(ROOT)]
    found = {line.split("|")[1].strip(): line for line in front.classes(suites).splitlines()[2:]}
    assert "RabbitMQ + JPA, Spring Boot defaults" in found["C"]
    assert "RabbitMQ + JPA, Spring Boot defaults" not in found["A"]
    assert facts.load is not None
    cells = tuple(
        dataclasses.replace(one, record=dataclasses.replace(one.record, durability=B_CLASS))
        for one in facts.load.cells
    )
    weak = dataclasses.replace(facts.load, cells=cells)
    assert front.classes([weak]).splitlines()[2].startswith("| B | ")


def test_elasticsearch_alone_is_named_for_keywords_only_where_it_finds_each_faster(
    facts: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = facts.fastest_search("elasticsearch")
    assert facts.searches_faster(texts, "jpa")
    assert not facts.searches_faster("jpa", texts)
    for faster in (True, False):
        monkeypatch.setattr(Facts, "searches_faster", lambda *_, known=faster: known)
        assert ("or PostgreSQL with an index for it" not in front.sentences(facts)) is faster
        assert ("Choose **Elasticsearch**.\n" in (front.choosing(facts) or "")) is faster


@pytest.mark.parametrize(("queued_ms", "heading"), [(1.0, "Worth it:"), (1e6, "Not worth it:")])
def test_a_queue_is_worth_it_for_speed_only_where_it_is_faster(
    facts: Facts, monkeypatch: pytest.MonkeyPatch, queued_ms: float, heading: str
) -> None:
    p99_ms = Facts.p99_ms
    monkeypatch.setattr(
        Facts,
        "p99_ms",
        lambda self, name, *at: queued_ms if name == "rabbitmq-jpa" else p99_ms(self, name, *at),
    )
    before, _, after = (front.choosing(facts) or "").partition("- for speed:")
    assert "for speed" not in after
    assert re.findall(r"(?m)^(?:Worth it|Not worth it):$", before)[-1] == heading


def test_what_no_fault_struck_is_said_to_be_untested(facts: Facts) -> None:
    rows = {line.split("|")[1].strip(" †"): line for line in front.table(facts).splitlines()}
    assert rows["Elasticsearch, 8 shards"].endswith("| not tested |")
    assert "none in 20 database kills" in rows["JPA"]
    assert "20 database power cuts" in rows["JPA"]


def test_without_the_other_suites_there_is_a_table_and_no_sentence(facts: Facts) -> None:
    alone = Facts(load=facts.load)
    text = front.answer(alone)
    assert "| write path |" in text
    assert "**Write throughput" not in text
    assert front.choosing(alone) is None


def test_with_nothing_published_the_readme_says_so() -> None:
    assert front.answer(Facts()) == front.NOTHING


def test_the_picture_leaves_out_what_was_not_measured(facts: Facts) -> None:
    assert set(plots.pictures(facts)) == set(plots.THEMES)
    unseen = changed(facts, lambda _: {"time_to_visible_ms": None, "visible_samples": None})
    assert plots.clocks_ms(unseen, "jpa")[2] is None
    assert "searchable" not in front.picture_in_words(unseen)
    assert unseen.load is not None
    cells = tuple(dataclasses.replace(one, result=None) for one in unseen.load.cells)
    none = dataclasses.replace(facts, load=dataclasses.replace(unseen.load, cells=cells))
    assert plots.pictures(none) == {}


def test_a_document_without_its_markers_is_an_error_that_names_them(tmp_path: Path) -> None:
    document = tmp_path / "README.md"
    document.write_text("# Project\n\n<!-- a:begin -->\nold\n<!-- a:end -->\n", encoding="utf-8")
    assert front.filled(document, {"a": "new"}) == "# Project\n\n<!-- a:begin -->\nnew\n<!-- a:end -->\n"
    with pytest.raises(UsageError, match=r"README\.md: the markers <!-- b:begin --> and <!-- b:end -->"):
        front.filled(document, {"b": "new"})
