"""The commands of the command line with their options. What a command needs is imported when it runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from writepath import commands, lock
from writepath.cli import options as given
from writepath.cli.options import listed, names, takes
from writepath.cli.words import WordCommand
from writepath.config import settings
from writepath.config.settings import Given
from writepath.errors import UsageError
from writepath.options import Asked, Call
from writepath.processors import SPLIT

FEWEST_COMPARED = 2
OF_KIND = ("a", "slo_ms", "hold_seconds", "docs", "rounds", "fault", "trials")  # that only some kinds have

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


@command(
    "bench-all",
    "--suite smoke",
    "--variants jpa,rabbitmq-jpa --reps 3",
    "SUITE=smoke POOL_SIZE=5,10",
    "SUITE=tuning",
)
@takes(given.OF_SUITE_RUN)
def bench_all(ctx: typer.Context, variants: given.Variants = None, **options: Any) -> int:
    """Run a suite or a series of suites, or some of their variants."""
    return commands.bench_all(ctx.obj, _asked(ctx, variants=names("VARIANTS", variants), **options))


@command("bench", "--variant jpa --suite smoke", "VARIANT=jpa INSTANCES=4")
@takes(given.OF_SUITE_RUN)
def bench(ctx: typer.Context, variant: given.Variant, **options: Any) -> int:
    """Run one variant of a suite."""
    return commands.bench(ctx.obj, _asked(ctx, variants=[variant], **options))


@command("bench-faults", "--fault kill-each", "--fault help", "VARIANTS=jpa TRIALS=6 JOBS=2")
@takes(given.OF_FAULTS)
def bench_faults(ctx: typer.Context, variants: given.Variants = None, **options: Any) -> int:
    """Inject faults under load and count lost writes."""
    chosen = options | {"fault": names("FAULT", options["fault"]), "variants": names("VARIANTS", variants)}
    return commands.bench_faults(ctx.obj, _asked(ctx, suite=commands.FAULTS, **chosen))


@command("campaign", "", "SUITES=faults,faults-docker")
def campaign(ctx: typer.Context, suites: given.Suites = None) -> int:
    """Measure, publish and commit every suite that is published, or some; continues where it was stopped."""
    asked = Asked(suite=ctx.obj.command, runtime="native")
    return commands.campaign(ctx.obj, asked, names("SUITES", suites))


@command("pair", "A=jpa B=rabbitmq-jpa", "--a jpa --b jpa --reps 3")
@takes(given.OF_PAIR)
def pair(ctx: typer.Context, a: given.Paired, b: given.Paired, **options: Any) -> int:
    """Measure two variants next to each other: short steps in turns, so that a drifting host changes no ratio."""
    return commands.bench(ctx.obj, _asked(ctx, suite=commands.PAIR, variants=[b], a=a, **options))


@command("up", "--variant jpa", "VARIANT=jpa HTTP_PORT=8080", "VARIANT=jpa OBSERVE=1")
def up(
    ctx: typer.Context,
    variant: given.Variant,
    runtime: given.Runtime = "auto",
    processors: given.Processors = None,
    observe: given.Observe = False,
    set_: given.Settings = None,
) -> int:
    """Start one variant and keep it running until Ctrl-C."""
    return commands.up(ctx.obj, variant, runtime, processors or SPLIT, _settings(ctx, set_), observed=observe)


@command("down", "")
def down(ctx: typer.Context) -> int:
    """Stop a running `up`; clean up after a killed command."""
    return commands.down(ctx.obj)


@command("report", "", "--run results/latest")
def report(ctx: typer.Context, run: given.Run = None) -> int:
    """Write the tables and plots of a suite run."""
    from writepath.experiments import reporting

    return reporting.report(ctx.obj.root, run)


@command("audit", "", "--run results/latest")
def audit(ctx: typer.Context, run: given.Run = None) -> int:
    """Recompute the audit of a run from its raw files."""
    from writepath.experiments import reporting

    return reporting.audit(ctx.obj.root, run, print)


@command("verify", "", "--run results/latest")
def verify(ctx: typer.Context, run: given.RawRun = None) -> int:
    """Recompute every published figure from its raw data."""
    from writepath.experiments import reporting

    return reporting.verify(ctx.obj.root, run, print)


@command("site", "")
def site(ctx: typer.Context) -> int:
    """Write the results site of everything that is published, in results/site."""
    from writepath.experiments import site as pages

    root: Path = ctx.obj.root
    print(f"wrote {pages.write_published(root, root / pages.FOLDER).as_uri()}")
    return 0


@command("publish", "", "--run results/latest --add")
def publish(ctx: typer.Context, run: given.Run = None, add: given.Add = False) -> int:
    """Publish a finished suite run in docs/results/ and results/published/."""
    from writepath.experiments import reporting

    return reporting.publish(ctx.obj.root, run, add=add)


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
    from writepath.experiments import reporting

    lettered, named = [one for one in (a, b, c, d, e, f) if one], listed(labels)
    compared = listed(runs) or lettered
    if len(compared) < FEWEST_COMPARED or (runs and lettered):
        raise UsageError(
            f"{len(compared)} suite runs given; at least {FEWEST_COMPARED} are needed, by letter or as a list:"
            " make compare A=results/default/<stamp> B=results/default/<stamp> C=..., or RUNS=one,other"
        )
    if named and len(named) != len(compared):
        raise UsageError(
            f"LABELS={labels}: {len(named)} labels for {len(compared)} suite runs; give one per run, or none"
        )
    return reporting.compare(ctx.obj.root, [Path(one) for one in compared], named)


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
    from writepath import doctor as examination

    return examination.run(ctx.obj.root, print)


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
    from writepath import services

    with lock.exclusive(ctx.obj.state, "with-services"):
        return services.run(ctx.obj.root, runtime, words or [], print)


@command("bench-harness", "", "--only audit,report")
def bench_harness(_ctx: typer.Context, only: given.Only = None) -> int:
    """Check speed, memory and correctness of audit, recorder, report and comparison."""
    from writepath import selfcheck

    return selfcheck.run(names("ONLY", only), print)


@command("clean", "")
def clean(ctx: typer.Context) -> int:
    """Stop what was started and delete .writepath; results/ is kept."""
    return commands.down(ctx.obj, remove=True)


def _asked(ctx: typer.Context, set_: list[str] | None, **options: Any) -> Asked:
    of_kind = {name.upper(): options.pop(name) for name in OF_KIND if name in options}
    return Asked(
        of_kind={name: value for name, value in of_kind.items() if value is not None},
        settings=_settings(ctx, set_),
        **options,
    )


def _settings(ctx: typer.Context, words: list[str] | None) -> Given:
    call: Call = ctx.obj
    return settings.parse(words or (), settings.known(call.root))
