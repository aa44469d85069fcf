"""How do the Java integration tests get real stores? By Testcontainers where an engine is at hand, else natively."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from writepath import process, provision
from writepath.errors import UsageError
from writepath.provision import jdk
from writepath.runtime import topology
from writepath.runtime.base import Selection
from writepath.runtime.choose import choose
from writepath.runtime.native import NativeRuntime, stores
from writepath.runtime.native.stack import NativeStack

# The tests close their containers themselves, so no second container has to watch over them; all on loopback.
TESTCONTAINERS = {"TESTCONTAINERS_RYUK_DISABLED": "true", "TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1"}
STEPS = {"postgres", "packages", "elasticsearch"}  # of provisioning
STORES = ("postgres", "rabbitmq", "elasticsearch", "elasticsearch-2")  # of the compose file


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
    provision.setup(root, say, only=STEPS)
    native = NativeRuntime(root)
    native.reap(say)
    with native.stack(selection(root, STORES), say) as stack:
        return process.run_through(*command, env={**environment, **addresses(stack)})


def selection(root: Path, names: Sequence[str]) -> Selection:
    """Services of the compose file, by themselves; a proxy among them on any free port."""
    settings = {topology.PROXY_PORT: topology.ANY_PORT, "JVM_PROCESSORS": stores.ONE_COMPILER}
    services = topology.load(root, settings).services
    active = {name: service for name, service in services.items() if name in names}
    return Selection(name="services", services=services, active=active)


def addresses(stack: NativeStack) -> dict[str, str]:
    """Where the stores are."""
    postgres = stack.address("postgres", stores.POSTGRES_PORT)
    elasticsearch = stack.address("elasticsearch", stores.ELASTICSEARCH_PORT)
    database = stack.places["postgres"].service.environment["POSTGRES_DB"]
    nodes = sum(place.service.image_name == "elasticsearch" for place in stack.places.values())
    return {
        "WRITEPATH_TEST_POSTGRES_URL": f"jdbc:postgresql://{postgres}/{database}",
        "WRITEPATH_TEST_RABBITMQ_ADDRESS": stack.address("rabbitmq", stores.RABBITMQ_PORT),
        "WRITEPATH_TEST_RABBITMQCTL": str(stack.places["rabbitmq"].folder / stores.RABBITMQ_CONTROL),
        "WRITEPATH_TEST_ELASTICSEARCH_URI": f"http://{elasticsearch}",
        "WRITEPATH_TEST_ELASTICSEARCH_NODES": f"{nodes}",
    }
