"""The options of the command line: name, range and help of each, once for all commands that have it."""

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from writepath.config import registry, settings
from writepath.config.registry import Registry
from writepath.errors import UsageError, WritepathError
from writepath.options import RERUNS
from writepath.options import Runtime as RuntimeName
from writepath.processors import SHARED, SPLIT

ROOT = Path(__file__).resolve().parents[4]
SEED_MAX = 2**31 - 1
OF_SUITE = "the suite's"
Options = dict[str, tuple[Any, Any]]  # by name, type and default


def listed(value: str | None) -> list[str]:
    """Comma-separated, in order; duplicates are allowed."""
    return [part.strip() for part in (value or "").split(",") if part.strip()]


def names(name: str, value: str | None) -> list[str] | None:
    """Comma-separated; UsageError for a name given twice and for a list without names."""
    if value is None:
        return None
    found = listed(value)
    if not found:
        raise UsageError(f"{name}={value}: contains no name")
    twice = next((part for part in found if found.count(part) > 1), None)
    if twice is not None:
        raise UsageError(f"{name}={value}: '{twice}' is listed twice; to repeat runs, use REPS")
    return found


def takes(options: Options) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Decorates a command that takes these options as keyword arguments.

    typer reads options from a function's signature; these take the place of its `**` parameter.
    """

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        own = [one for one in inspect.signature(function).parameters.values() if one.kind != one.VAR_KEYWORD]
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in options.items()
        ]
        function.__signature__ = inspect.Signature([*own, *more])  # type: ignore[attr-defined]
        return function

    return decorate


def _completed(known_names: Callable[[Registry], Iterable[str]]) -> Callable[[str], list[str]]:
    """Completes the last of several names, separated by commas."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        try:
            known = known_names(registry.load(ROOT))
        except WritepathError:
            return []
        return [f"{before}{comma}{name}" for name in known if name.startswith(last)]

    return complete


def _settings(incomplete: str) -> list[str]:
    return [f"{name}=" for name in settings.known(ROOT) if name.startswith(incomplete)]


def _option(text: str, shown: str | None = None, **extra: Any) -> Any:
    """shown: the default in words."""
    return typer.Option(help=text, show_default=shown or True, **extra)


def _number(
    text: str, least: int, most: int, default: int | None = None, shown: str | None = None
) -> tuple[Any, Any]:
    option = _option(text, shown, min=least, max=most)
    return Annotated[int | None, option] if default is None else Annotated[int, option], default


def _text(text: str, shown: str) -> tuple[Any, Any]:
    return Annotated[str | None, _option(text, shown)], None


_variants = _completed(lambda known: known.variants)
_suites = _completed(lambda known: [*known.suites, *known.series])
_published = _completed(lambda known: known.campaign.names if known.campaign else ())

Variant = Annotated[
    str, _option("One variant of variants.yaml, as in --variant jpa.", autocompletion=_variants)
]
Variants = Annotated[
    str | None, _option("Several variants, separated by commas.", OF_SUITE, autocompletion=_variants)
]
Suites = Annotated[
    str | None, _option("Some suites of the campaign, separated by commas.", "all", autocompletion=_published)
]
ContractVariants = Annotated[
    str, _option("Several variants, separated by commas, or all.", autocompletion=_variants)
]
Runtime = Annotated[RuntimeName, _option("Containers (docker) or local processes (native).")]
Processors = Annotated[
    str | None,
    _option(
        "Processors of the load generator and of the system under test: split (about 30 % for the generator), shared,"
        " or both lists, the generator's first, as in --processors 0-1,4/2,3.",
        "the suite's; without one split",
        autocompletion=lambda incomplete: [one for one in (SPLIT, SHARED) if one.startswith(incomplete)],
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=value",
        help="A setting, as in --set POOL_SIZE=10; repeatable. Several values, separated by commas, are a factor"
        " of the suite: --set POOL_SIZE=5,10. `settings` lists names, defaults and ranges.",
        show_default="of .env, the suite and the variant",
        autocompletion=_settings,
    ),
]
Run = Annotated[
    Path | None, _option("The run to read, as in --run results/default/20261121T031500Z.", "results/latest")
]
RawRun = Annotated[
    Path | None, _option("Also check the raw files of this run, as in --run results/latest.", "none")
]
Add = Annotated[bool, _option("Add the blocks to those already published.")]
Observe = Annotated[
    bool, _option("Also start Prometheus and Grafana (docker), or print the addresses to scrape (native).")
]
Paired = Annotated[str, _option("A variant of variants.yaml, as in --a jpa.", autocompletion=_variants)]
Only = Annotated[
    str | None, _option("Some of audit, recorder, report, comparison, separated by commas.", "all")
]
Compared = Annotated[str | None, _option("A suite run, as in --a results/default/20261121T031500Z.", "none")]
Runs = Annotated[str | None, _option("Suite runs, separated by commas; in place of letters.", "none")]
Labels = Annotated[
    str | None, _option("Names of the suite runs in the table, separated by commas.", "their folders")
]
Words = Annotated[list[str] | None, typer.Argument(metavar="-- COMMAND...", help="The command to run.")]


_MEASURED: Options = {  # of every command that measures
    "seed": _number("Seed of order, content and times of faults.", 0, SEED_MAX, 1),
    "runtime": (Runtime, "auto"),
    "processors": (Processors, None),
    "resume": (Annotated[bool, _option("Continue the newest unfinished run with the same options.")], False),
    "reruns": _number("Reruns of a cell on a noisy host; 0: none after JOBS either.", 0, 9, RERUNS),
    "set_": (Settings, None),
}
OF_PAIR: Options = _MEASURED | {  # and of bench and bench-all
    "reps": _number("Blocks; each runs every cell in a new random order.", 1, 1000, shown=OF_SUITE),
    "slo_ms": _number("Capacity, search and pair suites: limit of the p99.", 1, 15_000, shown=OF_SUITE),
    "rounds": _number(
        "Search suites: rounds of one client over the keywords; pairs: of A B B A.", 1, 1000, shown=OF_SUITE
    ),
}
OF_SUITE_RUN: Options = OF_PAIR | {  # of bench and bench-all
    "suite": (
        Annotated[
            str, _option("The suite, or the series of suites, in suites.yaml.", autocompletion=_suites)
        ],
        "default",
    ),
    "dataset": _text(
        "A CSV or TSV file with your own texts, as in --dataset reviews.tsv.gz.", "generated Korean reviews"
    ),
    "dataset_lines": _number(
        "Number of different texts.", 1, 1_000_000, shown="1000; search suites: the value of --docs"
    ),
    "hold_seconds": _number(
        "Capacity and search suites: duration of a load step.", 5, 3600, shown="the scenario's"
    ),
    "docs": _number("Search suites: posts in each store.", 1_000, 1_000_000, shown=OF_SUITE),
}
OF_FAULTS: Options = _MEASURED | {
    "fault": _text("Faults, separated by commas; kill-each; help lists them.", OF_SUITE),
    "trials": _number("How often each fault is injected.", 1, 1000, shown=OF_SUITE),
    "jobs": _number(
        "Cells that run in parallel: recovery times are upper bounds, and what fails or is unknown is rerun alone.",
        1,
        8,
        1,
    ),
}
