"""What the engine asks of kind `faults`; its cells: its part of suites.yaml, narrowed by FAULT=, VARIANTS=, TRIALS=."""

import dataclasses
import itertools
import statistics
from collections.abc import Collection, Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from writepath.analysis import raw
from writepath.analysis.audit import Said, in_lines
from writepath.analysis.evidence import FACTS_FILE, Evidence, load_facts
from writepath.analysis.faults import derive_faults, impossible, reduce_faults
from writepath.config.checked import Names, entry
from writepath.config.registry import Registry, Suite, Variant
from writepath.config.settings import OF_LOAD, Factor
from writepath.errors import UsageError
from writepath.experiments.base import Experiment, Plan
from writepath.experiments.faults import catalogue
from writepath.experiments.faults.catalogue import FACTOR, Fault
from writepath.experiments.faults.measure import measure
from writepath.measure.loading import RATE_SCALE
from writepath.options import Asked
from writepath.records import base
from writepath.records.faults import FaultFacts, FaultParams, FaultResult
from writepath.records.index import cell_name
from writepath.records.measures import Host
from writepath.report import faults
from writepath.report.data import Metric
from writepath.runtime import topology
from writepath.runtime.delay import DATABASE_DELAY_MS

CELL_SECONDS, TRIAL_SECONDS = 45.0, 15.0  # guesses, until a cell has ended
Trials = Annotated[int, Field(ge=1, le=1_000)]


@entry
class FaultSuite:
    """The part `faults:` of a suite. Its `variants` get every fault that applies to them."""

    trials: Annotated[Trials, Field(description="faults per cell")]
    trials_of: Annotated[dict[str, Trials], Field(description="by fault: faults per cell if different")]
    only: Annotated[
        dict[str, Names],
        Field(
            description="by variant: the faults that only this variant gets;"
            " for a weakened control those that must show a loss"
        ),
    ]


def _faults(root: Path, file: FaultSuite, variant: Variant, asked: Asked) -> Iterator[tuple[str, int]]:
    """Some variants are struck by some faults only; by another one only where the user names both."""
    only, components = file.only.get(variant.name), components_of(root, variant)
    keys, trials = asked.of_kind.get("FAULT"), asked.of_kind.get("TRIALS")
    both = keys is not None and asked.variants is not None
    if keys is None:
        keys = [
            fault.key for fault in catalogue.FAULTS.values() if fault.action != "kill-each"
        ]  # only if named
    for fault in map(catalogue.fault, keys):
        if catalogue.applies(fault, variant, components) and (only is None or fault.key in only or both):
            yield fault.key, trials or _trials(file, variant, fault, components)


def _trials(file: FaultSuite, variant: Variant, fault: Fault, components: Collection[str]) -> int:
    """Few faults show that a weakened control loses; many must show that a correct variant does not."""
    if fault.action == "kill-each":
        return len(catalogue.parts(variant, components))
    return file.trials if variant.name in file.only else file.trials_of.get(fault.key, file.trials)


def components_of(root: Path, variant: Variant) -> frozenset[str]:
    """The compose services of a variant."""
    known = topology.load(root, dict(variant.settings))
    return frozenset(known.active(variant.profiles))


def listing(root: Path, suite: Suite) -> str:
    """Every fault in words, and the variants of the suite that can suffer it."""
    parts = [(variant, components_of(root, variant)) for variant in suite.variants]
    lines = []
    for fault in catalogue.FAULTS.values():
        able = [variant.name for variant, own in parts if catalogue.applies(fault, variant, own)]
        lines.append(f"  {fault.key:23} {fault.words:66} {', '.join(able) or '-'}")
    return "\n".join(lines)


class FaultExperiment(Experiment[FaultResult]):
    """One load a cell, in which one fault strikes several times, and the audit after it."""

    kind = "faults"
    params = FaultParams
    result = FaultResult
    options = (("FAULT", "only"), ("TRIALS", "trials"))  # designed() has them
    unused = (OF_LOAD - {RATE_SCALE}) | {DATABASE_DELAY_MS}  # its own delays are faults
    metrics = (
        Metric(
            key="recovery_s",
            title="recovery, median",
            better="lower",
            get=attrgetter("recovery_s_median"),
        ),
    )

    measure = staticmethod(measure)
    derive = staticmethod(derive_faults)
    report = staticmethod(faults.report)

    def params_of(self, suite: Suite, options: Mapping[str, Any]) -> FaultSuite:  # noqa: ARG002 - designed() has them
        """The suite's part, before the user has narrowed it: `designed` makes the cells of it."""
        return suite.checked_params(FaultSuite)

    def designed(self, plan: Plan, known: Registry, asked: Asked) -> Plan:
        """Variants x faults that apply to them. UsageError for what the registry or the catalogue do not know."""
        file = plan.suite.checked_params(FaultSuite)
        for key in (*file.trials_of, *itertools.chain(*file.only.values())):
            catalogue.fault(key)
        found: dict[str, dict[str, int]] = {}  # by variant and fault, how often it strikes
        for name in asked.variants or (*(variant.name for variant in plan.suite.variants), *file.only):
            own = dict(_faults(plan.root, file, known.variant(name), asked))
            found |= {name: own} if own else {}
        if not found:
            faults, variants = ",".join(asked.of_kind.get("FAULT", ())), ",".join(asked.variants or ())
            raise UsageError(
                f"FAULT={faults} VARIANTS={variants}: none of these faults applies to these variants;"
                " `make bench-faults FAULT=help` lists which faults apply to which"
            )
        levels = tuple(key for key in catalogue.FAULTS if any(key in own for own in found.values()))
        trials = {cell_name(name, {FACTOR: key}): n for name, own in found.items() for key, n in own.items()}
        return dataclasses.replace(
            plan,
            variants=tuple(known.variant(name) for name in found),
            factors=(Factor(name=FACTOR, scope="stack", levels=levels),),
            only={name: {FACTOR: tuple(own)} for name, own in found.items()},
            alone=frozenset(name for name in trials if name.endswith(f"={catalogue.OVERLOAD}")),
            params=FaultParams(rate_per_s=plan.suite.load.phases[0].from_per_s, trials=trials),
        )

    def load_seconds(self, params: FaultParams) -> float:
        """Of one cell."""
        return CELL_SECONDS + TRIAL_SECONDS * statistics.mean(params.trials.values())

    def grown(self, before: Mapping[str, Any], now: FaultParams) -> frozenset[str] | None:
        """Cells in which fewer faults were asked for than now."""
        known = base.from_data(FaultParams, dict(before), "index.json: params")
        if known.rate_per_s != now.rate_per_s:
            return None
        return frozenset(
            name for name, trials in now.trials.items() if trials > known.trials.get(name, trials)
        )

    def reduce(self, folder: Path, host: Host) -> Evidence:
        """Evidence of a folder of raw files."""
        facts = base.from_data(FaultFacts, load_facts(folder), str(folder / FACTS_FILE))
        return impossible(facts) if facts.impossible else reduce_faults(raw.tables(folder), facts, host)

    def audit(self, result: FaultResult) -> Said | None:
        """Of all writes of the load."""
        return in_lines(result.audit)

    def line(self, result: FaultResult) -> str:
        """`no loss in 20 faults (loss probability ≤ 13.9 %); recovered in 7.0 s (max 12.3 s)`."""
        return f"{faults.verdict_in_words(result)}{faults.recovery_in_words(result)}"
