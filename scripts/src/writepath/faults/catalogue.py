"""Which faults are there, and which of them can strike a variant? Names, words and lengths; nothing is done here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.config.registry import nearest
from writepath.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from writepath.config.registry import Variant

STORES = {
    "broker": "rabbitmq",
    "database": "postgres",
    "index": "elasticsearch",
    "replica": "elasticsearch-2",
}
PROXY = "nginx"
LINKS = ("broker", "database", "index")  # each has its own Toxiproxy between the applications and itself
MINIMUM = (3.0, 6.0)
INSTANT = (0.5, 2.0)
ROLES = {
    "application": "the application",
    "consumer": "the consumer",
    "broker": "the broker",
    "database": "the database",
    "index": "the Elasticsearch node",
    "replica": "the replica's Elasticsearch node",
    "proxy": "nginx",
}


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One kind of fault. `key` names it on the command line: action-role."""

    key: str
    words: str
    action: str
    role: str | None = None
    lasts_seconds: tuple[float, float] = MINIMUM  # drawn evenly between these
    overrides: tuple[tuple[str, str], ...] = ()  # compose variables that it needs
    small_disk: bool = False

    @property
    def destroys(self) -> bool:
        """Whether it deletes, on purpose, the place where acknowledged writes are."""
        return self.action == "delete-queue"

    @property
    def needs_queue(self) -> bool:
        """Whether it makes sense only where a queue is."""
        return self.action in ("delete-queue", "delete-binding")


def _each(action: str, words: str, roles: Collection[str], lasts: tuple[float, float]) -> list[Fault]:
    return [
        Fault(
            key=f"{action}-{role}",
            words=words.format(ROLES[role]),
            action=action,
            role=role,
            lasts_seconds=lasts,
            small_disk=action == "fill-disk",
        )
        for role in roles
    ]


# Freezes and black holes last longer than every time-out of the write path (5 s), so that it must give up.
FAULTS: Mapping[str, Fault] = {
    fault.key: fault
    for fault in (
        Fault(key="none", words="no fault (control)", action="none", lasts_seconds=INSTANT),
        *_each("kill", "kill -9 of {}", ROLES, INSTANT),
        Fault(
            key="kill-each",
            words="kill -9 of each component in turn",
            action="kill-each",
            lasts_seconds=INSTANT,
        ),
        *_each("pause", "SIGSTOP, then SIGCONT of {}", ROLES, (4.0, 8.0)),
        Fault(
            key="kill-broker-backlog",
            words="kill -9 of the broker with a backlog in its queue",
            action="kill-under-backlog",
            role="broker",
            lasts_seconds=INSTANT,
        ),
        Fault(
            key="kill-consumer-backlog",
            words="kill -9 of the consumer with unacknowledged messages",
            action="kill-under-backlog",
            role="consumer",
            lasts_seconds=INSTANT,
        ),
        Fault(
            key="crash-loop-consumer",
            words="crash loop of the consumer",
            action="crash-loop",
            role="consumer",
        ),
        Fault(
            key="restart-consumer",
            words="graceful restart of one consumer",
            action="restart",
            role="consumer",
            lasts_seconds=INSTANT,
        ),
        Fault(key="delete-queue", words="queue deleted", action="delete-queue", role="broker"),
        Fault(
            key="delete-binding",
            words="queue binding deleted",
            action="delete-binding",
            role="broker",
        ),
        *_each("fill-disk", "disk of {} full", LINKS, MINIMUM),
        *_each("cut", "network cut between application and {}", LINKS, MINIMUM),
        *_each("delay", "0.4 s network delay between application and {}", LINKS, MINIMUM),
        *_each("reset", "connections reset between application and {}", LINKS, MINIMUM),
        *_each("blackhole-from", "responses from {} dropped", LINKS, (4.0, 8.0)),
        *_each("blackhole-to", "requests to {} dropped", LINKS, (4.0, 8.0)),
        Fault(
            key="rolling-restart",
            words="graceful rolling restart of the application",
            action="rolling-restart",
            role="application",
            overrides=(("INSTANCES", "2"),),
        ),
        Fault(
            key="overload",
            words="overload at twice the capacity",
            action="overload",
            lasts_seconds=(8.0, 8.0),
            overrides=(("IN_FLIGHT_MAX", "16"), ("POOL_SIZE", "16")),
        ),
    )
}


def fault(key: str) -> Fault:
    """UsageError names the nearest known one."""
    if key not in FAULTS:
        raise UsageError(f"FAULT={key}: no such fault; {nearest(key, FAULTS)}")
    return FAULTS[key]


def component(one: Fault, variant: Variant, components: Collection[str]) -> str | None:
    """The component that the fault strikes; None where the variant has none of that role."""
    if one.role is None:
        return None
    name = {
        "application": variant.ingress,
        "consumer": variant.inspector if variant.inspector != variant.ingress else None,
        "proxy": PROXY,
        **STORES,
    }[one.role]
    return name if name in components else None


def parts(variant: Variant, components: Collection[str]) -> tuple[str, ...]:
    """Every component that has a role, in the order of the roles: what `kill-each` strikes, one a trial."""
    names = [component(FAULTS[f"kill-{role}"], variant, components) for role in ROLES]
    return tuple(name for name in names if name is not None)


def applies(one: Fault, variant: Variant, components: Collection[str]) -> bool:
    """Whether this variant, made of these components, can suffer it."""
    return one.role is None or component(one, variant, components) is not None


def possible(variant: Variant, components: Collection[str]) -> tuple[Fault, ...]:
    """Every fault that can strike the variant, in the catalogue's order; `kill-each` only where it is named."""
    return tuple(
        one for one in FAULTS.values() if applies(one, variant, components) and one.action != "kill-each"
    )
