"""What does each command do? One function a command; what a command needs is imported when it runs."""

from __future__ import annotations

import shutil
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from writepath import lock, registry
from writepath.errors import StartError, UsageError, WritepathError
from writepath.options import ONE, RUN, RUNTIMES, SETTINGS, Options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from writepath.registry import Suite, Variant
    from writepath.runtime.base import Runtime, Stack

STATE = ".writepath"
SEED_MAX = 2**31 - 1
WATCH_S = 1.0


@dataclass(frozen=True, kw_only=True)
class Command:
    """An entry of the help."""

    run: Callable[[Path, Options, Sequence[str]], int]  # root, options, words passed on; gives the exit code
    help: str
    variables: tuple[str, ...] = ()
    passes_words: bool = False


def bench_all(root: Path, options: Options, _words: Sequence[str]) -> int:
    """A suite, or some of its variants."""
    known = registry.load(root)
    suite = known.suite(options.text("SUITE", "default") or "")
    names = options.names("VARIANTS")
    variants = suite.variants if names is None else tuple(known.variant(name) for name in names)
    if not variants:
        raise UsageError(f"VARIANTS={options.text('VARIANTS')}: names no variant")
    for variant in variants:
        if variant.naive_twin_of is not None:
            raise UsageError(
                f"VARIANTS: '{variant.name}' is a naive twin, never ranked beside the others;"
                f" run it alone: make bench VARIANT={variant.name}"
            )
    return _bench(root, options, suite, variants)


def bench(root: Path, options: Options, _words: Sequence[str]) -> int:
    """One variant of a suite."""
    known = registry.load(root)
    variant = known.variant(options.required("VARIANT", "jpa"))
    return _bench(root, options, known.suite(options.text("SUITE", "default") or ""), (variant,))


def up(root: Path, options: Options, _words: Sequence[str]) -> int:
    """Starts one variant and stays until Ctrl-C or `down`; ends with an error when a component is lost."""
    variant = registry.load(root).variant(options.required("VARIANT", "jpa"))
    with ExitStack() as held:
        runtime = _ready_runtime(held, root, options, [variant])
        stack = held.enter_context(runtime.start(variant, overrides=options.overrides, say=print))
        print(_addresses(variant, stack), flush=True)
        while not (lost := stack.lost_components()):
            time.sleep(WATCH_S)
    raise StartError(f"component lost: {'; '.join(lost)}")


def down(root: Path, _options: Options, _words: Sequence[str]) -> int:
    """Ends a running `up` and whatever a killed command left behind."""
    lock.interrupt(root / STATE, "up ")
    with lock.exclusive(root / STATE, "down"):
        _reap(root, print)
    return 0


def setup(root: Path, options: Options, _words: Sequence[str]) -> int:
    """Everything a run needs, once."""
    with ExitStack() as held:
        _ready_runtime(held, root, options, list(registry.load(root).variants.values()))
    print("set up")
    return 0


def doctor(root: Path, _options: Options, _words: Sequence[str]) -> int:
    """What this machine has, and what is missing."""
    from writepath import doctor as examination

    return examination.run(root, print)


def clean(root: Path, _options: Options, _words: Sequence[str]) -> int:
    """Stops what was started and removes everything but results; refuses while another command runs."""
    lock.interrupt(root / STATE, "up ")
    with lock.exclusive(root / STATE, "clean"):
        _reap(root, print)
        shutil.rmtree(root / STATE, ignore_errors=True)
    print(f"removed {STATE}; results/ is kept")
    return 0


def report(root: Path, options: Options, _words: Sequence[str]) -> int:
    """Tables and plots of a suite run."""
    from writepath.report import cli_report

    return cli_report(root, _path(options, "RUN"))


def publish(root: Path, options: Options, _words: Sequence[str]) -> int:
    """Copies a suite run's figures to where they are committed."""
    from writepath.report import cli_publish

    return cli_publish(root, _path(options, "RUN"), check=options.flag("CHECK"))


def compare(root: Path, options: Options, _words: Sequence[str]) -> int:
    """Two suite runs side by side."""
    from writepath.report import cli_compare

    first, second = (options.required(name, "results/default/<stamp>") for name in ("A", "B"))
    return cli_compare(root, Path(first), Path(second))


def with_services(root: Path, options: Options, words: Sequence[str]) -> int:
    """Runs the words as a command beside real backing services; stops them."""
    from writepath import services

    with lock.exclusive(root / STATE, "with-services"):
        return services.run(root, options.choice("RUNTIME", "auto", RUNTIMES), words, print)


COMMANDS = {
    "doctor": Command(run=doctor, help="say what this machine has and what is missing"),
    "setup": Command(run=setup, help="fetch and build what a run needs", variables=("RUNTIME",)),
    "bench-all": Command(run=bench_all, help="run a suite", variables=(*RUN, SETTINGS)),
    "bench": Command(run=bench, help="run one variant", variables=(*ONE, SETTINGS)),
    "up": Command(
        run=up, help="start one variant and stay until Ctrl-C", variables=("VARIANT", "RUNTIME", SETTINGS)
    ),
    "down": Command(run=down, help="end a running `up` and what a killed command left"),
    "report": Command(run=report, help="tables and plots of a suite run", variables=("RUN",)),
    "publish": Command(run=publish, help="publish a finished suite run", variables=("RUN", "CHECK")),
    "compare": Command(run=compare, help="two suite runs side by side", variables=("A", "B")),
    "clean": Command(run=clean, help="stop what was started and remove the cache folder"),
    "with-services": Command(
        run=with_services,
        help="run a command with real backing services",
        variables=("RUNTIME", "CMD"),  # make has put CMD among the words
        passes_words=True,
    ),
}


def usage() -> str:
    """The help of `python -m writepath`."""
    lines = [f"  {name:14} {command.help}" for name, command in COMMANDS.items()]
    return "\n".join(["usage: python -m writepath <command> [NAME=value ...]", *lines])


def _bench(root: Path, options: Options, suite: Suite, variants: tuple[Variant, ...]) -> int:
    from writepath import checkout
    from writepath.load import dataset
    from writepath.progress import Progress
    from writepath.suite import suite_run

    seed = options.whole("SEED", 1, low=0, high=SEED_MAX)
    repetitions = options.whole("REPS", suite.repetitions, low=1, high=1000)
    lines = options.whole("DATASET_LINES", None, low=1, high=1_000_000)
    resumed = options.flag("RESUME")
    options.choice("RUNTIME", "auto", RUNTIMES)
    chosen = dataset.choose(options.text("DATASET"), lines, seed or 0)
    with ExitStack() as held:
        progress = held.enter_context(Progress())
        runtime = _ready_runtime(held, root, options, variants, progress.say)
        plan = suite_run.SuitePlan(
            root=root,
            state=root / STATE,
            suite=suite,
            variants=variants,
            repetitions=repetitions or suite.repetitions,
            seed=seed or 0,
            overrides=options.overrides,
            dataset=chosen,
            code=checkout.code(root),
            resumed=resumed,
        )
        code, folder = suite_run.run(plan, runtime, progress)
    if code != suite_run.INTERRUPTED:
        _show_tables(root, folder)
    return code


def _show_tables(root: Path, folder: Path) -> None:
    """The suite's own exit code counts; tables that cannot be made are said, and change nothing."""
    from writepath.report import cli_report

    try:
        cli_report(root, folder)
    except WritepathError as error:
        print(f"no tables: {error}")


def _ready_runtime(
    held: ExitStack,
    root: Path,
    options: Options,
    variants: Sequence[Variant],
    say: Callable[[str], None] = print,
) -> Runtime:
    """Locked, chosen, cleared of what a killed command left, and with everything a start needs."""
    from writepath.runtime import choose

    doing = " ".join(
        [options.command, *(f"{name}={value}" for name, value in sorted(options.values.items()))]
    )
    held.enter_context(lock.exclusive(root / STATE, doing))
    _reap(root, say)
    runtime = choose.choose(root, options.choice("RUNTIME", "auto", RUNTIMES), say, variants)
    runtime.prepare(variants, say)
    return runtime


def _reap(root: Path, say: Callable[[str], None]) -> None:
    """Whatever the runtime of the command that was killed: its processes would disturb any other."""
    from writepath.runtime.docker import DockerRuntime
    from writepath.runtime.docker.runtime import answers
    from writepath.runtime.native import NativeRuntime

    NativeRuntime(root).reap(say)
    if any((root / STATE / "docker").glob("*")) and answers():
        DockerRuntime(root).reap(say)


def _path(options: Options, name: str) -> Path | None:
    value = options.text(name)
    return Path(value) if value else None


def _addresses(variant: Variant, stack: Stack) -> str:
    services = dict.fromkeys((variant.ingress, variant.inspector))
    lines = [f"{variant.title} is up: {variant.acknowledges}", f"  POST and GET {stack.base_url}/api/posts"]
    lines += [f"  {service} {url}" for service in services for url in stack.inspector_urls(service)]
    lines += ["  Ctrl-C, or `make down` elsewhere, stops it and removes its data."]
    return "\n".join(lines)
