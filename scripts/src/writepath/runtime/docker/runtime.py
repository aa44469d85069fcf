"""Starts a variant as containers, waits until it serves, and removes it without a trace."""

import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property, partial
from pathlib import Path

from writepath import pidfile, poll
from writepath.config.registry import Serves, Variant
from writepath.errors import SetupError, StartError
from writepath.process import CallError, attempt, call
from writepath.processors import listed
from writepath.runtime import aot, network, topology
from writepath.runtime.base import INSPECTOR_PORT, PROXY, READY_S, Runtime, Selection
from writepath.runtime.docker import compose as files
from writepath.runtime.docker import engine, images
from writepath.runtime.docker.compose import Compose
from writepath.runtime.docker.stack import NO_POWER_CUT, DockerStack
from writepath.runtime.topology import Service


def project_prefix(root: Path) -> str:
    """What the names of all projects of this checkout start with."""
    return f"writepath-{topology.checkout_key(root)}-"


class DockerRuntime(Runtime):
    """Containers on the engine that the `docker` command talks to."""

    name = "docker"

    @cached_property
    def _state(self) -> Path:
        return self.root / ".writepath" / "docker"

    @cached_property
    def _engine(self) -> engine.Engine:
        return engine.current()

    @cached_property
    def _k6_image(self) -> str:
        return images.generator(self.root, self.settings)

    def prepare(self, variants: Sequence[Variant], say: Callable[[str], None]) -> None:
        """Builds the services' images and pulls the others; does nothing when all are there and unchanged."""
        for variant in variants:  # whose settings name the images of its applications
            profiles, variables = variant.profiles, self.variables(variant.profiles, variant.settings)
            compose = Compose(root=self.root, project="prepare", profiles=profiles, variables=variables)
            services = self.services(profiles, variant.settings).values()
            images.ensure(compose, services, self._engine, say)
        images.ensure_generator(self.root, self._engine, self._k6_image, say)

    @contextmanager
    def stack(self, selection: Selection, say: Callable[[str], None]) -> Iterator[DockerStack]:
        """Started and ready; containers, networks and volumes are gone afterwards, whatever happens."""
        project, services = f"{project_prefix(self.root)}{secrets.token_hex(4)}", selection.active
        disks = {name: size for name, size in selection.disks.items() if size is not None}
        if len(disks) < len(selection.disks):
            raise SetupError(NO_POWER_CUT)
        with ExitStack() as held:
            folder = pidfile.claim(self._state / project)
            held.callback(shutil.rmtree, folder)
            held.callback(self._engine.remove_project, project)  # killed: nothing of it is put in order
            caches = {
                name: self.caches(service)
                for name, service in services.items()
                if service.module and service.environment[aot.SETTING] != aot.NONE
            }
            override = folder / "override.yml"
            override.write_text(files.override(services, disks, caches), encoding="utf-8")
            compose = Compose(
                root=self.root,
                project=project,
                profiles=selection.profiles,
                variables=selection.settings,
                override=override,
            )
            # Those of no variant's own profiles, as Toxiproxy: prepare does not know of them.
            others = [service for service in services.values() if not service.module]
            images.ensure(compose, others, self._engine, say)
            _up(compose, [*services], [*map(files.holder, disks)])
            stack = DockerStack(self._engine, project, selection, self.split)
            held.callback(stack.close)
            say(f"{selection.name}: waiting for {', '.join(stack.components)}")
            with stack.spread():
                _await_ready(stack, services, selection.serves)
            yield stack

    def why_no_power_cut(self) -> str:
        """Always the same."""
        return NO_POWER_CUT

    def make_cache(self, stack: DockerStack, component: str) -> None:
        """In a container of its own, of the same image, which sees the same jar."""
        service = stack.services[component]
        folder, environment = self.caches(service), service.environment
        flags = aot.creating(files.CACHES, environment, files.CACHES / aot.RECORDING)
        call(
            *("docker", "run", "--rm", "--network=none", f"--volume={folder}:{files.CACHES}"),
            *(f"--env={aot.JAVA}={environment[aot.JAVA]}", "--entrypoint=java", service.image),
            *(*flags, "-jar", files.JAR),
            timeout_s=aot.CREATE_SECONDS,
        )
        aot.keep(folder, environment)
        for old in {*folder.parent.iterdir()} - {folder}:
            shutil.rmtree(old)

    def caches(self, service: Service) -> Path:
        """By its image; containers write there under a user of their own."""
        folder = self._state / "aot" / (service.module or "") / self._id(service.image)
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o777)
        return folder

    def _id(self, image: str) -> str:
        """The start of the id, which is the same only where the content is."""
        return (self._engine.image_id(image) or "absent").removeprefix("sha256:")[:12]

    def versions(self, variant: Variant) -> Mapping[str, str]:
        """Engine, compose, and each image with the start of its id; inspectors know what runs inside."""
        found = {
            "docker": self._engine.version(),
            "docker-compose": call("docker", "compose", "version", "--short").strip(),
        }
        active = self.services(variant.profiles, variant.settings).values()
        for image in sorted({*(service.image for service in active), self._k6_image}):
            name, _, tag = image.rpartition("/")[2].partition(":")
            found[f"image:{name}"] = f"{tag} ({self._id(image)})"
        return found

    def load_generator(self, network: str) -> Sequence[Sequence[str]]:
        """For each process, `docker run` of k6 on a stack's network, on the load generator's processors.

        The checkout is mounted at its own path and is the working folder: arguments need no rewriting.
        Settings must be given as k6's own `-e NAME=value`: the container does not inherit the environment.
        It is part of the stack's project, with which it is removed where it outlives its client.
        """
        root, project = self.root, network.removesuffix("_default")
        command = [
            *("docker", "run", "--rm", "--init", "--network", network),
            *("--label", f"{engine.PROJECT_LABEL}={project}"),
            *("--label", f"{engine.SERVICE_LABEL}={engine.GENERATOR}"),
            *([] if self.split.is_shared else [f"--cpuset-cpus={listed(self.split.generator)}"]),
            *(f"--user={os.getuid()}:{os.getgid()}", f"--workdir={root}"),
            *("--env=HOME=/tmp", "--env=K6_AUTO_EXTENSION_RESOLUTION=false"),
            *(f"--mount=type=bind,source={root},target={root}", self._k6_image),
        ]
        return [command] * self.split.generators

    def reap(self, say: Callable[[str], None]) -> None:
        """Removes projects of this checkout whose runner is gone, load generators included."""
        prefix = project_prefix(self.root)
        for project in sorted(self._engine.projects(prefix)):
            if not pidfile.owned_by_living(self._state / project):
                say(f"cleaning up after a killed run: {project}")
                self._engine.remove_project(project)
        for folder in pidfile.stale(self._state.glob(f"{prefix}*")):
            shutil.rmtree(folder)


def _up(compose: Compose, chosen: Sequence[str], holders: Sequence[str]) -> None:
    """Starts all parts side by side, as they wait for each other themselves.

    The proxy is last: it looks up the writers' addresses once, when it starts.
    """
    behind = [*holders, *(service for service in chosen if service != PROXY)]
    for group in (behind, [PROXY] if PROXY in chosen else []):
        if not group:
            continue
        try:
            compose.run("up", "--detach", "--no-build", "--no-deps", "--quiet-pull", *group)
        except CallError as error:
            if "failed to mount local volume" in str(error):
                raise SetupError(f"the Docker engine cannot mount a small disk here: {error}") from error
            raise StartError(f"docker compose could not start the containers: {error}") from error


def _await_ready(stack: DockerStack, services: Mapping[str, Service], serves: Serves) -> None:
    """Returns once every part answers; StartError names the part that does not, with the end of its log."""
    ends = time.monotonic() + READY_S
    ours = [name for name, service in services.items() if service.module]
    for port in (port for name in ours for port in stack.ports(name, INSPECTOR_PORT)):
        _await(
            stack, ends, f"the inspector at {port}", partial(network.why_not, "GET", port, network.READINESS)
        )
    if stack.base_url:
        for what, why_not in network.first_requests(int(stack.base_url.rpartition(":")[2]), serves):
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
            raise StartError(f"{what} was not ready in {READY_S:.0f} s: {why_not()}\n{stack.tails()}")


def answers() -> bool:
    """Whether a Docker engine with Compose answers here."""
    return all(attempt("docker", *words).returncode == 0 for words in (("info",), ("compose", "version")))
