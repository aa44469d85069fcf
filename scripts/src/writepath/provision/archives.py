"""How do PostgreSQL and Elasticsearch get here? As Maven artifacts, unpacked once per version."""

import platform
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from writepath import process
from writepath.errors import SetupError
from writepath.provision import maven, state

POSTGRES_VERSION = "18.6.0"
ELASTICSEARCH_VERSION = "8.19.21"
_POSTGRES_MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64v8", "arm64": "arm64v8"}


def postgres(root: Path) -> Path:
    """Where PostgreSQL's bin, lib and share are, or would be."""
    return state.folder(root) / f"postgresql-{POSTGRES_VERSION}-{platform.machine()}"


def elasticsearch(root: Path) -> Path:
    """Where Elasticsearch's bin, lib and modules are, or would be."""
    return state.folder(root) / f"elasticsearch-{ELASTICSEARCH_VERSION}"


def ensure_postgres(root: Path, say: Callable[[str], None]) -> None:
    """Fetches PostgreSQL unless it is there."""
    if postgres(root).is_dir():
        return
    machine = _POSTGRES_MACHINES.get(platform.machine())
    if platform.system() != "Linux" or machine is None:
        raise SetupError(
            f"native PostgreSQL binaries are for Linux on x86-64 or ARM64, not {platform.system()} on "
            f"{platform.machine()}; use RUNTIME=docker"
        )
    say(f"postgres: fetching {POSTGRES_VERSION}")
    name = f"io.zonky.test.postgres:embedded-postgres-binaries-linux-{machine}:{POSTGRES_VERSION}"
    with maven.fetched(root, name, "copy", f"-Dartifact={name}") as files:
        with zipfile.ZipFile(next(files.iterdir())) as jar:
            inner = next(entry for entry in jar.namelist() if entry.endswith(".txz"))
            archive = jar.extract(inner, files)
        with state.made_whole(postgres(root)) as part:
            try:
                with tarfile.open(archive, "r:xz") as tar:
                    tar.extractall(part, filter="tar")
            except tarfile.CompressionError:  # a Python built without lzma
                process.call("tar", "-xJf", archive, "-C", part)


def ensure_elasticsearch(root: Path, say: Callable[[str], None]) -> None:
    """Fetches Elasticsearch unless it is there."""
    if elasticsearch(root).is_dir():
        return
    say(f"elasticsearch: fetching {ELASTICSEARCH_VERSION} (107 MB)")
    name = f"org.elasticsearch.distribution.integ-test-zip:elasticsearch:{ELASTICSEARCH_VERSION}:zip"
    with maven.fetched(root, name, "copy", f"-Dartifact={name}") as files:
        with zipfile.ZipFile(next(files.iterdir())) as archive:
            archive.extractall(files)  # noqa: S202 of a known artifact, and zipfile keeps names inside
        inner = files / f"elasticsearch-{ELASTICSEARCH_VERSION}"
        for program in (inner / "bin").iterdir():
            program.chmod(0o755)  # a zip read by Python loses the mode
        if not elasticsearch(root).is_dir():  # another command has fetched it meanwhile
            inner.rename(elasticsearch(root))
