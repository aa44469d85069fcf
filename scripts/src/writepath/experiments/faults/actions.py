"""Faults of processes, disks, links and topology: how each is done, undone and proved. No fault counts unproved."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pika
import pika.exceptions

from writepath.experiments.faults import catalogue
from writepath.experiments.faults.catalogue import STORES, Fault
from writepath.experiments.faults.scene import FaultError, Scene
from writepath.runtime.deadman import Heal

CRASHES = 5
BACKLOG_S = 1.5
FULL_BYTES = 1 << 20  # less than one more segment of any store's log
QUEUE = EXCHANGE = "writepath.posts"  # services/post-api, QueueNames
ROUTING_KEY = "post"
AMQP_PORT = 5672
USER = "writepath"
DELAY_MS = 400
_TOXICS: Mapping[str, tuple[tuple[str, str, Mapping[str, int]], ...]] = {
    "cut": (),  # the proxy is turned off
    "delay": (("latency", "downstream", {"latency": DELAY_MS, "jitter": 0}),),
    "reset": (("reset_peer", "upstream", {"timeout": 0}), ("reset_peer", "downstream", {"timeout": 0})),
    "blackhole-from": (("timeout", "downstream", {"timeout": 0}),),
    "blackhole-to": (("timeout", "upstream", {"timeout": 0}),),
}


class Action:
    """One fault of one trial; this one does nothing: whatever is lost then is lost by Writepath itself."""

    def remedies(self) -> Sequence[Heal]:
        """What would undo it without this process."""
        return ()

    def inject(self) -> None:
        """Broken when it returns."""

    def heal(self) -> None:
        """Mends it; returns at once, however long the part then needs to serve again."""

    def proof(self) -> str:
        """What shows that it happened, in words; empty where nothing does. Asked after the heal."""
        return "no fault injected"


class _OfComponent(Action):
    """A fault of one component."""

    def __init__(self, scene: Scene, component: str) -> None:
        self._scene, self._stack, self._component = scene, scene.stack, component
        self._before: Mapping[str, str] = {}

    def _replaced(self) -> str:
        """All processes are new ones; empty where one is not."""
        after = self._stack.lives(self._component)
        changed = [name for name, life in self._before.items() if after.get(name, life) != life]
        if not changed or len(changed) < len(self._before):
            return ""
        return f"{', '.join(changed)}: replaced by a new process"


class Kill(_OfComponent):
    """kill -9 of every process of a component, with their children; restarted as by a supervisor."""

    _between: Mapping[str, str]

    def inject(self) -> None:
        self._before = self._stack.lives(self._component)
        self._stack.kill(self._component)
        self._between = self._stack.lives(self._component)

    def heal(self) -> None:
        self._stack.revive(self._component)

    def proof(self) -> str:
        return "" if self._between else self._replaced()


class Pause(_OfComponent):
    """SIGSTOP of every process of a component: connections stay open, nothing is answered."""

    _silent = False

    def remedies(self) -> Sequence[Heal]:
        return self._stack.remedies(self._component)

    def inject(self) -> None:
        self._before = self._stack.lives(self._component)
        self._stack.pause(self._component)
        self._silent = not self._stack.is_ready(self._component)

    def heal(self) -> None:
        self._stack.resume(self._component)

    def proof(self) -> str:
        if not self._silent or self._stack.lives(self._component) != self._before:
            return ""
        return f"{self._component}: no response while frozen, same process afterwards"


class KillUnderBacklog(Action):
    """kill -9 of a component with a backlog, because the one behind it is frozen."""

    def __init__(self, scene: Scene, component: str, behind: str) -> None:
        self._scene = scene
        self._pause, self._kill = Pause(scene, behind), Kill(scene, component)

    def remedies(self) -> Sequence[Heal]:
        return self._pause.remedies()

    def inject(self) -> None:
        self._pause.inject()
        self._scene.wait(BACKLOG_S)
        self._kill.inject()

    def heal(self) -> None:
        self._pause.heal()
        self._kill.heal()

    def proof(self) -> str:
        proofs = (self._pause.proof(), self._kill.proof())
        return "; ".join(proofs) if all(proofs) else ""


class CrashLoop(_OfComponent):
    """Repeated kill -9, each time as soon as it serves; the heal is the last start."""

    def inject(self) -> None:
        self._kills: list[Kill] = []
        for number in range(CRASHES):
            if number:
                self._kills[-1].heal()
                self._scene.ready(self._component)
            kill = Kill(self._scene, self._component)
            kill.inject()
            self._kills.append(kill)

    def heal(self) -> None:
        self._kills[-1].heal()

    def proof(self) -> str:
        proofs = [kill.proof() for kill in self._kills]
        return f"{len(proofs)} times: {proofs[-1]}" if all(proofs) else ""


class FillDisk(_OfComponent):
    """A separate file system, full to the last block; what ended for lack of it is restarted by the heal."""

    _left: int | None = None

    def remedies(self) -> Sequence[Heal]:
        return self._stack.remedies(self._component)

    def inject(self) -> None:
        self._left = self._stack.fill_disk(self._component)

    def heal(self) -> None:
        self._stack.free_disk(self._component)
        self._stack.revive(self._component)

    def proof(self) -> str:
        if self._left is None or self._left > FULL_BYTES:
            return ""
        return f"{self._component}: {self._left} bytes left on its disk"


class Restart(_OfComponent):
    """SIGTERM and a new start, one instance after the other, each waited for: nothing is left for the heal."""

    def __init__(self, scene: Scene, component: str, *, rolling: bool) -> None:
        """rolling: all instances, of which one must always serve; otherwise the first one alone."""
        super().__init__(scene, component)
        self._rolling = rolling

    def inject(self) -> None:
        before = self._stack.lives(self._component)
        if self._rolling and len(before) < 2:  # noqa: PLR2004 - one instance cannot be restarted without a gap
            raise FaultError(f"rolling-restart: {self._component} needs INSTANCES=2")
        self._before = before if self._rolling else dict(list(before.items())[:1])
        for name in self._before:
            self._stack.terminate(self._component, name)
            self._stack.revive(self._component)
            self._scene.ready(self._component)

    def proof(self) -> str:
        return self._replaced()


class BreakLink(Action):
    """Cut, delay, reset or one-way black hole, by Toxiproxy, which is in between in every trial, the control's too."""

    def __init__(self, scene: Scene, store: str, what: str) -> None:
        """store: the compose service behind the link; what: a key of _TOXICS."""
        self._proxy, self._store, self._what = scene.toxiproxy, store, what
        self._broken = False
        self._before = self._after = 0.0

    def remedies(self) -> Sequence[Heal]:
        return (("reset", self._proxy.url),)

    def inject(self) -> None:
        self._before = self._proxy.received_bytes(self._store)
        if not _TOXICS[self._what]:
            self._proxy.enable(self._store, enabled=False)
        for kind, stream, attributes in _TOXICS[self._what]:
            self._proxy.add(self._store, kind, stream, attributes)
        self._broken = self._proxy.is_broken(self._store)

    def heal(self) -> None:
        self._proxy.reset()
        self._after = self._proxy.received_bytes(self._store)

    def proof(self) -> str:
        """The proxy says that it was broken, and its counters moved.

        It counts a connection's bytes when the connection ends: each of these faults ends some but the delay, of
        which the toxic alone is read back.
        """
        ended = self._after - self._before
        if not self._broken or (self._what != "delay" and ended <= 0):
            return ""
        moved = f"; connections that had carried {ended:.0f} bytes were closed" if ended > 0 else ""
        return f"{self._what} on the link to {self._store}, confirmed by Toxiproxy{moved}"


class DeleteTopology(Action):
    """Deletes the queue, or its binding, on the broker; only the write path itself can declare it again."""

    def __init__(self, scene: Scene, component: str, *, what: str) -> None:
        """what: queue or binding."""
        self._scene, self._component, self._what, self._proof = scene, component, what, ""

    def inject(self) -> None:
        host, _, port = self._scene.stack.address(self._component, AMQP_PORT).partition(":")
        login = pika.PlainCredentials(USER, self._scene.broker_password)
        parameters = pika.ConnectionParameters(host=host, port=int(port), credentials=login)
        try:
            with pika.BlockingConnection(parameters) as connection:
                channel = connection.channel()
                if self._what == "queue":
                    held = channel.queue_delete(QUEUE).method.message_count
                    self._proof = f"the broker deleted the queue with {held} waiting messages"
                else:
                    held = channel.queue_declare(QUEUE, passive=True).method.message_count
                    channel.queue_unbind(QUEUE, EXCHANGE, ROUTING_KEY)
                    self._proof = f"the broker removed the binding; {held} messages waiting in the queue"
        except pika.exceptions.AMQPError as error:
            raise FaultError(f"the {self._what} could not be deleted: {error!r}") from error

    def proof(self) -> str:
        """The broker's own answer."""
        return self._proof


_OF_COMPONENT: dict[str, Callable[[Scene, str], Action]] = {
    "kill": Kill,
    "pause": Pause,
    "crash-loop": CrashLoop,
    "fill-disk": FillDisk,
    "rolling-restart": partial(Restart, rolling=True),
    "restart": partial(Restart, rolling=False),
    "delete-queue": partial(DeleteTopology, what="queue"),
    "delete-binding": partial(DeleteTopology, what="binding"),
}


def action(fault: Fault, scene: Scene, number: int) -> Action:
    """A fresh one for each trial; number: the trial's, from 1."""
    if fault.action == "none":
        return Action()
    if fault.action == "kill-each":
        parts = catalogue.parts(scene.variant, scene.stack.components)
        return Kill(scene, parts[(number - 1) % len(parts)])
    component = scene.component(fault)
    if fault.action in _TOXICS:
        return BreakLink(scene, component, fault.action)
    if fault.action == "kill-under-backlog":
        # What takes the messages off the component's hands is frozen.
        final = next(
            store for store in (STORES["database"], STORES["index"]) if store in scene.stack.components
        )
        return KillUnderBacklog(
            scene, component, scene.variant.inspector if fault.role == "broker" else final
        )
    return _OF_COMPONENT[fault.action](scene, component)
