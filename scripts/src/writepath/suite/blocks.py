"""Runs the blocks of the kinds that do not use the engine yet: an index after each cell, resumable."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from writepath.experiments import shared
from writepath.measure import host
from writepath.records.capacity import SearchLine
from writepath.suite import common
from writepath.suite.resume import Index

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from writepath.experiments.plan import Plan
    from writepath.measure.bench import Bench
    from writepath.progress import Progress
    from writepath.records.capacity import Search
    from writepath.records.index import Status
    from writepath.records.queries import Read
    from writepath.runtime.base import Runtime


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One thing to be made."""

    name: str  # as in the index's blocks
    block: int
    position: int
    folder: Path  # where it is kept


@dataclass(kw_only=True)
class Blocks(ABC, Generic[Index]):
    """A suite run under way."""

    plan: Plan
    progress: Progress
    folder: Path
    index: Index
    save: Callable[[Index, Path], None]

    @abstractmethod
    def make(self, cell: Cell, bench: Bench) -> None:
        """One search, set down in the index; what is there already is set aside."""

    @abstractmethod
    def made(self) -> Collection[str]:
        """Folders of what need not be made any more, relative to the suite run's."""

    def line(self, cell: Cell, record: Search | Read, seconds: float) -> SearchLine:
        """What the index says of a record."""
        return SearchLine(
            variant=record.variant,
            block=cell.block,
            position=cell.position,
            again=record.again,
            folder=str(cell.folder.relative_to(self.folder)),
            outcome=record.outcome,
            seconds=round(seconds, 3),
        )

    def carry_out(self, runtime: Runtime) -> bool:
        """Makes what is left; whether the user let it come to its end."""
        progress, left = self.progress, list(self._left())
        progress.total = sum(map(len, self.index.blocks))
        progress.done = progress.total - len(left)
        plan = self.plan
        try:
            with shared.bench(plan.root, plan.state, plan.dataset, runtime, progress) as bench:
                for cell in left:
                    self._make(cell, bench)
        except KeyboardInterrupt:
            self._end("aborted")
            progress.say(f"stopped; {progress.done} of {progress.total} are saved. Continue with RESUME=1.")
            return False
        except BaseException:
            self._end("aborted")
            raise
        self._end("finished")
        return True

    def _left(self) -> Iterator[Cell]:
        """What is still to be made, in order."""
        made = self.made()
        for block, names in enumerate(self.index.blocks, 1):
            for position, name in enumerate(names, 1):
                place = f"{name}/block-{block:02d}"
                if place not in made:
                    yield Cell(name=name, block=block, position=position, folder=self.folder / place)

    def _make(self, cell: Cell, bench: Bench) -> None:
        host.require_disk(self.plan.root)
        self.progress.began(
            self.progress.done + 1, f"{cell.name}  {self.plan.suite.name}  block {cell.block}"
        )
        self.make(cell, bench)
        self.save(self.index, self.folder)

    def _end(self, status: Status) -> None:
        self.index = common.ended(self.index, status)
        self.save(self.index, self.folder)
