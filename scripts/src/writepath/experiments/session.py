"""Shares one started stack among the cells that differ only in factors of scope `load`."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from writepath.errors import WritepathError
from writepath.measure import loading, plans
from writepath.measure.truth import Truth

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from writepath.experiments.base import CellRun
    from writepath.measure.bench import Bench
    from writepath.runtime.base import Stack

LOGS = "logs"


@dataclass(kw_only=True)
class _Started:
    """A stack, what it was started with, and the cell that uses it."""

    stack: Stack
    truth: Truth
    variant: str
    settings: Mapping[str, str]
    first: CellRun
    run: CellRun


@dataclass
class StackSession:
    """A context manager: starts the stack when it is first asked for; saves its logs and stops it at the end."""

    bench: Bench
    _started: _Started | None = None
    _held: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __enter__(self) -> Self:
        """Starts nothing yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Saves the logs of the last cell, then stops the stack: a step of that cell."""
        with self._held:
            self._save_logs()

    def stack(self, run: CellRun, **choices: Any) -> Stack:
        """The started stack; its start is a step of the cell that asked first. choices: of Runtime.start()."""
        return self._of(run, **choices).stack

    def truth(self, run: CellRun) -> Truth:
        """What the inspectors of that stack say."""
        return self._of(run).truth

    @property
    def warm(self) -> bool:
        """Whether an earlier cell of this session has used the stack."""
        return self._started is not None and self._started.run is not self._started.first

    def _of(self, run: CellRun, **choices: Any) -> _Started:
        if self._started is None:
            self._started = self._start(run, choices)
        started = self._started
        if run is not started.run:
            _require_same(run, started)
            self._save_logs()  # as far as they go; the next cell's folder has them again, and more
            started.run = run
        return started

    def _start(self, run: CellRun, choices: Mapping[str, Any]) -> _Started:
        variant, settings = run.cell.variant, plans.stack_settings(run.settings)

        def step(name: str) -> contextlib.AbstractContextManager[None]:
            return (run if self._started is None else self._started.run).step(name)

        stack = self._held.enter_context(loading.started(self.bench, variant, settings, step, **choices))
        truth = self._held.enter_context(Truth.of(stack, variant))
        return _Started(stack=stack, truth=truth, variant=variant.name, settings=settings, first=run, run=run)

    def _save_logs(self) -> None:
        """On the way out of a failure too, which they explain and must not hide."""
        if self._started is not None:
            run = self._started.run
            with run.step("save"), contextlib.suppress(OSError, WritepathError):
                self._started.stack.save_logs(run.folder / LOGS)


def _require_same(run: CellRun, started: _Started) -> None:
    asked = (run.cell.variant.name, plans.stack_settings(run.settings))
    if asked != (started.variant, started.settings):
        raise ValueError(
            f"{run.cell.name}: needs another stack than {started.first.cell.name} was started on"
        )
