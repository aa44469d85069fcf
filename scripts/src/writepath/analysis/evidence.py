"""Evidence: what is published of a cell. Small tables and facts, from which its result follows.

Saved as one Parquet file a table and `facts.json`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from writepath.load.parquet import SMALLEST, SUFFIX, load_table, save_table
from writepath.records.base import read_json, write_json

FACTS_FILE = "facts.json"
VERSION = 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """Tables by name, and facts that only the running system knew, as JSON has them."""

    tables: Mapping[str, pa.Table]
    facts: Mapping[str, Any]


def save(evidence: Evidence, folder: Path) -> None:
    """Writes the files of evidence into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in evidence.tables.items():
        save_table(table, folder / f"{name}{SUFFIX}", level=SMALLEST)
    save_facts(evidence.facts, folder)


def load(folder: Path) -> Evidence:
    """What `save` wrote. UsageError where a file is missing, cut or edited."""
    tables = {path.stem: load_table(path) for path in sorted(folder.glob(f"*{SUFFIX}"))}
    return Evidence(tables=tables, facts=load_facts(folder))


def save_facts(facts: Mapping[str, Any], folder: Path) -> None:
    """Writes facts.json, of raw data too."""
    write_json({"schema_version": VERSION, **facts}, folder / FACTS_FILE)


def load_facts(folder: Path) -> dict[str, Any]:
    """What `save_facts` wrote. UsageError where the file is missing, cut or of another version."""
    facts = read_json(folder / FACTS_FILE, VERSION)
    del facts["schema_version"]
    return facts
