"""A suite of searches reads in the order of its seed, survives a failed reading, and goes on where it was stopped."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from capacity.planted import hold
from lifecycle.fakes import FakeRuntime, dataset, variant
from writepath.config.registry import Phase, Scenario, Suite
from writepath.errors import UsageError
from writepath.experiments.shared import INTERRUPTED
from writepath.load.dataset import generate
from writepath.measure.facts import dataset_facts
from writepath.progress import Progress
from writepath.queries import suite
from writepath.queries.suite import QueriesPlan
from writepath.records import Code, Latency
from writepath.records.capacity import Bracket
from writepath.records.queries import (
    QUERIES_SCHEMA_VERSION,
    Beside,
    QueriesSuite,
    Read,
    load_read,
    load_suite,
    save_read,
)
from writepath.suite.common import orders

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from writepath.measure.bench import Bench
    from writepath.queries.read_run import ReadSpec

NAMES = ("a", "b", "c")
FOUND = Bracket(last_pass_per_s=40.0, first_fail_per_s=41.0, at_least=False, holds=6)
OPEN = replace(FOUND, first_fail_per_s=60.0)
NOTHING = Latency(min=None, mean=None, median=None, p95=None, p99=None, max=None)
RIGHT = Beside(
    search_rate_per_s=20.0,
    write_rate_per_s=50.0,
    seconds=60.0,
    search_latency_ms=NOTHING,
    write_latency_ms=NOTHING,
    alone_latency_ms=NOTHING,
    visible_ms_median=None,
    visible_ms_p95=None,
    writes_acknowledged=3000,
    writes_found=3000,
    wrong_answers=0,
)
FIRST, SECOND = Code(commit="1" * 40, dirty=False), Code(commit="2" * 40, dirty=False)


@dataclass(kw_only=True)
class FakeReadings:
    """Ends as told, by the number of the reading from 1."""

    brackets: Mapping[int, Bracket] = field(default_factory=dict)
    beside: Mapping[int, Beside] = field(default_factory=dict)
    failing: tuple[int, ...] = ()
    noisy: tuple[int, ...] = ()
    interrupted: int | None = None
    clock_s: float = 0.0  # a reading takes 100 s
    made: list[str] = field(default_factory=list)
    made_beside: list[str] = field(default_factory=list)
    specs: list[ReadSpec] = field(default_factory=list)

    def execute(self, spec: ReadSpec, bench: Bench) -> Read:
        self.made.append(f"{spec.variant.name}{'@again' if spec.again else ''}")
        self.specs.append(spec)
        self.clock_s += 100.0
        number = len(self.made)
        bracket = self.brackets.get(number, FOUND)
        read = replace(reading(spec, bench), capacity=bracket, beside=self.beside.get(number))
        if number in self.failing:
            read = replace(read, outcome="failed", error="planted", capacity=None)
        if number in self.noisy:
            read = replace(read, holds=(hold(verdict="noise"),))
        if number == self.interrupted:
            read = replace(read, outcome="aborted")
        spec.folder.mkdir(parents=True)
        save_read(read, spec.folder)
        if number == self.interrupted:
            raise KeyboardInterrupt
        return read

    def beside_again(self, found: Read, spec: ReadSpec, _: Bench) -> Read:
        self.made_beside.append(str(spec.folder.relative_to(spec.folder.parents[1])))
        read = replace(found, beside=self.beside.get(len(self.made_beside), RIGHT))
        save_read(read, spec.folder)
        return read


def reading(spec: ReadSpec, bench: Bench) -> Read:
    return Read(
        schema_version=QUERIES_SCHEMA_VERSION,
        run_id="0" * 15,
        suite=spec.suite,
        variant=spec.variant.name,
        title=spec.variant.title,
        family=spec.variant.family,
        mode="substring",
        search_index="none",
        block=spec.block,
        position=spec.position,
        again=spec.again,
        runtime=bench.runtime.name,
        seed=spec.seed,
        overrides=dict(spec.overrides),
        dataset=dataset_facts(spec.dataset),
        code=spec.code,
        started_at="",
        finished_at="",
        outcome="finished",
        error=None,
    )


def plan(tmp_path: Path, **changed: object) -> QueriesPlan:
    state = tmp_path / ".writepath"
    state.mkdir(exist_ok=True)
    variants = tuple(variant(name) for name in NAMES)
    phase = Phase(name="hold", seconds=60, from_per_s=2, to_per_s=4000)
    known = QueriesPlan(
        root=tmp_path,
        state=state,
        suite=Suite(
            name="search",
            title="Search",
            scenario=Scenario(name="queries", script="k6/scenarios/queries.js", phases=(phase,)),
            repetitions=2,
            variants=variants,
            baseline=variants[0],
            kind="search",
        ),
        variants=variants,
        repetitions=2,
        seed=1,
        params=None,
        settings={},
        dataset=generate(1, 50),
        code=FIRST,
        slo_ms=500.0,
        hold_seconds=60.0,
        compared=True,
        documents=1000,
        rounds=2,
        keywords=("영화",),
        resumed=False,
    )
    return replace(known, **changed)  # type: ignore[arg-type]


def run(
    asked: QueriesPlan, fake: FakeReadings, to: io.StringIO | None = None
) -> tuple[int, QueriesSuite, Path]:
    progress = Progress(console=Console(file=to or io.StringIO(), width=300), clock=lambda: fake.clock_s)
    code, folder = suite.run(
        asked, FakeRuntime(), progress, suite.Makers(whole=fake.execute, beside=fake.beside_again)
    )
    return code, load_suite(folder), folder


def test_a_block_holds_every_variant_and_the_baseline_again_in_an_order_of_the_seed(tmp_path: Path) -> None:
    fake, to = FakeReadings(), io.StringIO()
    code, index, folder = run(plan(tmp_path), fake, to)
    assert (code, index.status, index.baseline) == (0, "finished", "a")
    everything = (*NAMES, "a@again")
    assert index.blocks == orders(everything, 2, 1) != orders(everything, 2, 2)
    assert fake.made == [name for block in index.blocks for name in block]
    (twin,) = (line for line in index.reads if line.again and line.block == 2)
    assert (twin.variant, twin.folder) == ("a", "a@again/block-02")
    assert load_read(folder / twin.folder).again
    assert (tmp_path / "results" / "latest").resolve() == folder.resolve()
    assert "1,000 posts of embedded (50 lines), 2 rounds of 영화; p99 <= 500 ms" in to.getvalue()


def test_all_readings_share_posts_keywords_and_what_must_be_found(tmp_path: Path) -> None:
    fake = FakeReadings()
    run(plan(tmp_path), fake)
    assert len({id(spec.corpus) for spec in fake.specs}) == 1
    corpus = fake.specs[0].corpus
    assert (corpus.documents.count, corpus.asked, fake.specs[0].rounds) == (1000, ("영화",), 2)


def test_one_variant_alone_has_no_twin(tmp_path: Path) -> None:
    asked = plan(tmp_path, compared=False)
    _, index, _ = run(replace(asked, variants=asked.variants[:1]), FakeReadings())
    assert index.blocks == (("a",), ("a",))


def test_a_failed_reading_is_recorded_and_the_suite_goes_on(tmp_path: Path) -> None:
    said_to = io.StringIO()
    code, index, _ = run(plan(tmp_path, repetitions=1), FakeReadings(failing=(1,)), said_to)
    assert (code, index.status) == (1, "finished")
    assert Counter(line.outcome for line in index.reads) == {"failed": 1, "finished": 3}
    assert "FAILED  planted" in said_to.getvalue()


def test_a_reading_without_a_capacity_is_no_failure_and_no_success(tmp_path: Path) -> None:
    code, index, _ = run(plan(tmp_path), FakeReadings(brackets={1: OPEN}))
    assert (code, index.status) == (3, "finished")


@pytest.mark.parametrize(
    ("flaw", "words"),
    [
        ({"writes_found": 2999}, "WRONG  40/s, fails at 41/s; 0 load steps; 2,999 of 3,000 writes found"),
        ({"wrong_answers": 2}, "3,000 of 3,000 writes found, 2 wrong totals"),
    ],
)
def test_a_lost_write_or_a_wrong_answer_beside_writes_fails_the_suite(
    tmp_path: Path, flaw: dict[str, int], words: str
) -> None:
    said_to = io.StringIO()
    beside = {1: RIGHT, 2: replace(RIGHT, **flaw)}  # type: ignore[arg-type]
    code, _, _ = run(plan(tmp_path), FakeReadings(beside=beside), said_to)
    assert code == 1
    assert words in said_to.getvalue()


def test_ctrl_c_keeps_what_there_is_and_resume_makes_the_rest(tmp_path: Path) -> None:
    said_to = io.StringIO()
    code, before, folder = run(plan(tmp_path), FakeReadings(failing=(1,), interrupted=4), said_to)
    assert (code, before.status, len(before.reads)) == (INTERRUPTED, "aborted", 3)
    assert "3 of 8 are saved. Continue with RESUME=1." in said_to.getvalue()
    order = [name for block in before.blocks for name in block]
    assert load_read(folder / order[3] / "block-01").outcome == "aborted"
    fake = FakeReadings()
    code, after, again = run(plan(tmp_path, resumed=True, code=SECOND), fake)
    assert (code, again, after.status, after.stamp) == (0, folder, "finished", before.stamp)
    assert fake.made == [order[0], *order[3:]]
    assert after.code == FIRST
    codes = Counter(load_read(folder / line.folder).code.commit for line in after.reads)
    assert codes == {FIRST.commit: 2, SECOND.commit: 6}
    assert load_read(folder / order[0] / "block-01-replaced-1").error == "planted"


def test_a_reading_left_to_noise_is_made_again(tmp_path: Path) -> None:
    run(plan(tmp_path), FakeReadings(noisy=(2,)))
    fake = FakeReadings()
    code, after, _ = run(plan(tmp_path, resumed=True), fake)
    order = [name for block in after.blocks for name in block]
    assert (code, fake.made, len(after.reads)) == (0, [order[1]], len(order))


def test_where_noise_left_only_searches_beside_writes_they_alone_are_made_again(tmp_path: Path) -> None:
    said_to = io.StringIO()
    noisy = {2: replace(RIGHT, noise=("3% stolen",))}
    code, before, folder = run(plan(tmp_path), FakeReadings(beside=noisy), said_to)
    assert code == 3
    assert "3,000 of 3,000 writes found, noisy host" in said_to.getvalue()
    spoilt = folder / before.reads[1].folder
    for name in ("alone", "beside", "beside-writes", "alone-noise-1", "logs", "hold-01"):
        (spoilt / name).mkdir()
    fake = FakeReadings()
    code, after, _ = run(plan(tmp_path, resumed=True), fake)
    assert (code, fake.made, fake.made_beside) == (0, [], [before.reads[1].folder])
    assert {line.folder for line in after.reads} == {line.folder for line in before.reads}
    assert {path.name for path in spoilt.iterdir()} == {
        "hold-01", "read.json", "alone-replaced-1", "beside-replaced-1", "beside-writes-replaced-1",
        "alone-noise-1-replaced-1", "logs-replaced-1",
    }  # fmt: skip


def test_searches_beside_writes_that_noise_spoils_again_stay_left(tmp_path: Path) -> None:
    noisy = replace(RIGHT, noise=("3% stolen",))
    run(plan(tmp_path), FakeReadings(beside={2: noisy}))
    for _ in range(2):
        fake = FakeReadings(beside={1: noisy})
        code, _, _ = run(plan(tmp_path, resumed=True), fake)
        assert (code, fake.made, len(fake.made_beside)) == (3, [], 1)


def test_a_reading_of_which_noise_left_a_hold_too_is_made_again_whole(tmp_path: Path) -> None:
    run(plan(tmp_path), FakeReadings(noisy=(2,), beside={2: replace(RIGHT, noise=("3% stolen",))}))
    fake = FakeReadings()
    code, _, _ = run(plan(tmp_path, resumed=True), fake)
    assert (code, len(fake.made), fake.made_beside) == (0, 1, [])


def test_nothing_is_resumed_where_nothing_is_left(tmp_path: Path) -> None:
    run(plan(tmp_path), FakeReadings())
    with pytest.raises(UsageError, match=r"no suite run of 'search'.*a missing, failed or noisy search run"):
        run(plan(tmp_path, resumed=True), FakeReadings())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"documents": 2000}, "DOCS differs .* was 1000, is now 2000"),
        ({"rounds": 3}, "ROUNDS differs"),
        ({"keywords": ("감동",)}, "keywords in suites.yaml differs"),
        ({"slo_ms": 50.0}, "SLO_MS differs"),
        ({"dataset": generate(2, 50)}, "DATASET differs"),
        ({"seed": 2}, "SEED differs"),
        ({"compared": False}, "the content of a block"),
    ],
)
def test_resume_refuses_what_is_not_the_same(changed: dict[str, object], words: str, tmp_path: Path) -> None:
    run(plan(tmp_path), FakeReadings(interrupted=1))
    with pytest.raises(UsageError, match=words):
        run(plan(tmp_path, resumed=True, **changed), FakeReadings())


def test_posts_without_words_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has a word"):
        run(plan(tmp_path, dataset=replace(dataset(), lines=("!", "?"))), FakeReadings())
    assert not (tmp_path / "results").exists()
