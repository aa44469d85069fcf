"""How does one of our own services run as a local process? From its jar, whatever it is called: no list of names."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from writepath.errors import SetupError
from writepath.provision import jdk
from writepath.runtime import network
from writepath.runtime.native.part import Part, Place, Recipe
from writepath.runtime.network import LOOPBACK

_ARCHIVE_SECONDS = 60.0  # writing the archive, once a build and module; on a busy machine


class Application(Recipe):
    """Recipe of a service with build argument MODULE: each replica is a process with ports of its own.

    The first one that ends in order leaves an archive of the classes it loaded. The next start maps it into memory
    instead of reading, checking and linking them again: a quarter of the time. It holds no compiled code and no
    profile, so what is measured stays what it is.
    """

    def launch(self, place: Place) -> Iterator[Part]:
        """All replicas."""
        jar = _jar(place)
        environment = place.environment()
        for instance in range(place.service.replicas):
            ports = {name: str(_port(place, name, instance)) for name in ("SERVER_PORT", "INSPECTOR_PORT")}
            suffix = f"-{instance + 1}" if instance else ""
            archive = jar.with_suffix(".jsa")
            learns = not archive.exists() and instance == 0
            made = place.folder / archive.name
            given = f"-XX:SharedArchiveFile={archive}"
            command: list[str | Path] = [
                jdk.find().java,
                f"-Djava.io.tmpdir={place.temporary()}",  # names the stack's folder in the command line, too
                f"-XX:ArchiveClassesAtExit={made}" if learns else given,
                "-jar",
                jar,
            ]
            yield Part(
                component=place.service.name,
                name=f"{place.service.name}{suffix}",
                args=command,
                # Killed, it has learnt nothing, and Java starts without; ended in order, the archive is there.
                later_args=[*command[:2], given, *command[3:]] if learns else None,
                stop_seconds=_ARCHIVE_SECONDS if learns else Part.stop_seconds,
                keeps=(made, archive) if learns else None,
                env={**environment, **ports, "SERVER_ADDRESS": LOOPBACK},
                settings={**place.service.environment},
            )

    def is_ready(self, place: Place) -> bool:
        """Whether every replica says so."""
        return not any(network.why_not("GET", port, "/inspector/ready") for port in inspector_ports(place))

    def version(self) -> Mapping[str, str]:
        """The JDK."""
        return {"java": jdk.find().version}


def inspector_ports(place: Place) -> Sequence[int]:
    """One a replica."""
    return [_port(place, "INSPECTOR_PORT", instance) for instance in range(place.service.replicas)]


def _port(place: Place, variable: str, instance: int) -> int:
    """The loopback port for the port that the environment variable holds in the compose file."""
    try:
        inside = int(place.service.environment[variable])
    except (KeyError, ValueError) as error:
        where = f"docker-compose.yml: services.{place.service.name}.environment.{variable}"
        raise SetupError(f"{where}: every application needs a port number there") from error
    return place.port(inside, instance)


def _jar(place: Place) -> Path:
    module = place.service.module or ""
    if module not in place.jars:
        raise SetupError(
            f"docker-compose.yml: services.{place.service.name}.build.args.MODULE: {module} is not among the "
            f"runnable jars {', '.join(place.jars)}; is it in services/pom.xml, with finalName = artifactId?"
        )
    return place.jars[module]
