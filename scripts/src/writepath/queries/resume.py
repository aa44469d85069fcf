"""Which suite run of searches is continued? The newest with something missing, failed or left to noise, if the same."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from writepath.capacity import resume
from writepath.records.capacity import unresolved
from writepath.records.queries import QUERIES_FILE, READ_FILE, load_read, load_suite
from writepath.suite.resume import unfinished

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.records.queries import QueriesSuite, Read

SAME = (
    *resume.SAME,
    ("documents", "DOCS"),
    ("rounds", "ROUNDS"),
    ("keywords", "the suite's keywords in suites.yaml"),
)


def newest(wanted: QueriesSuite, results: Path) -> tuple[QueriesSuite, Path]:
    """Its index without the readings that did not finish, and its folder; UsageError says what differs."""
    paths = (results / wanted.suite).glob(f"*/{QUERIES_FILE}")
    return unfinished(
        wanted, paths, load_suite, _left, same=SAME, what="a missing, failed or noisy search run"
    )


def all_but_beside(folder: Path) -> Read | None:
    """A reading of which noise left nothing but searches alone or beside writes: these can be made again alone."""
    if not (folder / READ_FILE).is_file():
        return None
    read = load_read(folder)
    whole = read.outcome == "finished" and not unresolved(read.holds)
    return read if whole and read.beside_left_to_noise else None


def _left(index: QueriesSuite, folder: Path) -> QueriesSuite | None:
    kept = resume.settled(index.reads, folder, load_read)
    return None if len(kept) >= sum(map(len, index.blocks)) else dataclasses.replace(index, reads=kept)
