"""docker-compose.yml is read as Compose reads it, and its mistakes are named by the key's path."""

import json
import re
from pathlib import Path

import pytest
import yaml

from writepath.config import registry
from writepath.errors import UsageError
from writepath.experiments.faults import catalogue
from writepath.runtime import topology
from writepath.runtime.network import Addresses

ROOT = Path(__file__).resolve().parents[2]
VALUES = {"A": "a", "EMPTY": ""}


def load(folder: Path, text: str, settings: dict[str, str] | None = None) -> topology.Topology:
    (folder / "docker-compose.yml").write_text(text)
    return topology.load(folder, settings or {})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("${A}|${NONE}", "a|"),
        ("${A:-b}${NONE:-b}${EMPTY:-b}", "abb"),
        ("$$A $${A} 100$$", "$A ${A} 100$"),
        ("nginx:${TAG:-1.26}", "nginx:1.26"),
    ],
)
def test_variables_are_filled_in_as_compose_does(text: str, expected: str) -> None:
    assert topology.interpolate(text, VALUES, "here") == expected


@pytest.mark.parametrize("text", ["${A", "${A!b}", "$A", "${A:-${EMPTY}}", "5$ 6"])
def test_another_form_of_a_variable_is_refused_by_its_path(text: str) -> None:
    with pytest.raises(UsageError, match=r"services.x.image: `\$.*` is not one of \${A}, \${A:-default}"):
        topology.interpolate(text, VALUES, "services.x.image")


def test_settings_win_over_env_file_over_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this order; the environment changes nothing."""
    for name in "ABCD":
        monkeypatch.setenv(name, "environment")
    (tmp_path / ".env").write_text("B=file\nC=file  # a comment\nD='file'\n")
    text = "services: {x: {image: i, environment: {V: '${A:-default} ${B} ${C} ${D}'}}}"
    assert (
        load(tmp_path, text, {"D": "setting"}).services["x"].environment["V"] == "default file file setting"
    )


def test_a_service_is_read_with_what_is_merged_into_it(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        "x-one: &one {A: '1', B: '1'}\nx-two: &two {B: '2', C: 2}\n"
        "services:\n"
        "  x:\n"
        "    image: host:5000/team/postgres:18@sha256:0\n"
        "    environment: {<<: [*one, *two], A: own}\n"
        "    command: postgres -c 'a b'\n"
        "    networks: {default: {aliases: [writer]}}\n"
        "    volumes: ['data:/a', './b:/b:ro', '/c:/c', '~/d:/d', '/e']\n"
        "  y: {build: {context: ., args: {MODULE: m}}, deploy: {replicas: '3'}}\n",
    )
    x, y = found.services["x"], found.services["y"]
    assert (x.image_name, x.command, x.aliases) == ("postgres", ("postgres", "-c", "a b"), ("writer",))
    assert x.environment == {"A": "own", "B": "1", "C": "2"}
    assert x.volumes == {"data": "/a"}  # a folder of this machine is none
    assert (y.module, y.replicas) == ("m", 3)


@pytest.mark.parametrize(
    ("service", "message"),
    [
        ("{}", "services.x: needs an image"),
        ("{image: i, environment: {A: true}}", "services.x.environment.A: True: quote it"),
        ("{image: i, environment: [A=1]}", "services.x.environment: Input should be a valid dictionary"),
        ("{image: i, deploy: {replicas: '${A}'}}", "services.x.deploy.replicas: 'many' is not"),
        ("{image: i, networks: {default: {aliases: {}}}}", "services.x.networks.default.aliases"),
        ("text", "services.x: "),
    ],
)
def test_a_mistake_is_named_by_its_path(tmp_path: Path, service: str, message: str) -> None:
    with pytest.raises(UsageError, match=f"docker-compose.yml: {message}"):
        load(tmp_path, f"services: {{x: {service}}}", {"A": "many"})


def test_a_required_dependency_and_every_profile_must_be_there(tmp_path: Path) -> None:
    text = (
        "services:\n  x: {image: i, profiles: [p], depends_on: {y: {condition: service_healthy%s}}}\n"
        "  y: {image: i, profiles: [q]}\n"
    )
    with pytest.raises(UsageError, match=r"services.x.depends_on.y: required.*required: false"):
        load(tmp_path, text % "").active(["p"])
    assert list(load(tmp_path, text % ", required: false").active(["p"])) == ["x"]
    with pytest.raises(UsageError, match="no service has profile r; known: p, q"):
        load(tmp_path, text % "").active(["r"])


def test_every_registered_variant_has_its_ingress_and_inspector() -> None:
    for variant in registry.load(ROOT).variants.values():
        settings = {name: str(value) for name, value in variant.settings.items()}
        active = topology.load(ROOT, settings).active(variant.profiles)
        assert {variant.ingress, variant.inspector} <= set(active), variant.name


def test_no_variant_has_prometheus_or_grafana() -> None:
    observed = {
        name for name, one in topology.load(ROOT, {}).services.items() if topology.OBSERVE in one.profiles
    }
    assert observed == {"prometheus", "grafana"}
    assert not any(topology.OBSERVE in one.profiles for one in registry.load(ROOT).variants.values())


def test_the_stores_of_the_file_and_its_consumers_are_counted_by_themselves() -> None:
    found = topology.load(ROOT, {"INSTANCES": "4", "CONSUMERS": "2"}).services
    stores = {name for name, service in found.items() if service.volumes}
    assert stores == {"postgres", "rabbitmq", "elasticsearch", "elasticsearch-2"}
    assert (found["rabbitmq-producer"].replicas, found["rabbitmq-consumer"].replicas) == (4, 2)


@pytest.mark.parametrize(
    ("variable", "port", "name"),
    [
        ("POSTGRES_ADDRESS", 5432, "SPRING_DATASOURCE_URL"),
        ("RABBITMQ_ADDRESS", 5672, "SPRING_RABBITMQ_ADDRESSES"),
        ("ELASTICSEARCH_ADDRESS", 9200, "WRITEPATH_ELASTICSEARCH_URIS"),
    ],
)
def test_an_address_puts_toxiproxy_between_and_nothing_else_changes(
    variable: str, port: int, name: str
) -> None:
    """Natively its own loopback port stands for it."""
    plain = topology.load(ROOT, {}).services["rabbitmq-consumer"].environment
    known = topology.load(ROOT, {variable: f"toxiproxy:{port}"})
    changed = known.services["rabbitmq-consumer"].environment
    assert {key for key in plain if plain[key] != changed[key]} == {name}
    active = known.active(["rabbitmq", "rabbitmq-elasticsearch", "toxiproxy"])
    addresses = Addresses(known.services, active)
    assert f"127.0.0.1:{addresses.port('toxiproxy', port)}" in addresses.rewrite(changed[name])


def test_nodes_of_elasticsearch_find_each_other_and_a_fault_puts_toxiproxy_between_them() -> None:
    """A node that comes back may know of none but itself, while the other is the master."""
    proxies = {
        one["name"]: one for one in json.loads((ROOT / "toxiproxy/proxies.json").read_text(encoding="utf-8"))
    }
    struck = topology.load(ROOT, dict(catalogue.FAULTS["cut-nodes"].overrides)).services
    nodes = ("elasticsearch", "elasticsearch-2")
    for node, link in zip(nodes, catalogue.NODE_LINKS, strict=True):
        plain, cut = (known[node].environment for known in (topology.load(ROOT, {}).services, struck))
        assert (plain["transport.publish_host"], plain["transport.publish_port"]) == (node, "9300")
        assert {f"{one}:9300" for one in nodes} == set(plain["discovery.seed_hosts"].split(","))
        assert cut["transport.publish_host"] == "toxiproxy"
        assert proxies[link]["listen"] == f"0.0.0.0:{cut['transport.publish_port']}"
        assert proxies[link]["upstream"] == f"{node}:9300"


def test_every_container_has_as_few_rights_as_it_can_do_with() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    for name, service in services.items():
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert all(str(port).startswith("127.0.0.1:") for port in service.get("ports", ())), name
        if "build" in service or topology.OBSERVE in service["profiles"]:
            assert service["read_only"], name
            assert service["cap_drop"] == ["ALL"], name
            assert service["mem_limit"], name
        if topology.OBSERVE in service["profiles"]:
            assert int(service["user"].partition(":")[0]) > 0, name
            assert all(volume.endswith(":ro") for volume in service["volumes"]), name
    for file in ("services/Dockerfile", "toxiproxy/Dockerfile"):
        user = re.findall(r"^USER (\d+):", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)[-1]
        assert int(user) > 0, file
