"""Builds our own jars with Maven, once for the sources as they are."""

import shutil
from collections.abc import Callable
from pathlib import Path

from writepath import process
from writepath.errors import SetupError
from writepath.provision import jdk, state

BUILD_SECONDS = 1800.0
UNPACK_SECONDS = 120.0
EARLIER_BUILDS_KEPT = 1  # it may still be running in another terminal
LOCK = "maven"  # of every use of Maven: two at once may corrupt an empty repository


def find() -> Path:
    """The Maven launcher; SetupError says how to get it."""
    found = process.find("mvn")
    if found is None:
        raise SetupError("mvn: not found on the PATH. Install it: sudo apt-get install -y maven")
    return found


def run(*args: str | Path, timeout_s: float, cwd: Path | None = None) -> None:
    """Runs Maven without progress, on the JDK that everything runs on."""
    environment = jdk.find().environment()
    process.call(find(), "-q", "-B", "-ntp", *args, cwd=cwd, env=environment, timeout_s=timeout_s)


def jars(root: Path) -> dict[str, Path] | None:
    """By module, the jars built from the sources as they are now; None if they must be built."""
    found = _build_folder(root)
    return _unpacked(found) if found.is_dir() else None


def build(root: Path, say: Callable[[str], None]) -> dict[str, Path]:
    """Builds all services unless the sources are unchanged; by module, copies that later builds leave alone."""
    target = _build_folder(root)

    def make(work: Path) -> Path:
        say("services: building with Maven (downloads libraries the first time)")
        _package(root)
        # Runnable are those that the Spring Boot plugin repackaged, leaving the plain jar as .original.
        for original in sorted((root / "services").glob("*/target/*.jar.original")):
            jar = original.with_suffix("")
            unpack = ("-Djarmode=tools", "-jar", jar, "extract", "--destination", work / "jars" / jar.stem)
            process.call(jdk.find().java, *unpack, timeout_s=UNPACK_SECONDS)
        earlier = sorted(target.parent.glob("*"), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in earlier[EARLIER_BUILDS_KEPT:]:
            shutil.rmtree(old, ignore_errors=True)
        return work / "jars"

    return _unpacked(state.made_once(root, target, LOCK, make))


def _unpacked(build: Path) -> dict[str, Path]:
    """By module, the jar without its libraries, which are next to it: jars within a jar start slowly."""
    return {path.stem: path for path in sorted(build.glob("*/*.jar")) if path.stem == path.parent.name}


def _package(root: Path) -> None:
    try:
        run(
            *("-f", root / "services" / "pom.xml", "package"),
            *("-Dmaven.test.skip=true", "-Dspotless.check.skip=true", "-Dstyle.color=never"),
            timeout_s=BUILD_SECONDS,
        )
    except process.CallError as error:
        log = state.folder(root) / "build.log"
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
