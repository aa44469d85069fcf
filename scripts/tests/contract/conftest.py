"""Starts variants of variants.yaml once on the chosen runtime; the tests of this folder run against each."""

import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from contract.chosen import Asked, chosen_of
from contract.subject import IN_FLIGHT_MAX, Subject
from writepath.config import registry
from writepath.runtime.base import Runtime
from writepath.runtime.choose import choose

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[2]
OUTAGE = "test_outage"
CLIENT_SECONDS = 15  # longer than the proxy's 10, so that the proxy's answer is seen
# Of who is asked what an outage and too much load do: two instances, and a cap that a test can reach.
STRESSED = {"INSTANCES": "2", "IN_FLIGHT_MAX": str(IN_FLIGHT_MAX)}


def _asked() -> list[Asked]:
    return chosen_of(registry.load(ROOT), os.environ.get("WRITEPATH_TEST_VARIANTS", ""))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "subject" in metafunc.fixturenames:
        asked = _asked()
        names = [one.variant.name for one in asked]
        metafunc.parametrize("subject", asked, indirect=True, scope="session", ids=names)


def _of(item: pytest.Item) -> Asked:
    found: Asked = item.callspec.params["subject"]  # type: ignore[attr-defined]
    return found


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks this folder's tests and sorts them by variant; its outage comes last, because nothing works after it."""
    ours = [item for item in items if FOLDER in item.path.parents]
    kept = [item for item in ours if _of(item).asks(item.path.stem, getattr(item, "originalname", item.name))]
    config.hook.pytest_deselected(items=[item for item in ours if item not in kept])
    for item in kept:
        item.add_marker(pytest.mark.contract)
    kept.sort(key=lambda item: (_of(item).variant.name, item.path.stem == OUTAGE))
    items[:] = [item for item in items if item not in ours] + kept


@pytest.fixture(scope="session")
def runtime() -> Runtime:
    variants = [one.variant for one in _asked()]
    chosen = choose(ROOT, os.environ.get("WRITEPATH_TEST_RUNTIME") or "auto", print, variants)
    chosen.reap(print)
    chosen.prepare(variants, print)
    return chosen


@pytest.fixture(scope="session")
def subject(request: pytest.FixtureRequest, runtime: Runtime) -> Iterator[Subject]:
    """A started variant."""
    asked: Asked = request.param
    limits = httpx.Limits(max_connections=None)
    overrides = STRESSED if asked.asks(OUTAGE, "") else {}
    with (
        runtime.start(asked.variant, overrides=overrides, say=print) as stack,
        httpx.Client(base_url=stack.base_url, timeout=CLIENT_SECONDS, limits=limits, trust_env=False) as http,
    ):
        yield Subject(variant=asked.variant, stack=stack, http=http)
