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
from writepath.options import ONE, RERUNS, RUN, RUNTIMES, SETTINGS, Options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from writepath.registry import Suite, Variant
    from writepath.runtime.base import Runtime, Stack

STATE = ".writepath"
SEED_MAX = 2**31 - 1
RERUNS_MAX = 9
WATCH_S = 1.0
LETTERS = ("A", "B", "C", "D", "E", "F")  # of suite runs to compare; RUNS= takes any number
FEWEST_COMPARED = 2


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
        raise UsageError(f"VARIANTS={options.text('VARIANTS')}: contains no variant name")
    for variant in variants:
        if variant.naive_twin_of is not None:
            raise UsageError(
                f"VARIANTS: '{variant.name}' is a weakened control and is not ranked with other variants;"
                f" run it alone: make bench VARIANT={variant.name}"
            )
    return _bench(root, options, suite, variants)


def bench(root: Path, options: Options, _words: Sequence[str]) -> int:
    """One variant of a suite."""
    known = registry.load(root)
    variant = known.variant(options.required("VARIANT", "jpa"))
    return _bench(root, options, known.suite(options.text("SUITE", "default") or ""), (variant,))


def bench_faults(root: Path, options: Options, _words: Sequence[str]) -> int:
    """Faults under load: a matrix of variants and faults."""
    from writepath.faults import command

    known = registry.load(root)
    asked = command.asked(options)
    if asked is None:
        print(command.listing(root, known))
        return 0
    with ExitStack() as held:
        plan = command.plan(root, root / STATE, known, options, asked)
        variants = list({wanted.variant.name: wanted.variant for wanted in plan.wanted}.values())
        runtime = _ready_runtime(held, root, options, variants)
        return command.run(plan, runtime, print)


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
    print("setup complete")
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


def audit(root: Path, options: Options, _words: Sequence[str]) -> int:
    """Recomputes the audit of a run, or of every run of a suite run, from raw files."""
    from writepath.run import audit_cli

    return audit_cli.run(root, _path(options, "RUN"), print)


def bench_harness(_root: Path, options: Options, _words: Sequence[str]) -> int:
    """The self-check: speed, memory and correctness of Writepath's own tools."""
    from writepath import harness

    return harness.run(options.names("ONLY"), print)


def report(root: Path, options: Options, _words: Sequence[str]) -> int:
    """Tables and plots of a suite run."""
    from writepath.report import cli_report

    return cli_report(root, _path(options, "RUN"))


def publish(root: Path, options: Options, _words: Sequence[str]) -> int:
    """Copies a suite run's figures to where they are committed."""
    from writepath.report import cli_publish

    return cli_publish(root, _path(options, "RUN"), add=options.flag("ADD"))


def verify(root: Path, options: Options, _words: Sequence[str]) -> int:
    """Recomputes every published figure, and those of a raw folder."""
    from writepath import verify as verifying

    return verifying.run(root, _path(options, "RUN"), print)


def compare(root: Path, options: Options, _words: Sequence[str]) -> int:
    """Compares suite runs with the first one."""
    from writepath.report import cli_compare

    given = list_of(options, "RUNS") or [value for name in LETTERS if (value := options.text(name))]
    if len(given) < FEWEST_COMPARED or (options.text("RUNS") and options.text("A")):
        raise UsageError(
            f"{len(given)} suite runs given; at least {FEWEST_COMPARED} are needed, by letter or as a list:"
            " make compare A=results/default/<stamp> B=results/default/<stamp> C=..., or RUNS=one,other"
        )
    labels = list_of(options, "LABELS")
    if labels and len(labels) != len(given):
        raise UsageError(
            f"LABELS={options.text('LABELS')}: {len(labels)} labels for {len(given)} suite runs;"
            " give one per run, or none"
        )
    return cli_compare(root, [Path(one) for one in given], labels)


def list_of(options: Options, name: str) -> list[str]:
    """Comma-separated, in order; duplicates are allowed."""
    return [part.strip() for part in (options.text(name) or "").split(",") if part.strip()]


def with_services(root: Path, options: Options, words: Sequence[str]) -> int:
    """Starts real backing services, runs the words as a command, stops the services."""
    from writepath import services

    with lock.exclusive(root / STATE, "with-services"):
        return services.run(root, options.choice("RUNTIME", "auto", RUNTIMES), words, print)


COMMANDS = {
    "doctor": Command(run=doctor, help="check what this machine has and what is missing"),
    "setup": Command(run=setup, help="download and build everything a run needs", variables=("RUNTIME",)),
    "bench-all": Command(run=bench_all, help="run a suite", variables=(*RUN, SETTINGS)),
    "bench": Command(run=bench, help="run one variant", variables=(*ONE, SETTINGS)),
    "bench-faults": Command(
        run=bench_faults,
        help="inject faults under load and count lost writes",
        variables=("FAULT", "VARIANTS", "TRIALS", "JOBS", "SEED", "RUNTIME", "RESUME", SETTINGS),
    ),
    "up": Command(
        run=up,
        help="start one variant and keep it running until Ctrl-C",
        variables=("VARIANT", "RUNTIME", SETTINGS),
    ),
    "down": Command(run=down, help="stop a running `up`; clean up after a killed command"),
    "audit": Command(run=audit, help="recompute the audit of a run from its raw files", variables=("RUN",)),
    "bench-harness": Command(
        run=bench_harness,
        help="self-check: speed, memory and correctness of audit, recorder, report and comparison",
        variables=("ONLY",),
    ),
    "report": Command(run=report, help="write the tables and plots of a suite run", variables=("RUN",)),
    "publish": Command(run=publish, help="publish a finished suite run", variables=("RUN", "ADD")),
    "verify": Command(
        run=verify, help="recompute every published figure from its raw data", variables=("RUN",)
    ),
    "compare": Command(run=compare, help="compare suite runs", variables=(*LETTERS, "RUNS", "LABELS")),
    "clean": Command(run=clean, help="stop what was started and delete .writepath; results/ is kept"),
    "with-services": Command(
        run=with_services,
        help="run a command while real backing services are up",
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
    from writepath.capacity import command as capacity
    from writepath.load import dataset
    from writepath.progress import Progress
    from writepath.queries import command as queries
    from writepath.suite import common, suite_run

    goal, questions = capacity.asked(options, suite), queries.asked(options, suite)
    seed = options.whole("SEED", 1, low=0, high=SEED_MAX)
    repetitions = options.whole("REPS", suite.repetitions, low=1, high=1000)
    lines = options.whole("DATASET_LINES", questions.documents if questions else None, low=1, high=1_000_000)
    resumed = options.flag("RESUME")
    reruns = options.whole(RERUNS, suite_run.RERUNS, low=0, high=RERUNS_MAX)
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
            reruns=reruns if reruns is not None else suite_run.RERUNS,
        )
        alone = options.command == "bench"
        if questions is not None:
            code, folder = queries.run(questions, plan, runtime, progress, alone=alone)
        elif goal is not None:
            code, folder = capacity.run(goal, plan, runtime, progress, alone=alone)
        else:
            code, folder = suite_run.run(plan, runtime, progress)
    if code != common.INTERRUPTED:
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
    lines = [
        f"{variant.title} is running; a 201 guarantees: {variant.acknowledges}",
        f"  POST and GET {stack.base_url}/api/posts",
    ]
    lines += [f"  {service} {url}" for service in services for url in stack.inspector_urls(service)]
    lines += ["  Press Ctrl-C, or run `make down` in another terminal, to stop it and delete its data."]
    return "\n".join(lines)
