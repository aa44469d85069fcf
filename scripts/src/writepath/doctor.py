"""What does this machine have, what is missing, and how does one get it?"""

import platform
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from writepath import processors
from writepath.errors import SetupError
from writepath.provision import archives, golang, jdk, maven, packages, state

FINE, MISSING_EXIT = 0, 10


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One line: what it is, its version or place, or what to do about it."""

    name: str
    fine: bool
    text: str
    needed_by: str = "native"


def run(root: Path, say: Callable[[str], None]) -> int:
    """Says everything; 0 when at least one runtime can be used, else 10."""
    findings = examine(root)
    for finding in findings:
        say(f"{'ok     ' if finding.fine else 'missing'}  {finding.name:14} {finding.text}")
    usable = [
        name
        for name in ("docker", "native")
        if all(f.fine for f in findings if f.needed_by in (name, "both"))
    ]
    say(f"usable runtimes: {', '.join(usable) or 'none; install what is missing above'}")
    return FINE if usable else MISSING_EXIT


def examine(root: Path) -> list[Finding]:
    """Every finding; nothing is changed."""
    return [
        Finding(name="python", fine=True, text=platform.python_version(), needed_by="both"),
        _disk(root),
        _processors(),
        _docker(root),
        _checked("jdk", lambda: f"{jdk.find().version} ({jdk.find().home})"),
        _checked("maven", lambda: str(maven.find())),
        _package(packages.RABBITMQ, packages.rabbitmq_version),
        _package(packages.NGINX, packages.nginx_version),
        _fetched("postgresql", archives.POSTGRES_VERSION, archives.postgres(root)),
        _fetched("elasticsearch", archives.ELASTICSEARCH_VERSION, archives.elasticsearch(root)),
        _checked("k6", lambda: _k6(root)),
    ]


def _disk(root: Path) -> Finding:
    free, wanted = shutil.disk_usage(root).free, state.FREE_BYTES_NEEDED
    text = f"{free / 1024**3:.0f} GB free, {wanted / 1024**3:.0f} GB needed"
    return Finding(name="disk", fine=free >= wanted, text=text, needed_by="both")


def _processors() -> Finding:
    said: list[str] = []
    found = processors.choose(processors.SPLIT, said.append)
    text = said[0] if said else f"{found.words} (PROCESSORS={found.asked}, {found.text})"
    return Finding(name="processors", fine=True, text=text, needed_by="both")


def _docker(root: Path) -> Finding:
    from writepath.runtime import choose  # noqa: PLC0415 it knows both runtimes, which the other lines do not need

    reason = choose.why_not_docker(root)
    remedy = f"{reason}; install Docker with Compose, or use RUNTIME=native"
    text = remedy if reason else "engine and images available"
    return Finding(name="docker", fine=not reason, text=text, needed_by="docker")


def _checked(name: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(name=name, fine=True, text=look())
    except SetupError as error:
        return Finding(name=name, fine=False, text=str(error))


def _package(package: packages.Package, version: Callable[[], str]) -> Finding:
    if package.find() is None and packages.may_install():
        return Finding(name=package.name, fine=True, text="not installed; `make setup` installs it")
    return _checked(package.name, lambda: f"{package.installed()}: {version()}")


def _fetched(name: str, version: str, place: Path) -> Finding:
    text = version if place.is_dir() else f"{version}; `make setup` downloads it with Maven"
    return Finding(name=name, fine=True, text=text)


def _k6(root: Path) -> str:
    """A k6 on the PATH has no recorder."""
    found, compiler = golang.K6.find(root), golang.find()
    if found is None and compiler is None:
        raise SetupError(golang.K6.remedy)
    what = f"{golang.K6.version} with the recorder"
    return f"{what} ({found})" if found else f"{what}; `make setup` builds it with {compiler}"
