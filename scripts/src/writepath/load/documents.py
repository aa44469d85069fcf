"""The posts that are searched: as many as asked for, each a pure function of data set, seed and its number."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from writepath.load.plan import decode_id, encode_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from writepath.load.dataset import Dataset

FIRST_AT = datetime(2026, 1, 1, tzinfo=UTC)  # before any write of a load, so that those come first
APART = timedelta(milliseconds=1)
LINES_AT_ONCE = 5_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Documents:
    """Post n has line n modulo their number, and is n milliseconds younger than the first."""

    lines: tuple[str, ...]
    count: int
    run_id: str  # 15 hex digits, in every id

    @staticmethod
    def of(dataset: Dataset, count: int, seed: int) -> Documents:
        """The same posts, down to their ids, for every variant, block and machine."""
        run_id = hashlib.sha256(f"writepath:documents:{seed}".encode()).hexdigest()[:15]
        return Documents(lines=dataset.lines, count=count, run_id=run_id)

    def content(self, sequence: int) -> str:
        """What a post says."""
        return self.lines[sequence % len(self.lines)]

    def post_id(self, sequence: int) -> str:
        """Its id."""
        return encode_id(self.run_id, sequence)

    def sequence_of(self, post_id: str) -> int | None:
        """Which post has the id; None where none of these has."""
        found = decode_id(post_id)
        if found is None or found[0] != self.run_id or found[1] >= self.count:
            return None
        return found[1]

    def of_lines(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Posts with one of these lines, ascending by sequence; each line's number is there once."""
        rounds = np.arange(0, self.count, len(self.lines))
        sequences = (rounds[:, None] + numbers[None, :]).reshape(-1)
        return np.sort(sequences[sequences < self.count])

    def total(self, numbers: NDArray[np.int64]) -> int:
        """How many posts have one of these lines."""
        whole, rest = divmod(self.count, len(self.lines))
        return whole * len(numbers) + int((numbers < rest).sum())

    def chunks(self, size: int = LINES_AT_ONCE) -> Iterator[tuple[int, bytes]]:
        """As the inspector's bulk load takes them: how many posts, and one line of JSON for each."""
        for begin in range(0, self.count, size):
            sequences = range(begin, min(begin + size, self.count))
            yield len(sequences), "".join(map(self._line, sequences)).encode()

    def digest(self, hashes: NDArray[np.uint64]) -> str:
        """SHA-256 of every id and content hash, in the order of ids; hashes: by sequence, as they are stored."""
        total = hashlib.sha256()
        for sequence, hashed in enumerate(hashes.tolist()):
            total.update(f"{self.post_id(sequence)},{hashed:016x}\n".encode())
        return total.hexdigest()

    def _line(self, sequence: int) -> str:
        at = (FIRST_AT + sequence * APART).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        post = {"id": self.post_id(sequence), "content": self.content(sequence), "createdAt": at}
        return json.dumps(post, ensure_ascii=False) + "\n"
