"""Searches during writes: half of the search capacity, alone and then with a write load.

Both are warm by then: a store and a service that have searched but not written yet take several times as long, and an
open load that finds them so queues up behind its first second. Afterwards every acknowledged write is searched for, by
each of the keywords that must find it.
"""

from __future__ import annotations

import dataclasses
import math
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from writepath.analysis import figures as measured
from writepath.analysis import raw
from writepath.analysis.noise import reasons, slower
from writepath.capacity.edges import rounded
from writepath.capacity.hold import plan_of
from writepath.capacity.kept import required
from writepath.capacity.rig import load
from writepath.capacity.search import MOST_REPEATS, Step
from writepath.capacity.search_run import require_whole, wait_for_quiet
from writepath.config.registry import Phase, Scenario
from writepath.experiments import shared
from writepath.load.ledger import WRONG_TOTAL, Outcome
from writepath.load.plan import arrival_plan, decode_id, new_run_id
from writepath.measure import loading, visible
from writepath.queries.asking import searching
from writepath.queries.oracle import lines_of
from writepath.records.queries import Beside

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from writepath.analysis.raw import Seen
    from writepath.capacity.rig import Loaded, Rig
    from writepath.load import k6
    from writepath.load.ledger import Ledger
    from writepath.load.plan import ArrivalPlan
    from writepath.measure.bench import Bench
    from writepath.queries.answers import Client
    from writepath.queries.corpus import Corpus
    from writepath.records.queries import SearchMode

T = TypeVar("T")
SHARE = 0.5  # of the capacity for searches
WRITES_PER_S = 50.0
WARM_UP_S = 30.0  # of each stage
# First writes as good as alone: beside cold ones (Elasticsearch's first took three times the processor time of a warm
# one) searches queue up, and most of what should warm the path is turned away. Then both, as they are measured.
WARM_UP_WRITES_PER_S, WARM_UP_SEARCHES_PER_S = 200.0, 1.0
WRITING = Scenario(name="writes", script="k6/scenarios/ramp.js", phases=())
REQUESTS = 200  # searches, at least: fewer carry no p95
SCRIPT = "k6/scenarios/beside.js"
ALONE, BESIDE, WRITES = "alone", "beside", "beside-writes"  # folders
LOGS = "logs"
WARM_UP, WARM_UP_WRITES = "beside-warm-up", "beside-warm-up-writes"  # folders while a stage lasts
CONTENT_FILE = "content.json"


@dataclass(frozen=True, kw_only=True)
class Written:
    """The writes, when their load had ended."""

    run_id: str
    plan: ArrivalPlan
    taken: Ledger
    dropped: int
    seen: Seen | None  # when the store showed the sampled ones

    @property
    def acknowledged(self) -> NDArray[np.int64]:
        """Sequences, ascending."""
        return _acknowledged(self.taken)


@dataclass(frozen=True, kw_only=True)
class Meeting:
    """What both loads need."""

    rig: Rig
    corpus: Corpus
    mode: SearchMode
    questions: Path
    client: Client


def beside(capacity_per_s: float, meeting: Meeting) -> Beside:
    """capacity_per_s: of searches. Adds posts to the store."""
    rig, phase = meeting.rig, meeting.rig.bench.progress.phase
    rate = rounded(SHARE * capacity_per_s)
    seconds = max(rig.spec.hold_seconds, float(math.ceil(REQUESTS / rate)))
    plan = _searches(meeting, rate, seconds)

    def search_alone() -> tuple[Loaded, None]:
        phase(f"searches alone, {rate:,g}/s")
        quiet = searching(rig, meeting.questions, added_meanwhile=False)
        return load(quiet, plan, rig.spec.folder / ALONE), None

    def search_and_write() -> tuple[Loaded, Written]:
        phase(f"searches, {rate:,g}/s, with writes, {WRITES_PER_S:g}/s")
        writing = _write_plan(seconds, WRITES_PER_S)
        return _both(meeting, plan, writing, _writes(meeting, writing, WRITES))

    alone, _, noise_alone = undisturbed(rig, search_alone, ALONE)
    require_whole(rig, "during searches alone")
    _warm_up(meeting, rate)
    searched, written, noise = undisturbed(rig, search_and_write, BESIDE, WRITES)
    require_whole(rig, "during searches with writes")
    phase("search for every write")
    figures = measured.figures(written.plan, written.taken, written.dropped)
    visible_ms = measured.time_to_visible(written.taken, written.seen).time_to_visible_ms
    return Beside(
        search_rate_per_s=rate,
        write_rate_per_s=WRITES_PER_S,
        seconds=seconds,
        warm_up_seconds=2 * WARM_UP_S,
        search_latency_ms=searched.figures.planned_latency_ms,
        write_latency_ms=figures.planned_latency_ms,
        alone_latency_ms=alone.figures.planned_latency_ms,
        visible_ms_median=None if visible_ms is None else visible_ms.median,
        visible_ms_p95=None if visible_ms is None else visible_ms.p95,
        writes_acknowledged=len(written.acknowledged),
        writes_found=found(written, meeting),
        wrong_answers=_wrong(alone) + _wrong(searched),
        noise=tuple(dict.fromkeys((*noise_alone, *noise))),
    )


def warm_searches(capacity_per_s: float, meeting: Meeting) -> None:
    """What a search for capacity leaves warm, on a stack that has searched for none. Nothing stays of it."""
    rig, rate = meeting.rig, rounded(SHARE * capacity_per_s)
    seconds = 2 * WARM_UP_S
    rig.bench.progress.phase(f"warm-up with searches, {seconds:.0f} s")
    quiet = searching(rig, meeting.questions, added_meanwhile=False)
    load(quiet, _searches(meeting, rate, seconds), rig.spec.folder / WARM_UP)
    shutil.rmtree(rig.spec.folder / WARM_UP)


def set_aside(folder: Path) -> None:
    """What these loads left in a reading's folder, and the logs of their stack; kept beside what will replace it."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith((ALONE, BESIDE, LOGS)) and "-replaced-" not in path.name:
            shared.set_aside(path)


def undisturbed(
    rig: Rig, make: Callable[[], tuple[Loaded, T]], *folders: str
) -> tuple[Loaded, T, tuple[str, ...]]:
    """A load, made again on a quieter host while noise spoils it, as a hold is; and what spoilt the last one.

    folders: of its files; those of a spoilt one stay beside them as `<name>-noise-<number>`.
    """
    number = 0
    while True:
        before = rig.bench.cage.measure()
        loaded, more = make()
        noise = (*reasons(loaded.withheld), *slower(before, rig.bench.cage.measure()))
        if not noise or number == MOST_REPEATS:
            return loaded, more, noise
        number += 1
        rig.bench.progress.say(f"  discarded: {'; '.join(noise)}")
        for name in folders:
            (rig.spec.folder / name).rename(rig.spec.folder / f"{name}-noise-{number}")
        wait_for_quiet(rig)


def _searches(meeting: Meeting, rate_per_s: float, seconds: float) -> ArrivalPlan:
    return plan_of(Step(kind="search", rate_per_s=rate_per_s, seconds=seconds), meeting.rig.spec.slo_ms)


def _warm_up(meeting: Meeting, rate_per_s: float) -> None:
    """Nothing stays of it but its posts, which are older than those that are measured."""
    rig = meeting.rig
    stages = (
        ("writes", min(WARM_UP_SEARCHES_PER_S, rate_per_s), WARM_UP_WRITES_PER_S),
        ("searches with writes", rate_per_s, WRITES_PER_S),
    )
    for words, searches_per_s, writes_per_s in stages:
        rig.bench.progress.phase(f"warm-up with {words}, {WARM_UP_S:.0f} s")
        writes = _writes(meeting, _write_plan(WARM_UP_S, writes_per_s), WARM_UP_WRITES)
        load(
            _mixed(meeting), _searches(meeting, searches_per_s, WARM_UP_S), rig.spec.folder / WARM_UP, writes
        )
        for name in (WARM_UP, WARM_UP_WRITES):
            shutil.rmtree(rig.spec.folder / name)


def _mixed(meeting: Meeting) -> Rig:
    """The rig as it is loaded with both."""
    rig = meeting.rig
    mixed = searching(rig, meeting.questions, added_meanwhile=True)
    scenario = dataclasses.replace(rig.spec.scenario, script=SCRIPT)
    return dataclasses.replace(mixed, spec=dataclasses.replace(rig.spec, scenario=scenario))


def _both(
    meeting: Meeting, plan: ArrivalPlan, writing: ArrivalPlan, writes: k6.Load
) -> tuple[Loaded, Written]:
    """writing: the plan of the writes."""
    rig = meeting.rig
    try:
        with visible.Prober.of(rig.truth.store, writes, rig.spec.seed) as prober:
            searched = load(_mixed(meeting), plan, rig.spec.folder / BESIDE, writes)
            result = required(searched.driven.result.beside)
            taken = loading.keep_ledger(result, writes.folder)
            prober.settle(taken)
    except BaseException:
        loading.rescue_ledger(writes.folder)
        raise
    seen = prober.seen()
    if seen is not None:
        raw.save_visible(seen, writes.folder / raw.VISIBLE_FILE)
    dropped = loading.dropped(result, writing, taken)
    return searched, Written(run_id=writes.run_id, plan=writing, taken=taken, dropped=dropped, seen=seen)


def _write_plan(seconds: float, rate_per_s: float) -> ArrivalPlan:
    """As long as the searches."""
    return arrival_plan([Phase(name="writes", seconds=seconds, from_per_s=rate_per_s, to_per_s=rate_per_s)])


def _writes(meeting: Meeting, plan: ArrivalPlan, name: str) -> k6.Load:
    """Of lines that a search must find. name: of its folder."""
    rig, written = meeting.rig, meeting.corpus.written
    run_id, folder = new_run_id(), rig.spec.folder / name
    folder.mkdir(parents=True, exist_ok=True)
    content = folder / CONTENT_FILE
    written.write(content)
    facts = {"run_id": run_id, **loading.plan_facts(plan, rig.spec.seed, written)}
    loading.write_json(folder / loading.PLAN_FILE, facts)
    return loading.load_of(WRITING, _writing(meeting, content), rig.stack, plan, run_id, folder)


def _writing(meeting: Meeting, content: Path) -> Bench:
    return dataclasses.replace(meeting.rig.bench, content=content)


def found(written: Written, meeting: Meeting) -> int:
    """How many acknowledged writes every search finds that must find them, after a refresh."""
    meeting.rig.truth.count()  # refreshes
    lines = meeting.corpus.written.lines
    keywords = [keyword.text for keyword in meeting.corpus.keywords]
    ruled = lines_of(lines, keywords)
    acknowledged = written.acknowledged
    missing: set[int] = set()
    for keyword in keywords:
        holds = np.isin(acknowledged % len(lines), ruled[keyword].of(meeting.mode))
        wanted = set(acknowledged[holds].tolist())
        if wanted:
            missing |= wanted - _searched(keyword, written.run_id, meeting.client)
    return len(acknowledged) - len(missing)


def _searched(keyword: str, run_id: str, client: Client) -> set[int]:
    """Writes of the run that a search finds: they are younger than all other posts."""
    sequences: set[int] = set()
    cursor: str | None = None
    while True:
        ids, cursor = client.page(keyword, cursor)
        decoded = [decode_id(post_id) for post_id in ids]
        ours = {known[1] for known in decoded if known is not None and known[0] == run_id}
        sequences |= ours
        if cursor is None or len(ours) < len(ids):
            return sequences


def _acknowledged(taken: Ledger) -> NDArray[np.int64]:
    sequences: NDArray[np.int64] = taken.records["seq"][taken.outcomes() == Outcome.ACKNOWLEDGED]
    return sequences


def _wrong(loaded: Loaded) -> int:
    return int((loaded.taken.records["error_code"] == WRONG_TOTAL).sum())
