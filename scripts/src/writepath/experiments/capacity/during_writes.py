"""Measures searches during writes: half of the search capacity, alone and then with a write load.

Both are warm by then: a store and a service that have searched but not written yet take several times as long, and an
open load that finds them so queues up behind its first second. Afterwards every acknowledged write is searched for, by
each of the keywords that must find it.
"""

import dataclasses
import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from writepath.analysis import raw
from writepath.analysis.during_writes import ALONE, FOLDERS, SEARCHES, WRITES
from writepath.analysis.verdict import noise_reasons, slower_reasons
from writepath.config.registry import Scenario
from writepath.experiments.capacity.path import WarmPath, canary, constant, sent_facts, wait_for_quiet
from writepath.experiments.capacity.stepper import MOST_REPEATS, rounded
from writepath.load import k6
from writepath.load.corpus import Corpus, lines_of
from writepath.load.ledger import Ledger, Outcome
from writepath.load.plan import ArrivalPlan, decode_id, new_run_id
from writepath.measure import loading, visible
from writepath.measure.searchable import Client
from writepath.records.search import SearchMode
from writepath.records.search_load import DuringWritesFacts
from writepath.records.steps import SentFacts

SHARE = 0.5  # of the capacity for searches
WRITES_PER_S = 50.0
WARM_UP_S = 30.0  # of each stage
# First writes as good as alone: with cold ones (Elasticsearch's first took three times the processor time of a warm
# one) searches queue up, and most of what should warm the path is turned away. Then both, as they are measured.
WARM_UP_WRITES_PER_S, WARM_UP_SEARCHES_PER_S = 200.0, 1.0
WRITING = Scenario(name="writes", script="k6/scenarios/ramp.js", phases=())
REQUESTS = 200  # searches, at least: fewer carry no p95
SCRIPT = "k6/scenarios/beside.js"
WARM_UP, WARM_UP_WRITES = "warm-up", "warm-up-writes"  # folders while a stage lasts
CONTENT_FILE = "content.json"


@dataclass(frozen=True, kw_only=True)
class Written:
    """The writes, when their load had ended."""

    sent: SentFacts
    taken: Ledger

    @property
    def acknowledged(self) -> NDArray[np.int64]:
        """Sequences, ascending."""
        sequences: NDArray[np.int64] = self.taken.records["seq"][
            self.taken.outcomes() == Outcome.ACKNOWLEDGED
        ]
        return sequences


def measure(path: WarmPath, corpus: Corpus, client: Client, capacity_per_s: float) -> DuringWritesFacts:
    """capacity_per_s: of searches. Leaves a folder of raw files for each load."""
    run, slo_ms = path.run, path.facts.slo_ms
    rate = rounded(SHARE * capacity_per_s)
    seconds = max(path.facts.step_seconds, float(math.ceil(REQUESTS / rate)))
    searches = constant("searches", rate, seconds, slo_ms)
    written: list[Written] = []

    def alone() -> SentFacts:
        with run.step("load", f"searches alone, {rate:,g}/s"):
            return path.send(path.load(searches, run.folder / FOLDERS[ALONE]))[0]

    def together() -> SentFacts:
        writes = constant("writes", WRITES_PER_S, seconds, slo_ms)
        with run.step("load", f"searches, {rate:,g}/s, with writes, {WRITES_PER_S:g}/s"):
            sent, own = _both(path, corpus, searches, writes)
        written.append(own)
        return sent

    sent_alone, noise_alone = undisturbed(path, alone, FOLDERS[ALONE])
    path.require_whole("during searches alone")
    warm_up(path, corpus, rate)
    sent, noise = undisturbed(path, together, FOLDERS[SEARCHES], FOLDERS[WRITES])
    path.require_whole("during searches with writes")
    with run.step("search for every write"):
        path.truth.count()  # refreshes
        mode = path.facts.searches.data_set.mode if path.facts.searches is not None else "substring"
        writes_found = found(written[-1], corpus, mode, client)
    return DuringWritesFacts(
        search_rate_per_s=rate,
        write_rate_per_s=WRITES_PER_S,
        seconds=seconds,
        alone=sent_alone,
        searches=sent,
        writes=written[-1].sent,
        writes_found=writes_found,
        warm_up_seconds=2 * WARM_UP_S,
        noise=tuple(dict.fromkeys((*noise_alone, *noise))),
    )


def undisturbed(
    path: WarmPath, send: Callable[[], SentFacts], *folders: str
) -> tuple[SentFacts, tuple[str, ...]]:
    """A load, retried on a quieter host while noise disturbs it, as a step is; and the noise of the last one.

    folders: of its files; those of a noisy one stay next to them as `<name>-noise-<number>`.
    """
    number = 0
    while True:
        before = canary(path.run)
        sent = send()
        withheld = () if sent.withheld is None else noise_reasons(sent.withheld)
        noise = (*withheld, *slower_reasons(before, canary(path.run)))
        if not noise or number == MOST_REPEATS:
            return sent, noise
        number += 1
        path.run.bench.progress.say(f"  discarded: {'; '.join(noise)}")
        for name in folders:
            (path.run.folder / name).rename(path.run.folder / f"{name}-noise-{number}")
        wait_for_quiet(path.run.bench)


def warm_up(path: WarmPath, corpus: Corpus, rate_per_s: float) -> None:
    """Nothing stays of it but its posts, which are older than those that are measured."""
    run, slo_ms = path.run, path.facts.slo_ms
    stages = (
        ("writes", min(WARM_UP_SEARCHES_PER_S, rate_per_s), WARM_UP_WRITES_PER_S),
        ("searches with writes", rate_per_s, WRITES_PER_S),
    )
    for words, searches_per_s, writes_per_s in stages:
        searches = constant("searches", searches_per_s, WARM_UP_S, slo_ms)
        writes = _writes(
            path, corpus, constant("writes", writes_per_s, WARM_UP_S, slo_ms), run.folder / WARM_UP_WRITES
        )
        with run.step("warm-up", f"warm-up with {words}, {WARM_UP_S:.0f} s"):
            path.send(_mixed(path, searches, run.folder / WARM_UP, writes))
        for name in (WARM_UP, WARM_UP_WRITES):
            shutil.rmtree(run.folder / name)


def _mixed(path: WarmPath, searches: ArrivalPlan, folder: Path, writes: k6.Load) -> k6.Load:
    """Both, sent by the same k6; totals may be above what they were before the load."""
    return dataclasses.replace(
        path.load(searches, folder),
        script=path.run.bench.root / SCRIPT,
        variables={"BENCH_TOTAL": "at-least"},
        beside=writes,
    )


def _both(
    path: WarmPath, corpus: Corpus, searches: ArrivalPlan, plan: ArrivalPlan
) -> tuple[SentFacts, Written]:
    folder = path.run.folder / FOLDERS[WRITES]
    writes = _writes(path, corpus, plan, folder)
    with visible.Prober.of(path.truth.store, writes, path.run.seed) as prober:
        sent, driven = path.send(_mixed(path, searches, path.run.folder / FOLDERS[SEARCHES], writes))
        taken, result = driven.beside, driven.result.beside
        if taken is None or result is None:
            raise AssertionError("the load has writes")
        prober.settle(taken)
    if (seen := prober.seen()) is not None:
        raw.save_visible(seen, folder / raw.VISIBLE_FILE)
    return sent, Written(sent=sent_facts(writes.run_id, driven, result, taken), taken=taken)


def _writes(path: WarmPath, corpus: Corpus, plan: ArrivalPlan, folder: Path) -> k6.Load:
    """Of lines that a search must find."""
    run, run_id = path.run, new_run_id()
    folder.mkdir(parents=True, exist_ok=True)
    content = folder / CONTENT_FILE
    corpus.written.write(content)
    loading.save_plan(run_id, plan, run.seed, corpus.written, folder)
    bench = dataclasses.replace(run.bench, content=content)
    return loading.load_of(WRITING, bench, path.stack, plan, run_id, folder)


def found(written: Written, corpus: Corpus, mode: SearchMode, client: Client) -> int:
    """How many acknowledged writes every search finds that must find them, after a refresh."""
    lines, acknowledged = corpus.written.lines, written.acknowledged
    ruled = lines_of(lines, corpus.keywords)
    missing: set[int] = set()
    for keyword in corpus.keywords:
        wanted = set(acknowledged[np.isin(acknowledged % len(lines), ruled[keyword][mode])].tolist())
        if wanted:
            missing |= wanted - _searched(keyword, written.sent.run_id, client)
    return len(acknowledged) - len(missing)


def _searched(keyword: str, run_id: str, client: Client) -> set[int]:
    """Writes of the run that a search finds: they are younger than all other posts."""
    sequences: set[int] = set()
    for ids in client.ids(keyword):
        decoded = [decode_id(post_id) for post_id in ids]
        ours = {known[1] for known in decoded if known is not None and known[0] == run_id}
        sequences |= ours
        if len(ours) < len(ids):
            break
    return sequences
