"""The recipe of each service, by the image's name; those of our own applications, nginx and Toxiproxy."""

import json
import re
import resource
import signal
import string
from collections.abc import Iterator, Mapping
from pathlib import Path

from writepath import process
from writepath.errors import SetupError, UsageError
from writepath.provision import jdk, packages
from writepath.provision.golang import TOXIPROXY
from writepath.runtime import aot
from writepath.runtime.native import stores
from writepath.runtime.native.recipe import Part, Place, Recipe
from writepath.runtime.network import LOOPBACK
from writepath.runtime.topology import Service

TEMPLATE = "nginx/nginx.conf.template"
OFF = re.compile(r"^.* 0;  *# 0: off.*\n", re.MULTILINE)
PROXIES = "toxiproxy/proxies.json"
API_PORT = 8474  # Toxiproxy's
_PORTS = ("SERVER_PORT", "MANAGEMENT_SERVER_PORT")
_NOTHING = "-1"  # for Spring Boot: no such server


def of(service: Service) -> Recipe:
    """UsageError for an image that has no recipe."""
    if service.module:
        return _APPLICATION
    if service.image_name not in _BY_IMAGE:
        raise UsageError(
            f"docker-compose.yml: services.{service.name}.image: RUNTIME=native cannot start {service.image}; "
            f"it can start {', '.join(_BY_IMAGE)}, and services built from this checkout."
            " Use RUNTIME=docker, or add a recipe."
        )
    return _BY_IMAGE[service.image_name]


def _application(place: Place) -> Iterator[Part]:
    """All replicas of a service with build argument MODULE: each is a process with ports of its own."""
    jar, environment = place.jar(), place.service.environment
    flags, digest = aot.flags(jar.parent, environment, place.folder / aot.RECORDING)
    for instance in range(place.service.replicas):
        ports = {
            name: str(_port(place, name, instance)) for name in _PORTS if environment.get(name) != _NOTHING
        }
        # The folder for temporary files names the stack's folder in the command line, too.
        yield Part(
            args=[jdk.find().java, f"-Djava.io.tmpdir={place.temporary()}", *flags, "-jar", jar],
            env={
                **place.environment(),
                **ports,
                "SERVER_ADDRESS": LOOPBACK,
                "MANAGEMENT_SERVER_ADDRESS": LOOPBACK,
            },
            suffix=f"-{instance + 1}" if instance else "",
            settings={**environment, aot.SETTING: digest},
        )


def make_cache(place: Place) -> None:
    """Of what an application has recorded that ended in order."""
    jar, environment = place.jar(), place.service.environment
    flags = aot.creating(jar.parent, environment, place.folder / aot.RECORDING)
    env = place.environment()
    process.call(jdk.find().java, *flags, "-jar", jar, env=env, timeout_s=aot.CREATE_SECONDS)
    aot.keep(jar.parent, environment)


def _port(place: Place, variable: str, instance: int) -> int:
    """The loopback port for the port that the environment variable holds in the compose file."""
    try:
        inside = int(place.service.environment[variable])
    except (KeyError, ValueError) as error:
        where = f"docker-compose.yml: services.{place.service.name}.environment.{variable}"
        raise SetupError(f"{where}: every application needs a port number there") from error
    return place.port(inside, instance)


def _nginx(place: Place) -> Iterator[Part]:
    """One master with its worker, in the foreground."""
    given = place.service.environment
    listen = f"{LOOPBACK}:{place.port(int(given['LISTEN']))}"
    values = {**given, "LISTEN": listen, "UPSTREAM": place.addresses.rewrite_statements(given["UPSTREAM"])}
    config = place.write("nginx.conf", nginx_configuration(place.root, values, place.folder))
    flags = ["-p", f"{place.folder}", "-c", f"{config}", "-e", "stderr", "-g", "daemon off;"]
    yield Part(
        args=[*limited(int(given["NGINX_OPEN_FILES"])), packages.NGINX.installed(), *flags],
        env=place.base_environment(),
        settings=values,
        orderly_signal=signal.SIGQUIT,  # ends what it has begun
        death_signal=signal.SIGTERM,  # SIGKILL of the master would leave its worker behind
    )


def limited(open_files: int) -> list[str]:
    """Before a command: it may have so many open, and no more than this shell may allow."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = open_files if most == resource.RLIM_INFINITY else min(open_files, most)
    return ["prlimit", f"--nofile={soft}:"]


def nginx_configuration(root: Path, values: Mapping[str, str], folder: Path) -> str:
    """The template with these values, without what they turn off, and with `folder` where the image has /tmp."""
    template = string.Template((root / TEMPLATE).read_text(encoding="utf-8"))
    text = OFF.sub("", template.safe_substitute(values))
    return text.replace("/tmp/", f"{folder}/")  # noqa: S108 the image's


def _toxiproxy(place: Place) -> Iterator[Part]:
    """One server, which answers once it has its proxies. One to a service that is off refuses its clients."""
    program = TOXIPROXY.ensure(place.root, lambda _: None)
    proxies = json.loads((place.root / PROXIES).read_text(encoding="utf-8"))
    for proxy in proxies:
        port = int(proxy["listen"].rpartition(":")[2])
        proxy["listen"] = f"{LOOPBACK}:{place.port(port)}"
        proxy["upstream"] = place.addresses.rewrite(proxy["upstream"])
    config = place.write("proxies.json", json.dumps(proxies))
    listen = ["-host", LOOPBACK, "-port", str(place.port(API_PORT))]
    yield Part(
        args=[program, *listen, "-config", config, "-proxy-metrics"],
        env=place.base_environment(),
        settings={
            **place.service.environment,
            **{proxy["name"]: f"{proxy['listen']} to {proxy['upstream']}" for proxy in proxies},
        },
    )


_APPLICATION = Recipe(launch=_application, version=lambda: ("java", jdk.find().version))
_BY_IMAGE: Mapping[str, Recipe] = {
    "postgres": stores.POSTGRES,
    "rabbitmq": stores.RABBITMQ,
    "elasticsearch": stores.ELASTICSEARCH,
    "nginx": Recipe(launch=_nginx, version=lambda: ("nginx", packages.nginx_version())),
    "toxiproxy": Recipe(launch=_toxiproxy, version=lambda: ("toxiproxy", TOXIPROXY.version)),
}
