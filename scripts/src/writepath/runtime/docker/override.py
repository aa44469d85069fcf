"""What does a stack add to docker-compose.yml? Ports that stay, and small disks: a second compose file of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from writepath.errors import UsageError
from writepath.runtime.network import LOOPBACK, free_ports

HOLDER_SUFFIX = "-disk"


class _Instead(list[str]):
    """A list that takes the place of the first file's, where Compose would append to it."""


class _Dumper(yaml.SafeDumper):
    """Knows the list above."""


_Dumper.add_representer(_Instead, lambda dumper, data: dumper.represent_sequence("!override", data))


@dataclass(frozen=True, kw_only=True)
class Override:
    """The second file of one stack."""

    text: str
    ports: frozenset[int]  # those it chose

    def chose_any_of(self, message: str) -> bool:
        """Whether an engine's message names one of its ports."""
        return any(f":{port}" in message for port in self.ports)


def stores(services: Mapping[str, Any]) -> list[str]:
    """Those services of `docker compose config` that keep data: with a named volume."""
    return sorted(name for name, service in services.items() if _volumes(service))


def holder(component: str) -> str:
    """The service that keeps a component's small disk mounted."""
    return component + HOLDER_SUFFIX


def write(services: Mapping[str, Any], disks: Mapping[str, int]) -> Override:
    """For services of `docker compose config`, and the small disks wanted.

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
    taken: set[int] = set()
    entries: dict[str, dict[str, Any]] = {name: _ports(s, taken) for name, s in services.items()}
    volumes: dict[str, Any] = {}
    for component, size_bytes in disks.items():
        service = services[component]
        entries[component] |= _room(service, size_bytes)
        entries[holder(component)] = _holder(service)
        volumes |= {mount["source"]: _small(size_bytes) for mount in _volumes(service)}
    entries = {name: entry for name, entry in entries.items() if entry}
    text = yaml.dump({"services": entries, "volumes": volumes}, Dumper=_Dumper, sort_keys=False)
    return Override(text=text, ports=frozenset(taken))


def _ports(service: Mapping[str, Any], taken: set[int]) -> dict[str, Any]:
    count = int((service.get("deploy") or {}).get("replicas", 1))
    written = []
    for port in service.get("ports") or []:
        host = str(port.get("published", "0"))
        if host == "0":
            row = free_ports(count)
            taken.update(row)
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
