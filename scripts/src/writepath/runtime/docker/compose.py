"""Turns docker-compose.yml into running containers with `docker compose`, for one checkout.

Each stack adds a second compose file of its own: ports that stay, and small disks.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from writepath.process import call
from writepath.runtime import aot, topology
from writepath.runtime.network import free_ports
from writepath.runtime.topology import Service

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
        """One `docker compose` command; what it printed. CallError, with the output's end, when it fails.

        Of the environment it gets no variable of the file: a setting is given on the command line or in .env.
        """
        ours = topology.variables(self.root)
        inherited = {name: value for name, value in os.environ.items() if name not in ours}
        files = [self.root / topology.FILE, *([self.override] if self.override else [])]
        flags = [flag for file in files for flag in ("--file", str(file))]
        flags += [flag for profile in self.profiles for flag in ("--profile", profile)]
        return call(
            *("docker", "compose", "--project-name", self.project, "--project-directory", str(self.root)),
            *(*flags, *args),
            env={**inherited, **self.variables},
        )


class _Instead(list[str]):
    """A list that takes the place of the first file's, where Compose would append to it."""


class _Dumper(yaml.SafeDumper):
    """Knows the list above."""


_Dumper.add_representer(_Instead, lambda dumper, data: dumper.represent_sequence("!override", data))


def holder(component: str) -> str:
    """The service that keeps a component's small disk mounted."""
    return component + HOLDER_SUFFIX


def override(services: Mapping[str, Service], disks: Mapping[str, int], caches: Mapping[str, Path]) -> str:
    """A second compose file, for services and the small disks wanted: see Compose.

    caches: by application, the folder of its ahead-of-time caches.

    A port that the engine chooses is another one after each start of a container, and whoever drives load or reads
    a store keeps its address for a whole run. So each one is fixed here, in the range that no client's side of a
    connection is taken from: nobody else takes it while its container is down. A service with several instances
    gets as many ports in a row, of which the engine gives each instance one.
    """
    entries = {name: _ports(service) for name, service in services.items()}
    for name, folder in caches.items():
        entries[name] |= _cached(services[name].environment, folder)
    volumes: dict[str, Any] = {}
    for component, size_bytes in disks.items():
        service = services[component]
        if service.memory_limit_bytes:  # a file system in memory counts for whoever writes to it
            entries[component]["mem_limit"] = service.memory_limit_bytes + size_bytes
        entries[holder(component)] = _holder(service)
        options = {"type": "tmpfs", "device": "tmpfs", "o": f"size={size_bytes},mode=1777"}
        disk = {"driver": "local", "driver_opts": options}
        volumes |= dict.fromkeys(service.volumes, disk)
    entries = {name: entry for name, entry in entries.items() if entry}
    return yaml.dump({"services": entries, "volumes": volumes}, Dumper=_Dumper, sort_keys=False)


def _cached(environment: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """What starts an application with its cache, or has it record for one."""
    flags, digest = aot.flags(folder, environment, CACHES / aot.RECORDING, CACHES)
    return {
        "environment": {aot.SETTING: digest, "JAVA_TOOL_OPTIONS": " ".join(flags)},
        "volumes": [f"{folder}:{CACHES}"] if flags else [],
    }


def _ports(service: Service) -> dict[str, Any]:
    written = []
    for port in service.ports:
        address, published, inside = port.split(":")
        if published in ("", topology.ANY_PORT):
            row = free_ports(service.replicas)
            published = f"{row[0]}-{row[-1]}" if len(row) > 1 else f"{row[0]}"
        written.append(f"{address}:{published}:{inside}/tcp")
    return {"ports": _Instead(written)} if written else {}


def _holder(service: Service) -> dict[str, Any]:
    """Does nothing but have the disk mounted: the engine unmounts, and so empties, what no container uses.

    It runs the component's own image, so that whoever of both comes first, the disk gets the owner and the
    content that the image has at that place.
    """
    return {
        "image": service.image,
        "entrypoint": ["tail", "-f", "/dev/null"],
        "user": "0:0",
        "network_mode": "none",
        "read_only": True,
        "cap_drop": ["ALL"],
        "cap_add": ["DAC_OVERRIDE"],
        "security_opt": ["no-new-privileges:true"],
        "volumes": [f"{name}:{place}" for name, place in service.volumes.items()],
    }
