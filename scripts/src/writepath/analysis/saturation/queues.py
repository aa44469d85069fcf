"""Rules for what waits in front of a part, and for what: pools, permits, messages, connections.

A queue alone says that what it waits for is too small or too slow; together with a saturated part behind it, it is that
part's symptom, which the order of `RESOURCES` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import theilslopes

from writepath.analysis.saturation.rules import PROXY
from writepath.analysis.saturation.signals import US_PER_S, Line, Sampled, Signal, ratio, where

if TYPE_CHECKING:
    from collections.abc import Iterator

FULL = 0.90  # of all that can be used at once: readings each second miss the moments between two uses
AS_MANY_WAIT = 1.0  # as many wait as are served: each one's wait doubles. A queue of 5 is so long at 87 % use
MOST_WAIT = 0.50  # of the permits: more requests wait at this one place than at all others
REFUSED = 1.0  # anything at all
AT_WORK = 0.80  # of the time: the rest of it a loop that never rests spends on gathering its next batch
WORK_S = 1.0  # of messages: below it a queue is what lies between two batches
GROWS = 0.01  # of what arrives: the rule by which a step is called unstable


def of(sampled: Sampled) -> Iterator[Signal]:
    """One or none for each queue that was sampled."""
    for component in sampled.having("pool_waiting"):
        yield from _pool(sampled, component)
    for component in sampled.having("in_flight_max"):
        yield from _in_flight(sampled, component)
        yield from _bulks(sampled, component)
        yield from _confirms(sampled, component)
    for component in sampled.having("index_write_queue"):
        yield from _index_writes(sampled, component)
    yield from _index_rejections(sampled)
    for component in sampled.having("consumer_busy_seconds"):
        yield from _consumer(sampled, component)
    for component in sampled.having("queue_ready"):
        yield from _queue(sampled, component)
    yield from _connections(sampled)


def _pool(sampled: Sampled, component: str) -> Iterator[Signal]:
    most, waiting = sampled.level(component, "pool_max"), sampled.level(component, "pool_waiting")
    active = ratio(sampled.level(component, "pool_active"), most)
    used = where(ratio(waiting, most), active, FULL)
    if used is None or waiting is None or most is None:
        return

    def words(since_us: int) -> str:
        said = (
            f"{waiting.since(since_us):.0f} requests waited for one of {most.since(since_us):.0f} pool connections"
            f" ({_share(active, since_us)} in use)"
        )
        idle = sampled.level(component, "database_between_statements")
        return (
            said
            if idle is None
            else f"{said}; {idle.since(since_us):.1f} connections were idle in PostgreSQL"
        )

    yield Signal(resource="pool", component=component, used=used, threshold=AS_MANY_WAIT, words=words)


def _in_flight(sampled: Sampled, component: str) -> Iterator[Signal]:
    inside, most = sampled.level(component, "in_flight"), sampled.level(component, "in_flight_max")
    used = ratio(inside, most)
    if used is None or inside is None or most is None:
        return
    refused = sampled.rate_per_s(component, "in_flight_rejected")
    used = _all_where(used, refused)

    def words(since_us: int) -> str:
        said = f"{inside.since(since_us):.0f} of at most {most.since(since_us):.0f} requests were in flight"
        rate = 0.0 if refused is None else refused.since(since_us)
        return f"{said}, {rate:.0f}/s refused" if rate else said

    yield Signal(resource="in-flight", component=component, used=used, threshold=FULL, words=words)


def _bulks(sampled: Sampled, component: str) -> Iterator[Signal]:
    slots = sampled.level(component, "bulks_in_flight_max")
    sent = ratio(sampled.level(component, "bulks_in_flight"), slots)
    waiting, permits = sampled.level(component, "bulk_queued"), sampled.level(component, "in_flight_max")
    used = where(ratio(waiting, permits), sent, FULL)
    if used is None or waiting is None or slots is None:
        return

    def words(since_us: int) -> str:
        return (
            f"{waiting.since(since_us):.0f} documents waited for one of {slots.since(since_us):.0f} bulk requests"
            f" ({_share(sent, since_us)} in flight)"
        )

    yield Signal(resource="bulks", component=component, used=used, threshold=MOST_WAIT, words=words)


def _confirms(sampled: Sampled, component: str) -> Iterator[Signal]:
    waiting, permits = sampled.level(component, "unconfirmed"), sampled.level(component, "in_flight_max")
    used = ratio(waiting, permits)
    if used is None or waiting is None or permits is None:
        return

    def words(since_us: int) -> str:
        return (
            f"{waiting.since(since_us):.0f} of at most {permits.since(since_us):.0f} requests"
            " waited for the broker's confirm"
        )

    yield Signal(resource="confirms", component=component, used=used, threshold=MOST_WAIT, words=words)


def _index_writes(sampled: Sampled, component: str) -> Iterator[Signal]:
    threads = sampled.level(component, "index_write_threads")
    active = ratio(sampled.level(component, "index_write_active"), threads)
    queued = sampled.level(component, "index_write_queue")
    used = where(ratio(queued, threads), active, FULL)
    if used is None or queued is None or threads is None:
        return

    def words(since_us: int) -> str:
        return (
            f"{queued.since(since_us):.0f} writes waited for one of Elasticsearch's {threads.since(since_us):.0f}"
            f" write threads ({_share(active, since_us)} busy)"
        )

    yield Signal(
        resource="index-writes", component="elasticsearch", used=used, threshold=AS_MANY_WAIT, words=words
    )


def _index_rejections(sampled: Sampled) -> Iterator[Signal]:
    """As Elasticsearch counts them; what the writer saw of it is the same, and counted where it alone answers."""
    for metric in ("index_write_rejected", "bulk_rejected", "singles_rejected"):
        for component in sampled.having(metric):
            rejected = sampled.rate_per_s(component, metric)
            if rejected is not None and rejected.value.any():
                yield Signal(
                    resource="index-rejections",
                    component="elasticsearch",
                    used=Line(at_us=rejected.at_us, value=(rejected.value > 0).astype(np.float64)),
                    threshold=REFUSED,
                    words=lambda since, rejected=rejected: (  # type: ignore[misc]
                        f"Elasticsearch rejected {rejected.since(since):.0f} writes/s"
                    ),
                )
                return


def _consumer(sampled: Sampled, component: str) -> Iterator[Signal]:
    busy = ratio(
        sampled.rate_per_s(component, "consumer_busy_seconds"), sampled.rate_per_s(component, "jvm_seconds")
    )
    if busy is None:
        return
    stored = sampled.rate_per_s(component, "consumed")

    def words(since_us: int) -> str:
        said = f"the consumer was processing a batch {busy.since(since_us):.0%} of the time"
        return said if stored is None else f"{said}, {stored.since(since_us):.0f} messages/s"

    yield Signal(resource="consumer", component=component, used=busy, threshold=AT_WORK, words=words)


def _queue(sampled: Sampled, component: str) -> Iterator[Signal]:
    """Depth in seconds of work, as long as it grows; of a queue that shrinks nothing is said."""
    depth, consumed = sampled.level(component, "queue_ready"), sampled.rate_per_s(component, "consumed")
    if depth is None or consumed is None:
        return
    taken_per_s = np.interp(depth.at_us, consumed.at_us, consumed.value)
    at_once = np.where(depth.value > 0, np.inf, 0.0)  # nothing is taken: what waits, waits for ever
    work_s = np.divide(depth.value, taken_per_s, out=at_once, where=taken_per_s > 0)
    grows_per_s = float(theilslopes(depth.value, depth.at_us / US_PER_S).slope)
    if grows_per_s < GROWS * float(consumed.value.mean()):
        return

    def words(since_us: int) -> str:
        return (
            f"{depth.since(since_us):.0f} messages waited, growing by {grows_per_s:.0f}/s;"
            f" {consumed.since(since_us):.0f}/s were consumed"
        )

    yield Signal(
        resource="queue",
        component="rabbitmq",
        used=Line(at_us=depth.at_us, value=work_s),
        threshold=WORK_S,
        words=words,
    )


def _connections(sampled: Sampled) -> Iterator[Signal]:
    """A client's connection counts, and for each request under way one to the application."""
    open_now, most = sampled.level(PROXY, "connections_open"), sampled.level(PROXY, "connections_max")
    used = ratio(open_now, most)
    if used is None or open_now is None or most is None:
        return
    refused = sampled.rate_per_s(PROXY, "connections_refused")
    used = _all_where(used, refused)

    def words(since_us: int) -> str:
        most_open, limit = open_now.since(since_us), most.since(since_us)
        said = f"nginx had {most_open:.0f} of at most {limit:.0f} connections open"
        rate = 0.0 if refused is None else refused.since(since_us)
        return f"{said}, {rate:.0f}/s refused" if rate else said

    yield Signal(resource="proxy-connections", component=PROXY, used=used, threshold=FULL, words=words)


def _all_where(used: Line, refused: Line | None) -> Line:
    """Whoever refuses has no more to give, whatever was read at the moments in between."""
    if refused is None:
        return used
    refusing = np.interp(used.at_us, refused.at_us, refused.value) > 0
    return Line(at_us=used.at_us, value=np.where(refusing, 1.0, used.value))


def _share(line: Line | None, since_us: int) -> str:
    return "–" if line is None else f"{line.since(since_us):.0%}"
