"""Are the images there? Builds the services' once for all variants, and k6's; pulls the others."""

from __future__ import annotations

import hashlib
import json
import time
from typing import TYPE_CHECKING

from writepath.errors import SetupError
from writepath.process import CallError, call
from writepath.provision import k6
from writepath.runtime import topology
from writepath.runtime.docker.compose import checkout_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from writepath.runtime.docker.compose import Compose
    from writepath.runtime.docker.engine import Engine

_GENERATOR = "writepath/k6"
GENERATOR_DOCKERFILE = "k6/Dockerfile"
_GENERATOR_CONTEXT = "k6/recorder"


def ensure(compose: Compose, engine: Engine, say: Callable[[str], None]) -> None:
    """Puts every image of the selection on the engine; SetupError when it cannot."""
    images = compose.images()
    ours = sorted(image for image in images if image.startswith("writepath/"))
    for image in sorted(set(images) - set(ours)):
        _have(engine, image, say)
    _build(compose, engine, ours, say)


def generator(root: Path, settings: Mapping[str, str]) -> str:
    """The image of k6: this checkout's own, or the one that K6_IMAGE names."""
    named = topology.value(root, "K6_IMAGE", settings)
    return f"{_GENERATOR}:{checkout_key(root)}" if is_built(named) else named


def is_built(named: str) -> bool:
    """Whether K6_IMAGE asks for the image that is built here."""
    return named in ("", _GENERATOR)


def ensure_generator(root: Path, engine: Engine, image: str, say: Callable[[str], None]) -> None:
    """Builds the image of k6, or pulls the one that was asked for; SetupError when it cannot."""
    if not image.startswith(f"{_GENERATOR}:"):
        _have(engine, image, say)
        return
    state = root / ".writepath" / "docker" / "k6-image.json"
    dockerfile = root / GENERATOR_DOCKERFILE
    sources = hashlib.sha256(dockerfile.read_bytes() + k6.source_hash(root).encode()).hexdigest()
    known = json.loads(state.read_text(encoding="utf-8")) if state.exists() else {}
    if known.get("sources") == sources and known.get(image) == engine.image_id(image) is not None:
        return
    state.parent.mkdir(parents=True, exist_ok=True)
    say("building the k6 image with the recorder (minutes the first time, cached when unchanged)")
    try:
        call("docker", "build", "--file", dockerfile, "--tag", image, root / _GENERATOR_CONTEXT)
    except CallError as error:
        raise SetupError(f"the k6 image could not be built\n{error}") from error
    state.write_text(json.dumps({"sources": sources, image: engine.image_id(image)}), encoding="utf-8")


def _have(engine: Engine, image: str, say: Callable[[str], None]) -> None:
    if engine.image_id(image) is None:
        say(f"pulling {image}")
        _pull(image)


def _build(compose: Compose, engine: Engine, images: Sequence[str], say: Callable[[str], None]) -> None:
    state = compose.root / ".writepath" / "docker" / "images.json"
    wanted = {"sources": fingerprint(compose.root)}
    known = json.loads(state.read_text(encoding="utf-8")) if state.exists() else {}
    if known.get("sources") != wanted["sources"]:
        known = wanted
    elif all(known.get(image) == engine.image_id(image) is not None for image in images):
        return
    state.parent.mkdir(parents=True, exist_ok=True)
    say("building the service images (minutes the first time, cached when unchanged)")
    started = time.monotonic()
    try:
        compose.run("--progress", "plain", "build")
    except CallError as error:
        log = state.with_name("build.log")
        log.write_text(error.stdout + error.stderr, encoding="utf-8")
        raise SetupError(f"the service images could not be built (full log: {log})\n{error}") from error
    say(f"built the service images in {time.monotonic() - started:.0f} s")
    state.write_text(json.dumps({**known, **{i: engine.image_id(i) for i in images}}), encoding="utf-8")


def fingerprint(root: Path) -> str:
    """Changes when anything that goes into a service's image does: a hash of what the build contexts hold."""
    digest = hashlib.sha256()
    sources = (p for p in (root / "services").rglob("*") if "target" not in p.parts)
    files = [root / ".dockerignore", *sources, *(root / "toxiproxy").rglob("*")]
    for path in sorted(p for p in files if p.is_file()):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _pull(image: str) -> None:
    try:
        call("docker", "pull", "--quiet", image)
    except CallError as error:
        raise SetupError(
            f"the image {image} is not on this engine and cannot be pulled: {error}\n"
            "Configure a registry that the engine can reach, or use RUNTIME=native, which needs no images."
        ) from error
