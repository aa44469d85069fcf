"""What holds for every test."""

import functools
import os
import signal
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from report import planted_documents
from writepath.measure import host
from writepath.provision import golang
from writepath.runtime import topology
from writepath.runtime.choose import choose
from writepath.runtime.docker import DockerRuntime
from writepath.runtime.native import NativeRuntime
from writepath.runtime.native.stores import ONE_COMPILER

ROOT = Path(__file__).resolve().parents[2]
STACKS = ("native", "docker", "contract")  # marks; test.sh parts the tests by them
_WITH_CONTAINERS = pytest.StashKey[bool]()

# test.sh ends its background as Ctrl-C ends the rest: what was started is stopped.
signal.signal(signal.SIGTERM, signal.default_int_handler)

# No deadline: the machine may be busy. The same examples each time: a red build stays red until it is mended.
settings.register_profile("writepath", deadline=None, derandomize=True, database=None)
settings.load_profile("writepath")


@pytest.fixture(autouse=True)
def _noise_is_not_waited_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests ask for no figures: a noisy host may be noisy, and a look at it costs nothing."""
    monkeypatch.setattr(host, "LONGEST_S", 0.0)
    monkeypatch.setattr(host, "FSYNCS", 3)
    monkeypatch.setattr(host, "_cpu_ms", lambda: 1.0)


@pytest.fixture(scope="session")
def prefix() -> list[str]:
    """Of k6's commands."""
    return [str(golang.K6.ensure(ROOT, print))]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout to publish into: its documents, and nothing published."""
    planted_documents.write(tmp_path)
    return tmp_path


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Stacks start faster; a test without a mark starts none, because it would run beside another's."""
    with pytest.MonkeyPatch.context() as patch:
        if any(item.get_closest_marker(name) for name in STACKS):
            patch.setattr(topology, "derived", functools.partial(_with_one_compiler, topology.derived))
        else:
            patch.setattr(NativeRuntime, "stack", _unmarked)
            patch.setattr(DockerRuntime, "stack", _unmarked)
        return (yield)


def _with_one_compiler(derived: Callable[..., dict[str, str]], *of: Any) -> dict[str, str]:
    """As the Java tests' own stores have it."""
    found = derived(*of)
    return found | {
        name: f"{ONE_COMPILER} {found[name]}" for name in found if name.endswith("JVM_PROCESSORS")
    }


def _unmarked(*_: object, **__: object) -> None:
    pytest.fail(f"a test that starts a stack carries one of the marks {', '.join(STACKS)}")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves the containers' own tests to the docker runtime: RUNTIME=native promises to do without an engine."""
    containers = [item for item in items if item.get_closest_marker("docker")]
    if containers and not _with_containers(config):
        config.hook.pytest_deselected(items=containers)
        items[:] = [item for item in items if item not in containers]


def _with_containers(config: pytest.Config) -> bool:
    if _WITH_CONTAINERS not in config.stash:
        name = os.environ.get("WRITEPATH_TEST_RUNTIME") or "auto"
        config.stash[_WITH_CONTAINERS] = isinstance(choose(ROOT, name, print), DockerRuntime)
    return config.stash[_WITH_CONTAINERS]
