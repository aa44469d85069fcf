"""A training run makes the ahead-of-time cache of an application once; whoever asks for it starts with it."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from writepath.config import registry
from writepath.errors import StartError
from writepath.processors import choose
from writepath.provision import maven
from writepath.runtime import aot
from writepath.runtime.base import Runtime, Stack
from writepath.runtime.docker import DockerRuntime
from writepath.runtime.native import NativeRuntime

ROOT = Path(__file__).resolve().parents[2]
JPA, WRITER = registry.load(ROOT).variant("jpa"), "jpa-writer"
WRITES = 50
TRAINED = {aot.SETTING: aot.TRAINED}


@pytest.fixture
def empty() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=ROOT / ".writepath") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def native(empty: Path, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    """With a copy of the built writer that no training run has seen."""
    found, copy = NativeRuntime(ROOT, choose("split", print)), empty / WRITER
    found.prepare([JPA], print)
    built = maven.build(ROOT, print)[WRITER].parent
    shutil.copytree(built, copy, copy_function=os.link, ignore=shutil.ignore_patterns("*.aot"))
    monkeypatch.setattr(found, "_jars", {WRITER: copy / f"{WRITER}.jar"})
    return found


@pytest.fixture
def docker(empty: Path, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    found = DockerRuntime(ROOT, split=choose("split", print))
    found.prepare([JPA], print)
    monkeypatch.setattr(found, "_state", empty)
    return found


def write(stack: Stack) -> None:
    for number in range(WRITES):
        post = {"content": f"{number}"}
        answer = httpx.post(f"{stack.base_url}/api/posts", json=post, timeout=15, trust_env=False)
        assert answer.status_code == httpx.codes.CREATED


def digest_of_start(runtime: Runtime) -> str:
    with runtime.start(JPA, overrides=TRAINED, say=print) as stack:
        write(stack)
        return stack.effective_settings()[WRITER][aot.SETTING]


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("native", "docker")]
)
def test_later_starts_use_the_cache_that_is_made_once(
    name: str, empty: Path, request: pytest.FixtureRequest
) -> None:
    runtime: Runtime = request.getfixturevalue(name)
    assert digest_of_start(runtime) == aot.NONE  # it works without, only colder
    assert runtime.untrained(JPA) == [WRITER]
    with runtime.start(JPA, overrides=aot.TRAINING, say=print) as stack:
        write(stack)
        stack.terminate(WRITER)
        runtime.make_cache(stack, WRITER)
    assert runtime.untrained(JPA) == []
    (cache,) = empty.rglob("*.aot")
    assert cache.stem.endswith(f"-{digest_of_start(runtime)}")
    cache.write_bytes(b"")
    with pytest.raises(StartError, match=WRITER):
        digest_of_start(runtime)
