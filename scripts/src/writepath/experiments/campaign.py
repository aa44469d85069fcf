"""Runs the series of what is published: each suite is measured, published and committed before the next begins.

What has ended is read from what is there, published or in results/. So a start continues where the last one was
stopped, whatever stopped it.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from writepath import checkout, processors
from writepath.config import registry
from writepath.config.registry import SUITES_FILE, Series
from writepath.errors import INTERRUPTED, UsageError, WritepathError, worst
from writepath.experiments import engine, publish, read, series
from writepath.experiments.base import Plan
from writepath.measure import host
from writepath.options import Asked, Call
from writepath.processors import Split
from writepath.records.base import from_data, to_data
from writepath.records.index import INDEX_FILE, Index, load_index
from writepath.report.staging import PUBLISHED, scrubbed

UNDER_WAY = "results/.publishing"  # there while files are written that are not committed; git ignores it
Say = Callable[[str], None]


def run(
    call: Call, asked: Asked, measure: Callable[[Plan], int], say: Say, only: Sequence[str] | None = None
) -> int:
    """0 where everything is published, else the worst exit code of what is not; 130 where the user stopped it.

    measure: runs a plan, and gives its exit code. only: names of suites; None: all. UsageError or SetupError where this
    checkout or this host must not measure now; nothing has started then.
    """
    _require_ready(call.root, say)
    codes = dict[str, int]()
    for plan in _plans(call, asked, say, only):
        name = publish.name_of(_wanted(plan))
        codes[name] = _carried_out(name, plan, measure, say)
        if codes[name] == INTERRUPTED:
            say("campaign stopped; `make campaign` continues it")
            return INTERRUPTED
    if missing := [name for name, code in codes.items() if code]:
        say(
            f"campaign: {', '.join(missing)} not published. `make campaign` runs what is missing, failed or unknown; an"
            " invalid cell stays as it is, until the folder of its suite run in results/ is deleted"
        )
    else:
        say(f"campaign: {'everything' if only is None else ', '.join(only)} is published")
    return worst(codes.values())


def _require_ready(root: Path, say: Say) -> None:
    """Undoes what a killed campaign has half published, then refuses a checkout with changes and a busy host."""
    if (root / UNDER_WAY).exists():
        say("the campaign was stopped while it published; its files are as in the last commit now")
        _undo(root)
    checkout.require_clean(root)
    host.require_idle()


def _plans(call: Call, asked: Asked, say: Say, only: Sequence[str] | None) -> list[Plan]:
    known = registry.load(call.root).campaign
    if known is None:
        raise UsageError(f"{SUITES_FILE}: has no `campaign`, the list of suites that are published")
    if only is not None:
        known = _some(known, only)

    def left(made: list[Plan]) -> list[Plan]:
        unpublished = [plan for plan in made if not _is_published(plan)]
        return [
            replace(plan, resumed=engine.standing(plan, _split(plan)) is not None) for plan in unpublished
        ]

    return series.planned(call, asked, known, left, say)


def _some(known: Series, only: Sequence[str]) -> Series:
    """In the order of the campaign. UsageError for a name that it does not have."""
    if other := [name for name in only if name not in known.names]:
        raise UsageError(
            f"SUITES={','.join(only)}: the campaign has no suite '{other[0]}'. It has {', '.join(known.names)}"
        )
    return replace(known, suites=tuple(member for member in known.suites if member.name in only))


def _split(plan: Plan) -> Split:
    """What it would use; what there is to say of it is said when it runs."""
    return processors.choose(plan.processors, lambda _: None)


def _wanted(plan: Plan) -> Index:
    return engine.new_index(plan, plan.runtime, _split(plan))


def _is_published(plan: Plan) -> bool:
    """With these options and this code, from whatever host."""
    wanted = _wanted(plan)
    folder = plan.root / PUBLISHED / publish.name_of(wanted)
    if not (folder / INDEX_FILE).is_file():
        return False
    wanted = from_data(Index, scrubbed(to_data(wanted)), INDEX_FILE)
    return not any(read.differing(engine.SAME, load_index(folder), wanted))


def _carried_out(name: str, plan: Plan, measure: Callable[[Plan], int], say: Say) -> int:
    """0 once it is published and committed; what keeps it from that is said, and the next suite may begin."""
    began_s = time.monotonic()
    try:
        found = engine.standing(plan, _split(plan))
        if found is not None and found.whole:
            folder = found.folder
        elif measure(plan) == INTERRUPTED:
            return INTERRUPTED
        else:
            folder = read.suite_folder(plan.root, None)
        _publish(plan.root, folder, name)
    except KeyboardInterrupt:
        return INTERRUPTED
    except WritepathError as error:
        say(f"suite {name}: {error}")
        return error.exit_code
    say(f"suite {name}: published and committed after {(time.monotonic() - began_s) / 60:.0f} minutes")
    return 0


def _publish(root: Path, folder: Path, name: str) -> None:
    """All or nothing: one commit, or the files as they were."""
    checkout.require_clean(root)
    (root / UNDER_WAY).touch()
    try:
        publish.publish(root, folder)
        checkout.commit(root, publish.WRITTEN, f"Publish suite {name}")
    except BaseException:
        _undo(root)
        raise
    (root / UNDER_WAY).unlink()


def _undo(root: Path) -> None:
    checkout.restore(root, publish.WRITTEN)
    (root / UNDER_WAY).unlink(missing_ok=True)
