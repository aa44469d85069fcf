"""How does nginx run as a local process? From the same template as in its image."""

from __future__ import annotations

import signal
import string
from typing import TYPE_CHECKING

from writepath.errors import SetupError
from writepath.provision import packages
from writepath.runtime.native import probe
from writepath.runtime.native.addresses import LOOPBACK
from writepath.runtime.native.part import Part

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from writepath.runtime.native.account import Account
    from writepath.runtime.native.part import Place
    from writepath.runtime.topology import Service

TEMPLATE = "nginx/nginx.conf.template"


class Nginx:
    """Recipe of the image `nginx`: the template with the service's environment filled in."""

    def prepare(self, root: Path, service: Service, account: Account) -> None:
        """Nothing: the distribution's package is all it needs."""

    def launch(self, place: Place) -> Iterator[Part]:
        """One master with its worker, in the foreground."""
        program = packages.NGINX.find()
        if program is None:
            raise SetupError(f"nginx: not installed. Run: {packages.command([packages.NGINX])}")
        given = place.service.environment
        upstream = place.addresses.rewrite_statements(given["UPSTREAM"])
        values = {**given, "LISTEN": f"{LOOPBACK}:{port(place)}", "UPSTREAM": upstream}
        config = place.write("nginx.conf", configuration(place.root, values, place.folder))
        yield Part(
            component=place.service.name,
            name=place.service.name,
            args=[program, "-p", place.folder, "-c", config, "-e", "stderr", "-g", "daemon off;"],
            env=place.base_environment(),
            settings=values,
            orderly_signal=signal.SIGQUIT,  # ends what it has begun
            death_signal=signal.SIGTERM,  # SIGKILL of the master would leave its worker behind
        )

    def is_ready(self, place: Place) -> bool:
        """Whether it answers for itself."""
        return probe.http_request("GET", port(place), "/nginx-health")[0] == 200  # noqa: PLR2004 HTTP

    def version(self) -> Mapping[str, str]:
        """Of the installed package."""
        return {"nginx": packages.nginx_version()}


def configuration(root: Path, values: Mapping[str, str], folder: Path) -> str:
    """The template with these values, and with `folder` where the image has /tmp."""
    template = string.Template((root / TEMPLATE).read_text(encoding="utf-8"))
    return template.safe_substitute(values).replace("/tmp/", f"{folder}/")  # noqa: S108 the image's


def port(place: Place) -> int:
    """Where the proxy listens."""
    return place.addresses.port(place.service.name, int(place.service.environment["LISTEN"]))
