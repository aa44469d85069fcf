"""How many messages a second does RabbitMQ itself take and give? Asked by PerfTest, its own tool."""

from __future__ import annotations

import re
from dataclasses import dataclass

from writepath.capacity import ceiling_tool
from writepath.capacity.ceiling_tool import Measured, Target
from writepath.errors import LoadError
from writepath.provision import jdk, perf_test
from writepath.records.capacity import Ceiling

PORT = 5672
_WINDOW = 100  # messages a publisher has unconfirmed
_PRODUCERS = (1, 4)
_SECOND = re.compile(
    r"time ([0-9.]+) s, sent: .*?confirmed: ([0-9]+) msg/s, nacked: ([0-9]+) msg/s, received: ([0-9]+) msg/s"
)
_ALIKE = "persistent messages of the size of a post, one quorum queue"


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Over the seconds that count."""

    published: Measured  # and confirmed
    consumed: Measured


def measure(target: Target) -> list[Ceiling]:
    """Published and confirmed, and consumed, each the best of both numbers of publishers."""
    rates = [_with(target, producers) for producers in _PRODUCERS]
    published = ceiling_tool.best([each.published for each in rates])
    consumed = ceiling_tool.best([each.consumed for each in rates])
    confirmed = f"published and confirmed: {_ALIKE}, window {_WINDOW}, with one consumer"
    return [
        _ceiling(target, "rabbitmq-perf-test", confirmed, published),
        _ceiling(target, "rabbitmq-perf-test-consumed", f"consumed and acknowledged: {_ALIKE}", consumed),
    ]


def _ceiling(target: Target, name: str, what: str, measured: Measured) -> Ceiling:
    return Ceiling(
        name=name,
        store="rabbitmq",
        tool=f"RabbitMQ PerfTest {perf_test.VERSION}",
        what=what,
        clients=measured.clients,
        seconds=target.spans.seconds,
        writes_per_s=measured.writes_per_s,
        latency_ms_mean=measured.latency_ms_mean,
        raw_file=measured.raw_file,
    )


def _with(target: Target, producers: int) -> Rates:
    jars = perf_test.ensure(target.bench.root, target.bench.progress.say)
    given = target.service.environment
    user, password = given["RABBITMQ_DEFAULT_USER"], given["RABBITMQ_DEFAULT_PASS"]
    address = target.stack.address(target.service.name, PORT)
    seconds = target.spans.warm_up_s + target.spans.seconds
    name = f"rabbitmq-perf-test-{producers}"
    command = [f"{jdk.find().java}", "-cp", f"{jars}/*", "com.rabbitmq.perf.PerfTest"]
    queue = ["--queue", name, "--quorum-queue", "--auto-delete", "false", "--flag", "persistent"]
    load = ["--producers", f"{producers}", "--consumers", "1", "--confirm", f"{_WINDOW}"]
    size = ["--size", f"{ceiling_tool.message_bytes(target.bench.content)}"]
    where = ["--uri", f"amqp://{user}:{password}@{address}/%2f", "--time", f"{round(seconds)}"]
    said = target.run(name, [*command, *queue, *load, *size, *where], seconds=seconds)
    return parse(said, f"{name}.txt", producers, target.spans.warm_up_s)


def parse(said: str, raw_file: str, producers: int, warm_up_s: float) -> Rates:
    """The mean of the seconds after the warm-up, from the line that PerfTest prints for each."""
    ends, confirmed, received = [0.0], [0.0], [0.0]
    for second in _SECOND.finditer(said):
        if int(second[3]):
            raise LoadError(f"{raw_file}: the broker refused messages; a ceiling counts only what it keeps")
        ends.append(float(second[1]))
        confirmed.append(float(second[2]))
        received.append(float(second[4]))
    counted = [at for at in range(1, len(ends)) if ends[at - 1] >= warm_up_s]
    if not counted:
        raise LoadError(
            f"{raw_file}: PerfTest printed no second after its warm-up; its output ends with: {said[-300:]}"
        )
    lengths = [ends[at] - ends[at - 1] for at in counted]

    def mean(rates: list[float]) -> Measured:
        writes = sum(rates[at] * length for at, length in zip(counted, lengths, strict=True))
        # PerfTest tells medians of its seconds, which are no mean.
        return Measured(
            clients=producers, writes_per_s=writes / sum(lengths), latency_ms_mean=None, raw_file=raw_file
        )

    return Rates(published=mean(confirmed), consumed=mean(received))
