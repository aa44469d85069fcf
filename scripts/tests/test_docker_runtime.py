import dataclasses
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest
import yaml

from contract.subject import eventually
from writepath import poll
from writepath.analysis.steps import steady
from writepath.config import registry
from writepath.errors import StartError, UsageError
from writepath.load import dataset, k6, ledger, plan
from writepath.process import call
from writepath.processors import choose, listed
from writepath.provision import golang
from writepath.runtime.base import Meter, Usage
from writepath.runtime.docker import DockerRuntime, compose, images
from writepath.runtime.docker import engine as engines
from writepath.runtime.docker.engine import Engine, usage_of
from writepath.runtime.docker.runtime import project_prefix
from writepath.runtime.docker.stack import DockerStack
from writepath.runtime.topology import Service, checkout_key

# The first to need an image builds it: k6 from its modules takes minutes.
pytestmark = pytest.mark.timeout(1200)
ROOT = Path(__file__).resolve().parents[2]
LOAD = plan.arrival_plan([steady("load", 20.0, 10.0)])  # an application that just started can answer it
JPA = registry.load(ROOT).variant("jpa")


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


def test_the_images_follow_their_sources_and_ignore_build_output(tmp_path: Path) -> None:
    source, output = (tmp_path / "services" / "one" / name for name in ("Main.java", "target/one.jar"))
    output.parent.mkdir(parents=True)
    source.write_text("class Main {}")
    before = images.fingerprint(tmp_path)
    output.write_text("built")
    assert images.fingerprint(tmp_path) == before
    source.write_text("class Main { int changed; }")
    assert images.fingerprint(tmp_path) != before


def test_each_variant_has_the_images_of_the_applications_that_its_settings_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    had: list[tuple[str | None, str | None]] = []

    def ensure(of: compose.Compose, services: Iterable[Service], *_: object) -> None:
        had.extend((one.module, of.variables.get("STORE")) for one in services if one.module)

    monkeypatch.setattr(images, "ensure", ensure)
    monkeypatch.setattr(images, "ensure_generator", lambda *_: None)
    monkeypatch.setattr(DockerRuntime, "_engine", None)
    known = registry.load(ROOT)
    names = ("jpa-tutorial", "elasticsearch-tutorial", "rabbitmq-jpa", "rabbitmq-elasticsearch-1s0r")
    DockerRuntime(ROOT).prepare([known.variant(name) for name in names], print)
    assert had == [
        ("tutorial-writer", "tutorial"),
        ("elasticsearch-tutorial-writer", None),
        ("rabbitmq-jpa-producer", "jpa"),
        ("rabbitmq-jpa-consumer", "jpa"),
        ("rabbitmq-elasticsearch-producer", "elasticsearch"),
        ("rabbitmq-elasticsearch-consumer", "elasticsearch"),
    ]


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
    command = ["docker", "compose", "--project-name", project, "--file", str(ROOT / "docker-compose.yml")]
    call(*command, "--profile", "jpa", "up", "--detach", "--no-deps", "postgres", cwd=ROOT)
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
    with runtime.start(JPA, overrides={}, say=print, only=["postgres"]) as stack:
        assert isinstance(stack, DockerStack)
        runtime.reap(print)
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
        runtime.start(JPA, overrides={}, say=print, only=["nginx"]),
    ):
        raise AssertionError("a proxy without writers must not become ready")


@pytest.mark.docker
def test_the_load_generator_is_built_once_with_the_recorder(runtime: DockerRuntime, engine: Engine) -> None:
    image, said = images.generator(ROOT, {}), list[str]()
    images.ensure_generator(ROOT, engine, image, print)
    images.ensure_generator(ROOT, engine, image, said.append)
    assert said == []
    version = call(*runtime.load_generator("host")[0], "version")
    assert f"v{golang.K6.version}" in version
    assert "k6/x/ledger" in version
    versions = {"docker", "docker-compose", "image:postgres", "image:nginx", "image:k6"}
    assert versions <= set(runtime.versions(JPA))


def cpuset(*containers: str) -> set[str]:
    said = call("docker", "inspect", "--format", "{{.HostConfig.CpusetCpus}}", *containers)
    return set(said.split())


def used_s(engine: Engine, stack: DockerStack) -> float:
    """Of the load generator that runs now."""
    found = [usage.cpu_seconds for one in engine.generators(stack.project) if (usage := engine.usage(one))]
    return sum(found)


def cpusets(stack: DockerStack) -> dict[str, set[str]]:
    return {one: cpuset(*stack.container_ids(one)) for one in stack.components}


@pytest.mark.docker
def test_a_load_on_the_stacks_network_is_recorded_and_both_sides_keep_to_their_processors(
    engine: Engine,
) -> None:
    """In a folder of the checkout, which is all of the host that the load generator's container sees."""
    split = choose("split", print)
    runtime = DockerRuntime(ROOT, split=split)
    runtime.prepare([JPA], print)
    with (
        TemporaryDirectory(dir=ROOT / ".writepath") as name,
        runtime.start(JPA, overrides={}, say=print) as stack,
    ):
        assert isinstance(stack, DockerStack)
        started = [c.id for c in engine.containers(stack.project)]
        assert len(started) == 3
        own = {"" if split.is_shared else listed(split.system)} - {""}
        assert cpuset(*started) == own
        with stack.spread():  # of the application alone: it is told how many to count on
            wide = own if split.is_shared else {listed(split.all)}
            assert cpusets(stack) == {"jpa-writer": wide, "nginx": own, "postgres": own}
        assert cpuset(*started) == own
        folder = Path(name)
        dataset.generate(1, 7).write(folder / "content.json")
        load = k6.Load(
            script=ROOT / "k6" / "scenarios" / "ramp.js",
            target=stack.load_url,
            run_id=plan.new_run_id(),
            plan=LOAD,
            content=folder / "content.json",
            folder=folder,
        )
        generators = runtime.load_generator(stack.network)

        earlier = dataclasses.replace(load, plan=plan.arrival_plan([steady("earlier", 20.0, 2.0)]))
        with k6.Generator(earlier, generators) as generator:
            eventually(lambda: used_s(engine, stack) > 0, "an earlier load generator runs")
            before_s = stack.usage()["k6"].cpu_seconds
            generator.result()
        assert stack.usage()["k6"].cpu_seconds >= before_s  # what the next load begins with
        with k6.Generator(load, generators) as generator:
            eventually(lambda: used_s(engine, stack) > 0, "the load generator runs")
            own_s = used_s(engine, stack)
            assert stack.usage()["k6"].cpu_seconds >= before_s + own_s
            assert cpuset(*engine.generators(stack.project)) == {
                "" if split.is_shared else listed(split.generator)
            } - {""}
            result = generator.result()
        assert result.complete
        found = ledger.read(result.ledger)
        assert sorted(found.records["seq"].tolist()) == list(range(LOAD.planned))
        assert found.acknowledged().any()


REVIVED_SECONDS = 300.0  # a virtual machine's start, on a busy machine
DISK_BYTES = 192 * 2**20
DATABASE = Service(name="one", image="postgres", ports=("127.0.0.1::5432",))


def started(engine: Engine, name: str, **choices: object) -> Iterator[DockerStack]:
    """A stack for several tests; afterwards nothing of it is left on the engine."""
    variant, runtime = registry.load(ROOT).variant(name), DockerRuntime(ROOT)
    runtime.prepare([variant], print)
    with runtime.start(variant, **{"overrides": {}, "say": print, **choices}) as stack:  # type: ignore[arg-type]
        assert isinstance(stack, DockerStack)
        yield stack
    assert stack.project not in engine.projects(project_prefix(ROOT))  # no container, network or volume


@pytest.fixture(scope="module")
def queue(engine: Engine) -> Iterator[DockerStack]:
    for stack in started(engine, "rabbitmq-jpa", disks={"postgres": DISK_BYTES}):
        assert poll.until(partial(queue_is_kept, stack), REVIVED_SECONDS)
        yield stack


def queue_is_kept(stack: DockerStack) -> bool:
    """Whether the broker has written the name of its queue to disk: up to a second after the queue is declared.

    One that is killed before starts with an empty queue of that name ("configured member was not found").
    """
    script = "grep -aohE 'writepath.posts(.dead)?' /var/lib/rabbitmq/mnesia/*/quorum/*/names.dets || true"
    names = call("docker", "exec", stack.container_ids("rabbitmq")[0], "sh", "-c", script).split()
    return "writepath.posts" in names


@pytest.fixture
def two(engine: Engine) -> Iterator[DockerStack]:
    yield from started(engine, "jpa", overrides={"INSTANCES": "2"})


@pytest.fixture
def database(engine: Engine) -> Iterator[DockerStack]:
    for stack in started(engine, "jpa", only=["postgres"]):
        assert_ready(stack)
        yield stack


def written(stack: DockerStack) -> str:
    """A post that is accepted, soon; its id."""
    url, post = f"{stack.base_url}/api/posts", {"content": "kept"}

    def accepted() -> str:
        answer = httpx.post(url, json=post, timeout=20, trust_env=False)
        return str(answer.json()["id"]) if answer.status_code == httpx.codes.CREATED else ""

    found = poll.until(accepted, REVIVED_SECONDS)
    assert found, "no write through the proxy"
    return found


def assert_found(stack: DockerStack, *posts: str) -> None:
    for post in posts:
        get = partial(httpx.get, f"{stack.base_url}/api/posts/{post}", timeout=20, trust_env=False)
        assert poll.until(lambda ask=get: ask().is_success, REVIVED_SECONDS), post  # type: ignore[misc]


def assert_ready(stack: DockerStack, *components: str) -> None:
    for component in components or stack.components:
        assert poll.until(partial(stack.is_ready, component), REVIVED_SECONDS), component


def network_addresses(stack: DockerStack, engine: Engine) -> dict[str, str]:
    """By service."""
    return {c.service: c.address for c in engine.containers(stack.project)}


def assert_survives(stack: DockerStack, component: str, end: Callable[[str], None]) -> None:
    """What was acknowledged before is there after; writing goes on at the same addresses."""
    post, url, before = written(stack), stack.base_url, stack.lives(component)
    assert_found(stack, post)
    assert before.keys() == {component}
    end(component)
    assert stack.lives(component) == {}
    assert not stack.is_ready(component)
    assert any(component in loss for loss in stack.lost_components())
    stack.revive(component)
    assert_ready(stack)
    assert stack.lives(component).keys() == {component}
    assert stack.lives(component) != before
    assert stack.base_url == url
    assert_found(stack, post, written(stack))
    assert stack.lost_components() == []


def test_use_stays_counted_when_a_container_ended_and_began_again() -> None:
    meter = Meter()
    meter.read({"first": Usage(cpu_seconds=3.0, rss_bytes=10, write_bytes=5)})
    meter.read({"first": Usage(cpu_seconds=0.0, rss_bytes=0, write_bytes=None)})
    use = meter.read({"second": Usage(cpu_seconds=0.5, rss_bytes=7, write_bytes=None)})
    assert use == Usage(cpu_seconds=3.5, rss_bytes=7, write_bytes=5)


def test_every_port_is_fixed_and_instances_get_a_row_of_them() -> None:
    service = dataclasses.replace(DATABASE, replicas=3)
    text = compose.override({"one": service, "other": DATABASE}, {}, {})
    ports = yaml.safe_load(text.replace("!override", ""))["services"]
    first, last = map(int, ports["one"]["ports"][0].split(":")[1].split("-"))
    assert last == first + 2
    assert int(ports["other"]["ports"][0].split(":")[1]) not in range(first, last + 1)


def test_a_port_that_was_asked_for_is_left_alone_and_a_small_disk_is_added_to_the_memory() -> None:
    asked = dataclasses.replace(DATABASE, ports=("127.0.0.1:8099:8080",))
    assert "127.0.0.1:8099:8080/tcp" in compose.override({"nginx": asked}, {}, {})
    store = dataclasses.replace(DATABASE, volumes={"data": "/data"}, memory_limit_bytes=2**30)
    text = compose.override({"store": store}, {"store": DISK_BYTES}, {})
    found = yaml.safe_load(text.replace("!override", ""))
    assert found["services"]["store"]["mem_limit"] == 2**30 + DISK_BYTES
    assert found["services"][compose.holder("store")]["volumes"] == ["data:/data"]


def test_only_a_store_gets_a_small_disk(runtime: DockerRuntime) -> None:
    with (
        pytest.raises(UsageError, match="disks: nginx keeps no data; components that do: postgres"),
        runtime.start(JPA, overrides={}, say=print, disks={"nginx": DISK_BYTES}),
    ):
        raise AssertionError("it must not start")


@pytest.mark.docker
def test_one_instance_of_two_is_ended_and_revived(two: DockerStack) -> None:
    urls, before = two.inspector_urls("jpa-writer"), two.lives("jpa-writer")
    assert before.keys() == {"jpa-writer-1", "jpa-writer-2"}
    two.kill("jpa-writer", "jpa-writer-2")
    assert two.lives("jpa-writer") == {"jpa-writer-1": before["jpa-writer-1"]}
    assert not two.is_ready("jpa-writer")
    two.revive("jpa-writer")
    assert_ready(two)
    after = two.lives("jpa-writer")
    assert after["jpa-writer-1"] == before["jpa-writer-1"]
    assert after["jpa-writer-2"] != before["jpa-writer-2"]
    two.terminate("jpa-writer")
    two.revive("jpa-writer")
    assert_ready(two)
    assert sorted(two.inspector_urls("jpa-writer")) == sorted(urls)
    assert_found(two, written(two))
    assert two.lost_components() == []


@pytest.mark.docker
def test_what_ends_by_itself_is_lost_even_where_it_was_revived(database: DockerStack) -> None:
    address = database.address("postgres", 5432)
    container = database.container_ids("postgres")[0]
    assert poll.until(lambda: database.usage()["postgres"].cpu_seconds > 0, REVIVED_SECONDS)
    used = database.usage()["postgres"].cpu_seconds
    call("docker", "kill", container)
    database.kill("postgres")
    database.revive("postgres")
    assert_ready(database)
    assert database.address("postgres", 5432) == address
    assert database.usage()["postgres"].cpu_seconds >= used
    assert "ended with exit code 137" in database.lost_components()[0]


@pytest.mark.docker
def test_what_is_killed_or_asked_to_end_serves_again_with_what_it_held(queue: DockerStack) -> None:
    assert queue.stores == ["postgres", "rabbitmq"]
    for end in (queue.kill, queue.terminate):
        assert_survives(queue, "rabbitmq", end)


@pytest.mark.docker
def test_the_proxy_finds_a_writer_that_came_back_at_another_address(
    queue: DockerStack, engine: Engine
) -> None:
    addresses = network_addresses(queue, engine)
    services = sorted(("rabbitmq-consumer", "rabbitmq-producer"), key=lambda name: addresses[name])
    url = queue.inspector_urls("rabbitmq-producer")
    for service in services:
        queue.kill(service)
    for service in reversed(services):  # the engine gives the lowest free address
        queue.revive(service)
    assert network_addresses(queue, engine)["rabbitmq-producer"] == addresses["rabbitmq-consumer"]
    assert_ready(queue)
    assert queue.inspector_urls("rabbitmq-producer") == url
    assert_found(queue, written(queue))


@pytest.mark.docker
@pytest.mark.parametrize("component", ["postgres", "rabbitmq-consumer", "nginx"])
def test_what_is_frozen_answers_nothing_and_goes_on_as_it_was(queue: DockerStack, component: str) -> None:
    before = queue.lives(component)
    queue.pause(component)
    assert not queue.is_ready(component)
    assert queue.lives(component) == before
    queue.resume(component)
    assert_ready(queue, component)
    queue.resume(component)
    assert queue.lives(component) == before
    assert queue.lost_components() == []


@pytest.mark.docker
def test_a_small_disk_is_filled_to_the_last_byte_and_freed_again(queue: DockerStack) -> None:
    post = written(queue)
    assert_found(queue, post)
    assert queue.fill_disk("postgres") < 64 * 1024
    queue.free_disk("postgres")
    queue.free_disk("postgres")
    queue.kill("postgres")
    queue.revive("postgres")
    assert_ready(queue)
    assert_found(queue, post, written(queue))
    with pytest.raises(StartError, match="rabbitmq was not started with a small disk"):
        queue.fill_disk("rabbitmq")
