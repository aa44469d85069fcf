"""Makes the plan of a suite run from suites.yaml and from what the user asked of `bench` and `bench-all`."""

from pathlib import Path
from typing import Any

from writepath import checkout
from writepath.config import registry
from writepath.config.registry import Registry, Suite, Variant
from writepath.errors import UsageError
from writepath.experiments.base import Experiment
from writepath.experiments.plan import RERUNS, Plan, References
from writepath.experiments.registry import KINDS, kind_of
from writepath.load import dataset
from writepath.options import Bench, Call


def plan(
    call: Call, asked: Bench, suite: Suite, variants: tuple[Variant, ...], state: Path
) -> tuple[Plan, Experiment[Any]]:
    """The plan and its kind; UsageError for an option or a setting that the kind does not have.

    state: the ignored folder of what a checkout keeps at run time.
    """
    kind, known = kind_of(suite.kind), registry.load(call.root)
    _require_options(call, asked, suite, known)
    given = asked.settings.over(suite.settings, suite.factors)
    if not kind.load_settings:
        given.require_stack(f"'{suite.name}' is a {suite.kind} suite")
    params = kind.params_of(suite, asked.of_kind)
    made = Plan(
        root=call.root,
        state=state,
        suite=suite,
        params=params,
        variants=variants,
        repetitions=asked.reps or suite.repetitions,
        seed=asked.seed,
        settings=given.values,
        factors=given.factors,
        dataset=dataset.choose(asked.dataset, asked.dataset_lines or kind.dataset_lines(params), asked.seed),
        code=checkout.code(call.root),
        resumed=asked.resume,
        reruns=RERUNS if asked.reruns is None else asked.reruns,
        references=None if call.command == "bench" else _references(suite, known),
    )
    return made, kind


def _references(suite: Suite, known: Registry) -> References | None:
    if suite.references is None:
        return None
    other = known.suite(suite.references)
    kind = kind_of(other.kind)
    return References(suite=other, kind=kind, params=kind.params_of(other, {}))


def _require_options(call: Call, asked: Bench, suite: Suite, known: Registry) -> None:
    for name, value in asked.of_kind.items():
        having = [other.kind for other in KINDS.values() if name in other.options]
        if suite.kind not in having:
            example = next(other.name for other in known.suites.values() if other.kind in having)
            raise UsageError(
                f"{name}={value}: applies only to {' and '.join(having)} suites; '{suite.name}' is a {suite.kind}"
                f" suite. Omit it, or run: make {call.command} SUITE={example} {name}={value}"
            )
