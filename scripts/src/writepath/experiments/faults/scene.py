"""What a fault acts on: one started variant under load, and the means to break and mend it."""

import threading
from dataclasses import dataclass
from functools import partial

from writepath import poll
from writepath.config.registry import Variant
from writepath.errors import WritepathError
from writepath.experiments.faults import catalogue
from writepath.experiments.faults.catalogue import Fault
from writepath.experiments.faults.toxiproxy import Toxiproxy
from writepath.runtime.base import Stack

READY_S = 60.0


class StoppedError(KeyboardInterrupt):
    """The user stopped the command, which only the main thread hears of: every lane ends its stack and leaves."""


class FaultError(WritepathError):
    """A fault could not be injected or healed: nothing can be said of the variant."""

    exit_code = 14


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One started variant."""

    variant: Variant
    stack: Stack
    toxiproxy: Toxiproxy
    broker_password: str
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

    def ready(self, *components: str) -> None:
        """Waits until these serve, or all: a consumer may still be starting while the 201s go on."""
        for component in components or self.stack.components:
            if not poll.until(partial(self._serves, component), READY_S):
                raise FaultError(f"{self.variant.name}: {component} did not serve within {READY_S:.0f} s")

    def _serves(self, component: str) -> bool:
        self.wait(0.0)
        return self.stack.is_ready(component)
