"""The commands that start something; what they need is imported when they run."""

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from writepath import lock, processors
from writepath.config import registry
from writepath.config.registry import Variant
from writepath.config.settings import OF_LOAD, Given, of_stack
from writepath.errors import INTERRUPTED, StartError, UsageError, WritepathError, worst
from writepath.options import STATE, Asked, Call
from writepath.options import Runtime as RuntimeName
from writepath.processors import Split
from writepath.runtime.base import Runtime, Stack

if TYPE_CHECKING:
    from writepath.experiments.base import Plan

WATCH_S = 1.0
PAIR = "pair"  # the suite
FAULTS, FAULT_HELP = "faults", "help"  # the suite, and FAULT=help, which lists the faults


def bench_all(call: Call, asked: Asked) -> int:
    """A suite, or some of its variants."""
    known = registry.load(call.root)
    if any(suite.kind == FAULTS for suite in known.members(asked.suite)):
        raise UsageError(
            f"SUITE={asked.suite}: run it with `make bench-faults`, which has FAULT, TRIALS and JOBS"
        )
    for variant in map(known.variant, asked.variants or ()):
        if variant.naive_twin_of is not None:
            raise UsageError(
                f"VARIANTS: '{variant.name}' is a weakened control and is not ranked with other variants;"
                f" run it alone: make bench VARIANT={variant.name}"
            )
    return bench(call, asked)


def bench_faults(call: Call, asked: Asked) -> int:
    """The suite of faults: variants x faults that apply to them."""
    from writepath.experiments.faults import kind

    if asked.of_kind.get("FAULT") == [FAULT_HELP]:
        print(kind.listing(call.root, registry.load(call.root).suite(FAULTS)))
        return 0
    asked.settings.require_single("`bench-faults` has a constant load")
    return bench(call, asked)


def bench(call: Call, asked: Asked) -> int:
    """A suite or a series of suites, or some of their variants, ranked or not."""
    from writepath.experiments import series

    plans, codes = series.plans(call, asked, print), list[int]()
    with lock.exclusive(call.state, call.text):
        for plan in plans:
            codes.append(_run(call, plan))
            if codes[-1] == INTERRUPTED:
                break
    return worst(codes)


def campaign(call: Call, asked: Asked, only: Sequence[str] | None) -> int:
    """Every suite that is published, or only some: measured, published and committed one after the other."""
    from writepath.experiments import campaign as campaigns

    with lock.exclusive(call.state, call.text):
        return campaigns.run(call, asked, lambda plan: _run(call, plan), print, only)


def _run(call: Call, plan: "Plan") -> int:
    """One suite run and its report; the exit code."""
    from writepath.experiments import engine, reporting
    from writepath.progress import Progress

    split = processors.choose(plan.processors, print)
    with ExitStack() as held:
        progress = held.enter_context(Progress())
        runtime = _ready_runtime(held, call, plan.runtime, plan.started, plan.settings, split, progress.say)
        code, folder = engine.run(plan, runtime, progress)
    if code != INTERRUPTED:
        try:  # the suite's own exit code counts
            reporting.report(call.root, folder)
        except WritepathError as error:
            print(f"no tables: {error}")
    return code


def up(
    call: Call, name: str, runtime_name: RuntimeName, asked: str, given: Given, *, observed: bool = False
) -> int:
    """Starts one variant and stays until Ctrl-C or `down`; ends with an error when a component is lost.

    observed: with Prometheus and Grafana, or the addresses to scrape.
    """
    from writepath.runtime import delay, observe

    variant = registry.load(call.root).variant(name)
    given.require_single("`up` runs one cell")
    given.refuse(OF_LOAD, "`up` runs no load")
    split = processors.choose(asked, print)
    with ExitStack() as held:
        held.enter_context(lock.exclusive(call.state, call.text))
        runtime = _ready_runtime(held, call, runtime_name, [variant], given.values, split)
        start = delay.started(
            runtime,
            call.root,
            variant,
            overrides={**of_stack(given.values), **(observe.HISTOGRAM if observed else {})},
            say=print,
            profiles=observe.profiles(runtime) if observed else (),
        )
        stack = held.enter_context(start)
        applications = dict.fromkeys((variant.ingress, variant.inspector))
        more = observe.addresses(call.root, stack, applications) if observed else []
        print(_addresses(variant, stack, more), flush=True)
        while not (lost := stack.lost_components()):
            time.sleep(WATCH_S)
    raise StartError(f"component lost: {'; '.join(lost)}")


def down(call: Call, *, remove: bool = False) -> int:
    """Ends a running `up` and whatever a killed command left behind. remove: everything but results, too."""
    lock.interrupt(call.state, "up ")
    with lock.exclusive(call.state, call.command):
        _reap(call.root, print)
        if remove:
            shutil.rmtree(call.state, ignore_errors=True)
            print(f"removed {STATE}; results/ is kept")
    return 0


def setup(call: Call, runtime_name: RuntimeName) -> int:
    """Everything a run needs, once."""
    with ExitStack() as held, lock.exclusive(call.state, call.text):
        _ready_runtime(held, call, runtime_name, list(registry.load(call.root).variants.values()), {})
    print("setup complete")
    return 0


def contract_test(call: Call, runtime_name: RuntimeName, variants: list[str]) -> int:
    """The HTTP contract of these variants; `all` stands for every one that keeps it."""
    known = registry.load(call.root)
    for name in variants if variants != ["all"] else ():
        known.variant(name)
    return script(call, "contract-test.sh", runtime_name, ",".join(variants))


def script(call: Call, name: str, *words: str) -> int:
    """Becomes a script of scripts/: signals are its own."""
    from writepath import process

    process.replace_self(call.root / "scripts" / name, *words)
    return 0


def _ready_runtime(
    held: ExitStack,
    call: Call,
    name: RuntimeName,
    variants: Sequence[Variant],
    settings: Mapping[str, str],
    split: Split | None = None,
    say: Callable[[str], None] = print,
) -> Runtime:
    """Chosen, cleared of what a killed command left, and with everything a start needs. The lock is taken.

    What is built may use all processors; after it this process keeps to the load generator's.
    """
    from writepath.runtime import choose

    _reap(call.root, say)
    runtime = choose.choose(call.root, name, say, variants, of_stack(settings), split)
    runtime.prepare(variants, say)
    if split is not None:
        say(f"processors: {split.words}")
        held.enter_context(split.confined())
    return runtime


def _reap(root: Path, say: Callable[[str], None]) -> None:
    """Whatever the runtime of the command that was killed: its processes would disturb any other."""
    from writepath.runtime.docker import DockerRuntime
    from writepath.runtime.docker.runtime import answers
    from writepath.runtime.native import NativeRuntime

    NativeRuntime(root).reap(say)
    if any((root / STATE / "docker").glob("*")) and answers():
        DockerRuntime(root).reap(say)


def _addresses(variant: Variant, stack: Stack, more: Sequence[str]) -> str:
    services = dict.fromkeys((variant.ingress, variant.inspector))
    if variant.serves == "reads":
        lines = [
            f"{variant.title} is running; {variant.acknowledges}",
            f"  GET {stack.base_url}/api/feed; all requests: {stack.base_url}/openapi.yaml",
        ]
    else:
        lines = [
            f"{variant.title} is running; a 201 guarantees: {variant.acknowledges}",
            f"  POST and GET {stack.base_url}/api/posts",
        ]
    lines += [f"  {service} {url}" for service in services for url in stack.inspector_urls(service)]
    lines += [f"  {line}" for line in more]
    lines += ["  Press Ctrl-C, or run `make down` in another terminal, to stop it and delete its data."]
    return "\n".join(lines)
