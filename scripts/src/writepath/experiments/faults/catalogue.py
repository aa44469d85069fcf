"""The faults there are, those that can strike a variant, and when each does. Nothing is done here."""

import random
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from writepath.config.checked import nearest
from writepath.config.registry import Variant
from writepath.errors import UsageError

FACTOR = "FAULT"
STORES = {
    "broker": "rabbitmq",
    "database": "postgres",
    "index": "elasticsearch",
    "replica": "elasticsearch-2",
}
HOLDERS = {
    "primary": "p",
    "replica": "r",
}  # roles of whichever node has most of these shards, as _cat/shards has them
NODE_LINKS = ("elasticsearch-node", "elasticsearch-2-node")  # Toxiproxy's, each in front of one node
PROXY = "nginx"
SMALL_DISK_BYTES = {"postgres": 192 << 20, "rabbitmq": 256 << 20, "elasticsearch": 128 << 20}
OVERLOAD = "overload"
POWER_CUT, POWER_CUT_BACKLOG = "power-cut", "power-cut-under-backlog"
POWER_CUTS = frozenset({POWER_CUT, POWER_CUT_BACKLOG})
LINKS = ("broker", "database", "index")  # each has its own Toxiproxy between the applications and itself
MINIMUM = (3.0, 6.0)
INSTANT = (0.5, 2.0)
STEADY_SECONDS = (0.0, 2.0)  # so that no two faults meet the same moment of a store's own cycles
ROLES = {
    "application": "the application",
    "consumer": "the consumer",
    "broker": "the broker",
    "database": "the database",
    "index": "the Elasticsearch node",
    "primary": "the Elasticsearch node with most primary shards",
    "replica": "the Elasticsearch node with most replica shards",
    "proxy": "nginx",
}


@dataclass(frozen=True)
class Fault:
    """One kind of fault. `key` names it on the command line: action-role."""

    key: str
    words: str
    action: str
    role: str = ""
    lasts_seconds: tuple[float, float] = MINIMUM  # drawn evenly between these
    overrides: tuple[tuple[str, str], ...] = ()  # compose variables that it needs


def _each(action: str, words: str, roles: Iterable[str], lasts: tuple[float, float]) -> list[Fault]:
    return [Fault(f"{action}-{role}", words.format(ROLES[role]), action, role, lasts) for role in roles]


# Freezes and black holes last longer than every time-out of the write path (5 s), so that it must give up.
FAULTS: Mapping[str, Fault] = {
    fault.key: fault
    for fault in (
        Fault("none", "no fault (control)", "none", lasts_seconds=INSTANT),
        *_each("kill", "kill -9 of {}", ROLES, INSTANT),
        Fault("kill-each", "kill -9 of each component in turn", "kill-each", lasts_seconds=INSTANT),
        *_each("pause", "SIGSTOP, then SIGCONT of {}", ROLES, (4.0, 8.0)),
        Fault(
            "kill-broker-backlog",
            "kill -9 of the broker with a backlog in its queue",
            "kill-under-backlog",
            "broker",
            INSTANT,
        ),
        Fault(
            "kill-consumer-backlog",
            "kill -9 of the consumer with unacknowledged messages",
            "kill-under-backlog",
            "consumer",
            INSTANT,
        ),
        *_each(POWER_CUT, "power cut of {}", ("database", "index"), INSTANT),
        # It has no message for longer than some milliseconds, unless the consumer is stopped.
        Fault(
            "power-cut-broker",
            "power cut of the broker with a backlog in its queue",
            POWER_CUT_BACKLOG,
            "broker",
            INSTANT,
        ),
        Fault("crash-loop-consumer", "crash loop of the consumer", "crash-loop", "consumer"),
        Fault("restart-consumer", "graceful restart of one consumer", "restart", "consumer", INSTANT),
        Fault("delete-queue", "queue deleted", "delete-queue", "broker"),
        Fault("delete-binding", "queue binding deleted", "delete-binding", "broker"),
        *_each("fill-disk", "disk of {} full", LINKS, MINIMUM),
        *_each("cut", "network cut between application and {}", LINKS, MINIMUM),
        *_each("delay", "0.4 s network delay between application and {}", LINKS, MINIMUM),
        *_each("reset", "connections reset between application and {}", LINKS, MINIMUM),
        *_each("blackhole-from", "responses from {} dropped", LINKS, (4.0, 8.0)),
        *_each("blackhole-to", "requests to {} dropped", LINKS, (4.0, 8.0)),
        Fault(
            "cut-nodes",
            "network cut between the Elasticsearch nodes",
            "cut-nodes",
            "replica",
            overrides=(
                ("ELASTICSEARCH_NODE_HOST", "toxiproxy"),
                ("ELASTICSEARCH_2_NODE_HOST", "toxiproxy"),
                ("ELASTICSEARCH_2_NODE_PORT", "9302"),
            ),
        ),
        Fault(
            "rolling-restart",
            "graceful rolling restart of the application",
            "rolling-restart",
            "application",
            overrides=(("INSTANCES", "2"),),
        ),
        Fault(
            OVERLOAD,
            "overload at twice the capacity",
            OVERLOAD,
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


def component(one: Fault, variant: Variant, components: Collection[str], number: int = 1) -> str:
    """The component that the fault strikes; empty where the variant has none of that role. number: of the trial.

    Of HOLDERS only whether there is one: which it is depends on the shards at that moment.
    """
    if one.action == "kill-each":
        each = parts(variant, components)
        return each[(number - 1) % len(each)]
    consumer = variant.inspector if variant.inspector != variant.ingress else ""
    names = {"application": variant.ingress, "consumer": consumer, "proxy": PROXY, **STORES}
    names["primary"] = STORES["index"] if STORES["replica"] in components else ""
    name = names.get(one.role, "")
    return name if name in components else ""


def parts(variant: Variant, components: Collection[str]) -> tuple[str, ...]:
    """Every component that has a role, in the order of the roles: what `kill-each` strikes, one a trial."""
    names = (component(FAULTS[f"kill-{role}"], variant, components) for role in ROLES)
    return tuple(dict.fromkeys(filter(None, names)))


def applies(one: Fault, variant: Variant, components: Collection[str]) -> bool:
    """Whether this variant, made of these components, can suffer it."""
    return not one.role or bool(component(one, variant, components))


@dataclass(frozen=True, kw_only=True)
class Moment:
    """Of one trial: when its fault strikes, and how long it lasts."""

    number: int  # from 1
    steady_seconds: float  # of load before the injection, beyond the good 10 s
    lasts_seconds: float  # from injection to heal


def schedule(seed: int, one: Fault, trials: int) -> list[Moment]:
    """The same for each variant and runtime: a function of seed, fault and number of the trial alone."""
    moments = []
    for number in range(1, trials + 1):
        draw = random.Random(f"writepath:{seed}:{one.key}:{number}")  # noqa: S311 - a schedule, not a secret
        steady_seconds = round(draw.uniform(*STEADY_SECONDS), 3)
        lasts_seconds = round(draw.uniform(*one.lasts_seconds), 3)
        moments.append(Moment(number=number, steady_seconds=steady_seconds, lasts_seconds=lasts_seconds))
    return moments
