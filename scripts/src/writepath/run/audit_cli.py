"""What is printed of an audit? Classes, sums, offenders beside the faults, the verdict; and its exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from writepath.errors import UsageError
from writepath.result import RUN_FILE, SUITE_FILE, load_suite
from writepath.result.faults import CELL_FILE, FAULTS_FILE, load_faults
from writepath.run.audit import MUST_BE_ZERO
from writepath.run.raw_audit import Recomputed, recompute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from writepath.result import Audit, AuditVerdict

EXIT_CODES: dict[AuditVerdict, int] = {"PASS": 0, "FAIL": 1, "UNKNOWN": 3}
WORST_FIRST: tuple[AuditVerdict, ...] = ("FAIL", "UNKNOWN", "PASS")
LATEST = Path("results/latest")
OF_ONE = (RUN_FILE, CELL_FILE, "ledger.csv.gz", "plan.json")
HARMLESS = ("ok", "late", "recovered", "clean_fail", "clean_reject")
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
    return EXIT_CODES[next(verdict for verdict in WORST_FIRST if verdict in verdicts)]


def folders(folder: Path) -> list[Path]:
    """Of the runs; a run that the index names and that is not there is one too, and says so."""
    for index, load in ((SUITE_FILE, _runs), (FAULTS_FILE, _cells)):
        if (folder / index).is_file():
            found = load(folder)
            if not found:
                raise UsageError(f"RUN={folder}: no run in it has ended yet")
            return found
    if not folder.is_dir() or not any((folder / name).exists() for name in OF_ONE):
        raise UsageError(
            f"RUN={folder}: not the folder of a run or of a suite run; use RUN=results/<suite>/<stamp>"
        )
    return [folder]


def _runs(folder: Path) -> list[Path]:
    return [folder / entry.folder for entry in load_suite(folder).runs]


def _cells(folder: Path) -> list[Path]:
    return [folder / entry.folder for entry in load_faults(folder).cells]


def lines(found: Recomputed) -> Iterator[str]:
    """In words."""
    audit = found.audit
    yield _classes(audit, HARMLESS)
    yield _classes(audit, MUST_BE_ZERO)
    for reading, when in zip(audit.reads, ("after the drain", "after the restart"), strict=False):
        yield f"{when}: {reading.store_rows} rows, {reading.left_in_queue} messages left in the queue"
    for words in audit.identities_broken:
        yield f"sums do not agree: {words}"
    if not audit.identities_broken:
        yield "sums agree"
    for name in LISTED:
        for where in found.beside(name):
            yield f"{name}: {where}"
    for foreign in found.comparison.foreign[:20]:
        yield f"unexpected: {foreign}, an id that no request of this run has"
    for words in audit.unread:
        yield f"not read: {words}"
    yield f"{audit.verdict} in {audit.seconds:.1f} s"


def _classes(audit: Audit, names: tuple[str, ...] | dict[str, str]) -> str:
    values = ((name, getattr(audit, name)) for name in names)
    return ", ".join(f"{name} {'unknown' if value is None else value}" for name, value in values)
