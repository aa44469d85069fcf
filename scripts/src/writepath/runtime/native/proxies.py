"""How do nginx and Toxiproxy run as local processes? With what their images have: a template, a list of proxies."""

import json
import signal
import string
from collections.abc import Iterator, Mapping
from pathlib import Path

from writepath.provision import packages
from writepath.provision.golang import TOXIPROXY
from writepath.runtime import network
from writepath.runtime.native.account import Account
from writepath.runtime.native.part import Part, Place, Recipe
from writepath.runtime.network import LOOPBACK
from writepath.runtime.topology import Service

TEMPLATE = "nginx/nginx.conf.template"
PROXIES = "toxiproxy/proxies.json"
API_PORT = 8474


class Nginx(Recipe):
    """Recipe of the image `nginx`: the template with the service's environment filled in."""

    def launch(self, place: Place) -> Iterator[Part]:
        """One master with its worker, in the foreground."""
        given = place.service.environment
        upstream = place.addresses.rewrite_statements(given["UPSTREAM"])
        values = {**given, "LISTEN": f"{LOOPBACK}:{proxy_port(place)}", "UPSTREAM": upstream}
        config = place.write("nginx.conf", configuration(place.root, values, place.folder))
        yield Part(
            component=place.service.name,
            name=place.service.name,
            args=[
                *(packages.NGINX.installed(), "-p", place.folder, "-c", config),
                *("-e", "stderr", "-g", "daemon off;"),
            ],
            env=place.base_environment(),
            settings=values,
            orderly_signal=signal.SIGQUIT,  # ends what it has begun
            death_signal=signal.SIGTERM,  # SIGKILL of the master would leave its worker behind
        )

    def is_ready(self, place: Place) -> bool:
        """Whether it answers for itself."""
        return not network.why_not("GET", proxy_port(place), "/nginx-health")

    def version(self) -> Mapping[str, str]:
        """Of the installed package."""
        return {"nginx": packages.nginx_version()}


def configuration(root: Path, values: Mapping[str, str], folder: Path) -> str:
    """The template with these values, and with `folder` where the image has /tmp."""
    template = string.Template((root / TEMPLATE).read_text(encoding="utf-8"))
    return template.safe_substitute(values).replace("/tmp/", f"{folder}/")  # noqa: S108 the image's


def proxy_port(place: Place) -> int:
    """Where nginx listens."""
    return place.port(int(place.service.environment["LISTEN"]))


class Toxiproxy(Recipe):
    """Recipe of the image `toxiproxy`: with the proxies that it has, on ports of their own."""

    def prepare(self, root: Path, service: Service, account: Account) -> None:  # noqa: ARG002 one for all images
        """Builds it unless it is there."""
        TOXIPROXY.ensure(root, lambda _: None)

    def launch(self, place: Place) -> Iterator[Part]:
        """One server. A proxy to a service that is not started refuses its clients, and harms nobody."""
        program = TOXIPROXY.ensure(place.root, lambda _: None)
        proxies = _proxies(place.root)
        for proxy in proxies:
            port = int(proxy["listen"].rpartition(":")[2])
            proxy["listen"] = f"{LOOPBACK}:{place.port(port)}"
            proxy["upstream"] = place.addresses.rewrite(proxy["upstream"])
        config = place.write("proxies.json", json.dumps(proxies))
        yield Part(
            component=place.service.name,
            name=place.service.name,
            args=[
                *(program, "-host", LOOPBACK, "-port", str(place.port(API_PORT))),
                *("-config", config, "-proxy-metrics"),
            ],
            env=place.base_environment(),
            settings={proxy["name"]: f"{proxy['listen']} to {proxy['upstream']}" for proxy in proxies},
        )

    def is_ready(self, place: Place) -> bool:
        """Whether its API answers, and every proxy is there."""
        found = place.answer(API_PORT, "/proxies")
        return found is not None and len(found) == len(_proxies(place.root))

    def version(self) -> Mapping[str, str]:
        """As it is built."""
        return {"toxiproxy": TOXIPROXY.version}


def _proxies(root: Path) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads((root / PROXIES).read_text(encoding="utf-8"))
    return found
