"""What is there is found, what is missing is named with its remedy, and a finished set-up starts no program."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from writepath import doctor, process, provision
from writepath.config import registry
from writepath.errors import SetupError, UsageError
from writepath.provision import archives, golang, jdk, maven, packages, state
from writepath.runtime import choose
from writepath.runtime.base import masked
from writepath.runtime.docker import engine
from writepath.runtime.native import host
from writepath.runtime.network import Addresses, free_ports
from writepath.runtime.topology import Service

ROOT = Path(__file__).resolve().parents[2]


def a_jdk(folder: Path, version: str, *, compiler: bool = True) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    if compiler:
        (folder / "bin" / "javac").touch()
    return folder


def only_these(monkeypatch: pytest.MonkeyPatch, folder: Path, java_home: Path | None = None) -> None:
    monkeypatch.setattr(jdk, "_PLACES", (str(folder / "*"),))
    monkeypatch.setattr(process, "find", lambda *_: None)
    if java_home is None:
        monkeypatch.delenv("JAVA_HOME", raising=False)
    else:
        monkeypatch.setenv("JAVA_HOME", str(java_home))


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        (["17.0.9", "21.0.2", "25.0.1"], "25.0.1"),
        (["21.0.2", "21.0.11"], "21.0.11"),
        (["25.0.1", "26", "25.0.3"], "25.0.3"),
        (["24", "26"], "26"),
    ],
)
def test_the_newest_jdk_is_taken_and_25_before_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, versions: Sequence[str], expected: str
) -> None:
    for version in versions:
        a_jdk(tmp_path / version, version)
    only_these(monkeypatch, tmp_path)
    assert jdk.find.__wrapped__().version == expected


def test_an_old_jdk_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    a_jdk(tmp_path / "runtime", "25", compiler=False)
    only_these(monkeypatch, tmp_path, java_home=a_jdk(tmp_path.parent / "elsewhere", "17.0.1"))
    with pytest.raises(SetupError, match=r"(?s)no JDK 21 or newer found \(found: 17.0.1 .*apt-get install"):
        jdk.find.__wrapped__()


def test_a_change_of_any_main_source_asks_for_a_build(tmp_path: Path) -> None:
    source = tmp_path / "services" / "one" / "src" / "main" / "java" / "A.java"
    test = tmp_path / "services" / "one" / "src" / "test" / "B.java"
    for path in (tmp_path / "services" / "pom.xml", source, test):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1")
    before = maven.source_hash(tmp_path)
    test.write_text("2")
    assert maven.source_hash(tmp_path) == before
    source.write_text("2")
    assert maven.source_hash(tmp_path) != before


def test_what_is_made_is_whole_or_not_there_and_made_once(tmp_path: Path) -> None:
    target = tmp_path / ".writepath" / "it"

    def make(work: Path) -> Path:
        (work / "made").mkdir()
        if not target.with_name("works").exists():
            raise RuntimeError
        return work / "made"

    with pytest.raises(RuntimeError):
        state.made_once(tmp_path, target, "it", make)
    assert [path.name for path in target.parent.iterdir()] == ["it.lock"]
    target.with_name("works").touch()
    assert state.made_once(tmp_path, target, "it", make).is_dir()
    target.with_name("works").unlink()
    state.made_once(tmp_path, target, "it", make)


def test_without_rights_the_one_command_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "missing", list)
    monkeypatch.setattr(packages, "_as_root", lambda: None)
    with pytest.raises(
        SetupError, match=r"sudo apt-get install -y --no-install-recommends rabbitmq-server nginx$"
    ):
        packages.ensure(print)


def test_packages_start_no_daemon_and_the_machines_policy_returns(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    policy, kept = tmp_path / "policy-rc.d", tmp_path / "kept"
    policy.write_text("theirs")
    monkeypatch.setattr(packages, "POLICY", policy)
    monkeypatch.setattr(packages, "_POLICY_KEPT", kept)

    def fail() -> None:
        with packages._no_daemons(()):  # noqa: SLF001 what it promises is the point
            assert "exit 101" in policy.read_text()
            assert os.access(policy, os.X_OK)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert policy.read_text() == "theirs"
    assert not kept.exists()


def a_module(root: Path) -> Path:
    """A program in the place of k6's."""
    module = root / "k6" / "recorder"
    module.mkdir(parents=True)
    (module / "go.mod").write_text("module example/one\n\ngo 1.25.0\n")
    (module / "main.go").write_text('package main\n\nfunc main() { println("one") }\n')
    return module


def test_k6_is_built_once_for_the_sources_as_they_are(tmp_path: Path) -> None:
    module = a_module(tmp_path)
    said: list[str] = []
    assert golang.K6.find(tmp_path) is None
    first = golang.K6.ensure(tmp_path, said.append)
    assert process.attempt(first).stderr == "one\n"
    assert golang.K6.ensure(tmp_path, said.append) == first
    (module / "one_test.go").write_text("package main\n")
    assert golang.K6.find(tmp_path) == first
    assert len(said) == 1
    (module / "main.go").write_text('package main\n\nfunc main() { println("two") }\n')
    second = golang.K6.ensure(tmp_path, said.append)
    assert process.attempt(second).stderr == "two\n"
    assert sorted(path.name for path in first.parent.iterdir()) == sorted([first.name, second.name])
    required = (ROOT / "k6" / "recorder" / "go.mod").read_text(encoding="utf-8")
    assert f"go.k6.io/k6 v{golang.K6.version}\n" in required  # what people read is what is built


def test_k6_that_cannot_be_built_is_a_set_up_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (a_module(tmp_path) / "main.go").write_text("package main\n\nfunc main() { nonsense() }\n")
    with pytest.raises(SetupError, match=r"could not be built(.|\n)*undefined: nonsense"):
        golang.K6.ensure(tmp_path, print)
    assert not list(tmp_path.rglob("*.part"))
    monkeypatch.setattr(process, "find", lambda *_: None)
    with pytest.raises(SetupError, match=r"Install Go 1\.25 or newer"):
        golang.K6.ensure(tmp_path, print)


def test_a_finished_set_up_starts_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    provision.setup(ROOT, print, only={"packages", "postgres", "elasticsearch"})

    def forbidden(*args: object, **_: object) -> None:
        pytest.fail(f"started {args}")

    monkeypatch.setattr(process, "attempt", forbidden)
    said: list[str] = []
    provision.setup(ROOT, said.append, only={"packages", "postgres", "elasticsearch"})
    assert said == []
    assert (archives.postgres(ROOT) / "bin" / "postgres").exists()


def test_auto_takes_native_where_no_docker_is_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "find", lambda *_: None)
    said: list[str] = []
    assert choose.choose(ROOT, "auto", said.append).name == "native"
    assert said == ["runtime: native (no docker command)"]
    with pytest.raises(SetupError, match="RUNTIME=docker: no docker command"):
        choose.choose(ROOT, "docker", print)
    with pytest.raises(UsageError, match="RUNTIME=podman: not one of auto, native, docker"):
        choose.choose(ROOT, "podman", print)


def test_auto_asks_the_engine_for_images_and_the_registry_for_one_that_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Engine:
        images: ClassVar = {"postgres:18"}

        def image_id(self, image: str) -> str | None:
            return image if image in self.images else None

    asked: list[object] = []

    def attempt(*args: object, **_: object) -> process.Output:
        asked.append(args[-1])
        return process.Output([], int(args[1] == "pull"))

    monkeypatch.setattr(process, "find", lambda *_: Path("/docker"))
    monkeypatch.setattr(process, "attempt", attempt)
    monkeypatch.setattr(engine, "current", Engine)
    jpa = [registry.load(ROOT).variant("jpa")]
    reason = choose.why_not_docker(ROOT, jpa, {"NGINX_IMAGE": "my/nginx:1"})
    assert reason == "the image my/nginx:1 is not available and cannot be pulled"
    assert asked == ["version", "my/nginx:1"]
    Engine.images.add("nginx:1.26")
    assert choose.why_not_docker(ROOT, jpa) == ""  # neither what is built here nor another variant's store
    monkeypatch.setattr(process, "attempt", lambda *_, **__: process.Output([], 1, "", ""))
    assert choose.why_not_docker(ROOT) == "the docker command has no Compose plugin"
    monkeypatch.undo()
    monkeypatch.setattr(process, "find", lambda *_: Path("/docker"))
    monkeypatch.setattr(process, "attempt", lambda *_, **__: process.Output([], 1, "", ""))
    assert choose.why_not_docker(ROOT) == "no Docker engine answers"


def test_the_doctor_ends_with_10_where_nothing_can_run(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = doctor.Finding(name="jdk", fine=False, text="get one")
    fine = doctor.Finding(name="docker", fine=True, text="engine", needed_by="docker")
    monkeypatch.setattr(doctor, "examine", lambda _: [missing, fine])
    assert doctor.run(ROOT, print) == 0
    monkeypatch.setattr(doctor, "examine", lambda _: [missing, replace(fine, fine=False)])
    said: list[str] = []
    assert doctor.run(ROOT, said.append) == 10
    assert said[0].split() == ["missing", "jdk", "get", "one"]


def test_the_account_reaches_a_folder_that_is_closed_to_others(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / "file").write_text("read")
    (closed / "file").chmod(0o600)
    chosen = host.account([closed / "file"])
    script = f"test -r {closed}/file && cat {closed}/file && id -u"
    assert process.call(*chosen.prefix, "sh", "-c", script).split() == [f"read{chosen.uid}"]
    assert chosen.uid != 0


def test_every_address_of_the_network_becomes_a_loopback_one() -> None:
    names = ("postgres", "elasticsearch", "elasticsearch-2")
    services = {name: Service(name=name, image="i") for name in names}
    addresses = Addresses(services, services)
    port, other = addresses.port("postgres", 5432), addresses.port("elasticsearch-2", 9200)
    text = "jdbc:postgresql://postgres:5432/db,elasticsearch-2:9200,my-postgres:5432,postgres"
    expected = f"jdbc:postgresql://127.0.0.1:{port}/db,127.0.0.1:{other},my-postgres:5432,postgres"
    assert addresses.rewrite(text) == expected


def test_an_alias_stands_for_all_instances_behind_it() -> None:
    services = {
        name: Service(name=name, image="i", replicas=2, aliases=("writer",)) for name in ("one", "off")
    }
    addresses = Addresses(services, {"one": services["one"]})
    first, second = (addresses.port("one", 8080, instance) for instance in (0, 1))
    expected = f"least_conn; server 127.0.0.1:{first} max_fails=0; server 127.0.0.1:{second} max_fails=0;"
    assert addresses.rewrite_statements("least_conn; server writer:8080 max_fails=0;") == expected


def test_a_free_port_is_given_once_and_is_not_one_the_kernel_gives_to_clients() -> None:
    with ThreadPoolExecutor(4) as pool:
        given = list(pool.map(lambda _: free_ports()[0], range(1000)))
    assert len(set(given)) == len(given)
    low, high = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    assert not [port for port in given if low <= port <= high]


def test_secrets_are_masked_by_name_and_in_addresses() -> None:
    settings = {"RABBITMQ_DEFAULT_PASS": "p", "URI": "amqp://user:p@host", "POOL_SIZE": "5"}
    assert masked(settings) == {
        "RABBITMQ_DEFAULT_PASS": "***",
        "URI": "amqp://user:***@host",
        "POOL_SIZE": "5",
    }
