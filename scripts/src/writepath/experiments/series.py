"""Suites that run one after the other: what each takes of the options, how long it takes, what RESUME=1 continues."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from writepath.config import registry
from writepath.config.settings import Given
from writepath.errors import UsageError
from writepath.experiments import engine
from writepath.experiments import plan as planning
from writepath.experiments.base import Plan
from writepath.options import Asked, Call
from writepath.progress import FIRST_GUESS_OVERHEAD_S

MINUTE_S = 60.0
UNTIL_STEADY_S = 45.0  # a warm-up that may last longer seldom does
NONE: dict[str, Any] = {"of_kind": {}, "settings": Given()}  # of Asked


def plans(call: Call, asked: Asked, say: Callable[[str], None]) -> list[Plan]:
    """Of the suite, or of each suite of a series: each with the options that apply to it.

    UsageError for an option that applies to none of them; nothing has started then.
    """
    series = registry.load(call.root).series.get(asked.suite)
    if series is None:
        return [planning.plan(call, asked)]
    fitted = [_fitted(call, replace(asked, suite=name)) for name in series.suites]
    for option in _options(asked):
        why = [refused[option] for _, refused in fitted if option in refused]
        if len(why) == len(fitted):
            raise why[0]
    # VARIANTS that a suite has none of leave it out: None would be all of its own.
    taken = [(own, refused) for own, refused in fitted if asked.variants is None or own.variants]
    made = [planning.plan(call, own) for own, _ in taken]
    left = _left(asked.suite, made) if asked.resume else made
    for plan, (_, refused) in zip(made, taken, strict=True):
        now = next((one for one in left if one.suite.name == plan.suite.name), None)
        say(_said(plan, now, refused))
    total_s = sum(map(expected_seconds, left))
    say(f"series {asked.suite}: {len(left)} suite runs, about {total_s / MINUTE_S:.0f} minutes")
    return left


def expected_seconds(plan: Plan) -> float:
    """A first guess: for each stack a start, a warm-up and an end, for each cell its load."""
    longest_s = getattr(plan.params, "warm_up_seconds", 0.0)
    load_s = plan.kind.load_seconds(plan.params) - longest_s
    stacks = [group for block in planning.groups(plan) for group in block]
    per_stack_s = FIRST_GUESS_OVERHEAD_S + min(longest_s, UNTIL_STEADY_S)
    return len(stacks) * per_stack_s + sum(map(len, stacks)) * load_s


def _said(plan: Plan, now: Plan | None, refused: dict[str, UsageError]) -> str:
    """One line before anything starts. now: as it will run; None where it has ended."""
    without = f"; without {', '.join(refused)}, which it does not have" if refused else ""
    if now is None:
        return f"suite {plan.suite.name}: finished"
    cells = sum(map(len, planning.order_of(plan)))
    how = "continued, at most" if now.resumed else f"{cells} cells, about"
    return f"suite {plan.suite.name}: {how} {expected_seconds(plan) / MINUTE_S:.0f} minutes{without}"


def _left(name: str, made: list[Plan]) -> list[Plan]:
    """What RESUME=1 runs: the series began with the newest suite run of its first suite.

    A suite run since then is continued, or has ended; a suite without one has not begun.
    """
    indices = [engine.newest(plan.root, plan.suite.name) for plan in made]
    if indices[0] is None:
        raise UsageError(
            f"RESUME=1: no suite run of '{made[0].suite.name}', with which '{name}' begins, is in results/;"
            " start a new one without RESUME"
        )
    since = indices[0].stamp
    left = []
    for plan, index in zip(made, indices, strict=True):
        if index is None or index.stamp < since:
            left.append(replace(plan, resumed=False))
        elif not engine.is_whole(index):
            left.append(plan)
    if not left:
        raise UsageError(
            f"RESUME=1: every suite of '{name}' has ended without a missing, failed or unknown cell;"
            " start a new one without RESUME"
        )
    return left


def _fitted(call: Call, asked: Asked) -> tuple[Asked, dict[str, UsageError]]:
    """With the options that its plan accepts, each added to those before it; by option, why not the others."""
    own, refused = replace(asked, variants=None, **NONE), dict[str, UsageError]()
    for option, part in _options(asked).items():
        more = replace(
            own,
            variants=[*(own.variants or ()), *part.variants] if part.variants else own.variants,
            of_kind={**own.of_kind, **part.of_kind},
            settings=part.settings.over(own.settings.values, own.settings.factors),
        )
        try:
            planning.plan(call, more)
        except UsageError as error:
            refused[option] = error
        else:
            own = more
    return own, refused


def _options(asked: Asked) -> dict[str, Asked]:
    """Those that may apply to some suites alone, each by itself, by how it is typed."""
    bare, given = replace(asked, variants=None, **NONE), asked.settings
    return {
        **{f"VARIANTS={name}": replace(bare, variants=[name]) for name in asked.variants or ()},
        **{f"{name}={value}": replace(bare, of_kind={name: value}) for name, value in asked.of_kind.items()},
        **{
            f"{name}={value}": replace(bare, settings=Given(values={name: value}))
            for name, value in given.values.items()
        },
        **{
            f"{factor.name}={','.join(factor.levels)}": replace(bare, settings=Given(factors=(factor,)))
            for factor in given.factors
        },
    }
