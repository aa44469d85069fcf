"""Warms a started stack before its load, until the path is steady or for a time; trains applications."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from writepath.analysis import warm_up as rule
from writepath.analysis.stats import US_PER_MS, US_PER_S
from writepath.config.registry import Scenario, Variant
from writepath.config.settings import Factor
from writepath.errors import LoadError
from writepath.load import k6
from writepath.load.ledger import Tail
from writepath.load.plan import ClosedPlan, encode_id, new_run_id
from writepath.measure.loading import TICK_S, Bench, load_of
from writepath.measure.rows import content_hashes
from writepath.measure.sampler import K6
from writepath.measure.truth import Truth
from writepath.records.warm_up import WarmUpFacts, WarmUpWindow
from writepath.runtime import aot
from writepath.runtime.base import Stack

SHORT_S = 5.0  # on a stack that an earlier cell has warmed: only its stores were restarted since
WINDOW_S = 4.0
# First more users than a path lets in: it refuses many. Code that was compiled without a refusal is compiled anew at
# the first one, for 10 to 20 s, in which the path carries next to nothing.
CROWD = ClosedPlan(virtual_users=512, seconds=8.0)


def warm_up(
    scenario: Scenario, bench: Bench, stack: Stack, truth: Truth, folder: Path, *, warm: bool = False
) -> WarmUpFacts | None:
    """As the scenario says; nothing stays of the requests. folder: where a failure leaves its traces.

    warm: by an earlier cell. None where the path was not asked to become steady.
    """
    if (asked := scenario.warm_up) is None:
        return None
    place, found = folder / "warm-up", None
    place.mkdir(exist_ok=True)
    seconds = min(SHORT_S, asked.seconds) if warm else asked.seconds
    plan = ClosedPlan(virtual_users=asked.virtual_users, seconds=seconds)
    load = load_of(scenario, bench, stack, plan, new_run_id(), place)
    prefixes = bench.runtime.load_generator(stack.network)
    if asked.at_most_seconds is None or warm:
        with k6.Generator(load, prefixes) as generator:
            _require_acknowledged(generator, Tail(load.ledger))
    else:
        found = _until_steady(load, prefixes, stack, lambda: rehearse(truth, writes=scenario.reads is None))
        bench.progress.say(f"  {rule.in_words(found)}")
    shutil.rmtree(place)  # excluded from every figure, so it must not lie beside them
    return found


def _until_steady(
    load: k6.Load, prefixes: Sequence[Sequence[str]], stack: Stack, between: Callable[[], None]
) -> WarmUpFacts:
    """On all processors; then, once the runner has asked what it asks, on those that the path will have."""
    began_s = time.monotonic()
    with stack.spread():
        k6.run(replace(load, plan=CROWD, run_id=new_run_id()), prefixes)
        between()
        windows, steady = _windows_of(load, prefixes, stack)
        between()
    if steady:
        again = replace(load, run_id=new_run_id())
        more, steady = _windows_of(again, prefixes, stack, after_s=windows[-1].until_s)
        windows += more
    return WarmUpFacts(
        seconds=round(time.monotonic() - began_s, 3),
        virtual_users=load.plan.virtual_users,
        steady=steady,
        windows=tuple(windows),
    )


def _windows_of(
    load: k6.Load, prefixes: Sequence[Sequence[str]], stack: Stack, after_s: float = 0.0
) -> tuple[list[WarmUpWindow], bool]:
    """Until the path is steady or the load ends. after_s: of the windows before."""
    tail, windows, steady = Tail(load.ledger), list[WarmUpWindow](), False
    with k6.Generator(load, prefixes) as generator:
        for window in _windows(generator, tail, stack, load.plan.seconds):
            windows.append(replace(window, until_s=round(after_s + window.until_s, 3)))
            if steady := rule.is_steady(windows):
                break
        generator.stop()
        _require_acknowledged(generator, tail)
    return windows, steady


def _require_acknowledged(generator: k6.Generator, tail: Tail) -> None:
    result = generator.result()
    if not tail.poll().acknowledged:
        raise LoadError(
            f"no request of the warm-up was acknowledged; k6: {result.meaning}; see warm-up/k6.log"
        )


# Code that meets a class for which it was not compiled is compiled anew at the fourth time (PerBytecodeTrapLimit), so
# that a rehearsal of one time would leave the next ones to the loads.
TRAPS = 5


def rehearse(truth: Truth, *, writes: bool) -> None:
    """Asks the path what is asked before, during and after each load; only the requests of a load are left to compile.

    A JVM compiles hot code without the branches that no request has taken. The first one that takes them sends whole
    call chains back to the interpreter: on one processor a write then costs two to three times as much, for seconds.
    The proxy gives each request to the next instance: a write and as many reads as instances end one further.
    """
    run_id, instances = new_run_id(), len(truth.ingress.urls)
    for _ in range(TRAPS):
        if writes:
            truth.read(run_id, content_hashes(["warm-up"]))
            truth.empty()
            truth.verify_one_write(run_id, "warm-up", reads=instances)
            truth.store.visible([encode_id(run_id, 0)])
            truth.reading()
        truth.gauges()


def _windows(generator: k6.Generator, tail: Tail, stack: Stack, at_most_s: float) -> Iterator[WarmUpWindow]:
    """Whole ones, from the first answer on."""
    while generator.running() and not tail.poll().finished:
        time.sleep(TICK_S)
    began_s = at_s = time.monotonic()
    used_s, answered_us = cpu_seconds(stack), []
    while generator.running() and time.monotonic() - began_s < at_most_s:
        time.sleep(TICK_S)
        answered_us.append(tail.poll().acknowledged_us)
        now_s = time.monotonic()
        if now_s - at_s < WINDOW_S:
            continue
        now_used_s, durations_us = cpu_seconds(stack), np.concatenate(answered_us)
        count = len(durations_us)
        yield WarmUpWindow(
            until_s=round(now_s - began_s, 3),
            rate_per_s=round(count / (now_s - at_s), 3),
            cpu_us_per_request=round((now_used_s - used_s) * US_PER_S / count, 1) if count else None,
            median_ms=round(float(np.median(durations_us)) / US_PER_MS, 3) if count else None,
        )
        at_s, used_s, answered_us = now_s, now_used_s, []


def cpu_seconds(stack: Stack) -> float:
    """Used so far by all components but the load generator."""
    return sum(used.cpu_seconds for name, used in stack.usage().items() if name != K6)


TRAINING = Scenario(name="training", script="k6/scenarios/ramp.js", phases=())
TRAINING_PLAN = ClosedPlan(virtual_users=32, seconds=30)


def is_training_asked(settings: Mapping[str, str], factors: Iterable[Factor]) -> bool:
    """Whether any cell starts its applications with trained caches."""
    levels = [level for factor in factors if factor.name == aot.SETTING for level in factor.levels]
    return aot.TRAINED in (settings.get(aot.SETTING), *levels)


def train(bench: Bench, variant: Variant, settings: Mapping[str, str]) -> None:
    """Makes the ahead-of-time caches that its applications lack, of a load of writes, once per build.

    settings: of which the images count.
    """
    runtime, say = bench.runtime, bench.progress.say
    names = runtime.untrained(variant)
    if not names:
        return
    say(f"{variant.name}: training run for the ahead-of-time cache of {', '.join(names)}, once per build")
    images = {name: value for name, value in settings.items() if name.endswith("_IMAGE")}
    with (
        runtime.start(variant, overrides={**images, **aot.TRAINING}, say=say) as stack,
        Truth.of(stack, variant) as truth,
        tempfile.TemporaryDirectory(prefix="training-", dir=bench.content.parent) as folder,
    ):
        for plan in (CROWD, TRAINING_PLAN):
            load = load_of(TRAINING, bench, stack, plan, new_run_id(), Path(folder))
            k6.run(load, runtime.load_generator(stack.network))
            rehearse(truth, writes=True)
        for name in names:
            stack.terminate(name)
            runtime.make_cache(stack, name)
