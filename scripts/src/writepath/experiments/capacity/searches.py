"""Measures a capacity run of searches; once the capacity is known, half of it alone and then with a write load.

Both are warm by then: a store and a service that have searched but not written yet take several times as long, and an
open load that finds them so queues up behind its first second. Afterwards every acknowledged write is searched for, by
each of the keywords that must find it.
"""

import dataclasses
import itertools
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from writepath.analysis.during_writes import ALONE, FOLDERS, SEARCHES, WRITES
from writepath.analysis.stats import Ints
from writepath.analysis.steps import rounded
from writepath.analysis.verdict import noise_reasons, slower_reasons
from writepath.config.registry import Scenario
from writepath.experiments.base import CellRun, Session
from writepath.experiments.capacity.stepper import MOST_REPEATS
from writepath.experiments.warm_path import WarmPath, constant, sent_facts, wait_for_quiet
from writepath.load import k6
from writepath.load.corpus import Corpus, lines_of, write_questions
from writepath.load.ledger import SEARCH
from writepath.load.plan import ArrivalPlan, decode_id, new_run_id
from writepath.measure import loading, searchable, visible
from writepath.measure.searchable import Client
from writepath.records.search import SearchMode
from writepath.records.search_load import DuringWritesFacts, SearchLoadFacts
from writepath.records.steps import SentFacts, StepFacts

T = TypeVar("T")

BEGINS = 0.25  # of what one client reached, one search after the other: a path that is idle most of the time
QUESTIONS_FILE, CONTENT_FILE = "questions.json", "content.json"
ONE_CLIENT_WARM_UP_S = 20.0  # a store that is a Java program is as slow to start as an application
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


class Searches(WarmPath):
    """GETs of a keyword's first page, each compared with the total that it must have."""

    request = SEARCH

    def __init__(self, run: CellRun, session: Session) -> None:
        """With the posts and keywords of the run's seed."""
        super().__init__(run, session)
        self.corpus = Corpus.of(run.dataset, run.params.documents, (), run.seed)
        self._questions = run.folder / QUESTIONS_FILE

    def prepare(self) -> float:
        """Proved to write, filled with posts, each keyword's total known, and warm."""
        run, progress = self.run, self.run.bench.progress
        self.verify()
        self.truth.empty()
        with run.step("load posts"):
            data_set = searchable.filled(self.corpus, self.truth, progress)
        with Client(self.stack.base_url) as client:
            with run.step("totals"):
                totals, hits = searchable.totals(self.corpus, data_set.mode, client, progress)
            with run.step("warm-up"):
                one_client_ms = searchable.warm_up(self.corpus, client, ONE_CLIENT_WARM_UP_S)
        write_questions(self.corpus.drawn, totals, self._questions)
        self.know(searches=SearchLoadFacts(data_set=data_set, hits=hits))
        progress.say(f"  one client waited {one_client_ms:.1f} ms for a first page on average")
        return BEGINS * 1000 / one_client_ms

    def before_load(self) -> None:
        """The posts stay."""

    def after_step(self, step: StepFacts) -> StepFacts:
        """Searches leave nothing to look at: their answers say all."""
        return step

    def load(self, plan: ArrivalPlan, folder: Path) -> k6.Load:
        """With keywords in the place of posts."""
        variables = {"BENCH_TOTAL": "exactly"}
        return dataclasses.replace(super().load(plan, folder), content=self._questions, variables=variables)

    def beyond(self, capacity_per_s: float) -> None:
        """Half of the capacity, alone and during writes. Adds posts to the store."""
        facts = self.facts.searches
        if facts is not None:
            measured = during_writes(self, rounded(SHARE * capacity_per_s), facts.data_set.mode)
            self.know(searches=dataclasses.replace(facts, during_writes=measured))


def during_writes(path: Searches, per_s: float, mode: SearchMode) -> DuringWritesFacts:
    """per_s: of searches. Leaves a folder of raw files for each load."""
    run = path.run
    seconds = max(path.facts.step_seconds, float(math.ceil(REQUESTS / per_s)))
    searches = constant("searches", per_s, seconds, path.facts.slo_ms)

    def alone() -> tuple[SentFacts, object]:
        with run.step("load", f"searches alone, {per_s:,g}/s"):
            return path.send(path.load(searches, run.folder / FOLDERS[ALONE]))

    def together() -> tuple[SentFacts, tuple[SentFacts, Ints]]:
        with run.step("load", f"searches, {per_s:,g}/s, with writes, {WRITES_PER_S:g}/s"):
            return _both(path, per_s, seconds)

    sent_alone, _, noise_alone = undisturbed(path, alone, FOLDERS[ALONE])
    path.require_whole("during searches alone")
    warm_up(path, per_s)
    sent, (sent_writes, acknowledged), noise = undisturbed(path, together, FOLDERS[SEARCHES], FOLDERS[WRITES])
    path.require_whole("during searches with writes")
    with run.step("search for every write"), Client(path.stack.base_url) as client:
        path.truth.count()  # refreshes
        writes_found = found(sent_writes.run_id, acknowledged, path.corpus, mode, client)
    return DuringWritesFacts(
        search_rate_per_s=per_s,
        write_rate_per_s=WRITES_PER_S,
        seconds=seconds,
        alone=sent_alone,
        searches=sent,
        writes=sent_writes,
        writes_found=writes_found,
        warm_up_seconds=2 * WARM_UP_S,
        noise=tuple(dict.fromkeys((*noise_alone, *noise))),
    )


def undisturbed(
    path: WarmPath, send: Callable[[], tuple[SentFacts, T]], *folders: str
) -> tuple[SentFacts, T, tuple[str, ...]]:
    """A load, retried on a quieter host while noise disturbs it, as a step is; and the noise of the last one.

    folders: of its files; those of a noisy one stay next to them as `<name>-noise-<number>`.
    """
    for number in itertools.count(1):
        before = path.run.canary()
        sent, more = send()
        withheld = () if sent.withheld is None else noise_reasons(sent.withheld)
        noise = (*withheld, *slower_reasons(before, path.run.canary()))
        if not noise or number > MOST_REPEATS:
            break
        path.run.bench.progress.say(f"  discarded: {'; '.join(noise)}")
        for name in folders:
            (path.run.folder / name).rename(path.run.folder / f"{name}-noise-{number}")
        wait_for_quiet(path.run.bench)
    return sent, more, noise


def warm_up(path: Searches, per_s: float) -> None:
    """Nothing stays of it but its posts, which are older than those that are measured. per_s: of searches."""
    run = path.run
    stages = (
        ("writes", min(WARM_UP_SEARCHES_PER_S, per_s), WARM_UP_WRITES_PER_S),
        ("searches with writes", per_s, WRITES_PER_S),
    )
    for words, searches_per_s, writes_per_s in stages:
        folders = (run.folder / WARM_UP, run.folder / WARM_UP_WRITES)
        load, _ = _mixed(path, searches_per_s, writes_per_s, WARM_UP_S, folders)
        with run.step("warm-up", f"warm-up with {words}, {WARM_UP_S:.0f} s"):
            path.send(load)
        for folder in folders:
            shutil.rmtree(folder)


def _mixed(
    path: Searches, per_s: float, writes_per_s: float, seconds: float, folders: tuple[Path, Path]
) -> tuple[k6.Load, k6.Load]:
    """Searches with writes of lines that a search must find, sent by the same k6; and these writes alone.

    Totals may be above what they were before the load.
    """
    run, slo_ms, run_id, written = path.run, path.facts.slo_ms, new_run_id(), path.corpus.written
    folder, write_folder = folders
    write_folder.mkdir(parents=True, exist_ok=True)
    written.write(write_folder / CONTENT_FILE)
    plan = constant("writes", writes_per_s, seconds, slo_ms)
    loading.save_plan(run_id, plan, run.seed, written, write_folder)
    bench = dataclasses.replace(run.bench, content=write_folder / CONTENT_FILE)
    writes = loading.load_of(WRITING, bench, path.stack, plan, run_id, write_folder)
    searches = path.load(constant("searches", per_s, seconds, slo_ms), folder)
    script, variables = run.bench.root / SCRIPT, {"BENCH_TOTAL": "at-least"}
    return dataclasses.replace(searches, script=script, variables=variables, beside=writes), writes


def _both(path: Searches, per_s: float, seconds: float) -> tuple[SentFacts, tuple[SentFacts, Ints]]:
    """The searches; the writes, and the sequences of those that were acknowledged."""
    folders = (path.run.folder / FOLDERS[SEARCHES], path.run.folder / FOLDERS[WRITES])
    load, writes = _mixed(path, per_s, WRITES_PER_S, seconds, folders)
    with visible.Prober.of(path.truth.store, writes, path.run.seed) as prober:
        sent, driven = path.send(load)
        taken, result = driven.beside, driven.result.beside
        if taken is None or result is None:
            raise AssertionError("the load has writes")
        prober.settle(taken)
    prober.save(writes.folder)
    acknowledged = taken.records["seq"][taken.acknowledged()]
    return sent, (sent_facts(writes.run_id, driven, result, taken), acknowledged)


def found(run_id: str, acknowledged: Ints, corpus: Corpus, mode: SearchMode, client: Client) -> int:
    """How many acknowledged writes of a run every search finds that must find them, after a refresh."""
    lines = corpus.written.lines
    ruled = lines_of(lines, corpus.keywords)
    missing: set[int] = set()
    for keyword in corpus.keywords:
        wanted = set(acknowledged[np.isin(acknowledged % len(lines), ruled[keyword][mode])].tolist())
        if wanted:
            missing |= wanted - _searched(keyword, run_id, client)
    return len(acknowledged) - len(missing)


def _searched(keyword: str, run_id: str, client: Client) -> set[int]:
    """Writes of the run that a search finds: they are younger than all other posts."""
    sequences: set[int] = set()
    for ids in client.ids(keyword):
        ours = {known[1] for post_id in ids if (known := decode_id(post_id)) and known[0] == run_id}
        sequences |= ours
        if len(ours) < len(ids):
            break
    return sequences
