"""How does Toxiproxy run as a local process? With the proxies that its image has, on ports of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from writepath.errors import SetupError
from writepath.provision import toxiproxy
from writepath.runtime.native import probe
from writepath.runtime.native.addresses import LOOPBACK
from writepath.runtime.native.part import Part

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from writepath.runtime.native.account import Account
    from writepath.runtime.native.part import Place
    from writepath.runtime.topology import Service

PROXIES = "toxiproxy/proxies.json"
API_PORT = 8474


class Toxiproxy:
    """Recipe of the image `toxiproxy`."""

    def prepare(self, root: Path, service: Service, account: Account) -> None:  # noqa: ARG002 one for all images
        """Builds it unless it is there."""
        toxiproxy.ensure(root, lambda _: None)

    def launch(self, place: Place) -> Iterator[Part]:
        """One server. A proxy to a service that is not started refuses its clients, and harms nobody."""
        program = toxiproxy.find(place.root)
        if program is None:
            raise SetupError("toxiproxy-server: not installed. Run: make setup RUNTIME=native")
        proxies = json.loads((place.root / PROXIES).read_text(encoding="utf-8"))
        for proxy in proxies:
            port = int(proxy["listen"].rpartition(":")[2])
            proxy["listen"] = f"{LOOPBACK}:{place.addresses.port(place.service.name, port)}"
            proxy["upstream"] = place.addresses.rewrite(proxy["upstream"])
        config = place.write("proxies.json", json.dumps(proxies))
        yield Part(
            component=place.service.name,
            name=place.service.name,
            args=[
                *(program, "-host", LOOPBACK, "-port", str(_api(place))),
                *("-config", config, "-proxy-metrics"),
            ],
            env=place.base_environment(),
            settings={proxy["name"]: f"{proxy['listen']} to {proxy['upstream']}" for proxy in proxies},
        )

    def is_ready(self, place: Place) -> bool:
        """Whether its API answers, and every proxy is there."""
        status, body = probe.http_request("GET", _api(place), "/proxies")
        wanted = json.loads((place.root / PROXIES).read_text(encoding="utf-8"))
        return status == 200 and len(json.loads(body)) == len(wanted)  # noqa: PLR2004 HTTP

    def version(self) -> Mapping[str, str]:
        """As it is built."""
        return {"toxiproxy": toxiproxy.VERSION}


def _api(place: Place) -> int:
    return place.addresses.port(place.service.name, API_PORT)
