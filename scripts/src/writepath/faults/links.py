"""How is a link between application and store, or the queue's own topology, broken and mended?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pika
import pika.exceptions

from writepath.faults import heals
from writepath.faults.actions import LONGEST_S
from writepath.faults.scene import FaultError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from writepath.faults.scene import Scene

DELAY_MS = 400
QUEUE = EXCHANGE = "writepath.posts"  # services/post-api, QueueNames
ROUTING_KEY = "post"
AMQP_PORT = 5672
USER = "writepath"
_TOXICS: Mapping[str, tuple[tuple[str, str, Mapping[str, int]], ...]] = {
    "delay": (("latency", "downstream", {"latency": DELAY_MS, "jitter": 0}),),
    "reset": (
        ("reset_peer", "upstream", {"timeout": 0}),
        ("reset_peer", "downstream", {"timeout": 0}),
    ),
    "blackhole-from": (("timeout", "downstream", {"timeout": 0}),),
    "blackhole-to": (("timeout", "upstream", {"timeout": 0}),),
}


class BreakLink:
    """Cut, delay, reset or one-way black hole, by Toxiproxy, which is in between in every trial, the control's too."""

    def __init__(self, scene: Scene, action: str, store: str) -> None:
        """store: the compose service behind the link."""
        self._scene, self._action, self._store = scene, action, store
        self._broken = False
        self._armed: int | None = None
        self._before: Mapping[str, float] = {}
        self._after: Mapping[str, float] = {}

    def inject(self) -> None:
        """Broken when it returns, as read back."""
        proxy = self._scene.toxiproxy
        self._armed = self._scene.deadman.arm([heals.reset(proxy.url)], LONGEST_S)
        self._before = proxy.received_bytes(self._store)
        if self._action == "cut":
            proxy.enable(self._store, enabled=False)
        for kind, stream, attributes in _TOXICS.get(self._action, ()):
            proxy.add(self._store, kind, stream, attributes)
        enabled, toxics = proxy.state(self._store)
        self._broken = bool(toxics) or not enabled

    def heal(self) -> None:
        """As it was."""
        proxy = self._scene.toxiproxy
        proxy.clear(self._store)
        self._after = proxy.received_bytes(self._store)
        if self._armed is not None:
            self._scene.deadman.disarm(self._armed)

    def proof(self) -> str:
        """The proxy says that it was broken, and its counters moved.

        It counts a connection's bytes when the connection ends: each of these faults ends some but the delay, of
        which the toxic alone is read back.
        """
        ended = sum(self._after.values()) - sum(self._before.values())
        if not self._broken or (self._action != "delay" and ended <= 0):
            return ""
        moved = f"; connections that had carried {ended:.0f} bytes were closed" if ended > 0 else ""
        return f"{self._action} on the link to {self._store}, confirmed by Toxiproxy{moved}"


class DeleteTopology:
    """Deletes the queue, or its binding, on the broker; only the write path itself can declare it again."""

    def __init__(self, scene: Scene, what: str, component: str, password: str) -> None:
        """what: queue or binding."""
        self._scene, self._what, self._component, self._password = scene, what, component, password
        self._proof = ""

    def inject(self) -> None:
        """Deleted when it returns."""
        host, _, port = self._scene.stack.address(self._component, AMQP_PORT).partition(":")
        parameters = pika.ConnectionParameters(
            host=host, port=int(port), credentials=pika.PlainCredentials(USER, self._password)
        )
        try:
            with pika.BlockingConnection(parameters) as connection:
                channel = connection.channel()
                held = channel.queue_declare(QUEUE, passive=True).method.message_count
                if self._what == "queue":
                    held = channel.queue_delete(QUEUE).method.message_count
                    self._proof = f"the broker deleted the queue with {held} waiting messages"
                else:
                    channel.queue_unbind(QUEUE, EXCHANGE, ROUTING_KEY)
                    self._proof = f"the broker removed the binding; {held} messages waiting in the queue"
        except pika.exceptions.AMQPError as error:
            raise FaultError(f"the {self._what} could not be deleted: {error!r}") from error

    def heal(self) -> None:
        """Nothing: the write path has to see to it."""

    def proof(self) -> str:
        """The broker's own answer."""
        return self._proof
