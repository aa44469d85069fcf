"""Recomputes every published number from its raw data for `make verify`: any difference fails.

CHECKERS is the list of what is looked at; each gives its problems in words, with file, figure and both values.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from writepath import rederive
from writepath.errors import WritepathError
from writepath.registry import Phase
from writepath.report import capacity_verify, publish, queries_verify
from writepath.report.raw import read_run
from writepath.result import RUN_FILE, SUITE_FILE, load_suite
from writepath.result.capacity import CAPACITY_FILE
from writepath.result.queries import QUERIES_FILE
from writepath.run import audit_cli, raw_audit
from writepath.run.raw_audit import PLAN_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from writepath.rederive import Bounds
    from writepath.report.raw import RunData
    from writepath.result import Run, SuiteRun

OK, DIFFERS = 0, 1
LINE = (
    "variant",
    "scenario",
    "repetition",
    "position",
    "outcome",
)  # of suite.json, as in the run's own record


def pages(root: Path) -> list[str]:
    """Digests of what is published, and every page, table and plot, byte by byte; matrices of faults too."""
    return publish.differences(root)


def runs(root: Path) -> list[str]:
    """Every figure of every published run that its compact raw values can carry."""
    found = []
    for folder in publish.published_suites(root):
        data = publish.read_published(folder)
        phases = [_phase(vars(phase)) for phase in data.suite.phases]
        for entry, read in zip(data.suite.runs, data.read, strict=True):
            name = f"{folder.relative_to(root)}/{entry.folder}/{RUN_FILE}"
            found += _named(name, partial(_of_run, read, phases, rederive.COMPACT, entry))
    return found


CHECKERS: tuple[Callable[[Path], list[str]], ...] = (
    pages,
    runs,
    capacity_verify.problems,
    queries_verify.problems,
)


def run(root: Path, path: Path | None, say: Callable[[str], None]) -> int:
    """What is published and, where a path is given, a raw suite run, run or matrix: 0 where all agrees, else 1."""
    problems = [problem for check in CHECKERS for problem in _said(partial(check, root))]
    if path is not None:
        problems += raw(root, path)
    for problem in problems:
        say(problem)
    if problems:
        say(f"{len(problems)} differences; change published figures only with `make publish`")
        return DIFFERS
    names = sorted(
        folder.relative_to(root / publish.PUBLISHED).as_posix() for folder in publish.published(root)
    )
    also = "" if path is None else f"; {path}"
    say(f"all published figures match their raw data: {', '.join(names)}, and their pages{also}")
    return OK


def raw(root: Path, path: Path) -> list[str]:
    """Of a raw folder of results/: every digit of its runs' figures, and both reads of the audit; or its steps."""
    folder = (root / path).resolve()
    if (folder / CAPACITY_FILE).is_file():
        return capacity_verify.of_raw(root, folder)
    if (folder / QUERIES_FILE).is_file():
        return queries_verify.of_raw(root, folder)
    lines = load_suite(folder).runs if (folder / SUITE_FILE).is_file() else ()
    entries = {(folder / entry.folder).resolve(): entry for entry in lines}
    found = []
    for one in audit_cli.folders(folder):
        name = str(one.relative_to(root)) if one.is_relative_to(root) else str(one)
        if (one / RUN_FILE).is_file():
            check = partial(_of_run, partial(read_run, one), None, rederive.RAW, entries.get(one.resolve()))
            found += _named(f"{name}/{RUN_FILE}", partial(check, one / PLAN_FILE))
        found += _named(name, partial(_of_audit, one))
    return found


def _of_run(
    read: Callable[[], RunData],
    phases: Sequence[Phase] | None,
    bounds: Bounds,
    line: SuiteRun | None,
    plan: Path | None = None,
) -> list[str]:
    """phases: of a published suite; None for a raw run, whose plan is in its folder."""
    data = read()
    found = []
    if line is not None:
        kept, own = _line(line), _line_of(data.run)
        found = [
            f"{name}: {own[name]}, but {value} in {SUITE_FILE}"
            for name, value in kept.items()
            if own[name] != value
        ]
    if phases is None and plan is not None and plan.is_file():
        phases = [_phase(phase) for phase in json.loads(plan.read_text(encoding="utf-8"))["phases"]]
    return found + (rederive.problems(data, phases, bounds) if phases is not None else [])


def _of_audit(folder: Path) -> list[str]:
    """What cannot be read, or contradicts the record; not what the record itself says was not read."""
    found = raw_audit.recompute(folder)
    known = found.run.audit.unread if found.run is not None and found.run.audit is not None else ()
    return [words for words in found.audit.unread if words not in known]


def _line(line: SuiteRun) -> dict[str, object]:
    own = {name: getattr(line, name) for name in LINE}
    return {**own, "verdict.status": line.verdict, "verdict.reasons": line.reasons}


def _line_of(run: Run) -> dict[str, object]:
    own = {name: getattr(run, name) for name in LINE}
    return {**own, "verdict.status": run.verdict.status, "verdict.reasons": run.verdict.reasons}


def _phase(fields: Mapping[str, Any]) -> Phase:
    return Phase(**{name: fields[name] for name in ("name", "seconds", "from_per_s", "to_per_s")})


def _named(name: str, check: Callable[[], list[str]]) -> list[str]:
    return [f"{name}: {problem}" for problem in _said(check)]


def _said(check: Callable[[], list[str]]) -> list[str]:
    """Data that cannot be read any more, or contradicts itself, is a difference too."""
    try:
        return check()
    except (WritepathError, ValueError, LookupError) as error:
        return [f"cannot be recomputed ({error})"]
