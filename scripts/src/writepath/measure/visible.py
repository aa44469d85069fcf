"""Asks the final store, while the load runs, from when on a search finds a sample of its writes.

The sample follows from plan and seed alone, so that nobody waits for the ledger; a closed load, which has no schedule,
has none. One question asks for all that are due and not seen yet. The moment of the answer that has a write is an upper
bound of its visible moment, and the sending of the last question that missed it a lower one.
"""

import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from writepath.analysis import raw
from writepath.analysis.stats import US_PER_S
from writepath.errors import AuditError
from writepath.load import k6
from writepath.load.ledger import NO_TIME, Ledger
from writepath.load.plan import NS_PER_S, ArrivalPlan, decode_id, encode_id
from writepath.measure.inspector import Inspector

PER_S = 30.0  # samples at the plan's peak rate; 0 asks for nothing
EVERY_S = 0.05  # between questions, or a share of what writes take to be seen there, up to SELDOM_S
USUAL_SHARE = 0.25  # an index that shows a write after half a second need not be asked ten times meanwhile
SELDOM_S = 0.25
USUAL_OF = 20  # the latest so many that were seen
AGE_SHARE = 0.02  # of its age, until it is asked for again: a backlog must not make questions long
MOST_ASKED = 200  # in one question, the longest unasked first; the head of a request takes 16 KB, 400 ids
GIVE_UP_S = 150.0  # after its scheduled send time: longer than k6's patience and the drain together
QUIET_S = 5.0  # after the load: so long without a new one, and the rest is not awaited
CAP_S = 120.0


def sampled(plan: ArrivalPlan, seed: int) -> NDArray[np.int64]:
    """About PER_S sequences a second at the plan's peak, and the same share of all others; of plan and seed alone."""
    return np.flatnonzero(np.random.default_rng(seed % 2**32).random(plan.planned) < PER_S / plan.peak_per_s)


@dataclass(kw_only=True)
class Prober:
    """Asks until stopped. A context manager: begins with the load, which must start right after it."""

    ask: Callable[[Sequence[int]], Collection[int]]  # which of these a search finds; AuditError: no answer
    seq: NDArray[np.int64]
    due_s: NDArray[np.float64]  # scheduled send time of each, since the start
    clock: Callable[[], float] = time.time
    answered: int = 0
    _took_s: deque[float] = field(default_factory=lambda: deque(maxlen=USUAL_OF))
    _ending: threading.Event = field(default_factory=threading.Event)

    @staticmethod
    def of(store: Inspector, load: k6.Load, seed: int) -> "Prober":
        """For one load."""
        plan, seq, due_s = load.plan, np.empty(0, np.int64), np.empty(0)
        if isinstance(plan, ArrivalPlan):
            seq = sampled(plan, seed)
            due_s = plan.starts_ns[seq] / NS_PER_S

        def ask(sequences: Sequence[int]) -> Collection[int]:
            found = store.visible([encode_id(load.run_id, sequence) for sequence in sequences])
            return [known[1] for known in map(decode_id, found) if known is not None]

        return Prober(ask=ask, seq=seq, due_s=due_s)

    def __post_init__(self) -> None:
        self._not_before_us = np.full(len(self.seq), NO_TIME, np.int64)
        self._visible_at_us = np.full(len(self.seq), NO_TIME, np.int64)
        self._started_s = self.clock()
        self._next_s = self.due_s.copy()  # since the start; no earlier question for it
        self._thread = threading.Thread(target=self._run, name="visible", daemon=True)

    def __enter__(self) -> Self:
        self._started_s = self.clock()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join(timeout=10)

    def settle(self, taken: Ledger) -> None:
        """After the load: waits for the acknowledged samples, as the drain's counting would make them visible."""
        acknowledged = taken.records["seq"][taken.acknowledged()]
        began = changed = time.monotonic()
        left = len(self.seq) + 1
        while True:
            now, unseen = time.monotonic(), self._visible_at_us == NO_TIME
            waiting = int(np.isin(self.seq[unseen], acknowledged).sum())
            changed, left = (now, waiting) if waiting < left else (changed, left)
            if not waiting or now - changed >= QUIET_S or now - began >= CAP_S:
                return
            time.sleep(EVERY_S)

    def save(self, folder: Path) -> None:
        """What was found so far; nothing where no question was ever answered, which says nothing of visibility."""
        if self.answered:
            raw.save_visible(self.seq, self._not_before_us, self._visible_at_us, folder / raw.VISIBLE_FILE)

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
        due = (self._visible_at_us == NO_TIME) & (self._next_s <= now_s) & (now_s < self.due_s + GIVE_UP_S)
        which = np.flatnonzero(due)
        which = which[np.argsort(self._next_s[which], kind="stable")][:MOST_ASKED]
        if not len(which):
            return
        try:
            found = self.ask(self.seq[which].tolist())
        except AuditError:
            return
        at_s = self.clock()
        hit = np.isin(self.seq[which], np.fromiter(found, dtype=np.int64))
        missed = which[~hit]
        self._visible_at_us[which[hit]] = round(at_s * US_PER_S)
        self._took_s.extend((at_s - self._started_s - self.due_s[which[hit]]).tolist())
        self._not_before_us[missed] = round(sent_s * US_PER_S)
        age_s = now_s - self.due_s[missed]
        self._next_s[missed] = now_s + np.maximum(EVERY_S / 2, AGE_SHARE * age_s)
        self.answered += 1
