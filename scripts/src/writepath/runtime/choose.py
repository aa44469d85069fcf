"""Docker or native? Containers where an engine answers and has or can get the images, else local processes."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from writepath import process
from writepath.config.registry import Variant
from writepath.errors import SetupError, StartError, UsageError
from writepath.runtime import topology
from writepath.runtime.base import Runtime
from writepath.runtime.docker import DockerRuntime, engine
from writepath.runtime.docker import images as docker_images
from writepath.runtime.native import NativeRuntime

NAMES = ("auto", "native", "docker")
_PULL_SECONDS = 60.0
_SMALL = ("nginx", "k6")
_DOCKERFILE = "services/Dockerfile"
_BASE = re.compile(r"^FROM\s+(?!scratch)([^\s]+)", re.MULTILINE | re.IGNORECASE)


def choose(
    root: Path,
    name: str,
    say: Callable[[str], None],
    variants: Sequence[Variant] | None = None,
    settings: Mapping[str, str] | None = None,
) -> Runtime:
    """The runtime of that name; `auto` says which one it takes and why.

    variants: those to be run (else all). settings: the user's, which may name other images.
    """
    if name not in NAMES:
        raise UsageError(f"RUNTIME={name}: not one of {', '.join(NAMES)}")
    if name == "native":
        return NativeRuntime(root)
    reason = why_not_docker(root, variants, settings)
    if reason and name == "docker":
        raise SetupError(f"RUNTIME=docker: {reason}. To run without containers, use RUNTIME=native")
    if reason:
        say(f"runtime: native ({reason})")
        return NativeRuntime(root)
    if name == "auto":
        say("runtime: docker (engine and images available; RUNTIME=native runs without containers)")
    return DockerRuntime(root, settings)


def why_not_docker(
    root: Path, variants: Sequence[Variant] | None = None, settings: Mapping[str, str] | None = None
) -> str:
    """In words, what keeps containers from being used here; empty when nothing does."""
    if process.find("docker") is None:
        return "no docker command"
    try:
        found = engine.current()
    except (process.CallError, StartError):
        return "no Docker engine answers"
    if process.attempt("docker", "compose", "version").code != 0:
        return "the docker command has no Compose plugin"

    def is_here(image: str) -> bool:
        return found.image_id(image) is not None

    missing = [image for image in images(root, variants, settings or {}, is_here) if not is_here(image)]
    return _cannot_pull(missing) if missing else ""


def images(
    root: Path,
    variants: Sequence[Variant] | None,
    settings: Mapping[str, str],
    is_here: Callable[[str], bool],
) -> list[str]:
    """What the engine must have or get: images of these variants' services (of all, without), and k6's.

    Where one that is built from this checkout is not there, what it is built from.
    """
    known = topology.load(root, settings)
    names = (
        known.services.keys()
        if variants is None
        else {name for variant in variants for name in known.active(variant.profiles)}
    )
    services = [known.services[name] for name in names]
    wanted = {service.image for service in services if not service.build}
    if not all(is_here(service.image) for service in services if service.module):
        wanted.update(_bases(root, _DOCKERFILE))
    generator = docker_images.generator(root, settings)
    if docker_images.is_built(generator) and not is_here(generator):
        wanted.update(_bases(root, docker_images.GENERATOR_DOCKERFILE))
    else:
        wanted.add(generator)
    return sorted(wanted)


def _bases(root: Path, dockerfile: str) -> list[str]:
    return _BASE.findall((root / dockerfile).read_text(encoding="utf-8"))


def _cannot_pull(missing: Sequence[str]) -> str:
    """Pulls one missing image, a small one where there is: that tells whether a registry can be reached."""
    probed = min(missing, key=lambda image: (not any(small in image for small in _SMALL), image))
    try:
        pulled = process.attempt("docker", "pull", "--quiet", probed, timeout_s=_PULL_SECONDS).code == 0
    except process.CallError:
        pulled = False
    return "" if pulled else f"the image {probed} is not available and cannot be pulled"
