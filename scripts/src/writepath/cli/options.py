"""The options of the command line: name, range and help of each, once for all commands that have it."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from writepath.config import registry, settings
from writepath.config.registry import Registry
from writepath.errors import WritepathError
from writepath.options import SEED_MAX
from writepath.options import Runtime as RuntimeName

ROOT = Path(__file__).resolve().parents[4]


def _completed(names: Callable[[Registry], Iterable[str]]) -> Callable[[str], list[str]]:
    """Completes the last of several names, separated by commas."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        try:
            known = names(registry.load(ROOT))
        except WritepathError:
            return []
        return [f"{before}{comma}{name}" for name in known if name.startswith(last)]

    return complete


def _settings(incomplete: str) -> list[str]:
    return [f"{name}=" for name in settings.known(ROOT) if name.startswith(incomplete)]


def _option(text: str, **extra: Any) -> Any:
    return typer.Option(help=text, **extra)


_variants = _completed(lambda known: known.variants)
_suites = _completed(lambda known: known.suites)

Suite = Annotated[str, _option("The suite in suites.yaml.", autocompletion=_suites)]
Variant = Annotated[
    str, _option("One variant of variants.yaml, as in --variant jpa.", autocompletion=_variants)
]
Variants = Annotated[
    str | None,
    _option("Several variants, separated by commas.", autocompletion=_variants, show_default="the suite's"),
]
ContractVariants = Annotated[
    str, _option("Several variants, separated by commas, or all.", autocompletion=_variants)
]
Reps = Annotated[
    int | None,
    _option(
        "Blocks; each runs every cell in a new random order.", min=1, max=1000, show_default="the suite's"
    ),
]
Seed = Annotated[int, _option("Seed of order, content and times of faults.", min=0, max=SEED_MAX)]
Runtime = Annotated[RuntimeName, _option("Containers (docker) or local processes (native).")]
Dataset = Annotated[
    str | None,
    _option(
        "A CSV or TSV file with your own texts, as in --dataset reviews.tsv.gz.",
        show_default="generated Korean reviews",
    ),
]
DatasetLines = Annotated[
    int | None,
    _option(
        "Number of different texts.",
        min=1,
        max=1_000_000,
        show_default="1000; search suites: the value of --docs",
    ),
]
Resume = Annotated[bool, _option("Continue the newest unfinished run with the same options.")]
Reruns = Annotated[int | None, _option("Reruns of a cell on a noisy host.", min=0, max=9, show_default="2")]
SloMs = Annotated[
    int | None,
    _option("Capacity and search suites: limit of the p99.", min=1, max=15_000, show_default="the suite's"),
]
HoldSeconds = Annotated[
    int | None,
    _option(
        "Capacity and search suites: duration of a load step.",
        min=5,
        max=3600,
        show_default="the scenario's",
    ),
]
Docs = Annotated[
    int | None,
    _option("Search suites: posts in each store.", min=1_000, max=1_000_000, show_default="the suite's"),
]
Rounds = Annotated[
    int | None,
    _option(
        "Search suites: rounds of one client over the keywords.", min=1, max=1000, show_default="the suite's"
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
Fault = Annotated[
    str | None,
    _option("Faults, separated by commas; kill-each; help lists them.", show_default="the suite's"),
]
Trials = Annotated[
    int | None,
    _option("How often each fault is injected.", min=1, max=1000, show_default="the suite's"),
]
Jobs = Annotated[
    int, _option("Cells that run in parallel; recovery times are then upper bounds.", min=1, max=8)
]
Run = Annotated[
    Path | None,
    _option("The run to read, as in --run results/default/20261121T031500Z.", show_default="results/latest"),
]
RawRun = Annotated[
    Path | None,
    _option("Also check the raw files of this run, as in --run results/latest.", show_default="none"),
]
Add = Annotated[bool, _option("Add the blocks to those already published.")]
Only = Annotated[
    str | None,
    _option("Some of audit, recorder, report, comparison, separated by commas.", show_default="all"),
]
Compared = Annotated[
    str | None, _option("A suite run, as in --a results/default/20261121T031500Z.", show_default="none")
]
Runs = Annotated[
    str | None, _option("Suite runs, separated by commas; in place of letters.", show_default="none")
]
Labels = Annotated[
    str | None,
    _option("Names of the suite runs in the table, separated by commas.", show_default="their folders"),
]
Words = Annotated[list[str] | None, typer.Argument(metavar="-- COMMAND...", help="The command to run.")]
