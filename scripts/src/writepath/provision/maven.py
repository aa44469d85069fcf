"""Builds our own jars with Maven, once for the sources as they are."""

import shutil
from collections.abc import Callable
from pathlib import Path

from writepath import process
from writepath.errors import SetupError
from writepath.provision import jdk, state

BUILD_SECONDS = 1800.0
UNPACK_SECONDS = 120.0
KEPT_BUILDS = 2  # an older build may still be running in another terminal


def find() -> Path:
    """The Maven launcher; SetupError says how to get it."""
    found = process.find("mvn")
    if found is None:
        raise SetupError("mvn: not found on the PATH. Install it: sudo apt-get install -y maven")
    return found


def jars(root: Path) -> dict[str, Path] | None:
    """By module, the jars built from the sources as they are now; None if they must be built."""
    found = _build_folder(root)
    return _unpacked(found) if found.is_dir() else None


def build(root: Path, say: Callable[[str], None]) -> dict[str, Path]:
    """Builds all services unless the sources are unchanged; by module, copies that later builds leave alone."""
    if (known := jars(root)) is not None:
        return known
    with state.lock(root, "maven"):
        if (known := jars(root)) is not None:
            return known
        say("services: building with Maven (downloads libraries the first time)")
        target = _build_folder(root)
        _package(root)
        with state.made_whole(target) as part:
            # Runnable are those that the Spring Boot plugin repackaged, leaving the plain jar as .original.
            for original in sorted((root / "services").glob("*/target/*.jar.original")):
                jar = original.with_suffix("")
                unpack = ("-Djarmode=tools", "-jar", jar, "extract", "--destination", part / jar.stem)
                process.call(jdk.find().java, *unpack, timeout_s=UNPACK_SECONDS)
        _prune(target.parent)
    return _unpacked(target)


def _unpacked(build: Path) -> dict[str, Path]:
    """By module, the jar without its libraries, which are next to it: jars within a jar start slowly."""
    return {path.stem: path for path in sorted(build.glob("*/*.jar")) if path.stem == path.parent.name}


def _package(root: Path) -> None:
    log = state.folder(root) / "build.log"
    try:
        process.call(
            find(),
            *("-q", "-B", "-ntp", "-f", str(root / "services" / "pom.xml"), "package"),
            *("-Dmaven.test.skip=true", "-Dspotless.check.skip=true", "-Dstyle.color=never"),
            env=jdk.find().environment(),
            timeout_s=BUILD_SECONDS,
        )
    except process.CallError as error:
        log.write_text(error.stdout + error.stderr, encoding="utf-8")
        lines = [line for line in error.stdout.splitlines() if "[ERROR]" in line][:8]
        raise SetupError(
            f"the services could not be built; full log: {log}\n" + ("\n".join(lines) or str(error))
        ) from error


def _build_folder(root: Path) -> Path:
    return state.folder(root) / "jars" / source_hash(root)


def source_hash(root: Path) -> str:
    """Of everything that goes into the jars: poms and main sources, and the JDK's version."""
    services = root / "services"
    files = [services / "pom.xml", *services.glob("*/pom.xml"), *services.glob("*/src/main/**/*")]
    return state.digest(services, files, jdk.find().version)[:16]


def _prune(builds: Path) -> None:
    newest_first = sorted(builds.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in newest_first[KEPT_BUILDS:]:
        shutil.rmtree(old, ignore_errors=True)
