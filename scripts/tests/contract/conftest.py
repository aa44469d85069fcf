"""Starts variants of variants.yaml once on the chosen runtime; the tests of this folder run against each."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from contract.chosen import chosen_of
from contract.excepted import excepted
from contract.subject import Subject
from writepath.config import registry
from writepath.runtime.choose import choose

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from writepath.config.registry import Variant
    from writepath.runtime.base import Runtime

ROOT = Path(__file__).resolve().parents[3]
CLIENT_SECONDS = 15  # longer than the proxy's 10, so that the proxy's answer is seen
OVERLOADED = {"IN_FLIGHT_MAX": "4", "INSTANCES": "2"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--runtime", default=None, help="auto, native or docker; default: WRITEPATH_TEST_RUNTIME, auto"
    )
    parser.addoption(
        "--variants",
        default=None,
        help="comma-separated, or all; default: WRITEPATH_TEST_VARIANTS, one of those that differ in numbers alone",
    )


def _option(config: pytest.Config, name: str) -> str:
    # The command line knows our options only where it names this folder; the environment reaches us always.
    return config.getoption(name, default=None) or os.environ.get(f"WRITEPATH_TEST_{name.upper()}", "")


def _variants(config: pytest.Config) -> list[Variant]:
    return chosen_of(registry.load(ROOT), _option(config, "variants"))


def _one_per_ingress(variants: Sequence[Variant]) -> list[Variant]:
    """What a cap does is the ingress's own code: one variant of each shows it."""
    return list({variant.ingress: variant for variant in reversed(variants)}.values())[::-1]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for fixture, chosen in (("subject", lambda known: known), ("overloaded", _one_per_ingress)):
        if fixture in metafunc.fixturenames:
            variants = chosen(_variants(metafunc.config))
            metafunc.parametrize(
                fixture, variants, indirect=True, scope="session", ids=[v.name for v in variants]
            )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks this folder's tests; a variant's outage comes last, because nothing works after it."""
    ours = [item for item in items if Path(__file__).parent in item.path.parents]
    promised_by_no_tutorial = [item for item in ours if _excepted(item)]
    if promised_by_no_tutorial:
        config.hook.pytest_deselected(items=promised_by_no_tutorial)
        items[:] = [item for item in items if item not in promised_by_no_tutorial]
        ours = [item for item in ours if item not in promised_by_no_tutorial]
    for item in ours:
        item.add_marker(pytest.mark.contract)
    places = [place for place, item in enumerate(items) if item in ours]
    for place, item in zip(places, sorted(ours, key=_turn), strict=True):
        items[place] = item


def _parameters(item: pytest.Item) -> dict[str, Variant]:
    callspec = getattr(item, "callspec", None)
    return callspec.params if callspec else {}


def _excepted(item: pytest.Item) -> bool:
    subject = _parameters(item).get("subject")
    return subject is not None and excepted(subject, getattr(item, "originalname", item.name))


def _turn(item: pytest.Item) -> tuple[str, str, bool]:
    parameters = _parameters(item)
    started = next((name for name in ("subject", "overloaded") if name in parameters), "")
    variant = parameters[started].name if started else ""
    return (started, variant, "outage" in item.path.name)


@pytest.fixture(scope="session")
def runtime(request: pytest.FixtureRequest) -> Runtime:
    variants = _variants(request.config)
    chosen = choose(ROOT, _option(request.config, "runtime") or "auto", print, variants)
    chosen.reap(print)
    chosen.prepare(variants, print)
    return chosen


@contextmanager
def _started(runtime: Runtime, variant: Variant, overrides: dict[str, str]) -> Iterator[Subject]:
    limits = httpx.Limits(max_connections=None)
    with (
        runtime.start(variant, overrides=overrides, say=print) as stack,
        httpx.Client(base_url=stack.base_url, timeout=CLIENT_SECONDS, limits=limits, trust_env=False) as http,
    ):
        yield Subject(variant=variant, stack=stack, http=http)


@pytest.fixture(scope="session")
def subject(request: pytest.FixtureRequest, runtime: Runtime) -> Iterator[Subject]:
    """A variant as it is compared."""
    with _started(runtime, request.param, {}) as started:
        yield started


@pytest.fixture(scope="session")
def overloaded(request: pytest.FixtureRequest, runtime: Runtime) -> Iterator[Subject]:
    """Two instances that each admit few requests at a time."""
    with _started(runtime, request.param, OVERLOADED) as started:
        yield started
