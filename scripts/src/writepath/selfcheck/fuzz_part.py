"""Does any of 100,000 generated requests get an answer that the OpenAPI document forbids, or leave a forbidden post?"""

import os
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from writepath import lock
from writepath.config import registry
from writepath.progress import minutes
from writepath.runtime.native import NativeRuntime
from writepath.selfcheck import changed, fuzzing
from writepath.selfcheck.fuzzing import Finding, Fuzzed
from writepath.selfcheck.scale import missed

ROOT = Path(__file__).resolve().parents[4]
VARIANT = "jpa"
CASES = 100_000
EXAMPLES = 150  # of each operation in a round, after which it says how much is left
CHANGED = 9  # changed requests for each one that schemathesis made: 20 times as fast
SEED = 26
_SHOWN = 10  # findings that are printed whole


def run(say: Callable[[str], None], cases: int = CASES, examples: int = EXAMPLES) -> bool:
    """Whether there is no finding; a line for what is left, the findings and the sums."""
    variant = registry.load(ROOT).variant(VARIANT)
    runtime = NativeRuntime(ROOT)
    with lock.exclusive(ROOT / ".writepath", "bench-harness"):
        runtime.reap(say)
        runtime.prepare([variant], say)
        with runtime.start(variant, overrides={}, say=say) as stack:
            found = _tried(stack.base_url, cases, examples, say)
            began = time.monotonic()
            wrong = fuzzing.wrong_posts(stack.base_url, stack.inspector_urls(variant.inspector)[0], found)
            say(f"  {len(found.created):,} created posts read back in {time.monotonic() - began:.0f} s")
    kinds = Counter(one.what for one in found.findings)
    examples_of = {one.what: one.request for one in found.findings}
    for what, count in kinds.most_common(_SHOWN):
        say(f"  {count} times: {what}\n    {examples_of[what]}")
    for line in wrong[:_SHOWN]:
        say(f"  stored: {line}")
    sums = Counter(found.statuses)
    say("  " + ", ".join(f"{status}: {count:,}" for status, count in sums.most_common()))
    good = not found.findings and not wrong
    say(f"  {fuzzing.line(VARIANT, found)}, {len(wrong)} wrong posts stored (goal 0 of both){missed(good)}")
    return good


def _tried(base_url: str, cases: int, examples: int, say: Callable[[str], None]) -> Fuzzed:
    """Rounds of other seeds, one on each processor at a time, until there are so many cases."""
    began = time.monotonic()
    workers = len(os.sched_getaffinity(0))
    rounds: list[Fuzzed] = []
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        while sum(one.tried for one in rounds) < cases:
            seeds = range(SEED + len(rounds), SEED + len(rounds) + workers)
            rounds += pool.map(partial(_round, base_url, examples), seeds)
            took_s, so_far = time.monotonic() - began, sum(one.tried for one in rounds)
            left_s = took_s / so_far * max(0, cases - so_far)
            findings = sum(len(one.findings) for one in rounds)
            say(f"  {so_far:,} of {cases:,} cases, {findings} findings, {minutes(left_s)} left")
    return fuzzing.together(rounds, time.monotonic() - began)


def _round(base_url: str, examples: int, seed: int) -> Fuzzed:
    """Examples and edges are the same for each seed: the first round alone tries them."""
    phases = fuzzing.PHASES if seed == SEED else fuzzing.RANDOM_PHASES
    contract = fuzzing.document()
    made = fuzzing.fuzz(contract, base_url, examples=examples, seed=seed, queued=False, phases=phases)
    tried = changed.send(contract, base_url, made.requests, cases=CHANGED * made.tried, seed=seed)
    return replace(
        made,
        cases={**made.cases, "changed": CHANGED * made.tried},
        statuses=Counter(made.statuses) + tried.statuses,
        findings=(*made.findings, *(Finding(what=what, request=request) for what, request in tried.findings)),
        created=made.created | tried.created,
        requests=(),
    )
