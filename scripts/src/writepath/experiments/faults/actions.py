"""Faults of processes, disks, links and topology: how each is done, undone and proved. No fault counts unproved.

A strike registers first how it is undone, which is done at once when the fault ends, however long the part then needs
to serve again. It gives the proof that it happened, in words, to be asked for after that; empty where nothing shows it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
import pika
import pika.exceptions

from writepath import poll
from writepath.errors import WritepathError
from writepath.experiments.base import CellRun
from writepath.experiments.faults import catalogue
from writepath.experiments.faults.catalogue import (
    HOLDERS,
    NODE_LINKS,
    POWER_CUT,
    POWER_CUT_BACKLOG,
    STORES,
    Fault,
)
from writepath.measure.inspector import plain_client
from writepath.runtime import topology
from writepath.runtime.base import READY_S, Stack
from writepath.runtime.deadman import Heal

Proof = Callable[[], str]

CRASHES = 5
BACKLOG_S = 1.5
FULL_BYTES = 1 << 20  # less than one more segment of any store's log
QUEUE = EXCHANGE = "writepath.posts"  # services/post-api, QueueNames
ROUTING_KEY = "post"
SHARDS = "/_cat/shards/posts?format=json&h=node,prirep,state"  # services/store-elasticsearch, PostIndex
AMQP_PORT, INDEX_PORT = 5672, 9200
USER = "writepath"
PASSWORD = "RABBITMQ_PASSWORD"  # noqa: S105 - the variable's name
DELAY_MS = 400
_ANSWER_S = 5.0
_FREEZING, _BACKLOGS = (
    ("pause", POWER_CUT, POWER_CUT_BACKLOG),
    ("kill-under-backlog", POWER_CUT_BACKLOG),
)  # actions
_COUNTER = 'toxiproxy_proxy_received_bytes_total\\{{[^}}]*proxy="{}"[^}}]*\\}} ([0-9.e+]+)'
_TOXICS: Mapping[str, tuple[tuple[str, str, Mapping[str, int]], ...]] = {
    "cut": (),  # the proxy is turned off
    "delay": (("latency", "downstream", {"latency": DELAY_MS, "jitter": 0}),),
    "reset": (("reset_peer", "upstream", {"timeout": 0}), ("reset_peer", "downstream", {"timeout": 0})),
    "blackhole-from": (("timeout", "downstream", {"timeout": 0}),),
    "blackhole-to": (("timeout", "upstream", {"timeout": 0}),),
}


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

    def ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """A request to its API."""
        return self._client.request(method, path, json=body).raise_for_status()

    def add(self, proxy: str, kind: str, stream: str, attributes: Mapping[str, int]) -> None:
        """A toxic for every connection; stream: upstream (requests) or downstream (answers)."""
        body = {"name": f"{kind}-{stream}", "type": kind, "stream": stream, "attributes": dict(attributes)}
        self.ask("POST", f"/proxies/{proxy}/toxics", body)

    def received_bytes(self, proxy: str) -> float:
        """What came into the proxy from both sides since it was started."""
        metrics = self.ask("GET", "/metrics").text
        return sum(float(value) for value in re.findall(_COUNTER.format(re.escape(proxy)), metrics))


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What a fault acts on: one started variant under load, and the network between it and its stores."""

    run: CellRun
    stack: Stack
    toxiproxy: Toxiproxy

    def wait(self, seconds: float) -> None:
        """StoppedError where the user stopped the command meanwhile."""
        if self.run.bench.stopped.wait(max(0.0, seconds)):
            raise StoppedError

    def ready(self, *components: str) -> None:
        """Waits until these serve, or all: a consumer may still be starting while the 201s go on."""
        for component in components or self.stack.components:
            if not poll.until(partial(self._serves, component), READY_S):
                variant = self.run.cell.variant.name
                raise FaultError(f"{variant}: {component} did not serve within {READY_S:.0f} s")

    def _serves(self, component: str) -> bool:
        self.wait(0.0)
        return self.stack.is_ready(component)


@contextmanager
def struck(fault: Fault, scene: Scene, number: int) -> Iterator[Proof]:
    """Broken inside it, mended when it is left; mended, too, where it was only half done. number: of the trial."""
    component = _component(fault, scene, number)
    with ExitStack() as heal:
        yield _STRIKES[fault.action](scene, component, heal)


def remedies(fault: Fault, scene: Scene) -> Sequence[Heal]:
    """What would undo it without this process."""
    if fault.action in _TOXICS or fault.action == "cut-nodes":
        return (("reset", scene.toxiproxy.url),)
    if fault.action not in (*_FREEZING, *_BACKLOGS, "fill-disk"):
        return ()
    component = _component(fault, scene)
    frozen = [] if fault.action == "kill-under-backlog" else [component]
    if fault.action in _BACKLOGS:
        frozen.append(_behind(scene, component))
    return [heal for each in frozen for heal in scene.stack.remedies(each)]


def _component(fault: Fault, scene: Scene, number: int = 1) -> str:
    """What is struck now; of a replicated index the node that has what the fault is for."""
    known = catalogue.component(fault, scene.run.cell.variant, scene.stack.components, number)
    has = HOLDERS.get(fault.role) if fault.action in ("kill", "pause") else None
    return known if has is None else _holder(scene.stack, has)


def _holder(stack: Stack, has: str) -> str:
    """The node with most primary (p) or replica (r) shards, once every copy serves; named after its component."""
    base = f"http://{stack.address(STORES['index'], INDEX_PORT)}"
    with closing(plain_client(_ANSWER_S, base)) as client:
        try:
            nodes = poll.until(partial(_nodes, client, has), READY_S)
        except (httpx.HTTPError, ValueError) as error:
            raise FaultError(f"Elasticsearch does not say where its shards are: {error!r}") from error
    if not nodes:
        raise FaultError(f"not every copy of every shard serves after {READY_S:.0f} s")
    return min(nodes, key=lambda node: (-nodes[node], node))


def _nodes(client: httpx.Client, has: str) -> Counter[str]:
    """How many of these shards each node has; none while a copy is missing."""
    shards = client.get(SHARDS).raise_for_status().json()
    serve = all(shard["state"] == "STARTED" for shard in shards)
    return Counter(str(shard["node"]) for shard in shards if serve and shard["prirep"] == has)


def _behind(scene: Scene, component: str) -> str:
    """What takes the messages off the component's hands."""
    if component == STORES["broker"]:
        return scene.run.cell.variant.inspector
    return next(store for store in (STORES["database"], STORES["index"]) if store in scene.stack.components)


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


def _kill(scene: Scene, component: str, heal: ExitStack) -> Proof:
    """Kill -9 of every process of a component, with their children; restarted as by a supervisor."""
    heal.callback(scene.stack.revive, component)
    return _killed(scene.stack, component)


def _crash_loop(scene: Scene, component: str, heal: ExitStack) -> Proof:
    """Repeated kill -9, each time as soon as it serves; the heal is the last start."""
    stack = scene.stack
    heal.callback(stack.revive, component)
    kills = [_killed(stack, component)]
    while len(kills) < CRASHES:
        stack.revive(component)
        scene.ready(component)
        kills.append(_killed(stack, component))
    return lambda: f"{CRASHES} times: {kills[-1]()}" if all(each() for each in kills) else ""


def _pause(scene: Scene, component: str, heal: ExitStack) -> Proof:
    """SIGSTOP of every process of a component: connections stay open, nothing is answered."""
    stack = scene.stack
    before = stack.lives(component)
    heal.callback(stack.resume, component)
    stack.pause(component)
    silent = not stack.is_ready(component)
    words = f"{component}: no response while frozen, same process afterwards"
    return lambda: words if silent and stack.lives(component) == before else ""


def _kill_under_backlog(scene: Scene, component: str, heal: ExitStack) -> Proof:
    """Kill -9 of a component with a backlog, because the one behind it is frozen."""
    heal.callback(scene.stack.revive, component)
    frozen = _pause(scene, _behind(scene, component), heal)
    scene.wait(BACKLOG_S)
    killed = _killed(scene.stack, component)
    return lambda: f"{frozen()}; {killed()}" if frozen() and killed() else ""


def _cut_power(scene: Scene, component: str, heal: ExitStack) -> Proof:
    """What it had not flushed is gone; it is restarted on what is left."""
    stack = scene.stack
    before = stack.lives(component)
    heal.callback(stack.revive, component)
    heal.callback(stack.resume, component)  # where the cut fails in the middle of it
    cut = stack.cut_power(component)

    def proof() -> str:
        replaced = _replaced(stack, component, before)
        return f"{cut}; {replaced}" if cut and replaced else ""

    return proof


def _cut_power_under_backlog(scene: Scene, component: str, heal: ExitStack) -> Proof:
    """With messages that only the component has, because the one behind it is frozen."""
    frozen = _pause(scene, _behind(scene, component), heal)
    scene.wait(BACKLOG_S)
    cut = _cut_power(scene, component, heal)
    return lambda: f"{frozen()}; {cut()}" if frozen() and cut() else ""


def _fill_disk(scene: Scene, component: str, heal: ExitStack) -> Proof:
    """A separate file system, full to the last block; what ended for lack of it is restarted by the heal."""
    heal.callback(scene.stack.revive, component)
    heal.callback(scene.stack.free_disk, component)
    left = scene.stack.fill_disk(component)
    return lambda: f"{component}: {left} bytes left on its disk" if left <= FULL_BYTES else ""


def _restart(scene: Scene, component: str, _: ExitStack, *, rolling: bool = False) -> Proof:
    """SIGTERM and a new start, one instance after the other, each waited for: nothing is left for the heal.

    rolling: all instances, of which one must always serve; otherwise the first one alone.
    """
    stack = scene.stack
    before = stack.lives(component)
    ended = before if rolling else dict(list(before.items())[:1])
    for name in ended:
        stack.terminate(component, name)
        stack.revive(component)
        scene.ready(component)
    return lambda: _replaced(stack, component, ended)


def _break_link(scene: Scene, store: str, heal: ExitStack, *, what: str, links: Sequence[str] = ()) -> Proof:
    """Cut, delay, reset or one-way black hole, by Toxiproxy, which is in between in every trial, the control's too.

    links: names of its proxies; none: that of the store.

    Proved where the proxy says that it was broken, and its counters moved. It counts a connection's bytes when the
    connection ends: each of these faults ends some but the delay, of which the toxic alone is read back.
    """
    proxy, links = scene.toxiproxy, links or (store,)
    before = sum(map(proxy.received_bytes, links))
    heal.callback(proxy.ask, "POST", "/reset")  # removes every toxic, enables every proxy
    for link in links:
        if what == "cut":
            proxy.ask("POST", f"/proxies/{link}", {"enabled": False})
        for kind, stream, attributes in _TOXICS[what]:
            proxy.add(link, kind, stream, attributes)
    found = [proxy.ask("GET", f"/proxies/{link}").json() for link in links]
    broken = all(not one["enabled"] or one["toxics"] for one in found)

    def proof() -> str:
        ended = sum(map(proxy.received_bytes, links)) - before
        if not broken or (what != "delay" and ended <= 0):
            return ""
        moved = f"; connections that had carried {ended:.0f} bytes were closed" if ended > 0 else ""
        return f"{what} on the link to {' and '.join(links)}, confirmed by Toxiproxy{moved}"

    return proof


def _delete(scene: Scene, component: str, _: ExitStack, *, binding: bool = False) -> Proof:
    """Deletes the queue, or its binding, on the broker; only the write path itself can declare it again.

    The broker's own answer is the proof.
    """
    host, port = scene.stack.address(component, AMQP_PORT).split(":")
    password = topology.value(scene.run.bench.root, PASSWORD, scene.run.settings) or USER
    login = pika.PlainCredentials(USER, password)
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
        what = "binding" if binding else "queue"
        raise FaultError(f"the {what} could not be deleted: {error!r}") from error
    return lambda: proof


_STRIKES: Mapping[str, Callable[[Scene, str, ExitStack], Proof]] = {
    "none": lambda *_: lambda: "no fault injected",  # what is lost then is lost by Writepath itself
    "kill": _kill,
    "kill-each": _kill,
    "kill-under-backlog": _kill_under_backlog,
    "pause": _pause,
    "crash-loop": _crash_loop,
    POWER_CUT: _cut_power,
    POWER_CUT_BACKLOG: _cut_power_under_backlog,
    "fill-disk": _fill_disk,
    "restart": _restart,
    "rolling-restart": partial(_restart, rolling=True),
    "delete-queue": _delete,
    "delete-binding": partial(_delete, binding=True),
    **{what: partial(_break_link, what=what) for what in _TOXICS},
    "cut-nodes": partial(_break_link, what="cut", links=NODE_LINKS),
}
