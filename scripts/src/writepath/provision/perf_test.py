"""How does RabbitMQ's own load tool get here? With its libraries from a Maven repository, once per version."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from writepath import process
from writepath.errors import SetupError
from writepath.provision import jdk, maven, state

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = "2.22.1"
_POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>io.writepath</groupId>
  <artifactId>perf-test-libraries</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>com.rabbitmq</groupId>
      <artifactId>perf-test</artifactId>
      <version>{VERSION}</version>
    </dependency>
  </dependencies>
</project>
"""


def folder(root: Path) -> Path:
    """Where its jars are, or would be."""
    return state.folder(root) / f"rabbitmq-perf-test-{VERSION}"


def ensure(root: Path, say: Callable[[str], None]) -> Path:
    """Fetches it unless it is there; the folder of its jars."""
    target = folder(root)
    with state.lock(root, "maven"):  # two Mavens at once may corrupt an empty local repository
        if target.is_dir():
            return target
        say(f"rabbitmq-perf-test: fetching {VERSION}")
        work = Path(tempfile.mkdtemp(prefix="fetch-", dir=state.folder(root)))
        try:
            with state.made_whole(target) as part:
                _copy(work, part)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return target


def _copy(work: Path, part: Path) -> None:
    (work / "pom.xml").write_text(_POM, encoding="utf-8")
    try:
        process.call(
            maven.find(),
            *("-q", "-B", "-ntp", f"{maven.DEPENDENCY_PLUGIN}:copy-dependencies"),
            *("-DincludeScope=runtime", f"-DoutputDirectory={part.resolve()}"),
            cwd=work,
            env=jdk.find().environment(),
            timeout_s=maven.FETCH_SECONDS,
        )
    except process.CallError as error:
        raise SetupError(
            f"Maven could not fetch com.rabbitmq:perf-test:{VERSION}. Check the network, or"
            f" configure a mirror in ~/.m2/settings.xml.\n{error}"
        ) from error
