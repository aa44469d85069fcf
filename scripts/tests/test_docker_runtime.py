from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from contract.subject import eventually
from writepath.config import registry
from writepath.errors import StartError
from writepath.load import dataset, k6, ledger, plan
from writepath.process import call
from writepath.provision import k6 as provision_k6
from writepath.runtime.docker import DockerRuntime, images
from writepath.runtime.docker import engine as engines
from writepath.runtime.docker.compose import checkout_key, project_prefix
from writepath.runtime.docker.engine import Engine, usage_of
from writepath.selfcheck.null_server import null_server

if TYPE_CHECKING:
    from collections.abc import Iterator

# The first to need an image builds it: k6 from its modules takes minutes.
pytestmark = pytest.mark.timeout(1200)
ROOT = Path(__file__).resolve().parents[2]
JPA = registry.load(ROOT).variant("jpa")


def say(_: str) -> None:
    """Nobody listens."""


@pytest.mark.parametrize(
    ("stats", "blocks", "rss_bytes", "write_bytes"),
    [
        ({"total_rss": 100, "total_mapped_file": 20, "cache": 700}, [], 120, None),
        ({"anon": 100, "file_mapped": 30, "file": 700}, [("read", 5), ("write", 7), ("write", 1)], 130, 8),
    ],
    ids=["version 1", "version 2"],
)
def test_use_is_read_from_both_versions_of_control_groups(
    stats: dict[str, int], blocks: list[tuple[str, int]], rss_bytes: int, write_bytes: int | None
) -> None:
    found = usage_of(
        {
            "cpu_stats": {"cpu_usage": {"total_usage": 2_500_000_000}},
            "memory_stats": {"usage": 900, "stats": stats},
            "blkio_stats": {"io_service_bytes_recursive": [{"op": op, "value": v} for op, v in blocks]},
        }
    )
    assert (found.cpu_seconds, found.rss_bytes, found.write_bytes) == (2.5, rss_bytes, write_bytes)


def test_two_checkouts_never_share_a_project(tmp_path: Path) -> None:
    assert checkout_key(tmp_path / "a") != checkout_key(tmp_path / "b")
    assert checkout_key(tmp_path) == checkout_key(tmp_path / "sub" / "..")


def test_loads_side_by_side_have_containers_of_their_own() -> None:
    """Else the second one ends the first."""
    runtime = DockerRuntime(ROOT)

    def name() -> str:
        command = list(runtime.load_generator())
        return command[command.index("--name") + 1]

    with ThreadPoolExecutor(max_workers=1) as other:
        assert name() == name() != other.submit(name).result()


def test_the_images_follow_their_sources_and_ignore_build_output(tmp_path: Path) -> None:
    source, output = (tmp_path / "services" / "one" / name for name in ("Main.java", "target/one.jar"))
    output.parent.mkdir(parents=True)
    source.write_text("class Main {}")
    before = images.fingerprint(tmp_path)
    output.write_text("built")
    assert images.fingerprint(tmp_path) == before
    source.write_text("class Main { int changed; }")
    assert images.fingerprint(tmp_path) != before


def test_the_image_of_k6_is_this_checkouts_own_unless_another_is_named(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("K6_IMAGE=writepath/k6\n")
    assert images.generator(tmp_path, {}) == f"writepath/k6:{checkout_key(tmp_path)}"
    assert images.generator(tmp_path, {"K6_IMAGE": "theirs/k6:1"}) == "theirs/k6:1"


@pytest.mark.parametrize("host", ["ssh://somebody@somewhere", "tcp://127.0.0.1:1"])
def test_an_engine_that_cannot_be_used_is_named_with_a_remedy(host: str) -> None:
    with pytest.raises(StartError, match=f"no Docker engine can be used at {host}; try RUNTIME=native"):
        Engine(host)


@pytest.fixture(scope="module")
def runtime() -> DockerRuntime:
    return DockerRuntime(ROOT)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return engines.current()


@pytest.fixture
def abandoned(engine: Engine) -> Iterator[str]:
    """A project of this checkout whose runner is gone."""
    project = f"{project_prefix(ROOT)}0badf00d"
    compose = ["docker", "compose", "--project-name", project, "--file", str(ROOT / "docker-compose.yml")]
    call(*compose, "--profile", "jpa", "up", "--detach", "--no-deps", "postgres", cwd=ROOT)
    yield project
    engine.remove_project(project)


def claimed() -> set[Path]:
    """The folders of stacks that run now."""
    return {path.parent for path in (ROOT / ".writepath" / "docker").glob("*/owner.pid")}


@pytest.mark.docker
def test_a_stack_tells_what_it_is_and_neither_it_nor_an_abandoned_one_leaves_anything_behind(
    runtime: DockerRuntime, engine: Engine, abandoned: str, tmp_path: Path
) -> None:
    before, folders = engine.projects(project_prefix(ROOT)) - {abandoned}, claimed()
    with runtime.start(JPA, overrides={}, say=say, only=["postgres"]) as stack:
        runtime.reap(say)
        assert engine.containers(abandoned) == []
        assert abandoned not in engine.projects(abandoned)  # no network and no volume either
        assert (stack.components, stack.lost_components()) == (["postgres"], [])
        assert len(engine.projects(project_prefix(ROOT)) - before) == 1

        listed = call("docker", "ps", "--filter", f"name={stack.project}", "--format", "{{.Ports}}")
        assert "127.0.0.1:" in listed
        assert "0.0.0.0:" not in listed
        assert "[::]:" not in listed

        eventually(lambda: stack.usage()["postgres"].rss_bytes > 1_000_000, "a server's memory is seen")
        settings = stack.effective_settings()["postgres"]
        assert settings["POSTGRES_PASSWORD"] == "***"
        assert "track_commit_timestamp=on" in settings["command"]

        def logged() -> bool:
            stack.save_logs(tmp_path)
            return "database system" in (tmp_path / "postgres.log").read_text(encoding="utf-8")

        eventually(logged, "the log is saved")
        stack.kill("postgres")
        assert "ended with exit code 137" in stack.lost_components()[0]
    assert engine.projects(project_prefix(ROOT)) == before
    assert claimed() == folders


@pytest.mark.docker
def test_a_container_that_ends_while_starting_is_named_with_its_log(runtime: DockerRuntime) -> None:
    with (
        pytest.raises(StartError, match=r"nginx-1 ended with exit code 1(.|\n)*host not found in upstream"),
        runtime.start(JPA, overrides={}, say=say, only=["nginx"]),
    ):
        raise AssertionError("a proxy without writers must not become ready")


@pytest.mark.docker
def test_the_load_generator_is_built_once_and_records_a_real_load(
    runtime: DockerRuntime, engine: Engine
) -> None:
    """In a folder of the checkout, which is all of the host that the container sees."""
    image, said = images.generator(ROOT, {}), list[str]()
    images.ensure_generator(ROOT, engine, image, say)
    images.ensure_generator(ROOT, engine, image, said.append)
    assert said == []
    version = call(*runtime.load_generator(), "version")
    assert f"v{provision_k6.VERSION}" in version
    assert "k6/x/ledger" in version
    with TemporaryDirectory(dir=ROOT / ".writepath") as name, null_server(Path(name)) as url:
        folder = Path(name)
        dataset.generate(1, 7).write(folder / "content.json")
        load = k6.Load(
            script=ROOT / "k6" / "scenarios" / "ramp.js",
            target=url,
            run_id=plan.new_run_id(),
            plan=plan.constant_plan("load", 100, 100),
            content=folder / "content.json",
            folder=folder,
        )
        result = k6.run(load, runtime.load_generator())
        assert result.complete
        assert ledger.read(result.ledger).records["seq"].tolist() == list(range(100))


@pytest.mark.docker
def test_versions_name_the_engine_and_every_image(runtime: DockerRuntime) -> None:
    versions = runtime.versions(JPA)
    assert {"docker", "docker-compose", "image:postgres", "image:nginx", "image:k6"} <= set(versions)
