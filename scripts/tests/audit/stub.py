"""A store that lies as it is told: speaks the inspector's CSV, through the code that reads the real one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis import audit
from writepath.analysis.audit import Attempts, Comparison, Counts, Held, Stored
from writepath.load.ledger import RECORD, WRONG_ACK, Ledger
from writepath.load.plan import encode_id
from writepath.measure import stored
from writepath.records import Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

RUN, OTHER_RUN = "0123456789abcde", "fffffffffffffff"
LINES = ("하나", "two", "three, with a comma")
NUMBER = 100_000
SENT_US = 1_763_683_200_000_000
CHUNK_BYTES = 1 << 20
INVENTED = 5


@dataclass(frozen=True, kw_only=True)
class Lies:
    """By sequence; each one an act of the system, in the words of what it does."""

    skip: frozenset[int] = frozenset()  # answer 201, store nothing
    double: frozenset[int] = frozenset()  # store twice
    flip: frozenset[int] = frozenset()  # change one byte of the content
    delay: frozenset[int] = frozenset()  # make it durable 10 s late
    forget: frozenset[int] = frozenset()  # lose it in the restart
    cross: frozenset[int] = frozenset()  # acknowledge with another write's id
    fail: frozenset[int] = frozenset()  # answer 503, and store it
    refuse: frozenset[int] = frozenset()  # answer 400, and store it
    unsent: frozenset[int] = frozenset()  # sequences the client left out, which the store invents
    beyond: frozenset[int] = frozenset()  # sequences behind the last one, invented
    foreign: tuple[str, ...] = ()  # ids of another run, invented


CLASS_OF = {
    "skip": "absent", "double": "duplicated", "flip": "corrupted", "delay": "late", "forget": "vanished",
    "cross": "wrong_ack", "fail": "recovered", "refuse": "rejected_present", "unsent": "unexpected",
    "beyond": "unexpected",
}  # fmt: skip


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


SOUND = tuple(digest(line) for line in LINES)
FLIPPED = tuple(digest(line[:-1] + chr(ord(line[-1]) ^ 1)) for line in LINES)
TAIL = f"{RUN[:8]}-{RUN[8:12]}-8{RUN[12:]}-8"


def short_id(seq: int) -> str:
    """As encode_id, in a third of the time."""
    digits = f"{seq:015x}"
    return f"{TAIL}{digits[:3]}-{digits[3:]}"


@dataclass(kw_only=True)
class Stub:
    """The rows as (id, hash, moment); a restart loses what it was told to."""

    lies: Lies
    number: int = NUMBER

    def posts(self, *, restarted: bool) -> Iterator[bytes]:
        lies, lines = self.lies, ["id,content_hash,durable_at_us"]
        missing = lies.skip | (lies.forget if restarted else frozenset())
        for seq in [*range(self.number), *sorted(lies.beyond)]:
            if seq in missing:
                continue
            hashes = FLIPPED if seq in lies.flip else SOUND
            at_us = SENT_US + (seq + (10_000 if seq in lies.delay else 20)) * 1000
            line = f"{short_id(seq)},{hashes[seq % len(LINES)]},{at_us}"
            lines += [line, line] if seq in lies.double else [line]
        lines += [f"{name},{SOUND[0]}," for name in lies.foreign]
        body = ("\n".join(lines) + "\n").encode()
        for first in range(0, len(body), CHUNK_BYTES):
            yield body[first : first + CHUNK_BYTES]

    def read(self, *, restarted: bool) -> Stored:
        """Through the parser of the real inspector's answers."""
        prefix = encode_id(RUN, 0)[: stored.PREFIX_LENGTH]
        rows = stored.Rows(prefix, hashed=True)
        rows.read(self.posts(restarted=restarted))
        return stored.assemble(rows, stored.Rows(prefix, hashed=False), stored.content_hashes(LINES))

    def ledger(self) -> Ledger:
        """What a client saw of it."""
        records = np.zeros(self.number, RECORD)
        records["seq"] = np.arange(self.number)
        records["start_us"] = SENT_US + records["seq"] * 1000
        records["duration_us"], records["status"] = 10_000, 201
        records["error_code"][list(self.lies.cross)] = WRONG_ACK
        for seqs, status in ((self.lies.fail, 503), (self.lies.refuse, 400)):
            records["status"][list(seqs)] = status
            records["error_code"][list(seqs)] = 1000 + status
        return Ledger(records=np.delete(records, list(self.lies.unsent)))


def audited(stub: Stub) -> Comparison:
    """As the runner does it."""
    first, second, ledger = stub.read(restarted=False), stub.read(restarted=True), stub.ledger()
    attempts = Attempts.of(ledger)
    reads = tuple(Reading(store_rows=rows.rows, left_in_queue=0) for rows in (first, second))
    counts = Counts(planned=len(ledger.records), dropped=0, reads=reads)
    held = [Held.of(rows, attempts) for rows in (first, second)]
    return audit.compare(attempts, held[0], held[1], counts, lambda seq: encode_id(RUN, seq))
