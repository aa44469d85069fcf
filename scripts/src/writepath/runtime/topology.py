"""Reads docker-compose.yml with settings, else .env, filled in; the environment of the shell changes nothing.

Of Compose's ways to write a thing it knows those that the file uses, and refuses the others.
"""

import hashlib
import math
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AliasPath, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from writepath.errors import UsageError
from writepath.processors import Split, listed

FILE = "docker-compose.yml"
INSPECTOR_TOKEN = "INSPECTOR_TOKEN"  # noqa: S105 a variable of the file
OBSERVE = "observe"  # the profile of Prometheus and Grafana, which no variant has
PROXY_PORT, ANY_PORT = "HTTP_PORT", "0"  # a variable of the file, and its value for any that is free
APPLICATION_CPUS = "APPLICATION_CPUS"  # a variable of the file
JVM_FLAG = "-XX:ActiveProcessorCount="
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_VARIABLE = re.compile(
    rf"\$(?:(?P<dollar>\$)|\{{(?P<name>{_NAME})(?::-(?P<default>[^{{}}]*))?\}}|(?P<other>.{{0,30}}))"
)


def _words(value: object) -> object:
    return shlex.split(value) if isinstance(value, str) else value


def _text(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError(f'{value}: quote it: Compose requires "true" or "false"')  # noqa: TRY004 pydantic's
    return str(value) if isinstance(value, (int, float)) else value


def _number(value: object) -> object:
    if not str(value).isdigit() or int(str(value)) < 1:
        raise ValueError(f"{value!r} is not a number of instances, 1 or more")
    return int(str(value))


def _bytes(value: object) -> object:
    size = re.fullmatch(r"(\d+)([kmg]?)b?", str(value).lower())
    if size is None:
        raise ValueError(f"{value!r} is not a size such as 512m or 1g")
    return int(size[1]) << 10 * " kmg".index(size[2] or " ")


def _named(value: object) -> object:
    """By name of a volume, where it is mounted; without folders of this machine."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return value
    return dict(each.split(":")[:2] for each in value if not each.startswith(("/", ".", "~")))


def _at(*path: str) -> Any:
    """Where the file has it, deeper than a key of the service."""
    return Field(validation_alias=AliasPath(*path))


@dataclass(frozen=True, kw_only=True, config=ConfigDict(populate_by_name=True))
class Service:
    """One service, everything filled in."""

    name: str
    image: str = ""
    module: Annotated[str | None, _at("build", "args", "MODULE")] = None  # of Maven: one of our applications
    profiles: tuple[str, ...] = ()
    environment: Mapping[str, Annotated[str, BeforeValidator(_text)]] = field(default_factory=dict)
    command: Annotated[tuple[str, ...], BeforeValidator(_words)] = ()
    aliases: Annotated[tuple[str, ...], _at("networks", "default", "aliases")] = ()
    depends_on: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    replicas: Annotated[int, BeforeValidator(_number), _at("deploy", "replicas")] = 1
    ports: tuple[Annotated[str, Field(pattern=r"^[\d.]+:\d*:\d+$")], ...] = ()  # address:[published]:inside
    volumes: Annotated[Mapping[str, str], BeforeValidator(_named)] = field(
        default_factory=dict
    )  # outlive a container
    cpus: Annotated[float, Field(ge=0)] = 0.0  # processor time of each instance, in processors; 0: no limit
    memory_limit_bytes: Annotated[int, BeforeValidator(_bytes), _at("mem_limit")] = 0  # 0: none
    build: Any = None  # from this checkout: no registry has it

    @property
    def published(self) -> dict[int, str]:
        """By each of its own ports that is published, that of this machine; empty or 0 for any."""
        return {int(port.rpartition(":")[2]): port.split(":")[1] for port in self.ports}

    @property
    def image_name(self) -> str:
        """The image without registry, folder, tag and digest: `host:5000/x/postgres:18` is `postgres`."""
        return self.image.partition("@")[0].rpartition("/")[2].partition(":")[0]


_SERVICE = TypeAdapter(Service)


@dataclass(frozen=True, kw_only=True)
class Topology:
    """All services of the file."""

    services: Mapping[str, Service]

    def active(self, profiles: Iterable[str]) -> dict[str, Service]:
        """The services that these profiles switch on, in the file's order.

        UsageError for an unknown profile, or a required dependency that stays off (as Compose rejects it).
        """
        wanted = set(profiles)
        known = {profile for service in self.services.values() for profile in service.profiles}
        if unknown := wanted - known:
            raise UsageError(f"{FILE}: no service has profile {_list(unknown)}; known: {_list(known)}")
        found = {n: s for n, s in self.services.items() if not s.profiles or wanted.intersection(s.profiles)}
        for service in found.values():
            for name, need in service.depends_on.items():
                if need.get("required", True) and name not in found:
                    raise UsageError(
                        f"{FILE}: services.{service.name}.depends_on.{name}: required, but none of the profiles "
                        f"{_list(wanted)} starts it; add its profile, or `required: false`"
                    )
        return found


def load(root: Path, settings: Mapping[str, str]) -> Topology:
    """Reads root/docker-compose.yml. A value comes from settings, .env or its default."""
    values = {**_env_file(root / ".env"), **settings}
    try:
        services = yaml.safe_load((root / FILE).read_text(encoding="utf-8"))["services"].items()
    except OSError as error:
        raise UsageError(
            f"{FILE}: cannot be read ({error.strerror}); it must be in the same folder as the Makefile"
        ) from error
    except (yaml.YAMLError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"{FILE}: not YAML with services: {error}") from error
    return Topology(
        services={name: _service(name, _fill(each, values, f"services.{name}")) for name, each in services}
    )


def value(root: Path, name: str, settings: Mapping[str, str]) -> str:
    """One variable, from settings or .env; empty where neither has it."""
    return {**_env_file(root / ".env"), **settings}.get(name, "")


def checkout_key(root: Path) -> str:
    """8 hex digits that tell this checkout's projects and images from another's on the same engine."""
    return hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:8]


def derived(root: Path, profiles: Iterable[str], split: Split, settings: Mapping[str, str]) -> dict[str, str]:
    """Variables that follow from the checkout and the processors of the system under test, but those that .env sets.

    A JVM with a quota counts on as many processors as it would by itself: the quota, rounded up.
    """
    count, active = len(split.system), load(root, settings).active(profiles).values()
    nodes = sum("node.name" in service.environment for service in active)
    quota = max((service.cpus for service in active), default=0.0)
    told = "" if split.is_shared else f"{JVM_FLAG}{count}"
    of_node = max(1, count // (nodes or 1))
    found = {
        "IMAGE_TAG": checkout_key(root),
        "SYSTEM_PROCESSORS": "" if split.is_shared else listed(split.system),
        "ELASTICSEARCH_PROCESSORS": str(of_node),
        "ELASTICSEARCH_WRITE_THREADS": str(of_node + 1),  # the most: each waits for its flush
        "JVM_PROCESSORS": told,
        "APPLICATION_JVM_PROCESSORS": f"{JVM_FLAG}{min(count, math.ceil(quota))}" if quota else told,
        "POOL_SIZE": str(2 * count + 1),
    }
    return {name: text for name, text in found.items() if not value(root, name, {})}


def counts_as_told(environment: Mapping[str, str]) -> bool:
    """Whether its JVM has threads for as many processors as it is told, not for those that it may use at a time."""
    return any(JVM_FLAG in text for text in environment.values())


def variables(root: Path) -> frozenset[str]:
    """The variables that the compose file names."""
    text = (root / FILE).read_text(encoding="utf-8")
    return frozenset(match["name"] for match in _VARIABLE.finditer(text) if match["name"])


def interpolate(text: str, values: Mapping[str, str], where: str) -> str:
    """Fills in ${A} and ${A:-default}; $$ is a dollar sign."""

    def one(match: re.Match[str]) -> str:
        if match["other"] is not None:
            raise UsageError(
                f"{FILE}: {where}: `{match[0]}` is not one of ${{A}}, ${{A:-default}}, and $$ for a dollar sign"
            )
        return "$" if match["dollar"] else values.get(match["name"]) or match["default"] or ""

    return _VARIABLE.sub(one, text)


def _env_file(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    values: dict[str, str] = {}
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        line = raw.strip().removeprefix("export ")
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals or not re.fullmatch(_NAME, name.strip()):
            raise UsageError(f"{path.name}:{number}: `{raw}` is not NAME=value")
        value = value.strip()
        quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
        values[name.strip()] = value[1:-1] if quoted else re.split(r"\s+#", value)[0]
    return values


def _fill(node: Any, values: Mapping[str, str], where: str) -> Any:
    if isinstance(node, str):
        return interpolate(node, values, where)
    if isinstance(node, dict):
        return {key: _fill(value, values, f"{where}.{key}") for key, value in node.items()}
    if isinstance(node, list):
        return [_fill(value, values, f"{where}[{index}]") for index, value in enumerate(node)]
    return node


def _service(name: str, entry: Any) -> Service:
    where = f"{FILE}: services.{name}"
    try:
        service = _SERVICE.validate_python({"name": name, **entry} if isinstance(entry, dict) else entry)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "".join(f".{part}" for part in first["loc"])
        raise UsageError(f"{where}{place}: {first['msg'].removeprefix('Value error, ')}") from error
    if not (service.image or service.module):
        raise UsageError(f"{where}: needs an image, or a build argument MODULE")
    return service


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
