"""What does the Docker engine know of our containers? A small client of its API."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

from writepath.errors import StartError
from writepath.runtime.base import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROJECT_LABEL = "com.docker.compose.project"
SERVICE_LABEL = "com.docker.compose.service"
KILLED = 137  # exit code of what ended by SIGKILL
_ANSWER_SECONDS = 30
_FRAME_HEADER_BYTES = 8


@dataclass(frozen=True, kw_only=True)
class Container:
    """One container as the engine describes it now."""

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
    restarts: int

    @property
    def loss(self) -> str | None:
        """Why it does not count as running without a break, in words; None while it does."""
        if self.oom_killed:
            return f"{self.name} was killed: out of memory (limit {self.memory_limit_bytes // 2**20} MiB)"
        if self.restarts:
            return f"{self.name} restarted {self.restarts} time(s)"
        return None if self.running else f"{self.name} ended with exit code {self.exit_code}"


class Engine:
    """A client of one Docker engine. Thread-safe."""

    def __init__(self, host: str) -> None:
        """Host as Docker writes it: `unix:///path` or `tcp://name:port`; StartError for any other."""
        self.host = host
        scheme, _, address = host.partition("://")
        if scheme not in {"unix", "tcp"}:
            raise StartError(f"the Docker engine at {host} is neither unix:// nor tcp://; try RUNTIME=native")
        self.host = host
        # A connection for each request: opening one costs nothing here, and nobody has to close the client.
        limits = httpx.Limits(max_keepalive_connections=0)
        self._http = httpx.Client(
            transport=httpx.HTTPTransport(uds=address if scheme == "unix" else None, limits=limits),
            base_url="http://docker" if scheme == "unix" else f"http://{address}",
            timeout=_ANSWER_SECONDS,
        )

    def containers(self, project: str, service: str | None = None) -> list[Container]:
        """Every container of a compose project or of one service of it, ended ones too, by service and instance."""
        labels = [f"{PROJECT_LABEL}={project}"] + ([f"{SERVICE_LABEL}={service}"] if service else [])
        listed = self._get("/containers/json", all=True, filters=_label_filter(*labels))
        details = [self._get(f"/containers/{entry['Id']}/json") for entry in listed]
        return sorted((_container(d) for d in details), key=lambda c: (c.service, c.instance))

    def projects(self, prefix: str) -> set[str]:
        """Names of the compose projects that have anything left here and start with the prefix."""
        found: set[str] = set()
        for path, key in (("/containers/json?all=true", None), ("/networks", None), ("/volumes", "Volumes")):
            data = self._get(path)
            for entry in (data[key] if key else data) or []:
                found.add((entry.get("Labels") or {}).get(PROJECT_LABEL, ""))
        return {name for name in found if name.startswith(prefix)}

    def names(self, prefix: str) -> list[str]:
        """Names of containers, ended ones too, that start with the prefix."""
        listed = self._get("/containers/json", all=True, filters=json.dumps({"name": [f"^/{prefix}"]}))
        return [name.lstrip("/") for entry in listed for name in entry["Names"]]

    def usage(self, container: str) -> Usage | None:
        """What a container, by id or name, has used since it started; None where there is none."""
        response = self._http.get(
            f"/containers/{container}/stats", params={"stream": "false", "one-shot": "true"}
        )
        if response.status_code == httpx.codes.NOT_FOUND:
            return None
        stats = _checked(response)
        return usage_of(stats)

    def image_id(self, image: str) -> str | None:
        """The id behind an image's name; None where the engine has no such image."""
        response = self._http.get(f"/images/{image}/json")
        return None if response.status_code == httpx.codes.NOT_FOUND else str(_checked(response)["Id"])

    def image_environment(self, image: str) -> set[str]:
        """The NAME=value pairs that the image itself sets."""
        return set(self._get(f"/images/{image}/json")["Config"]["Env"] or [])

    def version(self) -> str:
        """The engine's own version."""
        return str(self._get("/version")["Version"])

    def log(self, container: str, tail: int | None = None) -> Iterator[bytes]:
        """What a container wrote to both its outputs, in order; tail limits it to so many last lines."""
        params = {"stdout": "true", "stderr": "true", "tail": "all" if tail is None else str(tail)}
        with self._http.stream("GET", f"/containers/{container}/logs", params=params) as response:
            yield from _payloads(response.iter_raw())

    def kill(self, container: str) -> None:
        """Ends a container at once, as a power cut would; it has ended on return."""
        self._post(container, "kill", signal="SIGKILL")
        self._post(container, "wait", condition="not-running")

    def signal(self, container: str, name: str) -> None:
        """Sends its first process a signal; nothing where it has ended."""
        self._post(container, "kill", signal=name)

    def stop(self, container: str, grace_seconds: int) -> None:
        """Asks a container to end, kills it after the grace; it has ended on return."""
        self._post(container, "stop", _ANSWER_SECONDS + grace_seconds, t=str(grace_seconds))

    def start(self, container: str) -> None:
        """Restarts a container that has ended; does nothing where it runs."""
        self._post(container, "start")

    def pause(self, container: str) -> None:
        """Freezes all its processes."""
        self._post(container, "pause")

    def unpause(self, container: str) -> None:
        """Lets them go on."""
        self._post(container, "unpause")

    def remove(self, containers: Sequence[str]) -> None:
        """Removes containers, running or not, and their unnamed volumes, side by side."""
        with ThreadPoolExecutor(max(1, len(containers))) as pool:
            list(pool.map(lambda c: self._delete(f"/containers/{c}", force="true", v="true"), containers))

    def remove_project(self, project: str) -> None:
        """Removes all containers, networks and volumes of a compose project."""
        mine = _label_filter(f"{PROJECT_LABEL}={project}")
        self.remove([entry["Id"] for entry in self._get("/containers/json", all=True, filters=mine)])
        for network in self._get("/networks", filters=mine):
            self._delete(f"/networks/{network['Id']}")
        for volume in self._get("/volumes", filters=mine)["Volumes"] or []:
            self._delete(f"/volumes/{volume['Name']}", force="true")

    def _delete(self, path: str, **params: str) -> None:
        """Gone before, or being removed already, is as good."""
        response = self._http.delete(path, params=params)
        if response.status_code not in {httpx.codes.NOT_FOUND, httpx.codes.CONFLICT}:
            _check(response)

    def _post(self, container: str, action: str, seconds: float = _ANSWER_SECONDS, **params: str) -> None:
        """In that state already (304, and 409 from kill) is as good."""
        response = self._http.post(f"/containers/{container}/{action}", params=params, timeout=seconds)
        if action != "kill" or response.status_code != httpx.codes.CONFLICT:
            _check(response)

    def _get(self, path: str, **params: Any) -> Any:
        return _checked(self._http.get(path, params=params or None))


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


def _container(data: dict[str, Any]) -> Container:
    labels, state, config = data["Config"]["Labels"], data["State"], data["Config"]
    networks = list((data["NetworkSettings"]["Networks"] or {}).values())
    ports = data["NetworkSettings"]["Ports"] or {}
    return Container(
        id=data["Id"],
        name=data["Name"].lstrip("/"),
        service=labels[SERVICE_LABEL],
        instance=int(labels["com.docker.compose.container-number"]),
        image=config["Image"],
        command=(*(config["Entrypoint"] or []), *(config["Cmd"] or [])),
        environment=dict(pair.partition("=")[::2] for pair in config["Env"]),
        memory_limit_bytes=data["HostConfig"]["Memory"],
        published={int(p.partition("/")[0]): int(b[0]["HostPort"]) for p, b in ports.items() if b},
        volumes=tuple(
            mount["Destination"]
            for mount in data["Mounts"]
            if mount.get("Name", "").startswith(f"{labels[PROJECT_LABEL]}_")
        ),
        aliases=frozenset(alias for network in networks for alias in network.get("Aliases") or ()),
        address=next((network["IPAddress"] for network in networks), ""),
        life=f"{state['Pid']} since {state['StartedAt']}",
        running=state["Running"],
        paused=state["Paused"],
        exit_code=state["ExitCode"],
        oom_killed=state["OOMKilled"],
        restarts=data["RestartCount"],
    )


def _payloads(raw: Iterator[bytes]) -> Iterator[bytes]:
    """Takes the engine's frames apart: 1 byte of stream number, 3 of padding, 4 of length, the payload."""
    held = b""
    for chunk in raw:
        held += chunk
        while len(held) >= _FRAME_HEADER_BYTES:
            end = _FRAME_HEADER_BYTES + int.from_bytes(held[4:_FRAME_HEADER_BYTES], "big")
            if len(held) < end:
                break
            yield held[_FRAME_HEADER_BYTES:end]
            held = held[end:]


def _label_filter(*labels: str) -> str:
    return json.dumps({"label": labels})


def _check(response: httpx.Response) -> None:
    if response.is_error:
        said = response.text.strip()[:300]
        raise StartError(f"the Docker engine refused {response.request.url.path}: {said}")


def _checked(response: httpx.Response) -> Any:
    _check(response)
    return response.json()
