"""How is a finished load's ledger read back in little memory? As one array that grows in place, already in order.

The runner keeps `ledger.csv.gz` in the order of the sequence, whole. Where a file is otherwise, `ledger.read` sorts and
names what is wrong with it; that takes three times the memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from writepath.load import ledger

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray


def read(path: Path) -> ledger.Ledger:
    """As `ledger.read`, of the same file. AuditError where there is no file."""
    parts = ledger.Parts(path)
    whole = True

    def sound() -> Iterable[NDArray[np.void]]:
        nonlocal whole
        for part in parts:
            whole &= part.bad is None
            yield part.records

    records = grown(sound(), ledger.RECORD)
    seq = records["seq"]
    if not whole or parts.torn or not (seq[1:] > seq[:-1]).all():
        del records, seq
        return ledger.read(path)
    return ledger.Ledger(records=records)


def grown(parts: Iterable[NDArray[np.void]], dtype: np.dtype[np.void]) -> NDArray[np.void]:
    """Joined; never held twice, as joining a list of them would."""
    whole = np.empty(0, dtype)
    for part in parts:
        filled = len(whole)
        whole.resize(filled + len(part), refcheck=False)
        whole[filled:] = part
    pa.default_memory_pool().release_unused()  # of the blocks that were parsed
    return whole
