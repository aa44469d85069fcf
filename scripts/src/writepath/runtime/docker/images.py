"""Builds the images of our services, once for all variants, and k6's; pulls the others."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from writepath.errors import SetupError
from writepath.process import CallError, call
from writepath.provision import golang, state
from writepath.runtime import topology
from writepath.runtime.docker.compose import Compose
from writepath.runtime.docker.engine import Engine
from writepath.runtime.topology import Service

_STATE = ".writepath/docker"
_GENERATOR = "writepath/k6"
_GENERATOR_DOCKERFILE = "k6/Dockerfile"
_GENERATOR_CONTEXT = "k6/recorder"


def ensure(compose: Compose, services: Iterable[Service], engine: Engine, say: Callable[[str], None]) -> None:
    """Puts the image of each service on the engine; SetupError when it cannot."""
    services = list(services)
    for service in sorted((one for one in services if not one.build), key=lambda one: one.image):
        _have(engine, service.image, say, *_remedy(service))
    if ours := {service.name: service.image for service in services if service.build}:
        file, sources = compose.root / _STATE / "images.json", fingerprint(compose.root)
        by = partial(compose.run, "--progress", "plain", "build", *ours)
        _build(file, sources, ours.values(), engine, "service images", say, by)


def generator(root: Path, settings: Mapping[str, str]) -> str:
    """The image of k6: this checkout's own, or the one that K6_IMAGE names."""
    named = topology.value(root, "K6_IMAGE", settings)
    return f"{_GENERATOR}:{topology.checkout_key(root)}" if named in ("", _GENERATOR) else named


def ensure_generator(root: Path, engine: Engine, image: str, say: Callable[[str], None]) -> None:
    """Builds the image of k6, or pulls the one that was asked for; SetupError when it cannot."""
    if not image.startswith(f"{_GENERATOR}:"):
        _have(engine, image, say, "K6_IMAGE", "")
        return
    dockerfile = root / _GENERATOR_DOCKERFILE
    sources = state.digest(root, [dockerfile], golang.K6.source_hash(root))
    build = ("docker", "build", "--file", dockerfile, "--tag", image, root / _GENERATOR_CONTEXT)
    file, by = root / _STATE / "k6-image.json", partial(call, *build)
    _build(file, sources, [image], engine, "k6 image with the recorder", say, by)


def _build(
    state_file: Path,
    sources: str,
    images: Iterable[str],
    engine: Engine,
    what: str,
    say: Callable[[str], None],
    by: Callable[[], object],
) -> None:
    """Builds images unless they are those that were built from the same sources, of which the file tells."""
    known = json.loads(state_file.read_text(encoding="utf-8")) if state_file.exists() else {}
    built = known if known.get("sources") == sources else {"sources": sources}
    if all(built.get(image) == engine.image_id(image) is not None for image in images):
        return
    state_file.parent.mkdir(parents=True, exist_ok=True)
    say(f"building the {what} (minutes the first time, cached when unchanged)")
    try:
        by()
    except CallError as error:
        log = state_file.with_suffix(".log")
        log.write_text(error.stdout + error.stderr, encoding="utf-8")
        raise SetupError(
            f"the {what} could not be built (full log: {log}); RUNTIME=native needs no images\n{error}"
        ) from error
    built |= {image: engine.image_id(image) for image in images}
    state_file.write_text(json.dumps(built), encoding="utf-8")


def fingerprint(root: Path) -> str:
    """Changes when anything that goes into a service's image does: a hash of what the build contexts hold."""
    sources = (p for p in (root / "services").rglob("*") if "target" not in p.parts)
    return state.digest(root, [root / ".dockerignore", *sources, *(root / "toxiproxy").rglob("*")])


def _remedy(service: Service) -> tuple[str, str]:
    """The setting that names its image, and what else helps where nobody has the image."""
    setting = f"{service.name.partition('-')[0].upper()}_IMAGE"
    if topology.OBSERVE not in service.profiles:
        return setting, ""
    return setting, " (with OBSERVE=1 it prints the addresses to scrape), or omit OBSERVE=1"


def _have(engine: Engine, image: str, say: Callable[[str], None], setting: str, remedy: str) -> None:
    if engine.image_id(image) is not None:
        return
    say(f"pulling {image}")
    try:
        call("docker", "pull", "--quiet", image)
    except CallError as error:
        raise SetupError(
            f"the image {image} is not on this engine and cannot be pulled: {error}\n"
            f"Configure a registry that the engine can reach, name another image with {setting}=..., or use"
            f" RUNTIME=native, which needs no images{remedy}."
        ) from error
