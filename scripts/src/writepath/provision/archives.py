"""How do PostgreSQL and Elasticsearch get here? As Maven artifacts, unpacked once per version."""

from __future__ import annotations

import platform
import shutil
import tarfile
import zipfile
from typing import TYPE_CHECKING

from writepath import process
from writepath.errors import SetupError
from writepath.provision import maven, state

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

POSTGRES_VERSION = "18.6.0"
ELASTICSEARCH_VERSION = "8.19.21"
_POSTGRES_MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64v8", "arm64": "arm64v8"}


def postgres(root: Path) -> Path:
    """Where PostgreSQL's bin, lib and share are, or would be."""
    return state.folder(root) / f"postgresql-{POSTGRES_VERSION}-{platform.machine()}"


def elasticsearch(root: Path) -> Path:
    """Where Elasticsearch's bin, lib and modules are, or would be."""
    return state.folder(root) / f"elasticsearch-{ELASTICSEARCH_VERSION}"


def ensure_postgres(root: Path, say: Callable[[str], None]) -> Path:
    """Fetches PostgreSQL unless it is there."""
    target = postgres(root)
    if target.is_dir():
        return target
    machine = _POSTGRES_MACHINES.get(platform.machine())
    if platform.system() != "Linux" or machine is None:
        raise SetupError(
            f"native PostgreSQL binaries are for Linux on x86-64 or ARM64, not {platform.system()} on "
            f"{platform.machine()}; use RUNTIME=docker"
        )
    say(f"postgres: fetching {POSTGRES_VERSION}")
    name = f"embedded-postgres-binaries-linux-{machine}"
    jar = maven.fetch(root, f"io.zonky.test.postgres:{name}:{POSTGRES_VERSION}")
    try:
        with state.made_whole(target) as part, zipfile.ZipFile(jar) as archive:
            inner = next(entry for entry in archive.namelist() if entry.endswith(".txz"))
            _unpack_xz(archive.extract(inner, jar.parent), part)
    finally:
        shutil.rmtree(jar.parent, ignore_errors=True)
    return target


def ensure_elasticsearch(root: Path, say: Callable[[str], None]) -> Path:
    """Fetches Elasticsearch unless it is there."""
    target = elasticsearch(root)
    if target.is_dir():
        return target
    say(f"elasticsearch: fetching {ELASTICSEARCH_VERSION} (107 MB)")
    coordinates = f"org.elasticsearch.distribution.integ-test-zip:elasticsearch:{ELASTICSEARCH_VERSION}:zip"
    file = maven.fetch(root, coordinates)
    try:
        with state.made_whole(target) as part:
            with zipfile.ZipFile(file) as archive:
                archive.extractall(part)  # noqa: S202 of a known artifact, and zipfile keeps names inside
            inner = part / f"elasticsearch-{ELASTICSEARCH_VERSION}"
            for entry in list(inner.iterdir()):
                entry.rename(part / entry.name)
            inner.rmdir()
            for program in (part / "bin").iterdir():
                program.chmod(0o755)  # a zip read by Python loses the mode
    finally:
        shutil.rmtree(file.parent, ignore_errors=True)
    return target


def _unpack_xz(archive: str, target: Path) -> None:
    try:
        with tarfile.open(archive, "r:xz") as tar:
            tar.extractall(target, filter="tar")
    except tarfile.CompressionError:  # a Python built without lzma
        process.call("tar", "-xJf", archive, "-C", target)
