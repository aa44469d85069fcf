"""Settings: one list of names and defaults, and factors that make cells."""

import re
import string
from pathlib import Path

import pytest
import yaml

from writepath import process
from writepath.config import settings
from writepath.config.settings import Factor, Given
from writepath.errors import UsageError
from writepath.runtime import topology
from writepath.runtime.docker.compose import Compose
from writepath.runtime.native.recipes import nginx_configuration

ROOT = Path(__file__).resolve().parents[3]
KNOWN = settings.known(ROOT)
POOLS = Factor(name="POOL_SIZE", scope="stack", levels=("5", "10"))
RATES = Factor(name="RATE", scope="load", levels=("50", "100", "200"))


def test_cells_are_every_combination_of_levels_in_order() -> None:
    pairs = [(pool, rate) for pool in POOLS.levels for rate in RATES.levels]
    assert settings.combinations([POOLS, RATES]) == tuple(
        {"POOL_SIZE": pool, "RATE": rate} for pool, rate in pairs
    )
    assert settings.combinations([]) == ({},)


def test_what_the_user_gives_takes_the_place_of_the_suites_own() -> None:
    given = settings.parse(["POOL_SIZE=7", "INSTANCES=1,2"], KNOWN)
    found = given.over({"INSTANCES": "4", "CONSUMERS": "2"}, [POOLS, RATES])
    instances = Factor(name="INSTANCES", scope="stack", levels=("1", "2"))
    assert found == Given(values={"CONSUMERS": "2", "POOL_SIZE": "7"}, factors=(RATES, instances))


def test_settings_of_the_load_are_no_compose_variables() -> None:
    given = settings.parse(["POOL_SIZE=7", "RATE=50", "VIRTUAL_USERS=20"], KNOWN)
    assert settings.of_stack(given.values) == {"POOL_SIZE": "7"}


def test_a_rate_has_at_most_three_decimals() -> None:
    for value in ("0", "x", "1.0005", "100001", "-5", "1e3", ""):
        with pytest.raises(UsageError, match="RATE="):
            KNOWN["RATE"].checked(value)


def test_every_default_is_allowed_and_that_of_the_compose_file() -> None:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    defaults = dict(re.findall(r"(?<!\$)\$\{([A-Z0-9_]+):-([^}]*)\}", text))
    stack = {one.name: one.default for one in KNOWN.values() if one.scope == "stack"}
    derived = {"POOL_SIZE", "ELASTICSEARCH_WRITE_THREADS"}  # from the processors
    not_compose = {"K6_IMAGE", *derived}  # no service of the file has the image
    assert {name: defaults.get(name) for name in stack.keys() - not_compose} == {
        name: default for name, default in stack.items() if name not in not_compose
    }
    assert all(KNOWN[name].checked(stack[name]) == stack[name] for name in stack.keys() - not_compose)


def test_threads_and_collector_are_settings_of_every_application() -> None:
    settings = {"VIRTUAL_THREADS": "false", "TOMCAT_THREADS": "64", "APPLICATION_GC": "Serial"}
    applications = [one for one in topology.load(ROOT, settings).services.values() if one.module]
    assert len(applications) == 5
    for application in applications:
        found = application.environment
        collectors = [flag for flag in found["JDK_JAVA_OPTIONS"].split() if flag.endswith("GC")]
        assert (found["VIRTUAL_THREADS"], found["TOMCAT_THREADS"]) == ("false", "64")
        assert collectors == ["-XX:+UseSerialGC"]


def test_every_setting_of_nginx_is_used_by_its_template_in_both_runtimes() -> None:
    template = (ROOT / "nginx/nginx.conf.template").read_text(encoding="utf-8")
    compose = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    names = {name for name in KNOWN if name.startswith("NGINX_")} - {"NGINX_IMAGE"}
    assert len(names) == 8
    of_process = {"NGINX_OPEN_FILES"}  # no directive: a limit of what starts nginx
    assert set(re.findall(r"\$\{(NGINX_\w+)\}", template)) == names - of_process
    assert set(re.findall(r"\$\$(NGINX_\w+)", compose)) == names - of_process  # what envsubst fills in
    environment = topology.load(ROOT, {"NGINX_KEEPALIVE": "8"}).services["nginx"].environment
    assert names <= set(environment)
    assert environment["NGINX_KEEPALIVE"] == "8"


def test_compose_leaves_out_the_same_lines_as_the_native_runtime_and_limits_the_same_files(
    tmp_path: Path,
) -> None:
    values = dict.fromkeys(("NGINX_KEEPALIVE", "NGINX_WORKER_RLIMIT_NOFILE"), "0")
    service = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]["nginx"]
    (expression,) = re.findall(r"sed '([^']+)'", service["entrypoint"][2])
    whole = string.Template((ROOT / "nginx/nginx.conf.template").read_text(encoding="utf-8")).safe_substitute(
        values
    )
    (tmp_path / "template").write_text(whole, encoding="utf-8")
    container = process.call("sed", expression, tmp_path / "template", timeout_s=10)
    native = nginx_configuration(ROOT, values, Path("/tmp"))  # noqa: S108 - as in the container
    assert container.strip() == native.strip()
    assert "\n    keepalive " not in native
    assert "\nworker_rlimit_nofile" not in native
    assert service["ulimits"]["nofile"]["soft"] == service["environment"]["NGINX_OPEN_FILES"]


def test_docker_compose_inherits_no_setting_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, str] = {}

    def call(*_: str, env: dict[str, str]) -> str:
        seen.update(env)
        return ""

    monkeypatch.setattr("writepath.runtime.docker.compose.call", call)
    monkeypatch.setenv("POOL_SIZE", "99")
    monkeypatch.setenv("DOCKER_HOST", "unix:///elsewhere")
    Compose(root=ROOT, project="p", profiles=(), variables={"INSTANCES": "2"}).run("config")
    assert "POOL_SIZE" not in seen
    assert (seen["INSTANCES"], seen["DOCKER_HOST"]) == ("2", "unix:///elsewhere")
