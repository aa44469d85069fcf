"""The commands of the command line with their options; commands.py does the work."""

from collections.abc import Callable

import typer

from writepath import commands
from writepath.cli import options as given
from writepath.cli.words import WordCommand
from writepath.config import settings
from writepath.config.settings import Given
from writepath.options import Asked, Call, listed, names

app = typer.Typer(
    name="wp",
    help="Compares write-path architectures under identical load."
    " An option may also be given as NAME=value: `wp bench-all SUITE=smoke` is `wp bench-all --suite smoke`.",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 110},
)


def command(name: str, *examples: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Registers a command with its examples; its docstring is its help."""
    epilog = "\b\n" + "\n".join(["Examples:", *(f"  wp {name}{' ' * bool(each)}{each}" for each in examples)])
    decorate: Callable[[Callable[..., int]], Callable[..., int]] = app.command(
        name, cls=WordCommand, epilog=epilog
    )
    return decorate


@command("bench-all", "--suite smoke", "--variants jpa,rabbitmq-jpa --reps 3", "SUITE=smoke POOL_SIZE=5,10")
def bench_all(
    ctx: typer.Context,
    suite: given.Suite = "default",
    variants: given.Variants = None,
    reps: given.Reps = None,
    seed: given.Seed = 1,
    runtime: given.Runtime = "auto",
    dataset: given.Dataset = None,
    dataset_lines: given.DatasetLines = None,
    resume: given.Resume = False,
    reruns: given.Reruns = None,
    slo_ms: given.SloMs = None,
    hold_seconds: given.HoldSeconds = None,
    docs: given.Docs = None,
    rounds: given.Rounds = None,
    set_: given.Settings = None,
) -> int:
    """Run a suite, or some of its variants."""
    asked = Asked(
        suite=suite,
        variants=names("VARIANTS", variants),
        reps=reps,
        seed=seed,
        runtime=runtime,
        dataset=dataset,
        dataset_lines=dataset_lines,
        resume=resume,
        reruns=reruns,
        of_kind=_given(SLO_MS=slo_ms, HOLD_SECONDS=hold_seconds, DOCS=docs, ROUNDS=rounds),
        settings=_settings(ctx, set_),
    )
    return commands.bench_all(ctx.obj, asked)


@command("bench", "--variant jpa --suite smoke", "VARIANT=jpa INSTANCES=4")
def bench(
    ctx: typer.Context,
    variant: given.Variant,
    suite: given.Suite = "default",
    reps: given.Reps = None,
    seed: given.Seed = 1,
    runtime: given.Runtime = "auto",
    dataset: given.Dataset = None,
    dataset_lines: given.DatasetLines = None,
    resume: given.Resume = False,
    reruns: given.Reruns = None,
    slo_ms: given.SloMs = None,
    hold_seconds: given.HoldSeconds = None,
    docs: given.Docs = None,
    rounds: given.Rounds = None,
    set_: given.Settings = None,
) -> int:
    """Run one variant of a suite."""
    asked = Asked(
        suite=suite,
        variants=[variant],
        reps=reps,
        seed=seed,
        runtime=runtime,
        dataset=dataset,
        dataset_lines=dataset_lines,
        resume=resume,
        reruns=reruns,
        of_kind=_given(SLO_MS=slo_ms, HOLD_SECONDS=hold_seconds, DOCS=docs, ROUNDS=rounds),
        settings=_settings(ctx, set_),
    )
    return commands.bench(ctx.obj, asked)


@command("bench-faults", "--fault kill-each", "--fault help", "VARIANTS=jpa TRIALS=6 JOBS=2")
def bench_faults(
    ctx: typer.Context,
    fault: given.Fault = None,
    variants: given.Variants = None,
    trials: given.Trials = None,
    jobs: given.Jobs = 1,
    seed: given.Seed = 1,
    runtime: given.Runtime = "auto",
    resume: given.Resume = False,
    set_: given.Settings = None,
) -> int:
    """Inject faults under load and count lost writes."""
    asked = Asked(
        suite=commands.FAULTS,
        variants=names("VARIANTS", variants),
        jobs=jobs,
        seed=seed,
        runtime=runtime,
        resume=resume,
        of_kind=_given(FAULT=names("FAULT", fault), TRIALS=trials),
        settings=_settings(ctx, set_),
    )
    return commands.bench_faults(ctx.obj, asked)


@command("up", "--variant jpa", "VARIANT=jpa HTTP_PORT=8080")
def up(
    ctx: typer.Context,
    variant: given.Variant,
    runtime: given.Runtime = "auto",
    set_: given.Settings = None,
) -> int:
    """Start one variant and keep it running until Ctrl-C."""
    return commands.up(ctx.obj, variant, runtime, _settings(ctx, set_))


@command("down", "")
def down(ctx: typer.Context) -> int:
    """Stop a running `up`; clean up after a killed command."""
    return commands.down(ctx.obj)


@command("report", "", "--run results/latest")
def report(ctx: typer.Context, run: given.Run = None) -> int:
    """Write the tables and plots of a suite run."""
    return commands.report(ctx.obj, run)


@command("audit", "", "--run results/latest")
def audit(ctx: typer.Context, run: given.Run = None) -> int:
    """Recompute the audit of a run from its raw files."""
    return commands.audit(ctx.obj, run)


@command("verify", "", "--run results/latest")
def verify(ctx: typer.Context, run: given.RawRun = None) -> int:
    """Recompute every published figure from its raw data."""
    return commands.verify(ctx.obj, run)


@command("publish", "", "--run results/latest --add")
def publish(ctx: typer.Context, run: given.Run = None, add: given.Add = False) -> int:
    """Publish a finished suite run in docs/results/ and results/published/."""
    return commands.publish(ctx.obj, run, add=add)


@command(
    "compare", "A=results/default/<stamp> B=results/default/<stamp>", "--runs one,other --labels old,new"
)
def compare(
    ctx: typer.Context,
    a: given.Compared = None,
    b: given.Compared = None,
    c: given.Compared = None,
    d: given.Compared = None,
    e: given.Compared = None,
    f: given.Compared = None,
    runs: given.Runs = None,
    labels: given.Labels = None,
) -> int:
    """Compare suite runs with the first one."""
    return commands.compare(ctx.obj, [one for one in (a, b, c, d, e, f) if one], listed(runs), listed(labels))


@command("settings", "")
def list_settings(ctx: typer.Context) -> int:
    """List the settings that --set takes: name, default, help and range of each."""
    print(settings.table(ctx.obj.root))
    return 0


@command("setup", "", "--runtime native")
def setup(ctx: typer.Context, runtime: given.Runtime = "auto") -> int:
    """Download and build everything a run needs."""
    return commands.setup(ctx.obj, runtime)


@command("doctor", "")
def doctor(ctx: typer.Context) -> int:
    """Check what this machine has and what is missing."""
    return commands.doctor(ctx.obj)


@command("test", "", "--runtime native")
def all_checks(ctx: typer.Context, runtime: given.Runtime = "auto") -> int:
    """Run all checks: linters, Java tests, Python tests."""
    return commands.script(ctx.obj, "test.sh", runtime)


@command("java-test", "", "--runtime native")
def java_test(ctx: typer.Context, runtime: given.Runtime = "auto") -> int:
    """Test the services against real stores."""
    return commands.script(ctx.obj, "java-test.sh", runtime)


@command("contract-test", "", "--runtime docker --variants jpa,rabbitmq-jpa")
def contract_test(
    ctx: typer.Context, runtime: given.Runtime = "auto", variants: given.ContractVariants = "all"
) -> int:
    """Test the HTTP contract of every variant."""
    return commands.contract_test(ctx.obj, runtime, names("VARIANTS", variants) or [])


@command("with-services", "-- mvn -f services/pom.xml verify")
def with_services(ctx: typer.Context, words: given.Words = None, runtime: given.Runtime = "auto") -> int:
    """Run a command while real backing services are up."""
    return commands.with_services(ctx.obj, runtime, words or [])


@command("bench-harness", "", "--only audit,report")
def bench_harness(ctx: typer.Context, only: given.Only = None) -> int:
    """Check speed, memory and correctness of audit, recorder, report and comparison."""
    return commands.bench_harness(ctx.obj, names("ONLY", only))


@command("clean", "")
def clean(ctx: typer.Context) -> int:
    """Stop what was started and delete .writepath; results/ is kept."""
    return commands.clean(ctx.obj)


def _given(**values: object) -> dict[str, object]:
    return {name: value for name, value in values.items() if value is not None}


def _settings(ctx: typer.Context, words: list[str] | None) -> Given:
    call: Call = ctx.obj
    return settings.parse(words or (), settings.known(call.root))
