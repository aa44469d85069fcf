"""Chooses the runtime: containers where an engine answers and has or can pull images, else local processes."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from writepath import process
from writepath.config.registry import Variant
from writepath.errors import SetupError, StartError, UsageError
from writepath.processors import Split
from writepath.runtime import topology
from writepath.runtime.base import Runtime
from writepath.runtime.docker import DockerRuntime, engine
from writepath.runtime.native import NativeRuntime

NAMES = ("auto", "native", "docker")
_PULL_SECONDS = 60.0
_SMALL = "nginx"  # pulled first where it is missing: that tells whether a registry can be reached


def choose(
    root: Path,
    name: str,
    say: Callable[[str], None],
    variants: Sequence[Variant] | None = None,
    settings: Mapping[str, str] | None = None,
    split: Split | None = None,
) -> Runtime:
    """The runtime of that name; `auto` says which one it takes and why.

    variants: those to be run (else all). settings: the user's, which may name other images. split: else shared.
    """
    if name not in NAMES:
        raise UsageError(f"RUNTIME={name}: not one of {', '.join(NAMES)}")
    if name == "native":
        return NativeRuntime(root, split)
    reason = why_not_docker(root, variants, settings)
    if reason and name == "docker":
        raise SetupError(f"RUNTIME=docker: {reason}. To run without containers, use RUNTIME=native")
    if reason:
        say(f"runtime: native ({reason})")
        return NativeRuntime(root, split)
    if name == "auto":
        say("runtime: docker (engine and images available; RUNTIME=native runs without containers)")
    return DockerRuntime(root, split, settings)


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
    if process.attempt("docker", "compose", "version").returncode != 0:
        return "the docker command has no Compose plugin"

    missing = sorted(
        image for image in _images(root, variants, settings or {}) if found.image_id(image) is None
    )
    if not missing:
        return ""
    probed = next((image for image in missing if _SMALL in image), missing[0])
    try:
        pulled = process.attempt("docker", "pull", "--quiet", probed, timeout_s=_PULL_SECONDS).returncode == 0
    except process.CallError:
        pulled = False
    return "" if pulled else f"the image {probed} is not available and cannot be pulled"


def _images(root: Path, variants: Sequence[Variant] | None, settings: Mapping[str, str]) -> set[str]:
    """What a registry must have for these variants (for all, without): what is not built from this checkout."""
    known = topology.load(root, settings)
    parts = (
        (service for service in known.services.values() if topology.OBSERVE not in service.profiles)
        if variants is None
        else (service for variant in variants for service in known.active(variant.profiles).values())
    )
    return {service.image for service in parts if not service.build}
