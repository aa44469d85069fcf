"""Faults of processes, disks, links and topology: how each is done, undone and proved. No fault counts unproved.

Each fault is a context: broken inside it, mended when it is left, at once, however long the part then needs to serve
again; mended, too, where it could only be half done. It gives the proof that it happened, in words, to be asked for
after it was left; empty where nothing shows it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial

import pika
import pika.exceptions

from writepath.experiments.faults import catalogue
from writepath.experiments.faults.catalogue import STORES, Fault
from writepath.experiments.faults.scene import FaultError, Scene
from writepath.runtime.base import Stack
from writepath.runtime.deadman import Heal

Proof = Callable[[], str]

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


@dataclass(frozen=True)
class Action:
    """One fault of one trial."""

    struck: AbstractContextManager[Proof]
    remedies: Sequence[Heal] = ()  # what would undo it without this process


def action(fault: Fault, scene: Scene, number: int) -> Action:
    """A fresh one for each trial; number: the trial's, from 1."""
    stack = scene.stack
    if fault.action == "none":
        return Action(_nothing())
    if fault.action == "kill-each":
        parts = catalogue.parts(scene.variant, stack.components)
        return Action(kill(scene, parts[(number - 1) % len(parts)]))
    component = scene.component(fault)
    if fault.action in _TOXICS:
        return Action(_break_link(scene, component, fault.action), (("reset", scene.toxiproxy.url),))
    if fault.action == "kill-under-backlog":
        # What takes the messages off the component's hands is frozen.
        final = next(store for store in (STORES["database"], STORES["index"]) if store in stack.components)
        behind = scene.variant.inspector if fault.role == "broker" else final
        return Action(kill_under_backlog(scene, component, behind), stack.remedies(behind))
    remedies = stack.remedies(component) if fault.action in ("pause", "fill-disk") else ()
    return Action(_OF_COMPONENT[fault.action](scene, component), remedies)


@contextmanager
def _nothing() -> Iterator[Proof]:
    """Whatever is lost then is lost by Writepath itself."""
    yield lambda: "no fault injected"


def _replaced(stack: Stack, component: str, before: Mapping[str, str]) -> str:
    """All processes are new ones; empty where one is not."""
    after = stack.lives(component)
    if not before or any(after.get(name, life) == life for name, life in before.items()):
        return ""
    return f"{', '.join(before)}: replaced by a new process"


def _killed(stack: Stack, component: str) -> Proof:
    before = stack.lives(component)
    stack.kill(component)
    between = stack.lives(component)
    return lambda: "" if between else _replaced(stack, component, before)


@contextmanager
def kill(scene: Scene, component: str) -> Iterator[Proof]:
    """Kill -9 of every process of a component, with their children; restarted as by a supervisor."""
    try:
        yield _killed(scene.stack, component)
    finally:
        scene.stack.revive(component)


@contextmanager
def crash_loop(scene: Scene, component: str) -> Iterator[Proof]:
    """Repeated kill -9, each time as soon as it serves; the heal is the last start."""
    stack, kills = scene.stack, list[Proof]()
    try:
        while len(kills) < CRASHES:
            if kills:
                stack.revive(component)
                scene.ready(component)
            kills.append(_killed(stack, component))
        yield lambda: f"{CRASHES} times: {kills[-1]()}" if all(each() for each in kills) else ""
    finally:
        stack.revive(component)


@contextmanager
def pause(scene: Scene, component: str) -> Iterator[Proof]:
    """SIGSTOP of every process of a component: connections stay open, nothing is answered."""
    stack = scene.stack
    before = stack.lives(component)
    try:
        stack.pause(component)
        silent = not stack.is_ready(component)
        words = f"{component}: no response while frozen, same process afterwards"
        yield lambda: words if silent and stack.lives(component) == before else ""
    finally:
        stack.resume(component)


@contextmanager
def kill_under_backlog(scene: Scene, component: str, behind: str) -> Iterator[Proof]:
    """Kill -9 of a component with a backlog, because the one behind it is frozen."""
    try:
        with pause(scene, behind) as frozen:
            scene.wait(BACKLOG_S)
            killed = _killed(scene.stack, component)
            yield lambda: f"{frozen()}; {killed()}" if frozen() and killed() else ""
    finally:
        scene.stack.revive(component)


@contextmanager
def fill_disk(scene: Scene, component: str) -> Iterator[Proof]:
    """A separate file system, full to the last block; what ended for lack of it is restarted by the heal."""
    try:
        left = scene.stack.fill_disk(component)
        yield lambda: f"{component}: {left} bytes left on its disk" if left <= FULL_BYTES else ""
    finally:
        scene.stack.free_disk(component)
        scene.stack.revive(component)


@contextmanager
def restart(scene: Scene, component: str, *, rolling: bool = False) -> Iterator[Proof]:
    """SIGTERM and a new start, one instance after the other, each waited for: nothing is left for the heal.

    rolling: all instances, of which one must always serve; otherwise the first one alone.
    """
    stack = scene.stack
    before = stack.lives(component)
    if rolling and len(before) == 1:
        raise FaultError(f"rolling-restart: {component} needs INSTANCES=2")
    struck = before if rolling else dict(list(before.items())[:1])
    for name in struck:
        stack.terminate(component, name)
        stack.revive(component)
        scene.ready(component)
    yield lambda: _replaced(stack, component, struck)


@contextmanager
def _break_link(scene: Scene, store: str, what: str) -> Iterator[Proof]:
    """Cut, delay, reset or one-way black hole, by Toxiproxy, which is in between in every trial, the control's too.

    Proved where the proxy says that it was broken, and its counters moved. It counts a connection's bytes when the
    connection ends: each of these faults ends some but the delay, of which the toxic alone is read back.
    """
    proxy = scene.toxiproxy
    before = proxy.received_bytes(store)
    try:
        if not _TOXICS[what]:
            proxy.turn_off(store)
        for kind, stream, attributes in _TOXICS[what]:
            proxy.add(store, kind, stream, attributes)
        broken = proxy.is_broken(store)
        yield lambda: _of_link(store, what, ended) if broken else ""
    finally:
        proxy.reset()
        ended = proxy.received_bytes(store) - before


def _of_link(store: str, what: str, ended: float) -> str:
    if what != "delay" and ended <= 0:
        return ""
    moved = f"; connections that had carried {ended:.0f} bytes were closed" if ended > 0 else ""
    return f"{what} on the link to {store}, confirmed by Toxiproxy{moved}"


@contextmanager
def _delete(scene: Scene, component: str, *, binding: bool = False) -> Iterator[Proof]:
    """Deletes the queue, or its binding, on the broker; only the write path itself can declare it again.

    The broker's own answer is the proof.
    """
    host, _, port = scene.stack.address(component, AMQP_PORT).partition(":")
    login = pika.PlainCredentials(USER, scene.broker_password)
    parameters = pika.ConnectionParameters(host=host, port=int(port), credentials=login)
    try:
        with pika.BlockingConnection(parameters) as connection:
            channel = connection.channel()
            if binding:
                held = channel.queue_declare(QUEUE, passive=True).method.message_count
                channel.queue_unbind(QUEUE, EXCHANGE, ROUTING_KEY)
                proof = f"the broker removed the binding; {held} messages waiting in the queue"
            else:
                held = channel.queue_delete(QUEUE).method.message_count
                proof = f"the broker deleted the queue with {held} waiting messages"
    except pika.exceptions.AMQPError as error:
        raise FaultError(
            f"the {'binding' if binding else 'queue'} could not be deleted: {error!r}"
        ) from error
    yield lambda: proof


_OF_COMPONENT: Mapping[str, Callable[[Scene, str], AbstractContextManager[Proof]]] = {
    "kill": kill,
    "pause": pause,
    "crash-loop": crash_loop,
    "fill-disk": fill_disk,
    "rolling-restart": partial(restart, rolling=True),
    "restart": restart,
    "delete-queue": _delete,
    "delete-binding": partial(_delete, binding=True),
}
