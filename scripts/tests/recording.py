"""What k6's recorder writes, written by the tests; and what a ledger has, counted."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from writepath.load import ledger
from writepath.load.ledger import CHECK_SEED, MAGIC, ROW, VERSION, Ledger, error_kind

Request = tuple[int, int, int, int, int, int, int]  # the fields of ledger.RECORD
HEADER = np.array([(MAGIC, VERSION, ROW.itemsize, 0)], ledger.HEADER).tobytes()


def rows(requests: Iterable[Request]) -> bytes:
    """Their records."""
    fields = [
        (start_us, seq, blocked_us, took_us, status, operation, code, 0)
        for seq, operation, start_us, blocked_us, took_us, status, code in requests
    ]
    return sealed(np.array(fields, ROW)).tobytes()


def sealed(table: NDArray[np.void]) -> NDArray[np.void]:
    """With the right checks, whatever the fields say."""
    table["check"] = 0
    words = table.view("<u4").reshape(len(table), ROW.itemsize // 4)
    table["check"] = np.bitwise_xor.reduce(words, axis=1) ^ np.uint32(CHECK_SEED)
    return table


def write(path: Path, requests: Iterable[Request]) -> Path:
    """A whole file of them."""
    path.write_bytes(HEADER + rows(requests))
    return path


def by_status(taken: Ledger) -> dict[int, int]:
    """Number of requests; 0 = no answer."""
    return Counter(taken.records["status"].tolist())


def by_error(taken: Ledger) -> dict[str, int]:
    """Number of requests, by kind of error in words."""
    answers = zip(taken.records["status"].tolist(), taken.records["error_code"].tolist(), strict=True)
    return Counter(error_kind(*answer) for answer in answers if answer not in ((200, 0), (201, 0)))
