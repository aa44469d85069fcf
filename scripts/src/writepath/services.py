"""How do the Java integration tests get real stores? By Testcontainers where an engine is at hand, else natively."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from writepath import process, provision
from writepath.errors import UsageError
from writepath.provision import jdk
from writepath.runtime import topology
from writepath.runtime.choose import choose
from writepath.runtime.native import NativeRuntime, stores
from writepath.runtime.native.stack import NativeStack
from writepath.runtime.network import LOOPBACK

# The tests close their containers themselves, so no second container has to watch over them; all on loopback.
TESTCONTAINERS = {"TESTCONTAINERS_RYUK_DISABLED": "true", "TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1"}
_STEPS = {  # of provisioning, by service of the compose file
    "postgres": "postgres",
    "rabbitmq": "packages",
    "elasticsearch": "elasticsearch",
    "elasticsearch-2": "elasticsearch",
}


@contextmanager
def backing_services(
    root: Path, names: Sequence[str], say: Callable[[str], None]
) -> Iterator[dict[str, str]]:
    """Starts these compose services natively; yields the WRITEPATH_TEST_* variables that say where they are."""
    provision.setup(root, say, only=needs(names))
    runtime = NativeRuntime(root)
    runtime.reap(say)
    with start(runtime, names, say) as stack:
        yield environment_of(stack)


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
    with backing_services(root, tuple(_STEPS), say) as addresses:
        return process.run_through(*command, env={**environment, **addresses})


def needs(names: Sequence[str]) -> set[str]:
    """The provisioning steps of these services."""
    if unknown := set(names) - set(_STEPS):
        raise UsageError(f"{', '.join(sorted(unknown))}: not a backing service; known: {', '.join(_STEPS)}")
    return {_STEPS[name] for name in names}


@contextmanager
def start(runtime: NativeRuntime, names: Sequence[str], say: Callable[[str], None]) -> Iterator[NativeStack]:
    """Starts these services of the compose file, ready when the block begins."""
    services = topology.load(runtime.root, {}).services
    chosen = {name: service for name, service in services.items() if name in names}
    with runtime.stack(services, chosen, "services", None, say) as stack:
        yield stack


def environment_of(stack: NativeStack) -> dict[str, str]:
    """WRITEPATH_TEST_* for what runs."""
    found: dict[str, str] = {}
    for name, place in stack.places.items():
        if name == "postgres":
            server = f"{LOOPBACK}:{place.port(stores.POSTGRES_PORT)}"
            database = place.service.environment["POSTGRES_DB"]
            found["WRITEPATH_TEST_POSTGRES_URL"] = f"jdbc:postgresql://{server}/{database}"
        elif name == "rabbitmq":
            found["WRITEPATH_TEST_RABBITMQ_ADDRESS"] = f"{LOOPBACK}:{place.port(stores.RABBITMQ_PORT)}"
            found["WRITEPATH_TEST_RABBITMQCTL"] = str(place.folder / stores.RABBITMQ_CONTROL)
        elif name == "elasticsearch":
            found["WRITEPATH_TEST_ELASTICSEARCH_URI"] = (
                f"http://{LOOPBACK}:{place.port(stores.ELASTICSEARCH_PORT)}"
            )
            nodes = sum(each.service.image == place.service.image for each in stack.places.values())
            found["WRITEPATH_TEST_ELASTICSEARCH_NODES"] = str(nodes)
    return found
