"""How PostgreSQL, RabbitMQ and Elasticsearch run as local processes."""

import hashlib
import secrets
import shlex
import shutil
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

from writepath import process
from writepath.errors import SetupError
from writepath.provision import archives, jdk, packages, state
from writepath.runtime.native.recipe import Part, Place, Recipe
from writepath.runtime.network import LOOPBACK

POSTGRES_PORT = 5432
RABBITMQ_PORT = 5672
ELASTICSEARCH_PORT = 9200
TRANSPORT_PORT = 9300  # between nodes of Elasticsearch
RABBITMQ_CONTROL = "rabbitmqctl"  # a script in the service's folder
# Of what is not measured: the optimizing compiler takes a third of the processor time of tests and pays back later.
ONE_COMPILER = "-XX:TieredStopAtLevel=1"
_INITDB_SECONDS = 120.0


def _postgres(place: Place) -> Iterator[Part]:
    """One server, on a copy of the template, with the flags of `command`.

    Without a Unix socket: a path below a deep checkout is too long for one.
    """
    data = place.data
    # Resolved: of a link, as in a cache folder shared by two checkouts, cp would copy the link alone.
    process.call("cp", "-a", "--reflink=auto", _template(place).resolve(), data)
    flags = list(place.service.command[1:])
    server = archives.postgres(place.root) / "bin" / "postgres"
    port = place.port(POSTGRES_PORT)
    listen = ["-c", f"listen_addresses={LOOPBACK}", "-c", f"port={port}", "-c", "unix_socket_directories="]
    yield Part(
        args=[server, "-D", data, *flags, *listen],
        env=place.base_environment(),
        settings={"flags": " ".join(flags)},
        stop_signal=signal.SIGQUIT,  # immediate: the data is thrown away
        orderly_signal=signal.SIGINT,  # fast; SIGTERM would wait for every client to leave
        death_signal=signal.SIGQUIT,  # SIGKILL would leave its shared memory behind
    )


def _template(place: Place) -> Path:
    """A data folder with the service's superuser and database: what the official image makes at its first start."""
    root, account, given = place.root, place.account, place.service.environment
    user, password = given.get("POSTGRES_USER", "postgres"), given.get("POSTGRES_PASSWORD", "")
    database = given.get("POSTGRES_DB", user)

    def make(work: Path) -> Path:
        work.chmod(0o711)
        data, secret = account.make_folder(work / "data"), account.write(work / "password", password)
        locale = ["--encoding=UTF8", "--locale=C.UTF-8"]  # UTF-8 types of characters: pg_trgm needs them
        flags = ["-U", user, "--pwfile", f"{secret}", *locale, "--auth=scram-sha-256", "--no-sync"]
        create = f'CREATE DATABASE "{database}"\n' if database != "postgres" else ""
        programs = archives.postgres(root) / "bin"
        commands: list[tuple[list[str | Path], str]] = [
            ([programs / "initdb", "-D", data, *flags], ""),
            ([programs / "postgres", "--single", "-D", data, "postgres"], create),
        ]
        environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        for command, text_in in commands:
            try:
                process.call(
                    *(*account.prefix, *command),
                    cwd=data,
                    env=environment,
                    text_in=text_in,
                    timeout_s=_INITDB_SECONDS,
                )
            except process.CallError as error:
                raise SetupError(f"postgres: initdb failed.\n{error}") from error
        return data

    identity = f"{archives.POSTGRES_VERSION}\0{user}\0{password}\0{database}\0{account.uid}"
    name = f"postgresql-template-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"
    return state.made_once(root, state.folder(root) / name, name, make)


POSTGRES = Recipe(
    launch=_postgres, version=lambda: ("postgresql", archives.POSTGRES_VERSION.rpartition(".")[0])
)


def _rabbitmq(place: Place) -> Iterator[Part]:
    """Erlang's name daemon, then a private broker with its own cookie, folder and ports, without management plugin.

    A broker that finds no name daemon starts one that outlives it.
    """
    server = packages.RABBITMQ.installed()
    environment = _rabbitmq_environment(place)
    epmd = process.find("epmd", "/usr/lib/erlang/bin") or "epmd"
    epmd_port = place.port("epmd")
    yield Part(
        args=[epmd, "-port", str(epmd_port), "-address", LOOPBACK],
        env=environment,
        suffix="-epmd",
        stop_signal=signal.SIGKILL,
        opens_port=epmd_port,
        helper=True,  # on a host of its own, too, it survives a broker's crash
    )
    _control_script(place, server, environment)
    yield Part(
        args=[server],
        env=environment,
        settings=dict(place.service.environment),
        stop_signal=signal.SIGKILL,  # the data is thrown away, and an orderly stop takes seconds
    )


def _rabbitmq_environment(place: Place) -> dict[str, str]:
    folder, given = place.folder, place.service.environment
    cookie = place.write(".erlang.cookie", secrets.token_hex(16), mode=0o400)
    config = place.write(
        "rabbitmq.conf",
        f"listeners.tcp.1 = {LOOPBACK}:{place.port(RABBITMQ_PORT)}\n"
        f"default_user = {given.get('RABBITMQ_DEFAULT_USER', 'guest')}\n"
        f"default_pass = {given.get('RABBITMQ_DEFAULT_PASS', 'guest')}\n",
    )
    plugins = place.write("enabled_plugins", "[].\n")
    return {
        **place.base_environment(),
        "HOME": str(cookie.parent),  # Erlang looks for its cookie there
        "ERL_EPMD_PORT": str(place.port("epmd")),
        "ERL_EPMD_ADDRESS": LOOPBACK,
        "RABBITMQ_NODENAME": f"{place.service.name}@localhost",
        "RABBITMQ_DIST_PORT": str(place.port("dist")),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": f"-kernel inet_dist_use_interface {{{LOOPBACK.replace('.', ',')}}}",
        "RABBITMQ_CONF_ENV_FILE": str(folder / "none.conf"),  # the system's own settings stay out
        "RABBITMQ_CONFIG_FILE": str(config),
        "RABBITMQ_CONFIG_FILES": str(folder / "none.d"),
        "RABBITMQ_ADVANCED_CONFIG_FILE": str(folder / "none.config"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
        "RABBITMQ_MNESIA_BASE": str(place.data),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_LOGS": "-",
        "RABBITMQ_PID_FILE": str(folder / "node.pid"),
        "RUNNING_UNDER_SYSTEMD": "true",  # the script becomes the server: no shell stays between
    }


def _control_script(place: Place, server: Path, environment: Mapping[str, str]) -> Path:
    """The command rabbitmqctl for this node, callable by us; the cookie is in its environment, not in a home."""
    names = "PATH LANG ERL_EPMD_PORT ERL_EPMD_ADDRESS RABBITMQ_NODENAME RABBITMQ_CONF_ENV_FILE"
    exports = "".join(f"export {name}={shlex.quote(environment[name])}\n" for name in names.split())
    cookie = (place.folder / ".erlang.cookie").read_text(encoding="ascii")
    home = place.account.make_folder(place.folder / "control")
    control = server.parent / RABBITMQ_CONTROL
    text = (
        f"#!/bin/sh\n{exports}export HOME={shlex.quote(str(home))} RABBITMQ_ERLANG_COOKIE={cookie}\n"
        f'exec {shlex.quote(str(control))} "$@"\n'
    )
    return place.write(RABBITMQ_CONTROL, text, mode=0o700)


RABBITMQ = Recipe(launch=_rabbitmq, version=lambda: ("rabbitmq", packages.rabbitmq_version()))


def _elasticsearch(place: Place) -> Iterator[Part]:
    """One node: its launcher, which stays as the parent, and the server. A second service joins the first's cluster.

    Dotted names of the environment are settings, as in its official image.
    """
    home = archives.elasticsearch(place.root)
    config = place.folder / "config"
    shutil.copytree(home / "config", config)
    place.account.own(config, *config.rglob("*"))
    environment = place.environment()
    given = {key: value for key, value in environment.items() if "." in key}
    plain = {key: value for key, value in environment.items() if "." not in key}
    published = f"{given['transport.publish_host']}:{given['transport.publish_port']}"
    publish_host, _, publish_port = place.addresses.rewrite(published).rpartition(":")
    settings = {
        **given,
        "network.host": LOOPBACK,
        "http.port": str(place.port(ELASTICSEARCH_PORT)),
        "transport.port": str(place.port(TRANSPORT_PORT)),
        "transport.publish_host": publish_host,
        "transport.publish_port": publish_port,
        "path.data": str(place.data),
        "path.logs": str(place.folder / "log"),
    }
    yield Part(
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


def _launcher_options(temporary: Path) -> str:
    """Of the launcher only, which starts the server and waits; it leaves files behind in its temporary folder."""
    options = ONE_COMPILER
    split = len(str(temporary).split()) > 1  # its script splits the options at spaces
    return options if split else f"{options} -Djava.io.tmpdir={temporary}"


def _elasticsearch_is_ready(place: Place) -> bool:
    """Whether the cluster has a master and as many nodes as are started."""
    health = place.answer(ELASTICSEARCH_PORT, "/_cluster/health")
    nodes = sum(each.image_name == place.service.image_name for each in place.active.values())
    return health is not None and health["number_of_nodes"] == nodes


ELASTICSEARCH = Recipe(
    launch=_elasticsearch,
    is_ready=_elasticsearch_is_ready,
    version=lambda: ("elasticsearch", archives.ELASTICSEARCH_VERSION),
)
