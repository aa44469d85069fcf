"""How does one search for capacity go? Start, verify, warm up, holds until the search has ended, overload, stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.capacity import hold as holding
from writepath.capacity import kept
from writepath.capacity import overload as overloading
from writepath.capacity.kept import required
from writepath.capacity.search import Searcher
from writepath.errors import StartError
from writepath.measure import loading, quiet
from writepath.records.capacity import CAPACITY_SCHEMA_VERSION, Hold, Overload, Search, answers, save_search

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from writepath.capacity.rig import Rig
    from writepath.config.registry import Scenario, Variant
    from writepath.load.dataset import Dataset
    from writepath.measure.bench import Bench
    from writepath.progress import Progress
    from writepath.records import Code, Durability


@dataclass(frozen=True, kw_only=True)
class SearchSpec:
    """One variant in one block, before its search."""

    suite: str
    variant: Variant
    scenario: Scenario  # its one phase: from the lowest rate to the highest
    block: int
    position: int
    again: bool  # the baseline a second time
    seed: int
    slo_ms: float
    hold_seconds: float
    overrides: Mapping[str, str]
    dataset: Dataset
    code: Code
    folder: Path
    begins_per_s: float | None = None  # the ramp; None: at the lowest rate


@dataclass(kw_only=True)
class Draft(kept.Draft):
    """A search under way; search.json can be written at any moment."""

    searcher: Searcher
    overload: Overload | None = None
    saved: Search | None = None

    def save(self) -> Search:
        """Writes search.json; what it says."""
        self.saved = self.search()
        save_search(self.saved, self.spec.folder)
        return self.saved

    def search(self) -> Search:
        """As far as it is known now."""
        return Search(
            schema_version=CAPACITY_SCHEMA_VERSION,
            acknowledges=self.spec.variant.acknowledges,
            slo_ms=self.spec.slo_ms,
            hold_seconds=self.spec.hold_seconds,
            sustained=self.searcher.sustained() if self.holds else None,
            burst=self.searcher.burst() if self.holds else None,
            overload=self.overload,
            **self.facts(),
        )


def execute(spec: SearchSpec, bench: Bench) -> Search:
    """One search from start to stop; search.json is there whatever happens. Only KeyboardInterrupt comes out."""
    state = Draft(spec=spec, bench=bench, searcher=_searcher(spec))
    with kept.to_its_end(state, spec.folder), kept.rigged(spec, bench) as rig:
        _prepare(state, rig)
        make_holds(state.searcher, rig, state.holds, state.save)
        _overload(state, rig)
    return required(state.saved)


def _searcher(spec: SearchSpec) -> Searcher:
    (rates,) = spec.scenario.phases
    return Searcher(
        lowest_per_s=rates.from_per_s,
        highest_per_s=rates.to_per_s,
        hold_seconds=spec.hold_seconds,
        queue=spec.variant.ingress != spec.variant.inspector,
        start_per_s=spec.begins_per_s,
    )


def _prepare(state: Draft, rig: Rig) -> None:
    """Proved empty, proved to write, read back, and warm."""
    state.durability, state.versions = verified(rig)
    require_promise(state.durability, rig.spec.variant)
    state.bench.progress.phase("warm-up")
    loading.warm_up(rig.spec.scenario, state.bench, rig.stack, rig.spec.folder)


def verified(rig: Rig) -> tuple[Durability, Mapping[str, str]]:
    """What a 201 guarantees, and the versions, of a stack that has just been proved to write."""
    spec, bench = rig.spec, rig.bench
    bench.progress.phase("verify")
    return loading.verified(bench.runtime, spec.variant, rig.stack, rig.truth, spec.dataset, spec.folder)


def require_promise(durability: Durability, variant: Variant) -> None:
    """StartError where a 201 promises less than the variant declares."""
    if durability.level > variant.level:
        raise StartError(
            f"a 201 guarantees less than declared: level {durability.level}, not {variant.level};"
            " the capacity would be that of a different path"
        )


def make_holds(searcher: Searcher, rig: Rig, holds: list[Hold], save: Callable[[], object]) -> None:
    """Holds until the searcher has ended; each is put down, saved and said before the next begins."""
    progress = rig.bench.progress
    while (step := searcher.next()) is not None:
        number = len(holds) + 1
        made = holding.hold(step, number, rig)
        searcher.told(step, made)
        holds.append(made)
        save()
        _say(progress, made)
        require_whole(rig, f"in step {number}, at {step.rate_per_s:,g}/s")
        if made.verdict == "noise" and searcher.next() is not None:
            wait_for_quiet(rig)
    if not answers(searcher.sustained()):
        progress.say(f"  inconclusive: {searcher.ended}")


def wait_for_quiet(rig: Rig) -> None:
    """Before a step is made again; on a host that stays noisy it is, all the same."""
    progress = rig.bench.progress
    if not quiet.wait(rig.bench.cage.folder, progress):
        progress.say(f"  the host was noisy for {quiet.LONGEST_S:.0f} s; continuing")


def _overload(state: Draft, rig: Rig) -> None:
    """Only beyond a capacity that was found is there an overload."""
    capacity = state.searcher.sustained().last_pass_per_s
    if capacity is not None:
        state.overload = overloading.overload(capacity, rig)
        require_whole(rig, f"during the overload, at up to twice {capacity:,.0f}/s")


def require_whole(rig: Rig, when: str) -> None:
    """StartError where a component was lost: what follows is no longer the same path, and not warm."""
    if lost := rig.stack.lost_components():
        raise StartError(f"component lost {when}: {'; '.join(lost)}")


def _say(progress: Progress, made: Hold) -> None:
    p99 = made.planned_latency_ms.p99
    word = {"noise": "noisy host"}.get(made.verdict, made.verdict)
    word += " (burst)" if made.burst and made.verdict != "pass" else ""
    line = (
        f"step {made.number}, {made.rate_per_s:,g}/s: {word}, p99 {'-' if p99 is None else f'{p99:.0f} ms'}"
    )
    progress.say("  " + "; ".join((line, *made.reasons)))
