"""Real backing services as local processes: ready when said, on loopback only, gone afterwards."""

from __future__ import annotations

import os
import socket
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from writepath import pidfile, provision
from writepath.config import registry
from writepath.errors import StartError, UsageError
from writepath.process import Daemon, call
from writepath.runtime import topology
from writepath.runtime.masking import MASK
from writepath.runtime.native import NativeRuntime, backing, probe, recipes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from writepath.runtime.native.stack import NativeStack
    from writepath.runtime.topology import Service

pytestmark = pytest.mark.native
ROOT = Path(__file__).resolve().parents[2]
SECONDS = 30.0
SERVICES = topology.load(ROOT, {}).services
STORES = ("postgres", "rabbitmq", "elasticsearch", "elasticsearch-2")


def eventually(fact: Callable[[], bool]) -> bool:
    """Polls, bounded."""
    deadline = time.monotonic() + SECONDS
    while not fact():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture(scope="module")
def runtime() -> NativeRuntime:
    provision.setup(ROOT, print, only=backing.needs(STORES) | {"packages"})
    found = NativeRuntime(ROOT)
    found.reap(print)
    return found


@contextmanager
def started(runtime: NativeRuntime, services: Mapping[str, Service]) -> Iterator[NativeStack]:
    chosen = {name: replace(service, depends_on=()) for name, service in services.items()}
    runtime.prepare_recipes(chosen.values())
    with runtime.stack(SERVICES, chosen, "test", None, print) as stack:
        yield stack


@pytest.fixture(scope="module")
def stores(runtime: NativeRuntime) -> Iterator[NativeStack]:
    """Every backing service with a proxy before nothing, started once for the tests that only look."""
    with started(runtime, {name: SERVICES[name] for name in (*STORES, "nginx")}) as stack:
        yield stack


def processes(stack: NativeStack) -> list[psutil.Process]:
    """Every process of the stack, children included."""
    leaders = [psutil.Process(pid) for pid in stack.pids()]
    return [each for leader in leaders for each in (leader, *leader.children(recursive=True))]


def listeners(process: psutil.Process) -> list[str]:
    """Addresses it listens on; none where it has ended meanwhile, as PostgreSQL's workers do."""
    try:
        connections = process.net_connections("inet")
    except (psutil.NoSuchProcess, FileNotFoundError):
        return []
    return [known.laddr.ip for known in connections if known.status == psutil.CONN_LISTEN]


def only(name: str, **changes: object) -> dict[str, Service]:
    return {name: replace(SERVICES[name], **changes)}  # type: ignore[arg-type]


def test_every_listener_is_on_loopback(stores: NativeStack) -> None:
    """Nothing can be reached from another machine."""
    listening = {(process.pid, ip) for process in processes(stores) for ip in listeners(process)}
    assert len(listening) >= len(STORES) + 1
    assert {ip.removeprefix("::ffff:") for _, ip in listening} <= {"127.0.0.1", "::1"}


def test_nothing_runs_as_root(stores: NativeStack) -> None:
    """PostgreSQL and Elasticsearch refuse it; the others need it as little."""
    assert 0 not in {process.uids().real for process in processes(stores)}


def test_postgresql_takes_the_compose_files_flags_and_password(stores: NativeStack) -> None:
    """As its container would."""
    place = stores.places["postgres"]
    server = next(each for each in processes(stores) if each.name() == "postgres")
    assert "track_commit_timestamp=on" in " ".join(server.cmdline())
    assert not list(place.folder.glob("**/.s.PGSQL*"))
    port = place.addresses.port("postgres", 5432)
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        options = b"user\0writepath\0database\0writepath\0\0"
        connection.sendall((8 + len(options)).to_bytes(4) + (3 << 16).to_bytes(4) + options)
        assert b"SCRAM-SHA-256" in connection.recv(100)


def test_both_elasticsearch_nodes_form_one_cluster(stores: NativeStack) -> None:
    """The second joins the first by the compose file's own address."""
    for name in ("elasticsearch", "elasticsearch-2"):
        port = stores.places[name].addresses.port(name, 9200)
        _, body = probe.http_request("GET", port, "/_cluster/health?filter_path=number_of_nodes,cluster_name")
        assert body == b'{"cluster_name":"writepath","number_of_nodes":2}'


def test_the_broker_is_a_node_of_its_own(stores: NativeStack) -> None:
    """Its control command reaches it, and not a broker of the system."""
    addresses = backing.environment(stores)
    node = call(addresses["WRITEPATH_TEST_RABBITMQCTL"], "-q", "eval", "node().", timeout_s=SECONDS)
    assert node.strip() == "rabbitmq@localhost"
    users = call(addresses["WRITEPATH_TEST_RABBITMQCTL"], "-q", "list_users", timeout_s=SECONDS)
    assert [line.split()[0] for line in users.splitlines()[1:]] == ["writepath"]


def test_the_tests_of_java_are_told_every_address(stores: NativeStack) -> None:
    """As services/test-support reads them."""
    found = backing.environment(stores)
    assert found.keys() == {
        "WRITEPATH_TEST_POSTGRES_URL",
        "WRITEPATH_TEST_RABBITMQ_ADDRESS",
        "WRITEPATH_TEST_RABBITMQCTL",
        "WRITEPATH_TEST_ELASTICSEARCH_URI",
        "WRITEPATH_TEST_ELASTICSEARCH_NODES",
    }
    assert found["WRITEPATH_TEST_ELASTICSEARCH_NODES"] == "2"


def test_settings_are_told_without_secrets(stores: NativeStack) -> None:
    """For settings.json, which is committed with published results."""
    settings = stores.effective_settings()
    assert settings.keys() == {*STORES, "nginx"}
    assert settings["rabbitmq"]["RABBITMQ_DEFAULT_PASS"] == MASK
    assert "track_commit_timestamp=on" in settings["postgres"]["flags"]
    assert settings["elasticsearch"]["ES_JAVA_OPTS"] == SERVICES["elasticsearch"].environment["ES_JAVA_OPTS"]


def test_usage_never_falls_and_tells_of_every_component(stores: NativeStack) -> None:
    """Cumulative since the start."""
    first, second = stores.usage(), stores.usage()
    assert first.keys() == {*STORES, "nginx"}
    for name, usage in first.items():
        assert usage.rss_bytes > 1_000_000, name
        assert usage.cpu_seconds > 0, name
        assert second[name].cpu_seconds >= usage.cpu_seconds
        assert usage.write_bytes is None, name  # the kernel's figure is no measure of it
    assert first["elasticsearch"].cpu_seconds > 1


def test_logs_are_saved_one_a_process(stores: NativeStack, tmp_path: Path) -> None:
    """While it runs: the folder goes with the stack."""
    stores.save_logs(tmp_path / "logs")
    assert {path.stem for path in (tmp_path / "logs").iterdir()} >= {*STORES, "nginx"}
    assert "ready to accept connections" in (tmp_path / "logs" / "postgres.log").read_text()


def test_a_stopped_stack_leaves_nothing(runtime: NativeRuntime) -> None:
    """No process, no folder."""
    with started(runtime, only("postgres")) as stack:
        pids = [each.pid for each in processes(stack)]
        folder = stack.places["postgres"].folder.parent
        assert len(pids) > 1
    assert not any(map(psutil.pid_exists, pids))
    assert not folder.exists()


def test_a_component_that_ends_is_lost_with_the_reason(runtime: NativeRuntime) -> None:
    """Halted by a test, or killed by somebody else."""
    with started(runtime, {name: SERVICES[name] for name in ("postgres", "nginx")}) as stack:
        stack.kill("nginx")
        assert not probe.listens(int(stack.base_url.rpartition(":")[2]))
        killed = "was ended by SIGKILL (out of memory?)"
        assert stack.lost_components() == ["nginx: was stopped and not restarted"]
        before = stack.usage()["postgres"]
        os.kill(stack.pids("postgres")[0], 9)
        assert eventually(lambda: f"postgres: {killed}" in stack.lost_components())
        after = stack.usage()["postgres"]  # what it used before stays counted
        assert after.cpu_seconds >= before.cpu_seconds
        assert after.rss_bytes == 0


def test_a_start_that_fails_names_the_component_and_quotes_its_log(runtime: NativeRuntime) -> None:
    """At once, not after the time-out."""
    command = ("postgres", "-c", "no_such_setting=1")
    begun = time.monotonic()
    with (
        pytest.raises(StartError, match=r"(?s)postgres: ended with exit code 1.*no_such_setting") as caught,
        started(runtime, only("postgres", command=command)),
    ):
        pytest.fail("it started")
    assert time.monotonic() - begun < SECONDS
    saved = Path(str(caught.value).rpartition("All logs: ")[2])
    assert "no_such_setting" in (saved / "postgres.log").read_text()


def test_a_proxy_port_in_use_names_flag_value_and_remedy(runtime: NativeRuntime) -> None:
    """Before anything is started."""
    jpa = registry.load(ROOT).variant("jpa")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with (
            pytest.raises(StartError, match=f"HTTP_PORT={port}: in use; choose another port"),
            runtime.start(jpa, overrides={"HTTP_PORT": port}, say=print),
        ):
            raise AssertionError("it must not start")


def test_an_unknown_image_is_refused_by_name() -> None:
    """With what can be done."""
    service = replace(SERVICES["postgres"], image="redis:7", name="cache")
    with pytest.raises(UsageError, match=r"services.cache.image: .*redis:7.*RUNTIME=docker"):
        recipes.of(service)


def test_a_killed_command_leaves_nothing_after_the_next_one(runtime: NativeRuntime, tmp_path: Path) -> None:
    """Processes end with it; folders go with the next command's reap."""
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from writepath.runtime.native import NativeRuntime, backing\n"
        f"runtime = NativeRuntime(Path({str(ROOT)!r}))\n"
        "with backing.start(runtime, ['postgres'], lambda line: None) as stack:\n"
        "    print(stack.places['postgres'].folder.parent, *stack.pids(), flush=True)\n"
        "    time.sleep(600)\n"
    )
    outer = Daemon("command", [sys.executable, "-c", code], pid_folder=tmp_path, log=tmp_path / "command.log")
    assert eventually(lambda: len(outer.log_tail().split()) == 2), outer.log_tail()
    folder, pid = outer.log_tail().split()
    runtime.reap(print)
    assert Path(folder).exists()  # its owner lives
    os.kill(outer.pid, 9)
    assert eventually(lambda: (found := pidfile.stat(int(pid))) is None or found.state == "Z")
    runtime.reap(print)
    assert not Path(folder).exists()
    outer.stop()
