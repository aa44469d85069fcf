"""How do the Java integration tests get real stores? By Testcontainers where an engine is at hand, else natively."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from writepath import process, provision
from writepath.errors import UsageError
from writepath.provision import jdk
from writepath.runtime.choose import choose
from writepath.runtime.native import NativeRuntime, backing

# The tests close their containers themselves, so no second container has to watch over them; all on loopback.
TESTCONTAINERS = {"TESTCONTAINERS_RYUK_DISABLED": "true", "TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1"}
ALL = ("postgres", "rabbitmq", "elasticsearch", "elasticsearch-2")


@contextmanager
def backing_services(
    root: Path, names: Sequence[str], say: Callable[[str], None]
) -> Iterator[dict[str, str]]:
    """Starts these compose services natively; yields the WRITEPATH_TEST_* variables that say where they are."""
    provision.setup(root, say, only=backing.needs(names))
    runtime = NativeRuntime(root)
    runtime.reap(say)
    with backing.start(runtime, names, say) as stack:
        yield backing.environment(stack)


def run(root: Path, runtime: str, words: Sequence[str], say: Callable[[str], None]) -> int:
    """Runs a command beside the backing services and returns its exit code; its JDK is the one we would use.

    With the docker runtime nothing is started here: without addresses the tests start containers themselves.
    """
    command = [word for index, word in enumerate(words) if index or word != "--"]
    if not command:
        raise UsageError(
            "with-services: no command given; for example: with-services -- mvn -f services/pom.xml verify"
        )
    environment = {**os.environ, **jdk.find().environment()}
    if choose(root, runtime, say).name == "docker":
        return process.run_through(*command, env={**environment, **TESTCONTAINERS})
    with backing_services(root, ALL, say) as addresses:
        return process.run_through(*command, env={**environment, **addresses})
