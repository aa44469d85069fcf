"""When does a search find a write? Asks the final store, while the load runs, for a sample of its writes.

Which writes are asked for follows from plan and seed alone, so that nobody waits for the ledger. One question asks for
all that are due and not seen yet. The moment of the answer that has a write is an upper bound of its visible moment,
and the sending of the last question that missed it a lower one.
"""

from __future__ import annotations

import gzip
import statistics
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np

from writepath.errors import AuditError
from writepath.load.plan import decode_id, encode_id

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path
    from types import TracebackType

    from numpy.typing import NDArray

    from writepath.load.plan import ArrivalPlan
    from writepath.run.inspector import Inspector

PER_S = 20.0  # samples at the plan's peak rate; 0 asks for nothing
EVERY_S = 0.05  # between questions, or a share of what writes take to be seen there, up to SELDOM_S
USUAL_SHARE = 0.25  # an index that shows a write after half a second need not be asked ten times meanwhile
SELDOM_S = 0.25
USUAL_OF = 20  # the latest so many that were seen
AGE_SHARE = (
    0.02  # what has waited long is asked for at a fiftieth of its age: a backlog must not make questions long
)
MOST_ASKED = 500  # in one question, the longest unasked first
GIVE_UP_S = 150.0  # after its planned moment: longer than k6's patience and the drain together
QUIET_S = 5.0  # after the load: so long without a new one, and the rest is not awaited
CAP_S = 120.0
HEADER = "seq,not_before_ms,visible_at_ms"


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """One entry a sample, ascending by sequence; moments are epoch ms."""

    seq: NDArray[np.int64]
    not_before_ms: NDArray[np.float64]  # NaN where no question missed it
    visible_at_ms: NDArray[np.float64]  # NaN where no answer had it


def sampled(plan: ArrivalPlan, seed: int) -> NDArray[np.int64]:
    """About PER_S sequences a second at the plan's peak, and the same share of all others; of plan and seed alone."""
    sequences = np.arange(plan.planned, dtype=np.int64)
    share = min(1.0, PER_S / plan.peak_per_s)
    return sequences[_uniform(sequences, seed) < share]


def _uniform(sequences: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """SplitMix64 of each sequence, as a fraction of its range."""
    with np.errstate(over="ignore"):
        x = (sequences.astype(np.uint64) + np.uint64(seed % 2**32)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (x ^ (x >> np.uint64(31))).astype(np.float64) / 2.0**64


@dataclass(kw_only=True)
class Prober:
    """Asks until stopped. A context manager: begins with the load, which must start right after it."""

    ask: Callable[[Sequence[int]], Collection[int]]  # which of these a search finds; AuditError: no answer
    seq: NDArray[np.int64]
    due_s: NDArray[np.float64]  # planned moment of each, since the start
    clock: Callable[[], float] = time.time
    answered: int = 0
    failed: int = 0
    _took_s: deque[float] = field(default_factory=lambda: deque(maxlen=USUAL_OF))
    _ending: threading.Event = field(default_factory=threading.Event)

    @staticmethod
    def of(store: Inspector, plan: ArrivalPlan, run_id: str, seed: int) -> Prober:
        """For one load."""
        seq = sampled(plan, seed)
        return Prober(ask=partial(_found, store, run_id), seq=seq, due_s=plan.starts_ms[seq] / 1000)

    def __post_init__(self) -> None:
        """Nothing is asked yet."""
        self._not_before_ms = np.full(len(self.seq), np.nan)
        self._visible_at_ms = np.full(len(self.seq), np.nan)
        self._started_s = self.clock()
        self._next_s = self.due_s.copy()  # since the start; no earlier question for it
        self._thread = threading.Thread(target=self._run, name="visible", daemon=True)

    def __enter__(self) -> Self:
        """Starts the clock and the thread."""
        self._started_s = self.clock()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends it."""
        self._ending.set()
        self._thread.join(timeout=10)

    def settle(self, acknowledged: NDArray[np.int64]) -> None:
        """After the load: waits for the acknowledged samples, as the drain's counting would make them visible."""
        awaited = np.isin(self.seq, acknowledged)
        began = changed = time.monotonic()
        left = len(self.seq) + 1
        while True:
            waiting, now = int((awaited & np.isnan(self._visible_at_ms)).sum()), time.monotonic()
            changed, left = (now, waiting) if waiting < left else (changed, left)
            if not waiting or now - changed >= QUIET_S or now - began >= CAP_S:
                return
            time.sleep(EVERY_S)

    def seen(self) -> Seen | None:
        """What was found so far; None where no question was ever answered, which says nothing of visibility."""
        if not self.answered:
            return None
        return Seen(
            seq=self.seq, not_before_ms=self._not_before_ms.copy(), visible_at_ms=self._visible_at_ms.copy()
        )

    def _run(self) -> None:
        while not self._ending.is_set():
            began = time.monotonic()
            self.question()
            self._ending.wait(max(0.0, began + self.pause_s() - time.monotonic()))

    def pause_s(self) -> float:
        """Between two questions: each costs the store work that the load then has to share."""
        usual_s = statistics.median(self._took_s) if self._took_s else 0.0
        return min(SELDOM_S, max(EVERY_S, USUAL_SHARE * usual_s))

    def question(self) -> None:
        """One, for all that are due; one that gets no answer says nothing and is asked again."""
        sent_s = self.clock()
        now_s = sent_s - self._started_s
        due = np.isnan(self._visible_at_ms) & (self._next_s <= now_s) & (now_s < self.due_s + GIVE_UP_S)
        which = np.flatnonzero(due)
        which = which[np.argsort(self._next_s[which], kind="stable")][:MOST_ASKED]
        if not len(which):
            return
        try:
            found = self.ask(self.seq[which].tolist())
        except AuditError:
            self.failed += 1
            return
        at_ms = self.clock() * 1000
        hit = np.isin(self.seq[which], np.fromiter(found, dtype=np.int64))
        missed = which[~hit]
        self._visible_at_ms[which[hit]] = at_ms
        self._took_s.extend((at_ms / 1000 - self._started_s - self.due_s[which[hit]]).tolist())
        self._not_before_ms[missed] = sent_s * 1000
        age_s = now_s - self.due_s[missed]
        self._next_s[missed] = now_s + np.maximum(EVERY_S / 2, AGE_SHARE * age_s)
        self.answered += 1


def _found(store: Inspector, run_id: str, sequences: Sequence[int]) -> Collection[int]:
    decoded = (decode_id(post_id) for post_id in store.visible([encode_id(run_id, s) for s in sequences]))
    return [known[1] for known in decoded if known is not None]


def save(seen: Seen, path: Path) -> None:
    """Writes visible.csv.gz: every sample, seen or not."""
    rows = zip(seen.seq.tolist(), seen.not_before_ms.tolist(), seen.visible_at_ms.tolist(), strict=True)
    with gzip.open(path, "wt", compresslevel=6, encoding="utf-8", newline="") as file:
        file.write(f"{HEADER}\n")
        file.writelines(f"{seq},{_ms(missed)},{_ms(found)}\n" for seq, missed, found in rows)


def _ms(moment: float) -> str:
    return "" if np.isnan(moment) else f"{moment:.3f}"
