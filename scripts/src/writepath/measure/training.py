"""Trains the applications of a variant: a closed load of writes, then ahead-of-time caches of what they did."""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from writepath.config.registry import Variant
from writepath.config.settings import Factor
from writepath.load import k6
from writepath.load.plan import ClosedPlan, new_run_id
from writepath.measure.loading import Bench
from writepath.measure.warming import CROWD
from writepath.runtime import aot
from writepath.runtime.base import Stack

SCRIPT = "k6/scenarios/ramp.js"
PLAN = ClosedPlan(virtual_users=32, seconds=30)


def is_asked(settings: Mapping[str, str], factors: Iterable[Factor]) -> bool:
    """Whether any cell starts its applications with trained caches."""
    levels = [level for factor in factors if factor.name == aot.SETTING for level in factor.levels]
    return aot.TRAINED in (settings.get(aot.SETTING), *levels)


def train(bench: Bench, variant: Variant, settings: Mapping[str, str]) -> None:
    """Makes the caches that its applications lack, once per build. settings: of which the images count."""
    runtime, say = bench.runtime, bench.progress.say
    names = runtime.untrained(variant)
    if not names:
        return
    say(f"{variant.name}: training run for the ahead-of-time cache of {', '.join(names)}, once per build")
    images = {name: value for name, value in settings.items() if name.endswith("_IMAGE")}
    with runtime.start(variant, overrides={**images, **aot.TRAINING}, say=say) as stack:
        _load(bench, stack)
        for name in names:
            stack.terminate(name)
            runtime.make_cache(stack, name)


def _load(bench: Bench, stack: Stack) -> None:
    with tempfile.TemporaryDirectory(prefix="training-", dir=bench.content.parent) as folder:
        for plan in (CROWD, PLAN):
            asked = k6.Load(
                script=bench.root / SCRIPT,
                target=stack.load_url,
                run_id=new_run_id(),
                plan=plan,
                content=bench.content,
                folder=Path(folder),
                pid_folder=bench.pids,
            )
            k6.run(asked, bench.runtime.load_generator(stack.network))
