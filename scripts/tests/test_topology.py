"""docker-compose.yml is read as Compose reads it, and its mistakes are named by the key's path."""

from __future__ import annotations

from pathlib import Path

import pytest

from writepath.config import registry
from writepath.errors import UsageError
from writepath.runtime import topology
from writepath.runtime.native.addresses import Addresses

ROOT = Path(__file__).resolve().parents[2]
VALUES = {"A": "a", "EMPTY": ""}


def load(folder: Path, text: str, settings: dict[str, str] | None = None) -> topology.Topology:
    (folder / "docker-compose.yml").write_text(text)
    return topology.load(folder, settings or {})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("$A ${A}", "a a"),
        ("${NONE}|$NONE", "|"),
        ("${A:-b}", "a"),
        ("${NONE:-b}", "b"),
        ("${EMPTY:-b}", "b"),
        ("${EMPTY-b}", ""),
        ("${NONE-b}", "b"),
        ("${NONE:-${A:-c}}", "a"),
        ("${A:+set}${EMPTY:+set}${EMPTY+set}", "setset"),
        ("${A:?needed}", "a"),
        ("$$A $${A} 100$$", "$A ${A} 100$"),
        ("nginx:${TAG:-1.26}", "nginx:1.26"),
    ],
)
def test_variables_are_filled_in_as_compose_does(text: str, expected: str) -> None:
    """Each form once."""
    assert topology.interpolate(text, VALUES, "here") == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("${NONE:?set it}", "services.x.image: variable NONE must be set: set it"),
        ("${EMPTY?}${EMPTY:?now}", "services.x.image: variable EMPTY must be set: now"),
        ("${A", "services.x.image: .* without a closing }"),
        ("${A!b}", "services.x.image: .*not one of"),
        ("5$ 6", "services.x.image: .*dollar sign as \\$\\$"),
    ],
)
def test_a_wrong_variable_is_named_by_its_path(text: str, message: str) -> None:
    """The user finds the line."""
    with pytest.raises(UsageError, match=message):
        topology.interpolate(text, VALUES, "services.x.image")


def test_settings_win_over_env_file_over_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this order; the environment changes nothing."""
    for name in "ABCD":
        monkeypatch.setenv(name, "environment")
    (tmp_path / ".env").write_text("B=file\nC=file  # a comment\nD='file'\n")
    (tmp_path / "docker-compose.yml").write_text(
        "services: {x: {image: i, environment: {V: '${A:-default} ${B} ${C} ${D}'}}}"
    )
    found = topology.load(tmp_path, {"D": "setting"})
    assert found.services["x"].environment["V"] == "default file file setting"


def test_merge_lists_and_anchors_are_followed(tmp_path: Path) -> None:
    """The entry's own keys win, then the first of the list."""
    found = load(
        tmp_path,
        "x-one: &one {A: '1', B: '1'}\nx-two: &two {B: '2', C: '2'}\n"
        "services: {x: {image: i, environment: {<<: [*one, *two], A: own}}}",
    )
    assert found.services["x"].environment == {"A": "own", "B": "1", "C": "2"}


def test_both_forms_of_lists_and_mappings_are_read(tmp_path: Path) -> None:
    """As Compose allows them."""
    found = load(
        tmp_path,
        "services:\n"
        "  x:\n"
        "    image: host:5000/team/postgres:18@sha256:0\n"
        "    environment: [A=1, B=x=y]\n"
        "    command: postgres -c 'a b'\n"
        "    depends_on: [y]\n"
        "    networks: [default]\n"
        "  y: {build: {context: ., args: [MODULE=m]}, deploy: {replicas: '3'}}\n",
    )
    x, y = found.services["x"], found.services["y"]
    assert (x.image_name, x.environment, x.command) == (
        "postgres",
        {"A": "1", "B": "x=y"},
        ("postgres", "-c", "a b"),
    )
    assert x.depends_on == (topology.Dependency(service="y"),)
    assert (y.module, y.replicas) == ("m", 3)


@pytest.mark.parametrize(
    ("service", "message"),
    [
        ("{}", "services.x: needs an image"),
        ("{image: i, environment: {A: true}}", "services.x.environment.A: True: quote it"),
        ("{image: i, environment: {A: [1]}}", "services.x.environment.A: needs one value"),
        ("{image: i, deploy: {replicas: 0}}", "services.x.deploy.replicas: 0 is not"),
        ("{image: i, deploy: {replicas: '${A}'}}", "services.x.deploy.replicas: 'many' is not"),
        ("{image: i, profiles: {a: b}}", "services.x.profiles: needs a list"),
        ("{image: i, networks: {default: {aliases: {}}}}", "services.x.networks.default.aliases"),
        ("text", "services.x: needs names and values"),
    ],
)
def test_a_mistake_is_named_by_its_path(tmp_path: Path, service: str, message: str) -> None:
    """File, path, what is wrong."""
    with pytest.raises(UsageError, match=f"docker-compose.yml: {message}"):
        load(tmp_path, f"services: {{x: {service}}}", {"A": "many"})


def test_a_required_dependency_must_be_active(tmp_path: Path) -> None:
    """Compose refuses it too."""
    text = (
        "services:\n  x: {image: i, profiles: [p], depends_on: {y: {condition: service_healthy%s}}}\n"
        "  y: {image: i, profiles: [q]}\n"
    )
    with pytest.raises(UsageError, match=r"services.x.depends_on.y: required.*required: false"):
        load(tmp_path, text % "").active(["p"])
    assert list(load(tmp_path, text % ", required: false").active(["p"])) == ["x"]


def test_an_unknown_profile_is_refused(tmp_path: Path) -> None:
    """With the known ones."""
    with pytest.raises(UsageError, match="no service has profile q; known: p"):
        load(tmp_path, "services: {x: {image: i, profiles: [p]}}").active(["q"])


def test_every_registered_variant_has_its_ingress_and_inspector() -> None:
    """The registry and the compose file agree."""
    for variant in registry.load(ROOT).variants.values():
        settings = {name: str(value) for name, value in variant.settings.items()}
        active = topology.load(ROOT, settings).active(variant.profiles)
        assert {variant.ingress, variant.inspector} <= set(active), variant.name


def test_stores_are_those_with_a_named_volume(tmp_path: Path) -> None:
    """A folder of this machine is none, in either of Compose's two forms."""
    found = load(
        tmp_path,
        "services: {x: {image: i, volumes: ['data:/a', './b:/b:ro', '/c:/c', '~/d:/d', '/e', "
        "{type: volume, source: more, target: /f}, {type: bind, source: /g, target: /g}]}}",
    )
    assert found.services["x"].volumes == ("data", "more")
    real = topology.load(ROOT, {}).services
    stores = {name for name, service in real.items() if service.volumes}
    assert stores == {"postgres", "rabbitmq", "elasticsearch", "elasticsearch-2"}


@pytest.mark.parametrize(
    ("variable", "port", "name"),
    [
        ("POSTGRES_ADDRESS", 5432, "SPRING_DATASOURCE_URL"),
        ("RABBITMQ_ADDRESS", 5672, "SPRING_RABBITMQ_ADDRESSES"),
        ("ELASTICSEARCH_ADDRESS", 9200, "ELASTICSEARCH_URIS"),
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


def test_consumers_are_counted_by_themselves() -> None:
    """More instances of the ingress leave the consumer as it is."""
    found = topology.load(ROOT, {"INSTANCES": "4", "CONSUMERS": "2"}).services
    assert (found["rabbitmq-producer"].replicas, found["rabbitmq-consumer"].replicas) == (4, 2)
