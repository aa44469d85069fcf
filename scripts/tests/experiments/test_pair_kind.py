"""A pair on a host that slows down meanwhile: what differs is told, what does not is not."""

import dataclasses
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import planted_capacity
from planted_steps import CANARY, HOST, answers, by_second, plan, run, save, step, stored
from writepath.analysis import evidence
from writepath.analysis.evidence import save_facts
from writepath.analysis.pairs import (
    CPU,
    LIMIT,
    P99,
    SIDES,
    derive_pair,
    limit_of,
    next_rate,
    ratio,
    reduce_pair,
)
from writepath.analysis.steps import folder_of
from writepath.errors import LoadError
from writepath.experiments.pair.kind import PairExperiment
from writepath.records.base import to_data
from writepath.records.capacity_run import CapacityFacts
from writepath.records.measures import Verdict
from writepath.records.pair import PairFacts, PairParams, PairResult, Side
from writepath.records.steps import LoadStep, StepFacts, StepKind
from writepath.report.data import SuiteData
from writepath.report.model import texts

SECONDS, LIMIT_PER_S = 6, 1500.0
DRIFT = 0.002  # more CPU per write from step to step: 9 % over the pair
PARAMS = PairParams(
    against="jpa", limit_steps=14, shares=(0.2, 0.4), rounds=2, lowest_per_s=20.0, highest_per_s=6000.0,
    step_seconds=float(SECONDS), slo_ms=100.0,
)  # fmt: skip


class Planted:
    """Raw files of a pair whose B needs `slower` times the CPU time of A, and carries as much less."""

    def __init__(self, folder: Path, slower: float) -> None:
        self.folder, self.slower = folder, slower
        self.drawn = random.Random(7)  # noqa: S311 - noise, not a secret
        self.facts = PairFacts(against="jpa", title="JPA", guarantees={"a": "A", "b": "A"})
        self.runs: dict[Side, CapacityFacts] = {side: run(step_seconds=float(SECONDS)) for side in SIDES}
        self.made: dict[Side, list[LoadStep]] = {"a": [], "b": []}
        order = (SIDES, SIDES[::-1], SIDES[::-1], SIDES)
        for number in range(PARAMS.limit_steps):
            rates = {side: next_rate(self.made[side], self.runs[side]) for side in SIDES}
            made = {side: self.step(side, rates[side], "ramp") for side in order[number % 4]}
            self.facts = dataclasses.replace(self.facts, limit=(*self.facts.limit, (made["a"], made["b"])))
        low = min(limit_of(self.made[side], self.runs[side]).limit for side in SIDES)
        equal = [
            round(share * low) for _ in range(PARAMS.rounds) for share in PARAMS.shares[::-1] for _ in "AB"
        ]
        for number, rate in enumerate(equal):
            kind: StepKind = "confirmation" if number == len(equal) - 1 else "ramp"
            made = {side: self.step(side, rate, kind) for side in order[number % 4]}
            self.facts = dataclasses.replace(self.facts, equal=(*self.facts.equal, (made["a"], made["b"])))

    def cost(self, side: Side, number: int) -> float:
        """Of a write, with what the host has become, ±1 %."""
        return (self.slower if side == "b" else 1.0) * (1 + DRIFT * number)

    def passes(self, side: Side, rate_per_s: float, number: int) -> bool:
        return rate_per_s * self.cost(side, number) <= LIMIT_PER_S

    def step(self, side: Side, rate_per_s: float, kind: StepKind) -> int:
        number = len(self.facts.frozen_cpu_seconds) + 1
        cost = self.cost(side, number)
        took_us = 5_000 * cost * self.drawn.uniform(0.97, 1.03)
        if not self.passes(side, rate_per_s, number):
            took_us = 150_000
        records = answers(plan(rate_per_s, SECONDS), took_us=round(took_us))
        used_per_s = rate_per_s * 500e-6 * cost * self.drawn.uniform(0.99, 1.01)
        samples = [
            *by_second("app", "cpu_seconds", used_per_s, SECONDS),
            *by_second("app", "rss_bytes", 1.0, SECONDS),
            *by_second("k6", "cpu_seconds", 0.3, SECONDS),
        ]
        verdict = "pass" if self.passes(side, rate_per_s, number) else "fail"
        self.made[side].append(planted_capacity.step(rate_per_s, verdict, number=number))
        audited = kind == "confirmation"
        folder = folder_of(self.folder / side, number)
        save(folder, records, samples, stored(records) if audited else None)
        facts: StepFacts = step(
            len(records) if audited else None, number=number, kind=kind, rate_per_s=rate_per_s,
            seconds=float(SECONDS), before=CANARY, after=None,
        )  # fmt: skip
        self.runs[side] = dataclasses.replace(self.runs[side], steps=(*self.runs[side].steps, facts))
        self.facts = dataclasses.replace(self.facts, frozen_cpu_seconds=(*self.facts.frozen_cpu_seconds, 0.0))
        return number

    def result(self) -> PairResult:
        """From the evidence, as it was saved."""
        save_facts(to_data(self.facts), self.folder)
        for side, one in self.runs.items():
            save_facts(to_data(one), self.folder / side)
        evidence.save(reduce_pair(self.folder, HOST), self.folder / "published")
        return derive_pair(evidence.load(self.folder / "published"))


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[float, Planted]:
    return {slower: Planted(tmp_path_factory.mktemp("pair"), slower) for slower in (1.0, 1.1)}


def rows(result: PairResult) -> Iterator[list[str]]:
    """Of the table of ratios, for a B that is another variant than A."""
    cells = [planted_capacity.cell(planted_capacity.variant("jpa-slowed"), result)]
    data: SuiteData[Any] = planted_capacity.of_cells(cells, [planted_capacity.variant("jpa-slowed")])
    data = dataclasses.replace(data, index=dataclasses.replace(data.index, params=to_data(PARAMS)))
    table = PairExperiment().report(data).table
    return (texts(table, row) for row in table.rows)


def test_a_path_slower_by_ten_percent_is_told_on_a_host_that_drifts(pairs: dict[float, Planted]) -> None:
    found = pairs[1.1].result()
    assert found.verdict.status == "valid", found.verdict.reasons
    assert [one.number for one in found.steps] == list(range(1, 2 * (8 + 14) + 1))
    for figure, expected in ((CPU, 1.1), (P99, 1.1), (LIMIT, 1 / 1.1)):
        told = ratio([found], figure)
        assert told.low is not None
        assert told.high is not None
        assert told.low < expected < told.high
        assert not told.low < 1 < told.high
    assert [row[-1] for row in rows(found)] == ["more expensive", "slower", "less"]


def test_a_path_is_the_same_as_itself(pairs: dict[float, Planted]) -> None:
    found = pairs[1.0].result()
    assert [row[-1] for row in rows(found)] == [
        *["same within 5 %"] * 2,
        "not resolved: the interval includes 1",
    ]
    assert ratio([found], LIMIT).ratio == pytest.approx(1.0, abs=0.03)
    assert {one.canary_cpu_ms for one in found.steps} == {CANARY.cpu_ms}


def test_what_was_not_frozen_or_not_audited_does_not_count(pairs: dict[float, Planted]) -> None:
    planted = pairs[1.0]
    assert planted.result().verdict.status == "valid"
    whole = reduce_pair(planted.folder, HOST)

    def verdict(**changed: Any) -> Verdict:
        return derive_pair(dataclasses.replace(whole, facts={**whole.facts, **changed})).verdict

    moving = verdict(frozen_cpu_seconds=[0.2, *planted.facts.frozen_cpu_seconds[1:]])
    assert moving.status == "invalid"
    assert "the frozen path used 0.20 s of CPU time (limit 0.05 s)" in moving.reasons[0]
    path = to_data(planted.runs["b"])
    steps = [{**one, "drain": None} for one in path["steps"]]
    unread = verdict(b={**path, "host": to_data(HOST), "steps": steps})
    assert (unread.status, unread.reasons) == ("unknown", ("the last step of B was not audited",))
    with pytest.raises(LoadError, match="before its first two steps"):
        verdict(limit=[])
