"""What does the Docker engine know of our containers? Its answers, by the `docker` SDK, in the words of a stack."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import docker
from docker import errors
from requests import RequestException

from writepath.errors import StartError
from writepath.process import call
from writepath.runtime.base import Usage

PROJECT_LABEL = "com.docker.compose.project"
SERVICE_LABEL = "com.docker.compose.service"
_NUMBER_LABEL = "com.docker.compose.container-number"  # that Compose gives, and no container of k6 has
GENERATOR = "k6"  # service label of the load generator: it belongs to the project, without being in its file
KILLED = 137  # exit code of what ended by SIGKILL
ANSWER_SECONDS = 30


@contextmanager
def told(doing: str = "the Docker engine refused") -> Iterator[None]:
    """StartError, in the engine's words, for whatever it refuses or does not answer."""
    try:
        yield
    except (errors.DockerException, RequestException) as error:
        said = getattr(error, "explanation", None) or error
        raise StartError(f"{doing}: {str(said)[:300]}") from error


@dataclass(frozen=True, kw_only=True)
class Container:
    """One container as the engine describes it now."""

    sdk: Any  # docker.models.containers.Container: what can be done to it
    id: str
    name: str
    service: str
    instance: int
    image: str
    command: tuple[str, ...]
    environment: dict[str, str]
    memory_limit_bytes: int
    published: dict[int, int]  # container port -> loopback port
    volumes: tuple[str, ...]  # where those of the project are mounted
    aliases: frozenset[str]  # further names on its network
    address: str  # there; empty while it does not run
    life: str  # tells this start of it from any other
    running: bool  # a paused one too
    paused: bool
    exit_code: int
    oom_killed: bool

    @property
    def loss(self) -> str | None:
        """Why it does not count as running without a break, in words; None while it does."""
        if self.oom_killed:
            return f"{self.name} was killed: out of memory (limit {self.memory_limit_bytes // 2**20} MiB)"
        return None if self.running else f"{self.name} ended with exit code {self.exit_code}"

    def kill(self) -> None:
        """Ends it at once, as a power cut would; it has ended on return."""
        with _unless(HTTPStatus.CONFLICT):  # it has ended meanwhile
            self.sdk.kill()
        self.sdk.wait(condition="not-running")


class Engine:
    """A client of one Docker engine. Thread-safe."""

    def __init__(self, host: str) -> None:
        """Host as Docker writes it: `unix:///path` or `tcp://name:port`; StartError where no engine answers there."""
        self.host = host
        with told(f"no Docker engine can be used at {host}; try RUNTIME=native"):
            self._client = docker.DockerClient(base_url=host, timeout=ANSWER_SECONDS, max_pool_size=16)
        self._api = self._client.api

    @told()
    def containers(self, project: str, service: str | None = None) -> list[Container]:
        """Every container of a compose project or of one service of it, ended ones too, by service and instance."""
        labels = [
            f"{PROJECT_LABEL}={project}",
            _NUMBER_LABEL,
            *([f"{SERVICE_LABEL}={service}"] if service else []),
        ]
        listed = self._client.containers.list(all=True, filters={"label": labels}, ignore_removed=True)
        return sorted(map(_container, listed), key=lambda c: (c.service, c.instance))

    @told()
    def projects(self, prefix: str) -> set[str]:
        """Names of the compose projects that have anything left here and start with the prefix."""
        left = [
            *self._api.containers(all=True),
            *self._api.networks(),
            *(self._api.volumes()["Volumes"] or []),
        ]
        found = {(each.get("Labels") or {}).get(PROJECT_LABEL, "") for each in left}
        return {name for name in found if name.startswith(prefix)}

    @told()
    def generators(self, project: str) -> list[str]:
        """Ids of the containers of k6 that run now."""
        labels = [f"{PROJECT_LABEL}={project}", f"{SERVICE_LABEL}={GENERATOR}"]
        return [entry["Id"] for entry in self._api.containers(filters={"label": labels})]

    @told()
    def usage(self, container: str) -> Usage | None:
        """What a container, by id or name, has used since it started; None where there is none."""
        try:
            return usage_of(self._api.stats(container, stream=False, one_shot=True))
        except errors.NotFound:
            return None

    @told()
    def image_id(self, image: str) -> str | None:
        """The id behind an image's name; None where the engine has no such image."""
        try:
            return str(self._api.inspect_image(image)["Id"])
        except errors.ImageNotFound:
            return None

    @told()
    def image_environment(self, image: str) -> set[str]:
        """The NAME=value pairs that the image itself sets."""
        return set(self._api.inspect_image(image)["Config"]["Env"] or [])

    @told()
    def version(self) -> str:
        """The engine's own version."""
        return str(self._api.version()["Version"])

    @told()
    def remove_project(self, project: str) -> None:
        """Removes all containers, networks and volumes of a compose project, with its load generators."""
        mine = {"label": f"{PROJECT_LABEL}={project}"}
        containers = self._api.containers(all=True, filters=mine)
        with ThreadPoolExecutor(max(1, len(containers))) as pool:
            list(pool.map(self._remove, containers))
        for network in self._api.networks(filters=mine):
            with _unless(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):
                self._api.remove_network(network["Id"])
        for volume in self._api.volumes(filters=mine)["Volumes"] or []:
            with _unless(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):
                self._api.remove_volume(volume["Name"], force=True)

    @told()
    def _remove(self, container: Mapping[str, Any]) -> None:
        with _unless(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):  # gone, or being removed, is as good
            self._api.remove_container(container["Id"], v=True, force=True)


def current() -> Engine:
    """Of the current context: what DOCKER_HOST or `docker context use` chose. CallError where none answers there."""
    call("docker", "version", timeout_s=10)
    host = call("docker", "context", "inspect", "--format", "{{.Endpoints.docker.Host}}", timeout_s=10)
    return Engine(host.strip())


@contextmanager
def _unless(*harmless: int) -> Iterator[None]:
    try:
        yield
    except errors.APIError as error:
        if error.status_code not in harmless:
            raise


def usage_of(stats: dict[str, Any]) -> Usage:
    """The engine's statistics in our units, of both versions of control groups."""
    memory = stats["memory_stats"].get("stats", {})
    # Resident memory, not memory_stats.usage: that one counts the page cache, which belongs to nobody.
    anonymous = memory.get("anon", memory.get("total_rss", 0))
    mapped = memory.get("file_mapped", memory.get("total_mapped_file", 0))
    blocks = stats.get("blkio_stats", {}).get("io_service_bytes_recursive") or []
    written = [entry["value"] for entry in blocks if entry["op"].lower() == "write"]
    return Usage(
        cpu_seconds=stats["cpu_stats"]["cpu_usage"]["total_usage"] / 1e9,
        rss_bytes=anonymous + mapped,
        write_bytes=sum(written) if written else None,
    )


def _container(sdk: Any) -> Container:
    data = sdk.attrs
    labels, state, config = sdk.labels, data["State"], data["Config"]
    networks = list((data["NetworkSettings"]["Networks"] or {}).values())
    mine = f"{labels[PROJECT_LABEL]}_"
    return Container(
        sdk=sdk,
        id=sdk.id,
        name=sdk.name,
        service=labels[SERVICE_LABEL],
        instance=int(labels[_NUMBER_LABEL]),
        image=config["Image"],
        command=(*(config["Entrypoint"] or []), *(config["Cmd"] or [])),
        environment=dict(pair.partition("=")[::2] for pair in config["Env"]),
        memory_limit_bytes=data["HostConfig"]["Memory"],
        published={int(p.partition("/")[0]): int(b[0]["HostPort"]) for p, b in sdk.ports.items() if b},
        volumes=tuple(
            mount["Destination"] for mount in data["Mounts"] if mount.get("Name", "").startswith(mine)
        ),
        aliases=frozenset(alias for network in networks for alias in network.get("Aliases") or ()),
        address=next((network["IPAddress"] for network in networks), ""),
        life=f"{state['Pid']} since {state['StartedAt']}",
        running=state["Running"],
        paused=state["Paused"],
        exit_code=state["ExitCode"],
        oom_killed=state["OOMKilled"],
    )
