"""What does a fault act on? One started variant under load, and the means to break and mend it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.errors import WritepathError
from writepath.faults import catalogue

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from writepath.config.registry import Variant
    from writepath.faults.catalogue import Fault
    from writepath.faults.deadman import Deadman
    from writepath.faults.toxiproxy import Toxiproxy
    from writepath.runtime.base import Stack

POLL_S = 0.05
READY_S = 60.0


class StoppedError(Exception):
    """The user stopped the command; every lane ends its stack and leaves."""


class FaultError(WritepathError):
    """A fault could not be injected or healed: nothing can be said of the variant."""

    exit_code = 14


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One started variant."""

    variant: Variant
    stack: Stack
    toxiproxy: Toxiproxy
    deadman: Deadman
    stopped: threading.Event

    def component(self, fault: Fault) -> str:
        """The compose service that a fault strikes; its existence was checked before the start."""
        name = catalogue.component(fault, self.variant, self.stack.components)
        if name is None:
            raise FaultError(f"{fault.key}: {self.variant.name} has no {fault.role}")
        return name

    def wait(self, seconds: float) -> None:
        """StoppedError where the user stopped the command meanwhile."""
        if self.stopped.wait(max(0.0, seconds)):
            raise StoppedError

    def poll(self, done: Callable[[], bool], failure: str, seconds: float = READY_S) -> None:
        """Waits until it is done; FaultError after so many seconds."""
        deadline = time.monotonic() + seconds
        while not done():
            if time.monotonic() > deadline:
                raise FaultError(f"{self.variant.name}: {failure} within {seconds:.0f} s")
            self.wait(POLL_S)

    def ready(self, component: str, seconds: float = READY_S) -> None:
        """Waits until a component serves."""
        self.poll(lambda: self.stack.is_ready(component), f"{component} did not serve", seconds)

    def all_ready(self) -> None:
        """Waits for every component: a consumer may still be starting while the 201s go on."""
        for component in self.stack.components:
            self.ready(component)
