"""What a fault acts on: one started variant under load, and the network between it and its stores."""

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx

from writepath import poll
from writepath.config.registry import Variant
from writepath.errors import WritepathError
from writepath.experiments.faults import catalogue
from writepath.experiments.faults.catalogue import Fault
from writepath.measure.inspector import plain_client
from writepath.runtime.base import Stack

READY_S = 60.0
_ANSWER_S = 5.0
_COUNTER = 'toxiproxy_proxy_received_bytes_total\\{{[^}}]*proxy="{}"[^}}]*\\}} ([0-9.e+]+)'


class StoppedError(KeyboardInterrupt):
    """The user stopped the command, which only the main thread hears of: every lane ends its stack and leaves."""


class FaultError(WritepathError):
    """A fault could not be injected or healed: nothing can be said of the variant."""

    exit_code = 14


class Toxiproxy:
    """A client of one running Toxiproxy; a proxy of it is named after the compose service behind it."""

    def __init__(self, address: str) -> None:
        """Address: host:port of its API."""
        self.url = f"http://{address}"
        self._client = plain_client(_ANSWER_S, self.url)
        self.close = self._client.close

    def turn_off(self, proxy: str) -> None:
        """Open connections are closed, new ones refused."""
        self._ask("POST", f"/proxies/{proxy}", {"enabled": False})

    def add(self, proxy: str, kind: str, stream: str, attributes: Mapping[str, int]) -> None:
        """A toxic for every connection; stream: upstream (requests) or downstream (answers)."""
        body = {"name": f"{kind}-{stream}", "type": kind, "stream": stream, "attributes": dict(attributes)}
        self._ask("POST", f"/proxies/{proxy}/toxics", body)

    def is_broken(self, proxy: str) -> bool:
        """Whether it is off or has a toxic, read back."""
        found = self._ask("GET", f"/proxies/{proxy}").json()
        return not found["enabled"] or bool(found["toxics"])

    def reset(self) -> None:
        """Removes every toxic and enables every proxy."""
        self._ask("POST", "/reset")

    def received_bytes(self, proxy: str) -> float:
        """What came into the proxy from both sides since it was started."""
        metrics = self._ask("GET", "/metrics").text
        return sum(float(value) for value in re.findall(_COUNTER.format(re.escape(proxy)), metrics))

    def _ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        answer = self._client.request(method, path, json=body)
        if answer.status_code != httpx.codes.CONFLICT:  # it has this toxic already
            answer.raise_for_status()
        return answer


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
