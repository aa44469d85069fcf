"""Fetches PostgreSQL, Elasticsearch and RabbitMQ's load tool: Maven artifacts, unpacked once per version."""

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
PERF_TEST_VERSION = "2.22.1"
DEPENDENCY_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.9.0"
FETCH_SECONDS = 900.0
_POSTGRES_MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64v8", "arm64": "arm64v8"}
_PERF_TEST_POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>io.writepath</groupId>
  <artifactId>perf-test-libraries</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>com.rabbitmq</groupId>
      <artifactId>perf-test</artifactId>
      <version>{PERF_TEST_VERSION}</version>
    </dependency>
  </dependencies>
</project>
"""


def postgres(root: Path) -> Path:
    """Where PostgreSQL's bin, lib and share are, or would be."""
    return state.folder(root) / f"postgresql-{POSTGRES_VERSION}-{platform.machine()}"


def elasticsearch(root: Path) -> Path:
    """Where Elasticsearch's bin, lib and modules are, or would be."""
    return state.folder(root) / f"elasticsearch-{ELASTICSEARCH_VERSION}"


def ensure_postgres(root: Path, say: Callable[[str], None]) -> Path:
    """Fetches PostgreSQL unless it is there."""
    machine = _POSTGRES_MACHINES.get(platform.machine())
    if platform.system() != "Linux" or machine is None:
        raise SetupError(
            f"native PostgreSQL binaries are for Linux on x86-64 or ARM64, not {platform.system()} on "
            f"{platform.machine()}; use RUNTIME=docker"
        )
    name = f"io.zonky.test.postgres:embedded-postgres-binaries-linux-{machine}:{POSTGRES_VERSION}"
    return _ensure(postgres(root), name, _unpack_postgres, root, say)


def ensure_elasticsearch(root: Path, say: Callable[[str], None]) -> Path:
    """Fetches Elasticsearch (107 MB) unless it is there."""
    name = f"org.elasticsearch.distribution.integ-test-zip:elasticsearch:{ELASTICSEARCH_VERSION}:zip"
    return _ensure(elasticsearch(root), name, _unpack_elasticsearch, root, say)


def ensure_perf_test(root: Path, say: Callable[[str], None]) -> Path:
    """Fetches RabbitMQ's load tool and its libraries unless they are there; the folder of its jars."""
    name = f"com.rabbitmq:perf-test:{PERF_TEST_VERSION}"
    target = state.folder(root) / f"rabbitmq-perf-test-{PERF_TEST_VERSION}"
    return _ensure(target, name, lambda files: files, root, say, pom=_PERF_TEST_POM)


def _ensure(
    target: Path,
    name: str,
    unpack: Callable[[Path], Path],
    root: Path,
    say: Callable[[str], None],
    pom: str = "",
) -> Path:
    """Target, fetched unless it is there: what `unpack` makes of the folder that Maven copies the artifact to.

    name: its coordinates; pom: of a project with that one dependency, to copy its libraries too.
    """

    def make(work: Path) -> Path:
        say(f"fetching {name}")
        goal = ["copy-dependencies", "-DincludeScope=runtime"] if pom else ["copy", f"-Dartifact={name}"]
        if pom:
            (work / "pom.xml").write_text(pom, encoding="utf-8")
        files = work / "files"
        try:
            maven.run(
                *(f"{DEPENDENCY_PLUGIN}:{goal[0]}", goal[1], f"-DoutputDirectory={files}"),
                cwd=work,
                timeout_s=FETCH_SECONDS,
            )
        except process.CallError as error:
            raise SetupError(
                f"Maven could not fetch {name}. Check the network, or configure a mirror in "
                f"~/.m2/settings.xml.\n{error}"
            ) from error
        return unpack(files)

    return state.made_once(root, target, maven.LOCK, make)


def _unpack_postgres(files: Path) -> Path:
    with zipfile.ZipFile(next(files.iterdir())) as jar:
        inner = next(entry for entry in jar.namelist() if entry.endswith(".txz"))
        archive = jar.extract(inner, files)
    with tarfile.open(archive, "r:xz") as tar:
        tar.extractall(files / "postgres", filter="tar")
    return files / "postgres"


def _unpack_elasticsearch(files: Path) -> Path:
    with zipfile.ZipFile(next(files.iterdir())) as archive:
        archive.extractall(files)  # noqa: S202 of a known artifact, and zipfile keeps names inside
    home = files / f"elasticsearch-{ELASTICSEARCH_VERSION}"
    for program in (home / "bin").iterdir():
        program.chmod(0o755)  # a zip read by Python loses the mode
    return home
