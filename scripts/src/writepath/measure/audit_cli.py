"""Prints the audit of fault cells, recomputed from raw files: classes, sums, offenders with the faults, the verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from writepath.analysis import audit_words
from writepath.analysis.audit import MUST_BE_ZERO
from writepath.errors import UsageError
from writepath.load import ledger
from writepath.measure.raw_audit import Recomputed, recompute
from writepath.records.faults import CELL_FILE, FAULTS_FILE, load_faults

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


LATEST = Path("results/latest")
OF_ONE = (CELL_FILE, ledger.FILE, "plan.json")
LISTED = (
    "absent",
    "vanished",
    "duplicated",
    "corrupted",
    "unexpected",
    "rejected_present",
    "wrong_ack",
    "never_read",
)


def run(root: Path, path: Path | None, say: Callable[[str], None]) -> int:
    """One run's folder, or every run of a suite run's or a matrix's: 0 all PASS, 1 any FAIL, else 3; or UsageError."""
    folder = (root / LATEST if path is None else path).resolve()
    verdicts = []
    for one in folders(folder):
        found = recompute(one)
        verdicts.append(found.audit.verdict)
        say(str(one.relative_to(folder)) if one != folder else folder.name)
        for line in lines(found):
            say(f"  {line}")
    return audit_words.exit_code(verdicts)


def folders(folder: Path) -> list[Path]:
    """Of the runs; a run that the index names and that is not there is one too, and says so."""
    if (folder / FAULTS_FILE).is_file():
        found = [folder / entry.folder for entry in load_faults(folder).cells]
        if not found:
            raise UsageError(f"RUN={folder}: no cell in it has ended yet")
        return found
    if not folder.is_dir() or not any((folder / name).exists() for name in OF_ONE):
        raise UsageError(
            f"RUN={folder}: not the folder of a run or of a suite run; use RUN=results/<suite>/<stamp>"
        )
    return [folder]


def lines(found: Recomputed) -> Iterator[str]:
    """In words."""
    audit = found.audit
    yield audit_words.classes(audit, audit_words.HARMLESS)
    yield audit_words.classes(audit, MUST_BE_ZERO)
    yield from audit_words.readings(audit)
    for name in LISTED:
        for where in found.beside(name):
            yield f"{name}: {where}"
    for foreign in found.comparison.foreign[:20]:
        yield f"unexpected: {foreign}, an id that no request of this run has"
    yield from audit_words.ending(audit)
