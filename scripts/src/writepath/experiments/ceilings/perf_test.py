"""Asks PerfTest, RabbitMQ's own tool, how many messages per second the broker itself takes and gives."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Literal

from writepath.errors import LoadError
from writepath.experiments.ceilings.tool import Figure, Rate, Target, Tool, message_bytes
from writepath.provision import archives, jdk
from writepath.records.ceilings import CONSUMED, PUBLISHED, CeilingsFacts, ToolRun

PORT = 5672
_WINDOW = 100  # messages a publisher has unconfirmed
_PRODUCERS = (1, 4)
_SECOND = re.compile(
    r"time (?P<end>[0-9.]+) s, sent: .*?confirmed: (?P<confirmed>[0-9]+) msg/s,"
    r" nacked: (?P<nacked>[0-9]+) msg/s, received: (?P<received>[0-9]+) msg/s"
)
_ALIKE = "persistent messages of the size of a post, one quorum queue"


def measure(target: Target) -> Iterator[ToolRun]:
    """By 1 and 4 publishers, with one consumer."""
    bench, params = target.run.bench, target.run.params
    jars = archives.ensure_perf_test(bench.root, bench.progress.say)
    given = target.service.environment
    user, password = given["RABBITMQ_DEFAULT_USER"], given["RABBITMQ_DEFAULT_PASS"]
    address = target.stack.address(target.service.name, PORT)
    seconds = params.warm_up_seconds + params.seconds
    for producers in _PRODUCERS:
        name = f"{PUBLISHED}-{producers}"
        command = [f"{jdk.find().java}", "-cp", f"{jars}/*", "com.rabbitmq.perf.PerfTest"]
        queue = ["--queue", name, "--quorum-queue", "--auto-delete", "false", "--flag", "persistent"]
        load = ["--producers", f"{producers}", "--consumers", "1", "--confirm", f"{_WINDOW}"]
        size = ["--size", f"{message_bytes(bench.content)}", "--time", f"{round(seconds)}"]
        where = ["--uri", f"amqp://{user}:{password}@{address}/%2f"]
        file = target.tool(name, [*command, *queue, *load, *size, *where], seconds=seconds)
        yield ToolRun(tool=PUBLISHED, clients=producers, file=file)


def parse(run: ToolRun, facts: CeilingsFacts, *, rate: Literal["confirmed", "received"]) -> Rate:
    """The mean of the seconds after the warm-up, from the line that PerfTest prints for each.

    PerfTest itself tells medians of its seconds, which are no mean.
    """
    said, writes, length, begin = run.output or "", 0.0, 0.0, 0.0
    for second in _SECOND.finditer(said):
        if int(second["nacked"]):
            raise LoadError(f"{run.file}: the broker refused messages; a ceiling counts only what it keeps")
        end = float(second["end"])
        if begin >= facts.warm_up_seconds:
            writes += float(second[rate]) * (end - begin)
            length += end - begin
        begin = end
    if not length:
        raise LoadError(
            f"{run.file}: PerfTest printed no second after its warm-up; its output ends with: {said[-300:]}"
        )
    return Rate(writes_per_s=writes / length)


def title(_run: ToolRun, facts: CeilingsFacts) -> str:
    """`RabbitMQ PerfTest 2.22.1`."""
    return f"RabbitMQ PerfTest {facts.version}"


TOOL = Tool(
    store="rabbitmq",
    figures=(
        Figure(
            name=PUBLISHED,
            tool=PUBLISHED,
            what=f"published and confirmed: {_ALIKE}, window {_WINDOW}, with one consumer",
            parse=partial(parse, rate="confirmed"),
            title=title,
        ),
        Figure(
            name=CONSUMED,
            tool=PUBLISHED,
            what=f"consumed and acknowledged: {_ALIKE}",
            parse=partial(parse, rate="received"),
            title=title,
        ),
    ),
    measure=measure,
    version=archives.PERF_TEST_VERSION,
)
