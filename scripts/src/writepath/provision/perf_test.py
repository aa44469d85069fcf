"""How does RabbitMQ's own load tool get here? With its libraries from a Maven repository, once per version."""

from collections.abc import Callable
from pathlib import Path

from writepath.provision import maven, state

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


def ensure(root: Path, say: Callable[[str], None]) -> Path:
    """Fetches it unless it is there; the folder of its jars."""
    target = state.folder(root) / f"rabbitmq-perf-test-{VERSION}"
    if not target.is_dir():
        say(f"rabbitmq-perf-test: fetching {VERSION}")
        coordinates, scope = f"com.rabbitmq:perf-test:{VERSION}", "-DincludeScope=runtime"
        with maven.fetched(root, coordinates, "copy-dependencies", scope, pom=_POM) as files:
            if not target.is_dir():  # another command has fetched it meanwhile
                files.rename(target)
    return target
