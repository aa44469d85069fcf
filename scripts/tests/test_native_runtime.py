"""Real backing services as local processes: ready when said, on loopback only, gone afterwards."""

import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import psutil
import pytest

from native_stack import SECONDS, eventually, is_running, of_each, processes
from search.test_analyzer import CUTS, ODD
from writepath import provision, services
from writepath.config import registry
from writepath.errors import StartError, UsageError
from writepath.load.corpus import words
from writepath.load.dataset import generate
from writepath.process import Daemon, call
from writepath.runtime import network
from writepath.runtime.base import MASK, Selection
from writepath.runtime.native import NativeRuntime, recipes
from writepath.runtime.native.stack import NativeStack
from writepath.runtime.native.stores import ONE_COMPILER
from writepath.runtime.topology import Service

pytestmark = pytest.mark.native
ROOT = Path(__file__).resolve().parents[2]
AT_ONCE = 250
SERVICES = services.selection(ROOT, ()).services
STORES = services.STORES


@pytest.fixture(scope="module")
def runtime() -> NativeRuntime:
    provision.setup(ROOT, print, only=services.STEPS)
    found = NativeRuntime(ROOT)
    found.reap(print)
    return found


@contextmanager
def started(runtime: NativeRuntime, active: Mapping[str, Service]) -> Iterator[NativeStack]:
    with runtime.stack(Selection(name="test", services=SERVICES, active=active), print) as stack:
        yield stack


@pytest.fixture(scope="module")
def stores(runtime: NativeRuntime) -> Iterator[NativeStack]:
    """Every backing service with a proxy before nothing, started once for the tests that only look."""
    with started(runtime, {name: SERVICES[name] for name in (*STORES, "nginx")}) as stack:
        yield stack


def listeners(process: psutil.Process) -> set[tuple[int, str]]:
    """Its pid and the addresses it listens on."""
    found = process.net_connections("inet")
    return {(process.pid, known.laddr.ip) for known in found if known.status == psutil.CONN_LISTEN}


def test_every_listener_is_on_loopback_and_nothing_runs_as_root(stores: NativeStack) -> None:
    listening = set().union(*of_each(stores, listeners))
    assert len(listening) >= len(STORES) + 1
    assert {ip.removeprefix("::ffff:") for _, ip in listening} <= {"127.0.0.1", "::1"}
    assert 0 not in {uids.real for uids in of_each(stores, psutil.Process.uids)}


def test_postgresql_takes_the_compose_files_flags_and_password(stores: NativeStack) -> None:
    place = stores.places["postgres"]
    assert any(
        "track_commit_timestamp=on" in line for line in of_each(stores, psutil.Process.cmdline, "postgres")
    )
    assert not list(place.folder.glob("**/.s.PGSQL*"))
    with socket.create_connection(("127.0.0.1", place.port(5432)), timeout=SECONDS) as connection:
        options = b"user\0writepath\0database\0writepath\0\0"
        connection.sendall((8 + len(options)).to_bytes(4) + (3 << 16).to_bytes(4) + options)
        assert b"SCRAM-SHA-256" in connection.recv(100)


def test_the_tests_of_java_are_told_every_address_and_the_broker_is_a_node_of_its_own(
    stores: NativeStack,
) -> None:
    """As services/test-support reads them; the control command reaches it, and not a broker of the system."""
    found = services.addresses(stores)
    assert found["WRITEPATH_TEST_ELASTICSEARCH_NODES"] == "2"
    assert {name.removeprefix("WRITEPATH_TEST_") for name in found} == {
        *("POSTGRES_URL", "RABBITMQ_ADDRESS", "RABBITMQCTL", "ELASTICSEARCH_URI", "ELASTICSEARCH_NODES")
    }
    control = found["WRITEPATH_TEST_RABBITMQCTL"]
    assert call(control, "-q", "eval", "node().", timeout_s=SECONDS).strip() == "rabbitmq@localhost"
    users = call(control, "-q", "list_users", timeout_s=SECONDS)
    assert [line.split()[0] for line in users.splitlines()[1:]] == ["writepath"]


def test_the_model_of_the_standard_analyzer_cuts_as_elasticsearch_does(stores: NativeStack) -> None:
    """Emoji apart, of which no keyword is made."""
    url = f"http://127.0.0.1:{stores.places['elasticsearch'].port(9200)}/_analyze"

    def cut(client: httpx.Client, text: str) -> list[str]:
        answer = client.post(url, json={"analyzer": "standard", "text": text}).raise_for_status()
        return [token for found in answer.json()["tokens"] if words(token := found["token"])]

    lines = generate(7, 10_000).lines
    with httpx.Client(timeout=SECONDS, trust_env=False) as client:
        assert {text: cut(client, text) for text, _ in CUTS} == dict(CUTS)
        assert {text: cut(client, text) for text in ODD} == {text: words(text) for text in ODD}
        for some in (lines[at : at + AT_ONCE] for at in range(0, len(lines), AT_ONCE)):
            assert cut(client, "\n".join(some)) == [word for line in some for word in words(line)]


def test_settings_logs_and_use_are_told_of_every_component(stores: NativeStack, tmp_path: Path) -> None:
    settings = stores.effective_settings()
    assert settings.keys() == {*STORES, "nginx"}
    health = stores.places["elasticsearch-2"].answer(9200, "/_cluster/health")
    assert (health["cluster_name"], health["number_of_nodes"]) == ("writepath", 2)
    assert settings["rabbitmq"]["RABBITMQ_DEFAULT_PASS"] == MASK
    assert "track_commit_timestamp=on" in settings["postgres"]["flags"]
    assert settings["elasticsearch"]["ES_JAVA_OPTS"] == SERVICES["elasticsearch"].environment["ES_JAVA_OPTS"]
    assert ONE_COMPILER in settings["elasticsearch"]["ES_JAVA_OPTS"]
    stores.save_logs(tmp_path / "logs")
    assert {path.stem for path in (tmp_path / "logs").iterdir()} >= {*STORES, "nginx"}
    assert "ready to accept connections" in (tmp_path / "logs" / "postgres.log").read_text()
    first, second = stores.usage(), stores.usage()
    assert first.keys() == {*STORES, "nginx"}
    for name, usage in first.items():
        assert usage.rss_bytes > 1_000_000, name
        assert usage.cpu_seconds <= second[name].cpu_seconds, name
        assert usage.write_bytes is None, name  # the kernel's figure is no measure of it
    assert first["elasticsearch"].cpu_seconds > 1


def test_a_component_that_ends_is_lost_with_the_reason_and_a_stopped_stack_leaves_nothing(
    runtime: NativeRuntime,
) -> None:
    """Halted by a test, or killed by somebody else."""
    with started(runtime, {name: SERVICES[name] for name in ("postgres", "nginx")}) as stack:
        pids = [each.pid for each in processes(stack)]
        folder = stack.places["postgres"].folder.parent
        stack.kill("nginx")
        assert not network.listens(int(stack.base_url.rpartition(":")[2]))
        killed = "was ended by SIGKILL (out of memory?)"
        assert stack.lost_components() == ["nginx: was stopped and not restarted"]
        before = stack.usage()["postgres"]
        os.kill(stack.pids("postgres")[0], 9)
        assert eventually(lambda: f"postgres: {killed}" in stack.lost_components())
        after = stack.usage()["postgres"]  # what it used before stays counted
        assert after.cpu_seconds >= before.cpu_seconds
        assert after.rss_bytes == 0
    # Orphans of a killed server end by themselves.
    assert eventually(lambda: not any(map(psutil.pid_exists, pids)))
    assert not folder.exists()


def test_a_start_that_fails_names_the_component_and_quotes_its_log(runtime: NativeRuntime) -> None:
    command = ("postgres", "-c", "no_such_setting=1")
    begun = time.monotonic()
    with (
        pytest.raises(StartError, match=r"(?s)postgres: ended with exit code 1.*no_such_setting") as caught,
        started(runtime, {"postgres": replace(SERVICES["postgres"], command=command)}),
    ):
        pytest.fail("it started")
    assert time.monotonic() - begun < SECONDS
    saved = Path(str(caught.value).rpartition("All logs: ")[2])
    assert "no_such_setting" in (saved / "postgres.log").read_text()


def test_a_proxy_port_in_use_names_flag_value_and_remedy(runtime: NativeRuntime) -> None:
    jpa = registry.load(ROOT).variant("jpa")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with (
            pytest.raises(StartError, match=f"HTTP_PORT={port}: in use; choose another port"),
            runtime.start(jpa, overrides={"HTTP_PORT": port}, say=print),
        ):
            raise AssertionError("it must not start")


def test_an_unknown_image_is_refused_by_name() -> None:
    service = replace(SERVICES["postgres"], image="redis:7", name="cache")
    with pytest.raises(UsageError, match=r"services.cache.image: .*redis:7.*RUNTIME=docker"):
        recipes.of(service)


def test_a_killed_command_leaves_nothing_after_the_next_one(runtime: NativeRuntime, tmp_path: Path) -> None:
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from writepath import services\n"
        "from writepath.runtime.native import NativeRuntime\n"
        f"runtime = NativeRuntime(Path({str(ROOT)!r}))\n"
        "with runtime.stack(services.selection(runtime.root, ['postgres']), lambda line: None) as stack:\n"
        "    print(stack.places['postgres'].folder.parent, *stack.pids(), flush=True)\n"
        "    time.sleep(600)\n"
    )
    outer = Daemon("command", [sys.executable, "-c", code], pid_folder=tmp_path, log=tmp_path / "command.log")
    assert eventually(lambda: len(outer.log_tail().split()) == 2), outer.log_tail()
    folder, pid = outer.log_tail().split()
    runtime.reap(print)
    assert Path(folder).exists()  # its owner lives
    os.kill(outer.pid, 9)
    assert eventually(lambda: not is_running(int(pid)))
    runtime.reap(print)
    assert not Path(folder).exists()
    outer.stop()
