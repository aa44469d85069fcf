"""Which backing services run without a variant, and where? For tests that talk to a store themselves."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from writepath.errors import UsageError
from writepath.runtime import topology
from writepath.runtime.native import stores
from writepath.runtime.native.runtime import NativeRuntime
from writepath.runtime.native.stack import NativeStack
from writepath.runtime.network import LOOPBACK

_STEPS = {
    "postgres": ("postgres",),
    "rabbitmq": ("packages",),
    "elasticsearch": ("elasticsearch",),
    "elasticsearch-2": ("elasticsearch",),
}


def needs(names: Sequence[str]) -> set[str]:
    """The provisioning steps of these services."""
    if unknown := set(names) - set(_STEPS):
        raise UsageError(f"{', '.join(sorted(unknown))}: not a backing service; known: {', '.join(_STEPS)}")
    return {step for name in names for step in _STEPS[name]}


@contextmanager
def start(runtime: NativeRuntime, names: Sequence[str], say: Callable[[str], None]) -> Iterator[NativeStack]:
    """Starts these services of the compose file, ready when the block begins."""
    services = topology.load(runtime.root, {}).services
    chosen = {name: service for name, service in services.items() if name in names}
    with runtime.stack(services, chosen, "services", None, say) as stack:
        yield stack


def environment(stack: NativeStack) -> dict[str, str]:
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
