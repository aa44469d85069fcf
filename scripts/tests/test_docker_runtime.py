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
from writepath.runtime.docker.compose import checkout_key, project_prefix
from writepath.runtime.docker.engine import Engine, usage_of
from writepath.selfcheck.null_server import null_server

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.timeout(
    1200
)  # the first to need an image builds it: k6 from its modules takes minutes
ROOT = Path(__file__).resolve().parents[2]
CPU = {"cpu_usage": {"total_usage": 2_500_000_000}}


def say(_: str) -> None:
    """Nobody listens."""


def test_use_is_read_from_the_first_version_of_control_groups() -> None:
    memory = {"usage": 900, "stats": {"total_rss": 100, "total_mapped_file": 20, "cache": 700}}
    use = usage_of(
        {"cpu_stats": CPU, "memory_stats": memory, "blkio_stats": {"io_service_bytes_recursive": []}}
    )
    assert (use.cpu_seconds, use.rss_bytes, use.write_bytes) == (2.5, 120, None)


def test_use_is_read_from_the_second_version_of_control_groups() -> None:
    memory = {"usage": 900, "stats": {"anon": 100, "file_mapped": 30, "file": 700}}
    blocks = [{"op": "read", "value": 5}, {"op": "write", "value": 7}, {"op": "write", "value": 1}]
    use = usage_of(
        {"cpu_stats": CPU, "memory_stats": memory, "blkio_stats": {"io_service_bytes_recursive": blocks}}
    )
    assert (use.cpu_seconds, use.rss_bytes, use.write_bytes) == (2.5, 130, 8)


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
        names = [name(), name(), other.submit(name).result(), other.submit(name).result()]
    assert names[0] == names[1] != names[2] == names[3]


def test_the_images_follow_their_sources_and_ignore_build_output(tmp_path: Path) -> None:
    source = tmp_path / "services" / "one" / "Main.java"
    source.parent.mkdir(parents=True)
    source.write_text("class Main {}")
    before = images.fingerprint(tmp_path)
    output = tmp_path / "services" / "one" / "target" / "one.jar"
    output.parent.mkdir()
    output.write_text("built")
    assert images.fingerprint(tmp_path) == before
    source.write_text("class Main { int changed; }")
    assert images.fingerprint(tmp_path) != before


def test_the_image_of_k6_is_this_checkouts_own_unless_another_is_named(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("K6_IMAGE=writepath/k6\n")
    assert images.generator(tmp_path, {}) == f"writepath/k6:{checkout_key(tmp_path)}"
    assert images.generator(tmp_path, {"K6_IMAGE": "theirs/k6:1"}) == "theirs/k6:1"


def test_an_engine_behind_ssh_is_refused_in_words() -> None:
    with pytest.raises(StartError, match="RUNTIME=native"):
        Engine("ssh://somebody@somewhere")


@pytest.fixture(scope="module")
def runtime() -> DockerRuntime:
    return DockerRuntime(ROOT)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(call("docker", "context", "inspect", "--format", "{{.Endpoints.docker.Host}}").strip())


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
def test_reap_removes_what_a_dead_run_left_and_nothing_of_a_living_one(
    runtime: DockerRuntime, engine: Engine, abandoned: str
) -> None:
    variant = registry.load(ROOT).variant("jpa")
    with runtime.start(variant, overrides={}, say=say, only=["postgres"]) as living:
        runtime.reap(say)
        assert engine.containers(abandoned) == []
        assert abandoned not in engine.projects(abandoned)  # no network and no volume either
        assert living.lost_components() == []


@pytest.mark.docker
def test_a_stack_leaves_nothing_behind(runtime: DockerRuntime, engine: Engine) -> None:
    variant = registry.load(ROOT).variant("jpa")
    before, folders = engine.projects(project_prefix(ROOT)), claimed()
    with runtime.start(variant, overrides={}, say=say, only=["postgres"]) as stack:
        assert stack.components == ["postgres"]
        assert len(engine.projects(project_prefix(ROOT)) - before) == 1
    assert engine.projects(project_prefix(ROOT)) == before
    assert claimed() == folders


@pytest.mark.docker
def test_a_stack_tells_use_logs_settings_and_loss(runtime: DockerRuntime, tmp_path: Path) -> None:
    variant = registry.load(ROOT).variant("jpa")
    with runtime.start(variant, overrides={}, say=say, only=["postgres"]) as stack:
        eventually(lambda: stack.usage()["postgres"].rss_bytes > 1_000_000, "a server's memory is seen")
        assert stack.effective_settings()["postgres"]["POSTGRES_PASSWORD"] == "***"
        assert "track_commit_timestamp=on" in stack.effective_settings()["postgres"]["command"]

        def logged() -> bool:
            stack.save_logs(tmp_path)
            return "database system" in (tmp_path / "postgres.log").read_text(encoding="utf-8")

        eventually(logged, "the log is saved")
        stack.kill("postgres")
        assert "ended with exit code 137" in stack.lost_components()[0]


@pytest.mark.docker
def test_ports_are_published_on_loopback_only(runtime: DockerRuntime) -> None:
    variant = registry.load(ROOT).variant("jpa")
    with runtime.start(variant, overrides={}, say=say, only=["postgres"]):
        listed = call("docker", "ps", "--filter", f"name={project_prefix(ROOT)}", "--format", "{{.Ports}}")
    assert "127.0.0.1:" in listed
    assert "0.0.0.0:" not in listed
    assert "[::]:" not in listed


@pytest.mark.docker
def test_a_container_that_ends_while_starting_is_named_with_its_log(runtime: DockerRuntime) -> None:
    variant = registry.load(ROOT).variant("jpa")
    with (
        pytest.raises(StartError, match=r"nginx-1 ended with exit code 1(.|\n)*host not found in upstream"),
        runtime.start(variant, overrides={}, say=say, only=["nginx"]),
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
    versions = runtime.versions(registry.load(ROOT).variant("jpa"))
    assert {"docker", "docker-compose", "image:postgres", "image:nginx", "image:k6"} <= set(versions)
