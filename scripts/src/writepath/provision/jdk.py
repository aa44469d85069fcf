"""Which JDK does everything run on? The newest of 21 or later, 25 before all others."""

import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from writepath import process
from writepath.errors import SetupError

OLDEST = 21
PREFERRED = 25
_PLACES = (
    *("/usr/lib/jvm/*", "/usr/java/*", "/usr/local/*jdk*", "/opt/*jdk*", "/opt/java/*"),
    *("~/.sdkman/candidates/java/*", "~/.jdks/*", "~/.local/share/mise/installs/java/*"),
)


@dataclass(frozen=True, kw_only=True)
class Jdk:
    """One installed JDK."""

    home: Path
    version: str  # 25.0.1

    @property
    def numbers(self) -> list[int]:
        """[25, 0, 1]."""
        return [int(part) for part in re.findall(r"\d+", self.version)]

    @property
    def java(self) -> Path:
        """The launcher."""
        return self.home / "bin" / "java"

    def environment(self) -> dict[str, str]:
        """This process's environment with this JDK in it, for Maven."""
        path = os.pathsep.join([str(self.home / "bin"), os.environ.get("PATH", "")])
        return {**os.environ, "JAVA_HOME": str(self.home), "PATH": path}


@cache
def find() -> Jdk:
    """The JDK to use; SetupError names what was found and how to get one."""
    known = installed()
    good = [jdk for jdk in known if jdk.numbers[0] >= OLDEST]
    if not good:
        found = ", ".join(f"{jdk.version} ({jdk.home})" for jdk in known) or "none"
        raise SetupError(
            f"no JDK {OLDEST} or newer found (found: {found}); looked at JAVA_HOME, the PATH and the usual "
            f"folders. Install one, for example `apt-get install openjdk-{OLDEST}-jdk-headless` or Eclipse "
            f"Temurin {PREFERRED}, and set JAVA_HOME if it is elsewhere."
        )
    return max(good, key=lambda jdk: (jdk.numbers[0] == PREFERRED, jdk.numbers))


def installed() -> list[Jdk]:
    """Every JDK (with a compiler) in JAVA_HOME, on the PATH and in the usual folders."""
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    on_path = process.find("java")
    if on_path is not None:
        homes.append(on_path.resolve().parent.parent)
    for place in _PLACES:
        pattern = Path(place).expanduser()
        homes.extend(sorted(pattern.parent.glob(pattern.name)))
    found = {home.resolve(): _read(home.resolve()) for home in homes}
    return [jdk for jdk in found.values() if jdk is not None]


def _read(home: Path) -> Jdk | None:
    release = home / "release"
    if not (home / "bin" / "javac").exists() or not release.exists():
        return None
    version = re.search(r'^JAVA_VERSION="(\d[^"]*)"', release.read_text(encoding="utf-8"), re.MULTILINE)
    return Jdk(home=home, version=version[1]) if version else None
