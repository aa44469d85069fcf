"""The options of the command line: name, range and help of each, once for all commands that have it."""

import dataclasses
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from writepath.config import registry, settings
from writepath.config.registry import Registry
from writepath.errors import UsageError, WritepathError
from writepath.options import Runtime as RuntimeName
from writepath.processors import SHARED, SPLIT

ROOT = Path(__file__).resolve().parents[4]
SEED_MAX = 2**31 - 1
OF_SUITE = "the suite's"


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


def takes(declared: type) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Decorates a command that takes the options which the fields of a dataclass declare, as keyword arguments.

    typer reads options from a function's signature; the fields take the place of its `**` parameter.
    """
    kinds = get_type_hints(declared, include_extras=True)

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        own = [one for one in inspect.signature(function).parameters.values() if one.kind != one.VAR_KEYWORD]
        more = [
            inspect.Parameter(
                one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=kinds[one.name]
            )
            for one in dataclasses.fields(declared)
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


def _number(text: str, least: int, most: int, shown: str | None = None) -> Any:
    return _option(text, shown, min=least, max=most)


_variants = _completed(lambda known: known.variants)
_suites = _completed(lambda known: known.suites)

Variant = Annotated[
    str, _option("One variant of variants.yaml, as in --variant jpa.", autocompletion=_variants)
]
Variants = Annotated[
    str | None, _option("Several variants, separated by commas.", OF_SUITE, autocompletion=_variants)
]
ContractVariants = Annotated[
    str, _option("Several variants, separated by commas, or all.", autocompletion=_variants)
]
Runtime = Annotated[RuntimeName, _option("Containers (docker) or local processes (native).")]
Processors = Annotated[
    str,
    _option(
        "Processors of the load generator and of the system under test: split (about 30 % for the generator), shared,"
        " or both lists, the generator's first, as in --processors 0-1,4/2,3.",
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


@dataclass
class Measured:
    """Of every command that measures."""

    seed: Annotated[int, _number("Seed of order, content and times of faults.", 0, SEED_MAX)] = 1
    runtime: Runtime = "auto"
    processors: Processors = SPLIT
    resume: Annotated[bool, _option("Continue the newest unfinished run with the same options.")] = False
    set_: Settings = None


@dataclass
class OfPair(Measured):
    """Of `pair`, `bench` and `bench-all`."""

    reps: Annotated[
        int | None, _number("Blocks; each runs every cell in a new random order.", 1, 1000, OF_SUITE)
    ] = None
    reruns: Annotated[int | None, _number("Reruns of a cell on a noisy host.", 0, 9, "2")] = None
    slo_ms: Annotated[
        int | None, _number("Capacity, search and pair suites: limit of the p99.", 1, 15_000, OF_SUITE)
    ] = None
    rounds: Annotated[
        int | None,
        _number(
            "Search suites: rounds of one client over the keywords; pairs: of A B B A.", 1, 1000, OF_SUITE
        ),
    ] = None


@dataclass
class OfSuite(OfPair):
    """Of `bench` and `bench-all`."""

    suite: Annotated[str, _option("The suite in suites.yaml.", autocompletion=_suites)] = "default"
    dataset: Annotated[
        str | None,
        _option(
            "A CSV or TSV file with your own texts, as in --dataset reviews.tsv.gz.",
            "generated Korean reviews",
        ),
    ] = None
    dataset_lines: Annotated[
        int | None,
        _number("Number of different texts.", 1, 1_000_000, "1000; search suites: the value of --docs"),
    ] = None
    hold_seconds: Annotated[
        int | None,
        _number("Capacity and search suites: duration of a load step.", 5, 3600, "the scenario's"),
    ] = None
    docs: Annotated[
        int | None, _number("Search suites: posts in each store.", 1_000, 1_000_000, OF_SUITE)
    ] = None


@dataclass
class OfFaults(Measured):
    """Of `bench-faults`."""

    fault: Annotated[
        str | None, _option("Faults, separated by commas; kill-each; help lists them.", OF_SUITE)
    ] = None
    trials: Annotated[int | None, _number("How often each fault is injected.", 1, 1000, OF_SUITE)] = None
    jobs: Annotated[
        int, _number("Cells that run in parallel; recovery times are then upper bounds.", 1, 8)
    ] = 1
