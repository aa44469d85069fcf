"""APPLICATION_CPUS: each instance of an application has a CPU quota, in both runtimes, and nothing else has one."""

import secrets
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from native_stack import eventually, processes
from writepath import control_groups, services
from writepath.config import registry
from writepath.errors import SetupError
from writepath.process import call
from writepath.processors import Split
from writepath.runtime import aot, topology
from writepath.runtime.base import Selection
from writepath.runtime.docker import DockerRuntime
from writepath.runtime.docker import engine as engines
from writepath.runtime.docker.compose import Compose
from writepath.runtime.docker.runtime import project_prefix
from writepath.runtime.native import NativeRuntime, host, quota
from writepath.runtime.native.stack import NativeStack
from writepath.runtime.native.stores import ONE_COMPILER

ROOT = Path(__file__).resolve().parents[2]
JPA = registry.load(ROOT).variant("jpa")
SPLIT = Split(generator=frozenset({3}), system=frozenset({0, 1, 2}), asked="split")


def quotas(cpus: str) -> dict[str, float]:
    """By service that has one."""
    known = topology.load(ROOT, {topology.APPLICATION_CPUS: cpus}).services
    return {name: service.cpus for name, service in known.items() if service.cpus}


def test_every_application_has_the_quota_and_nothing_else_has_one() -> None:
    applications = {name for name, service in topology.load(ROOT, {}).services.items() if service.module}
    assert quotas("0.5") == dict.fromkeys(applications, 0.5)
    assert quotas("0") == {}


@pytest.mark.parametrize(
    ("cpus", "split", "own", "others"),
    [("0.5", SPLIT, "1", "3"), ("1.5", SPLIT, "2", "3"), ("8", SPLIT, "3", "3"), ("0", SPLIT, "3", "3")],
)
def test_the_jvm_of_an_application_counts_on_its_quota_rounded_up_and_on_no_more_than_the_systems(
    cpus: str, split: Split, own: str, others: str
) -> None:
    found = topology.derived(ROOT, ["jpa"], split, {topology.APPLICATION_CPUS: cpus})
    assert found["APPLICATION_JVM_PROCESSORS"] == f"-XX:ActiveProcessorCount={own}"
    assert found["JVM_PROCESSORS"] == f"-XX:ActiveProcessorCount={others}"


def test_a_jvm_without_quota_is_told_nothing_where_processors_are_shared() -> None:
    shared = Split.shared()
    assert topology.derived(ROOT, ["jpa"], shared, {})["APPLICATION_JVM_PROCESSORS"] == ""
    with_quota = topology.derived(ROOT, ["jpa"], shared, {topology.APPLICATION_CPUS: "0.5"})
    assert with_quota["APPLICATION_JVM_PROCESSORS"] == "-XX:ActiveProcessorCount=1"
    assert with_quota["JVM_PROCESSORS"] == ""


def test_an_ahead_of_time_cache_is_for_every_quota(tmp_path: Path) -> None:
    one, two, other = ({aot.JAVA: f"-Xmx1g {text}"} for text in (f"{topology.JVM_FLAG}1", "", "-XX:+UseZGC"))
    platform = {**one, "VIRTUAL_THREADS": "false"}
    batched = {**one, "WRITEPATH_POSTGRES_WRITE_MODE": "batched"}
    (tmp_path / "made.aot").touch()
    flags = aot.creating(tmp_path, one, tmp_path / aot.RECORDING)
    Path(flags[-1].partition("=")[2]).write_bytes(b"cache")
    aot.keep(tmp_path, one)
    assert aot.find(tmp_path, one) == aot.find(tmp_path, two) is not None
    assert {aot.find(tmp_path, each) for each in (other, platform, batched)} == {None}


def test_a_machine_without_control_groups_is_refused_in_words_with_the_runtime_that_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_groups, "GROUPS", tmp_path)
    with pytest.raises(SetupError, match=r"jpa-writer: APPLICATION_CPUS=0.5: .*RUNTIME=docker"):
        quota.made(tmp_path, "jpa-writer", 0.5)


def version_2(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A group that gives processor time to those below it."""
    (folder / "cgroup.subtree_control").write_text("cpu memory\n", encoding="ascii")
    monkeypatch.setattr(control_groups, "of_this_process", lambda: iter([folder]))
    return folder


def test_a_group_that_cannot_be_limited_is_refused_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(quota, "_limit", refuse)
    with pytest.raises(SetupError, match="APPLICATION_CPUS=2: this user cannot make a control group"):
        quota.made(version_2(tmp_path, monkeypatch), "jpa-writer", 2)
    assert [path.name for path in tmp_path.iterdir()] == ["cgroup.subtree_control"]


def test_version_2_has_quota_and_period_in_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = tmp_path / "group"
    group.mkdir()
    (group / "cpu.max").write_text("max 100000\n", encoding="ascii")
    monkeypatch.setattr(tempfile, "mkdtemp", lambda **_: str(group))
    assert quota.made(version_2(tmp_path, monkeypatch), "jpa-writer", 0.2) == group / "cgroup.procs"
    assert (group / "cpu.max").read_text(encoding="ascii") == "20000 100000"


def allows_quotas(folder: Path) -> bool:
    """Whether this user may make control groups here."""
    try:
        quota.made(folder, "asked", 0.5)
    except SetupError:
        return False
    return quota.removed(folder)


@pytest.fixture(scope="module")
def native() -> NativeRuntime:
    found = NativeRuntime(ROOT)
    found.reap(print)
    found.prepare([JPA], print)
    return found


def groups(stack: NativeStack, component: str) -> list[Path]:
    """Of its processes, as its folder has them."""
    folder = stack.places[component].folder.parent
    return sorted(link.readlink() for link in folder.glob(f"{component}*.group"))


def members(group: Path) -> set[int]:
    return {int(pid) for pid in (group / "cgroup.procs").read_text(encoding="ascii").split()}


def quota_us(group: Path) -> int:
    files = (group / "cpu.max", group / "cpu.cfs_quota_us")
    return int(next(file for file in files if file.exists()).read_text(encoding="ascii").split()[0])


def throttled(group: Path) -> int:
    lines = (group / "cpu.stat").read_text(encoding="ascii").splitlines()
    return int(dict(line.split() for line in lines)["nr_throttled"])


@pytest.mark.native
def test_each_instance_is_in_a_group_of_its_own_that_is_gone_with_the_stack(
    native: NativeRuntime, tmp_path: Path
) -> None:
    """And only the applications. A revived one is in the same group."""
    start = native.start(JPA, overrides={topology.APPLICATION_CPUS: "0.9", "INSTANCES": "2"}, say=print)
    if not allows_quotas(tmp_path):
        with pytest.raises(SetupError, match="RUNTIME=docker"), start:
            pytest.fail("it started without its quota")
        return
    with start as stack:
        assert isinstance(stack, NativeStack)
        pids, found = stack.pids("jpa-writer"), groups(stack, "jpa-writer")
        assert sorted(map(sorted, map(members, found))) == sorted([pid] for pid in pids)
        assert [quota_us(group) for group in found] == [90_000] * 2
        assert not set(found) & set(control_groups.of_this_process())  # whose halts make a run noisy
        options = psutil.Process(pids[0]).environ()[aot.JAVA]
        assert options.endswith(f"{ONE_COMPILER} -XX:ActiveProcessorCount=1")
        others = {process.pid for process in processes(stack)} - set(pids)
        assert not others & members(found[0])
        stack.kill("jpa-writer", "jpa-writer-2")
        stack.revive("jpa-writer")
        assert eventually(lambda: set().union(*map(members, found)) == set(stack.pids("jpa-writer")))
    assert not any(group.exists() for group in found)


@pytest.mark.native
def test_the_kernel_halts_what_uses_more_than_its_quota_its_children_too(
    native: NativeRuntime, tmp_path: Path
) -> None:
    if not allows_quotas(tmp_path):
        return
    known = services.selection(ROOT, ()).services
    active = {"postgres": replace(known["postgres"], cpus=0.1)}
    with native.stack(Selection(name="test", services=known, active=active), print) as stack:
        (group,) = groups(stack, "postgres")
        assert len(members(group)) > 1
        assert eventually(
            lambda: members(group) == {process.pid for process in processes(stack)}
        )  # it forks workers
        assert eventually(lambda: throttled(group) > 0)
    assert not group.exists()


def test_a_group_that_a_killed_command_left_is_removed_with_its_folder(tmp_path: Path) -> None:
    if not allows_quotas(tmp_path):
        return
    group = quota.made(tmp_path, "left", 0.5).parent
    assert group.exists()
    host.remove(tmp_path)
    assert not group.exists()
    assert not tmp_path.exists()


@pytest.fixture
def created() -> Iterator[Compose]:
    """Containers of an application and its database, never started."""
    runtime, project = DockerRuntime(ROOT), f"{project_prefix(ROOT)}{secrets.token_hex(4)}"
    runtime.prepare([JPA], print)
    variables = runtime.variables(JPA.profiles, {topology.APPLICATION_CPUS: "0.75", "INSTANCES": "2"})
    compose = Compose(root=ROOT, project=project, profiles=JPA.profiles, variables=variables)
    try:
        compose.run("up", "--no-start", "--no-build", "--no-deps", "jpa-writer", "postgres")
        yield compose
    finally:
        engines.current().remove_project(project)


@pytest.mark.docker
@pytest.mark.timeout(1200)
def test_each_container_of_an_application_has_the_quota(created: Compose) -> None:
    containers = engines.current().containers(created.project)
    said = call("docker", "inspect", "--format", "{{.HostConfig.NanoCpus}}", *(one.id for one in containers))
    assert [(one.service, int(nano)) for one, nano in zip(containers, said.split(), strict=True)] == [
        ("jpa-writer", 750_000_000),
        ("jpa-writer", 750_000_000),
        ("postgres", 0),
    ]
