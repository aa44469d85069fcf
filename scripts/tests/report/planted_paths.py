"""The write paths of a planted run, and what is true of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Path_:  # noqa: N801 - a write path; `Path` is taken
    """A variant and what is true of it."""

    name: str
    title: str
    sustained_per_s: tuple[float, ...]  # by block
    burst_per_s: tuple[float, ...] | None = None  # None: the 201 is with the store
    cpu_ms: float = 2.0  # a write
    limit: tuple[str, str, str] | None = ("host-cpu", "host", "jpa-writer used 1.42 of 2 cores")
    acknowledges: str = "committed and flushed in PostgreSQL"
    family: str = "jpa"
    tutorial_of: str | None = None
    settings: dict[str, str] = field(default_factory=dict)
    level: Literal["A", "B", "C"] = "A"
    noise_in_block: int | None = None
    generator_bound: bool = False  # the first failing hold may be the generator's fault

    @property
    def queue(self) -> bool:
        return self.burst_per_s is not None


QUEUED = "flushed by the broker's quorum queue; not yet in "
PATHS = (
    Path_(name="jpa", title="JPA", sustained_per_s=(2300, 2400, 2350), noise_in_block=2),
    Path_(
        name="rabbitmq-jpa", title="RabbitMQ + JPA", family="rabbitmq-jpa", cpu_ms=3.0,
        sustained_per_s=(2900, 3100, 3000), burst_per_s=(3900, 4100, 4000),
        acknowledges=f"{QUEUED}PostgreSQL",
        limit=("queue", "rabbitmq", "the queue grew by 804 messages a second"),
    ),
    Path_(
        name="elasticsearch-1s0r", title="Elasticsearch, 1 shard", family="elasticsearch-1s0r",
        sustained_per_s=(2380, 2290, 2420), cpu_ms=4.0, acknowledges="translog flushed on the primary shard",
        limit=("index-rejections", "elasticsearch", "212 rejections in 20 s"),
    ),
    Path_(
        name="elasticsearch-8s1r", title="Elasticsearch, 8 shards, 1 replica", family="elasticsearch-8s1r",
        sustained_per_s=(620, 640, 600), cpu_ms=9.0, limit=None,
        acknowledges="translog flushed on the primary and on one replica",
    ),
    Path_(
        name="rabbitmq-elasticsearch-1s0r", title="RabbitMQ + Elasticsearch, 1 shard", cpu_ms=5.0,
        family="rabbitmq-elasticsearch", sustained_per_s=(1500, 1450, 1520), burst_per_s=(1500, 1450, 1520),
        acknowledges=f"{QUEUED}Elasticsearch", generator_bound=True,
    ),
    Path_(
        name="jpa-tutorial", title="JPA, as tutorials have it", sustained_per_s=(1100, 1150, 1090), cpu_ms=3.1,
        tutorial_of="jpa", limit=("pool", "jpa-writer", "on average 31 requests waited for a connection"),
    ),
)  # fmt: skip
