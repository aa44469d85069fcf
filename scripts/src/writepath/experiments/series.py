"""Suites that run one after the other: what each takes of the options, how long it takes, what RESUME=1 continues."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from writepath.config import registry
from writepath.config.registry import SUITES_FILE, Member, Series
from writepath.config.settings import Given
from writepath.errors import UsageError
from writepath.experiments import engine
from writepath.experiments import plan as planning
from writepath.experiments.base import Plan, References
from writepath.options import Asked, Call
from writepath.progress import FIRST_GUESS_OVERHEAD_S

MINUTE_S = 60.0
UNTIL_STEADY_S = 60.0  # a warm-up that may last longer seldom does


@dataclass(frozen=True, kw_only=True)
class _Taken:
    """A suite of a series, and what of the options it takes."""

    member: Member
    asked: Asked  # with the options that its plan accepts
    refused: dict[str, UsageError]  # by option, why not the others


def plans(call: Call, asked: Asked, say: Callable[[str], None]) -> list[Plan]:
    """Of the suite, or of each suite of a series."""
    series = registry.load(call.root).series.get(asked.suite)
    if series is None:
        return [planning.plan(call, asked)]

    def left(made: list[Plan]) -> list[Plan]:
        return _left(asked.suite, made) if asked.resume else made

    return planned(call, asked, series, left, say)


def planned(
    call: Call,
    asked: Asked,
    series: Series,
    left: Callable[[list[Plan]], list[Plan]],
    say: Callable[[str], None],
) -> list[Plan]:
    """Of each suite that is left to run, with the options that apply to it. Says what each takes, and all.

    UsageError for an option that applies to none of them, and for a suite above its limit; nothing has started then.
    """
    fitted = [_fitted(call, asked, member) for member in series.suites]
    for option in _options(asked):
        why = [one.refused[option] for one in fitted if option in one.refused]
        if len(why) == len(fitted):
            raise why[0]
    # VARIANTS that a suite has none of leave it out: None would be all of its own.
    taken = [one for one in fitted if asked.variants is None or one.asked.variants]
    made = [planning.plan(call, one.asked) for one in taken]
    for one, plan in zip(taken, made, strict=True):
        _require_short(one.member, plan)
    running = {(plan.suite.name, plan.runtime): plan for plan in left(made)}
    limits = list[int | None]()
    for one, plan in zip(taken, made, strict=True):
        now = running.get((plan.suite.name, plan.runtime))
        limits += [] if now is None else [one.member.minutes]
        say(_said(one, now))
    total_s = sum(map(expected_seconds, running.values()))
    say(
        f"series {asked.suite}: {len(running)} suite runs, about {total_s / MINUTE_S:.0f} minutes{_limit(*limits)}"
    )
    return list(running.values())


def expected_seconds(plan: Plan) -> float:
    """A first guess: for each stack a start, a warm-up and an end, for each cell its load."""
    return sum(_group_seconds(plan, group) for block in planning.groups(plan) for group in block)


def _group_seconds(plan: Plan, group: planning.Group) -> float:
    """Of one stack."""
    other = plan.references
    design: Plan | References = plan if group[0].role != "reference" or other is None else other
    longest_s = getattr(design.params, "warm_up_seconds", 0.0)
    load_s = design.kind.load_seconds(design.params) - longest_s
    return FIRST_GUESS_OVERHEAD_S + min(longest_s, UNTIL_STEADY_S) + len(group) * load_s


def _require_short(member: Member, plan: Plan) -> None:
    minutes = round(expected_seconds(plan) / MINUTE_S)
    if member.minutes is not None and minutes > member.minutes:
        raise UsageError(
            f"{SUITES_FILE}: a series has suite '{member.name}', which takes about {minutes} minutes"
            f" (limit {member.minutes}). Give it fewer reps, variants or faults there, or raise its `minutes`"
        )


def _said(one: _Taken, now: Plan | None) -> str:
    """One line before anything starts. now: as it will run; None where it has ended."""
    if now is None:
        return f"suite {one.member.name}: finished"
    without = f"; without {', '.join(one.refused)}, which it does not have" if one.refused else ""
    cells = sum(map(len, planning.order_of(now)))
    how = "continued, at most" if now.resumed else f"{cells} cells, about"
    minutes = expected_seconds(now) / MINUTE_S
    return f"suite {one.member.name}: {how} {minutes:.0f} minutes{_limit(one.member.minutes)}{without}"


def _limit(*minutes: int | None) -> str:
    """Of suites that have one."""
    known = [one for one in minutes if one is not None]
    return f" (limit {sum(known)})" if known else ""


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


def _fitted(call: Call, asked: Asked, member: Member) -> _Taken:
    """With the options that its plan accepts, each added to those before it and to what the series says of it."""
    own = replace(
        asked,
        suite=member.suite,
        variants=None if asked.variants else member.variants,
        reps=asked.reps or member.reps,
        runtime=member.runtime or asked.runtime,
        of_kind={} if member.faults is None else {"FAULT": list(member.faults)},
        settings=Given(),
    )
    refused = dict[str, UsageError]()
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
    return _Taken(member=member, asked=own, refused=refused)


def _options(asked: Asked) -> dict[str, Asked]:
    """Those that may apply to some suites alone, each by itself, by how it is typed."""
    bare, given = replace(asked, variants=None, of_kind={}, settings=Given()), asked.settings
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
