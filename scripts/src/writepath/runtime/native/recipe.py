"""What a recipe of a service gets, a place to work in, and what it gives: the processes to start there."""

import http
import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from writepath.errors import SetupError
from writepath.runtime import network
from writepath.runtime.native.host import Account
from writepath.runtime.network import Addresses
from writepath.runtime.topology import Service


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where one service of one stack is started."""

    root: Path  # of the checkout
    folder: Path  # the service's own, empty; removed with the stack
    service: Service
    active: Mapping[str, Service]
    addresses: Addresses
    account: Account
    jars: Mapping[str, Path]  # of our own applications, by Maven module

    @property
    def disk(self) -> Path:
        """Where a file system for its data alone is mounted, if it has one whose power can be cut."""
        return self.folder / "disk"

    @property
    def data(self) -> Path:
        """The folder of its data, which the recipe makes."""
        return (self.disk if self.disk.is_dir() else self.folder) / "data"

    def port(self, inside: int | str, instance: int = 0) -> int:
        """The loopback port that stands for one of the service's own."""
        return self.addresses.port(self.service.name, inside, instance)

    def ports(self, inside: int) -> list[int]:
        """The same, of each instance."""
        return [self.port(inside, instance) for instance in range(self.service.replicas)]

    def serves(self) -> bool:
        """Whether every instance answers on each port that the compose file publishes."""
        environment = self.service.environment
        return all(
            network.serves(inside, port, environment)
            for inside in self.service.published
            for port in self.ports(inside)
        )

    def jar(self) -> Path:
        """Of the application."""
        module = self.service.module or ""
        if module not in self.jars:
            raise SetupError(
                f"docker-compose.yml: services.{self.service.name}.build.args.MODULE: {module} is not among the "
                f"runnable jars {', '.join(self.jars)}; is it in services/pom.xml, with finalName = artifactId?"
            )
        return self.jars[module]

    def answer(self, inside: int, path: str) -> Any:
        """The JSON that it answers with 200 on one of its ports, else None."""
        status, body = network.http_request("GET", self.port(inside), path)
        return json.loads(body) if status == http.HTTPStatus.OK else None

    def environment(self) -> dict[str, str]:
        """The service's environment with loopback addresses, on a bare base: nothing of the user's shell."""
        rewritten = {key: self.addresses.rewrite(value) for key, value in self.service.environment.items()}
        return {**self.base_environment(), **rewritten}

    def base_environment(self) -> dict[str, str]:
        """What any program needs."""
        path = os.pathsep.join(("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"))
        return {"PATH": path, "LANG": "C.UTF-8", "HOME": str(self.folder), "TMPDIR": str(self.temporary())}

    def temporary(self) -> Path:
        """A folder for temporary files."""
        path = self.folder / "tmp"
        return path if path.exists() else self.account.make_folder(path)

    def write(self, name: str, text: str, mode: int = 0o600) -> Path:
        """A file of the service's own folder, for its account alone."""
        return self.account.write(self.folder / name, text, mode)


@dataclass(frozen=True, kw_only=True)
class Part:
    """One process to start."""

    args: Sequence[str | Path]
    env: Mapping[str, str]
    suffix: str = ""  # of its name, behind the service's: -2 for a second instance
    settings: Mapping[str, str] = field(default_factory=dict)  # what it was started with, for the record
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 3.0
    death_signal: signal.Signals = signal.SIGKILL
    orderly_signal: signal.Signals = signal.SIGTERM  # what its container's engine would send to stop it
    opens_port: int | None = None  # that the next part may not be started without
    helper: bool = False  # outlives the component: neither killed nor frozen with it


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How one kind of service runs as local processes."""

    launch: Callable[[Place], Iterator[Part]]  # in order; each is started before the next one is asked for
    version: Callable[[], tuple[str, str]]  # of what it runs; an application tells more at /actuator/info
    is_ready: Callable[[Place], bool] = Place.serves  # quick, and False for any failure to reach it
