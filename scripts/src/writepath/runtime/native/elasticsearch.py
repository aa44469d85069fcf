"""How does Elasticsearch run as a local process? Dotted environment names are settings, as in its official image."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from writepath.provision import archives, jdk
from writepath.runtime.native.part import Part, Place, Recipe
from writepath.runtime.network import LOOPBACK
from writepath.runtime.topology import Service

PORT = 9200
TRANSPORT = 9300


class Elasticsearch(Recipe):
    """Recipe of the image `elasticsearch`; a second service of the same image joins the first one's cluster."""

    def launch(self, place: Place) -> Iterator[Part]:
        """One node: its launcher, which stays as the parent, and the server."""
        home = archives.elasticsearch(place.root)
        config = place.folder / "config"
        shutil.copytree(home / "config", config)
        place.account.own(config, *config.rglob("*"))
        environment = place.environment()
        given = {key: value for key, value in environment.items() if "." in key}
        settings = {**_defaults(place), **given, **_network(place)}
        plain = {key: value for key, value in environment.items() if "." not in key}
        yield Part(
            component=place.service.name,
            name=place.service.name,
            args=[home / "bin" / "elasticsearch", *(f"-E{key}={value}" for key, value in settings.items())],
            env={
                **plain,
                "ES_JAVA_HOME": str(jdk.find().home),
                "ES_PATH_CONF": str(config),
                "ES_TMPDIR": str(place.temporary()),
                "CLI_JAVA_OPTS": _launcher_options(place.temporary()),
            },
            settings={**settings, "ES_JAVA_OPTS": plain.get("ES_JAVA_OPTS", "")},
            stop_seconds=0.2,  # it is asked; but the data is thrown away, and an orderly stop takes seconds
        )

    def is_ready(self, place: Place) -> bool:
        """Whether the cluster has a master and as many nodes as are started."""
        health = place.answer(PORT, "/_cluster/health")
        return health is not None and health["number_of_nodes"] == len(_nodes(place))

    def version(self) -> Mapping[str, str]:
        """Of the fetched distribution."""
        return {"elasticsearch": archives.ELASTICSEARCH_VERSION}


def _launcher_options(temporary: Path) -> str:
    """Of the launcher only, which starts the server and waits; it leaves files behind in its temporary folder."""
    options = "-XX:TieredStopAtLevel=1"
    split = len(str(temporary).split()) > 1  # its script splits the options at spaces
    return options if split else f"{options} -Djava.io.tmpdir={temporary}"


def _nodes(place: Place) -> list[Service]:
    return [service for service in place.active.values() if service.image_name == place.service.image_name]


def _defaults(place: Place) -> dict[str, str]:
    """What the compose file's own settings win over."""
    defaults = {"discovery.seed_hosts": "[]"}  # else it looks for nodes of others on this host
    nodes = len(_nodes(place))
    if nodes > 1:  # each node believes that all processors are its own
        defaults["node.processors"] = str(max(1, (os.cpu_count() or 1) // nodes))
    return defaults


def _network(place: Place) -> dict[str, str]:
    return {
        "network.host": LOOPBACK,
        "http.port": str(place.port(PORT)),
        "transport.port": str(place.port(TRANSPORT)),
        "path.data": str(place.folder / "data"),
        "path.logs": str(place.folder / "log"),
    }
