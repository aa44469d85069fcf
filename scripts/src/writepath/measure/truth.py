"""Asks the inspectors of a variant's final store and of its ingress, and its proxy, as one."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import httpx
import numpy as np
from numpy.typing import NDArray

from writepath import poll
from writepath.analysis.raw import Stored
from writepath.config.registry import Variant
from writepath.errors import AuditError, StartError
from writepath.load.plan import encode_id
from writepath.measure.inspector import Inspector, Pending, plain_client, short, together
from writepath.measure.rows import assemble, content_hashes
from writepath.records.measures import Durability, Reading
from writepath.runtime.base import Stack

PROXY = "nginx"
TIMEOUT_S = 0.3  # on loopback, from a page that asks nobody
_NUMBERS = 7  # active; accepted, handled, requests; reading, writing, waiting
_MOST = "Worker-Connections"  # a header of the page; nginx.conf.template fills it in


def proxy_gauges(client: httpx.Client) -> Mapping[str, float]:
    """Asked each second of a load, over one connection that stays open. Empty where it does not answer in time.

    connections_open: clients', this one too, and one to an application for each request under way; idle ones
    that are kept to the applications are not known, at most 256.
    """
    try:
        answer = client.get("/nginx-status")
    except httpx.HTTPError:
        return {}
    numbers, most = re.findall(r"\d+", answer.text), answer.headers.get(_MOST, "")
    if not answer.is_success or len(numbers) != _NUMBERS or not most.isdigit():
        return {}
    active, accepted, handled, _, _, writing, waiting = map(float, numbers)
    return {
        "connections_open": active + writing,
        "connections_idle": waiting,
        "connections_max": float(most),
        "connections_refused": accepted - handled,
    }


POLL_S = 0.25
EMPTY_TIMEOUT_S = 30.0
VISIBLE_TIMEOUT_S = 15.0
REQUEST_TIMEOUT_S = 15.0
CREATED = 201


@dataclass(kw_only=True)
class Truth:
    """A variant's final store, its queue and its ingress, through their inspectors. A context manager."""

    base_url: str
    store: Inspector
    ingress: Inspector  # the same object where one service is both
    proxy: httpx.Client

    @staticmethod
    def of(stack: Stack, variant: Variant) -> "Truth":
        """Of a started stack."""
        store = Inspector(variant.inspector, stack.inspector_urls(variant.inspector))
        same = variant.ingress == variant.inspector
        ingress = store if same else Inspector(variant.ingress, stack.inspector_urls(variant.ingress))
        proxy = plain_client(TIMEOUT_S, stack.base_url)
        return Truth(base_url=stack.base_url, store=store, ingress=ingress, proxy=proxy)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for inspector in self.inspectors:
            inspector.close()
        self.proxy.close()

    @property
    def inspectors(self) -> tuple[Inspector, ...]:
        """Each once."""
        return (self.store,) if self.store is self.ingress else (self.ingress, self.store)

    def count(self) -> int:
        """Rows in the final store, refreshed."""
        return self.store.count()

    def pending(self) -> Pending:
        """Of the one queue, as the services together see it."""
        return together(inspector.pending() for inspector in self.inspectors)

    def serves(self) -> bool:
        """Whether every inspector and its store answer."""
        return all(inspector.serves() for inspector in self.inspectors)

    def reading(self) -> Reading:
        """What the system itself says of what it holds, to lay beside a read."""
        pending = self.pending()
        return Reading(store_rows=self.count(), left_in_queue=pending.waiting + pending.dead)

    def gauges(self) -> Mapping[str, Mapping[str, float]]:
        """By service."""
        of_services = {inspector.service: inspector.gauges() for inspector in self.inspectors}
        return {**of_services, PROXY: proxy_gauges(self.proxy)}

    def durability(self) -> Durability:
        """Of a 201, which is the ingress's word, unless the far end of a queue keeps less of it."""
        given, *others = [inspector.durability() for inspector in self.inspectors]
        for kept in others:
            if kept.level > given.level:
                return replace(kept, settings={**given.settings, **kept.settings})
        return given

    def versions(self) -> Mapping[str, str]:
        """Of what the applications know."""
        return {name: version for i in self.inspectors for name, version in i.versions().items()}

    def require_empty(self) -> None:
        """StartError where the store or the queue holds anything."""
        rows, pending = self.count(), self.pending()
        if rows or pending.waiting or pending.dead:
            raise StartError(
                f"the store is not empty before the load: {rows} rows, {pending.waiting} posts waiting,"
                f" {pending.dead} dead letters; data of an earlier run would be counted"
            )

    def empty(self) -> None:
        """Empties everything and asserts it, throwing away what waits in a queue; requests under way are waited for.

        Looked at twice: what the ingress gave up waiting for may still arrive at its store or queue.
        """

        def thrown_away() -> bool:
            try:
                if self.pending().in_flight:
                    return False
                for inspector in self.inspectors:
                    inspector.reset()
                time.sleep(POLL_S)
                self.require_empty()
            except (AuditError, StartError):  # a path that was just overloaded may be slow to answer
                return False
            return True

        if not poll.until(thrown_away, EMPTY_TIMEOUT_S, every_s=POLL_S):
            self.require_empty()

    def verify_one_write(self, run_id: str, content: str, *, reads: int = 1) -> None:
        """POST through the proxy, GET by id, the row in the store as it was sent; StartError where it is not."""
        post_id = encode_id(run_id, 0)
        with plain_client(REQUEST_TIMEOUT_S, self.base_url) as client:

            def stored() -> httpx.Response | None:
                """A queue path has the row a moment after its 201."""
                answer = client.get(f"/api/posts/{post_id}")
                return answer if answer.is_success else None

            try:
                answer = client.post("/api/posts", json={"id": post_id, "content": content})
                if answer.status_code != CREATED or answer.json().get("id") != post_id:
                    raise StartError(f"the first POST was answered {answer.status_code}: {short(answer)}")
                for _ in range(reads):
                    found = poll.until(stored, VISIBLE_TIMEOUT_S)
            except (httpx.HTTPError, ValueError) as error:
                raise StartError(
                    f"the first write got no answer ({type(error).__name__}: {error})"
                ) from error
        if found is None or found.json().get("content") != content:
            words = f"not found within {VISIBLE_TIMEOUT_S:g} s" if found is None else short(found)
            raise StartError(f"the first write cannot be read: {words}")
        rows = self.read(run_id, content_hashes([content]))
        if rows.seq.tolist() != [0] or not rows.content_ok.all() or rows.foreign_ids:
            raise StartError(
                f"the store must contain the first write, unchanged, and nothing else; it has {rows.rows} rows,"
                f" {len(rows.foreign_ids)} with other ids"
            )

    def read(self, run_id: str, lines: NDArray[np.uint64]) -> Stored:
        """The whole final store; lines: hashes of the dataset's lines. AuditError where it cannot be read."""
        return assemble(self.store.posts(run_id), self.store.commits(run_id), lines)
