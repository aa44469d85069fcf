"""Starts a variant as containers, waits until it serves, and removes it without a trace."""

import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

import psutil

from writepath import pidfile, poll
from writepath.config.registry import Variant
from writepath.errors import SetupError, StartError
from writepath.process import CallError, attempt, call
from writepath.processors import Split, listed
from writepath.runtime import aot, network, topology
from writepath.runtime.docker import compose as files
from writepath.runtime.docker import engine, images
from writepath.runtime.docker.compose import Compose, project_prefix
from writepath.runtime.docker.stack import PROXY, DockerStack

_READY_SECONDS = 300  # a busy machine with two cores; most are there in 20


class DockerRuntime:
    """Containers on the engine that the `docker` command talks to; implements `runtime.base.Runtime`."""

    name = "docker"

    def __init__(
        self, root: Path, settings: Mapping[str, str] | None = None, split: Split | None = None
    ) -> None:
        """Root: the checkout whose docker-compose.yml describes the topology. settings: the user's, images too."""
        self._root, self.split = root.resolve(), split or Split.shared()
        self._state = self._root / ".writepath" / "docker"
        self._prefix = project_prefix(self._root)
        self._settings = dict(settings or {})
        self._k6_image = images.generator(self._root, self._settings)

    @cached_property
    def _engine(self) -> engine.Engine:
        return engine.current()

    def prepare(self, variants: Sequence[Variant], say: Callable[[str], None]) -> None:
        """Builds the services' images and pulls the others; does nothing when all are there and unchanged."""
        profiles = sorted({profile for variant in variants for profile in variant.profiles})
        images.ensure(self._compose("prepare", profiles, self._settings), self._engine, say)
        images.ensure_generator(self._root, self._engine, self._k6_image, say)

    @contextmanager
    def start(
        self,
        variant: Variant,
        *,
        overrides: Mapping[str, str],
        say: Callable[[str], None],
        only: Sequence[str] | None = None,
        profiles: Sequence[str] = (),
        small_disks: Mapping[str, int] | None = None,
    ) -> Iterator[DockerStack]:
        """A started, ready variant; containers, networks and volumes are gone afterwards, whatever happens."""
        project = f"{self._prefix}{secrets.token_hex(4)}"
        active = [*variant.profiles, *profiles]
        derived = topology.derived(self._root, active, self.split)
        variables = {**derived, **variant.settings, "HTTP_PORT": "0", **overrides}  # 0: one that is free
        compose = self._compose(project, active, variables)
        disks = dict(small_disks or {})
        folder = pidfile.claim(self._state / project)
        stack: DockerStack | None = None
        try:
            if profiles:  # prepare knows of the variants' own alone
                images.ensure(compose, self._engine, say)
            services = compose.services()
            chosen = list(services) if only is None else list(only)
            caches = {
                name: self._caches(service["image"])
                for name, service in files.applications(services).items()
                if service["environment"][aot.SETTING] != aot.NONE
            }
            second = folder / "override.yml"
            second.write_text(files.override(services, disks, caches), encoding="utf-8")
            self._up(replace(compose, override=second), chosen, disks)
            stores = files.stores(services)
            stack = DockerStack(self._engine, project, self._generators, stores, disks, self.split)
            say(f"{variant.name}: waiting for {', '.join(stack.components)}")
            with stack.spread():
                _await_ready(stack)
            yield stack
        finally:
            if stack is not None:
                stack.close()
            self._engine.remove(self._generators)  # they outlive their clients where those were killed
            self._engine.remove_project(project)  # killed: nothing of it is kept, so nothing is put in order
            shutil.rmtree(folder)

    def untrained(self, variant: Variant) -> Sequence[str]:
        """Its applications that a training run would give a cache."""
        derived = topology.derived(self._root, variant.profiles, self.split)
        settings = {**derived, **variant.settings, **self._settings}
        compose = self._compose("training", variant.profiles, settings)
        ours = files.applications(compose.services())
        folders = {name: self._caches(service["image"]) for name, service in ours.items()}
        return [name for name in ours if aot.find(folders[name], ours[name]["environment"]) is None]

    def make_cache(self, stack: DockerStack, component: str) -> None:
        """In a container of its own, of the same image, which sees the same jar."""
        container = self._engine.containers(stack.project, component)[0]
        folder, environment = self._caches(container.image), container.environment
        flags = aot.creating(files.CACHES, environment, files.CACHES / aot.RECORDING)
        call(
            *("docker", "run", "--rm", "--network=none", f"--volume={folder}:{files.CACHES}"),
            *(f"--env={aot.JAVA}={environment[aot.JAVA]}", "--entrypoint=java", container.image),
            *(*flags, "-jar", files.JAR),
            timeout_s=aot.CREATE_SECONDS,
        )
        aot.keep(folder, environment)
        for old in {*folder.parent.iterdir()} - {folder}:
            shutil.rmtree(old)

    def _caches(self, image: str) -> Path:
        """The folder of an application's caches: its containers write there under a user of their own."""
        identity = (self._engine.image_id(image) or "absent").removeprefix("sha256:")[:12]
        folder = self._state / "aot" / image.rpartition("/")[2].partition(":")[0] / identity
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o777)
        return folder

    def versions(self, variant: Variant) -> Mapping[str, str]:
        """Engine, compose, and each image with the start of its id; inspectors know what runs inside."""
        compose = self._compose("versions", variant.profiles, {**variant.settings, **self._settings})
        found = {
            "docker": self._engine.version(),
            "docker-compose": call("docker", "compose", "version", "--short").strip(),
        }
        for image in sorted({*compose.images(), self._k6_image}):
            name, _, tag = image.rpartition("/")[2].partition(":")
            identity = (self._engine.image_id(image) or "absent").removeprefix("sha256:")[:12]
            found[f"image:{name}"] = f"{tag} ({identity})"
        return found

    @property
    def _generators(self) -> Sequence[str]:
        """The containers of k6, others in each thread: stacks run side by side, each with a load of its own."""
        name = f"{self._prefix}k6-{os.getpid()}-{threading.get_native_id()}"
        return [f"{name}-{part}" for part in range(self.split.generators)]

    def load_generator(self, network: str) -> Sequence[Sequence[str]]:
        """For each process, `docker run` of k6 on a stack's network, on the load generator's processors.

        The checkout is mounted at its own path and is the working folder: arguments need no rewriting.
        Settings must be given as k6's own `-e NAME=value`: the container does not inherit the environment.
        """
        return [[*self._container(name, network), self._k6_image] for name in self._generators]

    def _container(self, name: str, network: str) -> Sequence[str]:
        root = self._root
        return [
            *("docker", "run", "--rm", "--init", "--name", name, "--network", network),
            *([] if self.split.is_shared else [f"--cpuset-cpus={listed(self.split.generator)}"]),
            *(f"--user={os.getuid()}:{os.getgid()}", f"--workdir={root}"),
            *("--env=HOME=/tmp", "--env=K6_AUTO_EXTENSION_RESOLUTION=false"),
            f"--mount=type=bind,source={root},target={root}",
        ]

    def reap(self, say: Callable[[str], None]) -> None:
        """Removes projects and load generators of this checkout whose runner is gone."""
        for project in sorted(self._engine.projects(self._prefix)):
            if not pidfile.owned_by_living(self._state / project):
                say(f"cleaning up after a killed run: {project}")
                self._engine.remove_project(project)
        for name in self._engine.names(f"{self._prefix}k6-"):
            if not psutil.pid_exists(int(name.split("-")[-3])):
                self._engine.remove([name])
        for folder in pidfile.stale(self._state.glob(f"{self._prefix}*")):
            shutil.rmtree(folder)

    def _compose(self, project: str, profiles: Sequence[str], variables: Mapping[str, str]) -> Compose:
        return Compose(root=self._root, project=project, profiles=profiles, variables=variables)

    def _up(self, compose: Compose, chosen: Sequence[str], disks: Mapping[str, int]) -> None:
        """Starts all parts side by side, as they wait for each other themselves.

        The proxy is last: it looks up the writers' addresses once, when it starts.
        """
        behind = [*map(files.holder, disks), *(service for service in chosen if service != PROXY)]
        for group in (behind, [PROXY] if PROXY in chosen else []):
            if not group:
                continue
            try:
                flags = ("--detach", "--no-build", "--no-deps", "--quiet-pull")
                compose.run("up", *flags, *group)
            except CallError as error:
                if "failed to mount local volume" in str(error):
                    raise SetupError(f"the Docker engine cannot mount a small disk here: {error}") from error
                raise StartError(f"docker compose could not start the containers: {error}") from error


def _await_ready(stack: DockerStack) -> None:
    """Returns once every part answers; StartError names the part that does not, with the end of its log."""
    ends = time.monotonic() + _READY_SECONDS
    for port in stack.inspector_ports():
        _await(
            stack, ends, f"the inspector at {port}", partial(network.why_not, "GET", port, "/inspector/ready")
        )
    if stack.base_url:
        for what, why_not in network.first_write(int(stack.base_url.rpartition(":")[2])):
            _await(stack, ends, what, why_not)


def _await(stack: DockerStack, ends: float, what: str, why_not: Callable[[], str]) -> None:
    """Until there is no reason left why not."""
    while True:
        # Asking the engine costs more than asking the component.
        if poll.until(lambda: not why_not(), 1.0, every_s=0.1):
            return
        if stack.lost_components():
            raise StartError(f"a component ended while starting: {stack.tails()}")
        if time.monotonic() > ends:
            raise StartError(f"{what} was not ready in {_READY_SECONDS} s: {why_not()}\n{stack.tails()}")


def answers() -> bool:
    """Whether a Docker engine with Compose answers here."""
    return attempt("docker", "info").code == 0 and attempt("docker", "compose", "version").code == 0
