"""Which backing services run without a variant, and where? For tests that talk to a store themselves."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from writepath.errors import UsageError
from writepath.runtime import topology
from writepath.runtime.native import elasticsearch, postgres, rabbitmq, recipes
from writepath.runtime.native.addresses import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from writepath.runtime.native.part import Place
    from writepath.runtime.native.runtime import NativeRuntime
    from writepath.runtime.native.stack import NativeStack

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
    chosen = {name: replace(service, depends_on=()) for name, service in services.items() if name in names}
    runtime.prepare_recipes(chosen.values())
    with runtime.stack(services, chosen, "services", None, say) as stack:
        yield stack


def environment(stack: NativeStack) -> dict[str, str]:
    """WRITEPATH_TEST_* for what runs."""
    found: dict[str, str] = {}
    for name, place in stack.places.items():
        if name == "postgres":
            found["WRITEPATH_TEST_POSTGRES_URL"] = _jdbc(place)
        elif name == "rabbitmq":
            found["WRITEPATH_TEST_RABBITMQ_ADDRESS"] = (
                f"{LOOPBACK}:{place.addresses.port(name, rabbitmq.PORT)}"
            )
            found["WRITEPATH_TEST_RABBITMQCTL"] = str(place.folder / rabbitmq.CONTROL)
        elif name == "elasticsearch":
            port = place.addresses.port(name, elasticsearch.PORT)
            found["WRITEPATH_TEST_ELASTICSEARCH_URI"] = f"http://{LOOPBACK}:{port}"
            nodes = sum(
                recipes.of(each.service) is recipes.of(place.service) for each in stack.places.values()
            )
            found["WRITEPATH_TEST_ELASTICSEARCH_NODES"] = str(nodes)
    return found


def _jdbc(place: Place) -> str:
    database = place.service.environment["POSTGRES_DB"]
    return (
        f"jdbc:postgresql://{LOOPBACK}:{place.addresses.port(place.service.name, postgres.PORT)}/{database}"
    )
