"""How does docker-compose.yml become running containers? `docker compose`, for one checkout."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from writepath.process import call
from writepath.runtime import topology


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
