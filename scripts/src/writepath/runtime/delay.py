"""DATABASE_DELAY_MS: starts a variant with a slow network between its applications and the database.

Toxiproxy delays what PostgreSQL answers and nothing that it is sent: a round trip takes so much longer, once. All
connections pass through it, the inspector's too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from writepath.config.registry import Variant
from writepath.config.settings import Factor, Given
from writepath.errors import StartError, UsageError
from writepath.runtime import network, topology
from writepath.runtime.base import Runtime, Stack

DATABASE_DELAY_MS = "DATABASE_DELAY_MS"
NONE = "0"
TOXIPROXY, API_PORT = "toxiproxy", 8474
DATABASE = "postgres"  # service, and the name of its proxy
THROUGH_TOXIPROXY = {"POSTGRES_ADDRESS": f"{TOXIPROXY}:5432"}


@contextmanager
def started(
    runtime: Runtime,
    root: Path,
    variant: Variant,
    *,
    overrides: Mapping[str, str],
    say: Callable[[str], None],
    profiles: Sequence[str] = (),
    **choices: Any,
) -> Iterator[Stack]:
    """As Runtime.start(). UsageError where the variant has no database that could be slow."""
    delay_ms = int(topology.value(root, DATABASE_DELAY_MS, {**variant.settings, **overrides}) or 0)
    if delay_ms:
        _require_database(root, [variant], delay_ms)
        overrides, profiles = {**overrides, **THROUGH_TOXIPROXY}, (*profiles, TOXIPROXY)
    with runtime.start(variant, overrides=overrides, say=say, profiles=profiles, **choices) as stack:
        if delay_ms:
            _slow_down(int(stack.address(TOXIPROXY, API_PORT).rpartition(":")[2]), delay_ms)
        yield stack


def _slow_down(port: int, delay_ms: int) -> None:
    """port: of Toxiproxy's API. Open connections are delayed too."""
    toxic = {"type": "latency", "stream": "downstream", "attributes": {"latency": delay_ms, "jitter": 0}}
    if reason := network.why_not("POST", port, f"/proxies/{DATABASE}/toxics", toxic):
        raise StartError(f"{DATABASE_DELAY_MS}={delay_ms}: Toxiproxy refuses it: {reason}")


def only_where_it_applies(
    root: Path, variants: Sequence[Variant], given: Given
) -> tuple[Given, dict[str, dict[str, Sequence[str]]]]:
    """Where some variants have no database, the delay is a factor of which these have the level 0 alone.

    The settings, and by variant the levels that it has of a factor. UsageError where no variant has a database.
    """
    levels = given.levels(DATABASE_DELAY_MS)
    if set(levels) <= {NONE}:
        return given, {}
    _require_database(root, variants, ",".join(levels))
    able = [variant.name for variant in variants if _has_database(root, variant)]
    if len(able) == len(variants):
        return given, {}
    factor = Factor(name=DATABASE_DELAY_MS, scope="stack", levels=tuple(dict.fromkeys((NONE, *levels))))
    made = Given(
        values={name: value for name, value in given.values.items() if name != DATABASE_DELAY_MS},
        factors=(*(one for one in given.factors if one.name != DATABASE_DELAY_MS), factor),
    )
    own = {True: levels, False: (NONE,)}
    return made, {one.name: {DATABASE_DELAY_MS: own[one.name in able]} for one in variants}


def _require_database(root: Path, variants: Sequence[Variant], delay: object) -> None:
    if not any(_has_database(root, variant) for variant in variants):
        names = ", ".join(variant.name for variant in variants)
        raise UsageError(
            f"{DATABASE_DELAY_MS}={delay}: {names} has no database; omit it, or run a variant with one, as in jpa"
        )


def _has_database(root: Path, variant: Variant) -> bool:
    return DATABASE in topology.load(root, variant.settings).active(variant.profiles)
