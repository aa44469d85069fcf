"""Turns docker-compose.yml into running containers with `docker compose`, for one checkout.

Each stack adds a second compose file of its own: ports that stay, and small disks.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from writepath.errors import UsageError
from writepath.process import call
from writepath.runtime import aot, topology
from writepath.runtime.network import LOOPBACK, free_ports

HOLDER_SUFFIX = "-disk"
CACHES, JAR = Path("/aot"), "/app/app.jar"  # in the container of an application


@dataclass(frozen=True, kw_only=True)
class Compose:
    """The compose file of one checkout, under a project name."""

    root: Path
    project: str
    profiles: Sequence[str]
    variables: Mapping[str, str]
    override: Path | None = None  # a second file, merged over the first

    def run(self, *args: str) -> str:
        """One `docker compose` command; what it printed. CallError, with the output's end, when it fails."""
        files = [self.root / "docker-compose.yml", *([self.override] if self.override else [])]
        flags = [flag for file in files for flag in ("--file", str(file))]
        flags += [flag for profile in self.profiles for flag in ("--profile", profile)]
        return call(
            *("docker", "compose", "--project-name", self.project, "--project-directory", str(self.root)),
            *(*flags, *args),
            env={**self._inherited(), **self.variables, "IMAGE_TAG": checkout_key(self.root)},
        )

    def _inherited(self) -> dict[str, str]:
        """The environment without the compose file's variables: a setting is given on the command line or in .env."""
        ours = topology.variables(self.root)
        return {name: value for name, value in os.environ.items() if name not in ours}

    def services(self) -> dict[str, Any]:
        """Services that the profiles and variables select, everything filled in."""
        services: dict[str, Any] = json.loads(self.run("config", "--format", "json"))["services"]
        return services

    def images(self) -> list[str]:
        """Images that those services run."""
        return self.run("config", "--images").split()


def checkout_key(root: Path) -> str:
    """8 hex digits that tell this checkout's projects and images from another's on the same engine."""
    return hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:8]


def project_prefix(root: Path) -> str:
    """What the names of all projects and containers of this checkout start with."""
    return f"writepath-{checkout_key(root)}-"


class _Instead(list[str]):
    """A list that takes the place of the first file's, where Compose would append to it."""


class _Dumper(yaml.SafeDumper):
    """Knows the list above."""


_Dumper.add_representer(_Instead, lambda dumper, data: dumper.represent_sequence("!override", data))


def applications(services: Mapping[str, Any]) -> dict[str, Any]:
    """Those services of `docker compose config` that are ours."""
    return {name: s for name, s in services.items() if aot.SETTING in (s.get("environment") or {})}


def stores(services: Mapping[str, Any]) -> list[str]:
    """Those services of `docker compose config` that keep data: with a named volume."""
    return sorted(name for name, service in services.items() if _volumes(service))


def holder(component: str) -> str:
    """The service that keeps a component's small disk mounted."""
    return component + HOLDER_SUFFIX


def override(services: Mapping[str, Any], disks: Mapping[str, int], caches: Mapping[str, Path]) -> str:
    """A second compose file, for services of `docker compose config` and the small disks wanted: see Compose.

    caches: by application, the folder of its ahead-of-time caches.

    A port that the engine chooses is another one after each start of a container, and whoever drives load or reads
    a store keeps its address for a whole run. So each one is fixed here, in the range that no client's side of a
    connection is taken from: nobody else takes it while its container is down. A service with several instances
    gets as many ports in a row, of which the engine gives each instance one.
    """
    unknown = sorted(set(disks) - set(stores(services)))
    if unknown:
        raise UsageError(
            f"small_disks: {', '.join(unknown)} keeps no data; components that do: {', '.join(stores(services))}"
        )
    entries: dict[str, dict[str, Any]] = {name: _ports(s) for name, s in services.items()}
    for name, folder in caches.items():
        entries[name] |= _cached(services[name]["environment"], folder)
    volumes: dict[str, Any] = {}
    for component, size_bytes in disks.items():
        service = services[component]
        entries[component] |= _room(service, size_bytes)
        entries[holder(component)] = _holder(service)
        volumes |= {mount["source"]: _small(size_bytes) for mount in _volumes(service)}
    entries = {name: entry for name, entry in entries.items() if entry}
    return yaml.dump({"services": entries, "volumes": volumes}, Dumper=_Dumper, sort_keys=False)


def _cached(environment: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """What starts an application with its cache, or has it record for one."""
    flags, digest = aot.flags(folder, environment, CACHES / aot.RECORDING, CACHES)
    return {
        "environment": {aot.SETTING: digest, "JAVA_TOOL_OPTIONS": " ".join(flags)},
        "volumes": [f"{folder}:{CACHES}"] if flags else [],
    }


def _ports(service: Mapping[str, Any]) -> dict[str, Any]:
    count = int((service.get("deploy") or {}).get("replicas", 1))
    written = []
    for port in service.get("ports") or []:
        host = str(port.get("published", "0"))
        if host == "0":
            row = free_ports(count)
            host = str(row[0]) if count == 1 else f"{row[0]}-{row[-1]}"
        written.append(f"{port.get('host_ip', LOOPBACK)}:{host}:{port['target']}/{port['protocol']}")
    return {"ports": _Instead(written)} if written else {}


def _volumes(service: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return [
        mount for mount in service.get("volumes") or () if mount["type"] == "volume" and mount.get("source")
    ]


def _room(service: Mapping[str, Any], size_bytes: int) -> dict[str, Any]:
    """A file system in memory counts for whoever writes to it: the limit grows by what it may hold."""
    limit = int(service.get("mem_limit") or 0)
    return {"mem_limit": limit + size_bytes} if limit else {}


def _small(size_bytes: int) -> dict[str, Any]:
    options = {"type": "tmpfs", "device": "tmpfs", "o": f"size={size_bytes},mode=1777"}
    return {"driver": "local", "driver_opts": options}


def _holder(service: Mapping[str, Any]) -> dict[str, Any]:
    """Does nothing but have the disk mounted: the engine unmounts, and so empties, what no container uses.

    It runs the component's own image, so that whoever of both comes first, the disk gets the owner and the
    content that the image has at that place.
    """
    mounts = [f"{mount['source']}:{mount['target']}" for mount in _volumes(service)]
    return {
        "image": service["image"],
        "entrypoint": ["tail", "-f", "/dev/null"],
        "user": "0:0",
        "network_mode": "none",
        "read_only": True,
        "cap_drop": ["ALL"],
        "cap_add": ["DAC_OVERRIDE"],
        "security_opt": ["no-new-privileges:true"],
        "volumes": mounts,
    }
