"""Reads docker-compose.yml with settings, else .env, filled in; the environment of the shell changes nothing."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from writepath.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

FILE = "docker-compose.yml"
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_START = re.compile(rf"\$(?:(?P<escaped>\$)|(?P<plain>{_NAME})|\{{(?P<name>{_NAME})|(?P<lone>))")
_OPERATOR = re.compile(r":?[-?+]")


@dataclass(frozen=True, kw_only=True)
class Dependency:
    """One entry of depends_on."""

    service: str
    required: bool = True


@dataclass(frozen=True, kw_only=True)
class Service:
    """One service, everything filled in."""

    name: str
    image: str
    module: str | None  # build argument MODULE: the Maven module of one of our own applications
    profiles: tuple[str, ...]
    environment: Mapping[str, str]
    command: tuple[str, ...]
    aliases: tuple[str, ...]  # further host names on the network
    depends_on: tuple[Dependency, ...]
    replicas: int
    healthcheck: tuple[str, ...]
    volumes: tuple[str, ...] = ()  # names of those that outlive a container; no folders of this machine
    built: bool = False  # from this checkout: no registry has it

    @property
    def image_name(self) -> str:
        """The image without registry, folder, tag and digest: `host:5000/x/postgres:18` is `postgres`."""
        return self.image.partition("@")[0].rpartition("/")[2].partition(":")[0]


@dataclass(frozen=True, kw_only=True)
class Topology:
    """All services of the file."""

    name: str
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
            for need in service.depends_on:
                if need.required and need.service not in found:
                    raise _wrong(
                        f"services.{service.name}.depends_on.{need.service}",
                        f"required, but none of the profiles {_list(wanted)} starts it; "
                        "add its profile, or `required: false`",
                    )
        return found


def load(root: Path, settings: Mapping[str, str]) -> Topology:
    """Reads root/docker-compose.yml. A value comes from settings, .env or its default."""
    values = {**_env_file(root / ".env"), **settings}
    path = root / FILE
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"{FILE}: cannot be read ({error.strerror}); it must be in the same folder as the Makefile"
        ) from error
    except yaml.YAMLError as error:
        raise UsageError(f"{FILE}: not YAML: {error}") from error
    services = _mapping(data, FILE).get("services")
    return Topology(
        name=str(data.get("name", root.name)),
        services={
            name: _service(name, _fill(entry, values, f"services.{name}"))
            for name, entry in _mapping(services, "services").items()
        },
    )


def value(root: Path, name: str, settings: Mapping[str, str]) -> str:
    """One variable, from settings or .env; empty where neither has it."""
    return {**_env_file(root / ".env"), **settings}.get(name, "")


def variables(root: Path) -> frozenset[str]:
    """The variables that the compose file names."""
    text = (root / FILE).read_text(encoding="utf-8")
    return frozenset(match["name"] or match["plain"] for match in _START.finditer(text)) - {None}


def interpolate(text: str, values: Mapping[str, str], where: str) -> str:
    """Fills in $A, ${A}, ${A:-default}, ${A-default}, ${A:?error}, ${A:+alternative}; $$ is a dollar sign."""
    done, position = [], 0
    while match := _START.search(text, position):
        done.append(text[position : match.start()])
        position = match.end()
        if match["escaped"]:
            done.append("$")
        elif match["lone"] is not None:
            raise _wrong(where, f"`{text[match.start() :]}`: write a literal dollar sign as $$")
        elif match["plain"]:
            done.append(values.get(match["plain"], ""))
        else:
            end = _closing(text, position, where)
            done.append(_substitute(match["name"], text[position:end], values, where))
            position = end + 1
    return "".join(done) + text[position:]


def _closing(text: str, start: int, where: str) -> int:
    depth = 1
    for position in range(start, len(text)):
        depth += {"}": -1, "{": 1}.get(text[position], 0)
        if depth == 0:
            return position
    raise _wrong(where, f"`{text}`: a ${{ without a closing }}")


def _substitute(name: str, rest: str, values: Mapping[str, str], where: str) -> str:
    value = values.get(name)
    if not rest:
        return value or ""
    operator = _OPERATOR.match(rest)
    if operator is None:
        raise _wrong(
            where, f"${{{name}{rest}}}: not one of ${{A}}, ${{A:-b}}, ${{A-b}}, ${{A:?b}}, ${{A:+b}}"
        )
    word = rest[operator.end() :]
    given = bool(value) if operator[0].startswith(":") else value is not None
    kind = operator[0][-1]
    if kind == "+":
        return interpolate(word, values, where) if given else ""
    if given:
        return value or ""
    if kind == "?":
        raise _wrong(where, f"variable {name} must be set: {interpolate(word, values, where)}")
    return interpolate(word, values, where)


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
    where = f"services.{name}"
    data = _mapping(entry, where)
    arguments = _pairs(
        _optional_mapping(data.get("build"), f"{where}.build").get("args"), f"{where}.build.args"
    )
    module = arguments.get("MODULE")
    image = data.get("image", "")
    if not isinstance(image, str) or not (image or module):
        raise _wrong(where, "needs an image, or a build argument MODULE")
    replicas = _optional_mapping(data.get("deploy"), f"{where}.deploy").get("replicas", 1)
    if not str(replicas).isdigit() or int(replicas) < 1:
        raise _wrong(f"{where}.deploy.replicas", f"{replicas!r} is not a number of instances, 1 or more")
    health = _optional_mapping(data.get("healthcheck"), f"{where}.healthcheck").get("test", ())
    return Service(
        name=name,
        image=image,
        module=module,
        profiles=_words(data.get("profiles", ()), f"{where}.profiles"),
        environment=_pairs(data.get("environment"), f"{where}.environment"),
        command=_words(data.get("command", ()), f"{where}.command"),
        aliases=_aliases(data.get("networks"), f"{where}.networks"),
        depends_on=_dependencies(data.get("depends_on"), f"{where}.depends_on"),
        replicas=int(replicas),
        healthcheck=_words(health, f"{where}.healthcheck.test"),
        volumes=_volumes(data.get("volumes", ()), f"{where}.volumes"),
        built="build" in data,
    )


def _volumes(node: Any, where: str) -> tuple[str, ...]:
    """The named ones, from either of Compose's two forms."""
    if not isinstance(node, (list, tuple)):
        raise _wrong(where, "needs a list")
    found: list[str] = []
    for index, entry in enumerate(node):
        if isinstance(entry, str):
            source, colon, _ = entry.partition(":")
            named = bool(colon) and not source.startswith(("/", ".", "~"))
        else:
            each = _mapping(entry, f"{where}[{index}]")
            source, named = str(each.get("source", "")), each.get("type") == "volume"
        if named and source:
            found.append(source)
    return tuple(found)


def _aliases(networks: Any, where: str) -> tuple[str, ...]:
    if networks is None or isinstance(networks, list):
        return ()
    found: list[str] = []
    for name, network in _mapping(networks, where).items():
        entry = _optional_mapping(network, f"{where}.{name}")
        found.extend(_words(entry.get("aliases", ()), f"{where}.{name}.aliases"))
    return tuple(found)


def _dependencies(node: Any, where: str) -> tuple[Dependency, ...]:
    if node is None or isinstance(node, list):
        return tuple(Dependency(service=name) for name in _words(node or (), where))
    return tuple(
        Dependency(service=name, required=_optional_mapping(entry, f"{where}.{name}").get("required", True))
        for name, entry in _mapping(node, where).items()
    )


def _pairs(node: Any, where: str) -> dict[str, str]:
    """Names and values from either of Compose's two forms."""
    if node is None:
        return {}
    if isinstance(node, list):
        split = [word.partition("=") for word in _words(node, where)]
        return {name: value for name, _, value in split}
    return {str(key): _scalar(value, f"{where}.{key}") for key, value in _mapping(node, where).items()}


def _scalar(value: Any, where: str) -> str:
    if isinstance(value, bool):
        raise _wrong(where, f'{value}: quote it: Compose requires "true" or "false"')
    if value is None or isinstance(value, (str, int, float)):
        return "" if value is None else str(value)
    raise _wrong(where, "needs one value")


def _words(node: Any, where: str) -> tuple[str, ...]:
    if isinstance(node, str):
        return tuple(shlex.split(node))
    if isinstance(node, (list, tuple)) and all(isinstance(each, (str, int, float)) for each in node):
        return tuple(map(str, node))
    raise _wrong(where, "needs a list of words")


def _optional_mapping(node: Any, where: str) -> dict[str, Any]:
    if isinstance(node, str) and where.endswith(".build"):  # the short form: the folder alone
        return {}
    return {} if node is None else _mapping(node, where)


def _mapping(node: Any, where: str) -> dict[str, Any]:
    if not isinstance(node, dict):
        raise _wrong(where, "needs names and values")
    return node


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _wrong(where: str, what: str) -> UsageError:
    return UsageError(f"{FILE}: {where}: {what}")
