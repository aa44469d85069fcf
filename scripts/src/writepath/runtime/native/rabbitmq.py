"""How does RabbitMQ run as a local process? As a private node with its own name daemon, cookie, folder and ports."""

import secrets
import shlex
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

from writepath import process
from writepath.provision import packages
from writepath.runtime import network
from writepath.runtime.native.part import Part, Place, Recipe
from writepath.runtime.network import LOOPBACK

PORT = 5672
CONTROL = "rabbitmqctl"  # a script in the service's folder


class RabbitMq(Recipe):
    """Recipe of the image `rabbitmq`, without its management plugin: nothing here asks it."""

    def launch(self, place: Place) -> Iterator[Part]:
        """Erlang's name daemon, then the broker: a broker that finds none starts one that outlives it."""
        server = packages.RABBITMQ.installed()
        name = place.service.name
        environment = _environment(place)
        epmd = process.find("epmd", "/usr/lib/erlang/bin") or "epmd"
        epmd_port = place.port("epmd")
        yield Part(
            component=name,
            name=f"{name}-epmd",
            args=[epmd, "-port", str(epmd_port), "-address", LOOPBACK],
            env=environment,
            stop_signal=signal.SIGKILL,
            opens_port=epmd_port,
            helper=True,  # on a host of its own, too, it survives a broker's crash
        )
        script = _control_script(place, server, environment)
        yield Part(
            component=name,
            name=name,
            args=[server],
            env={**environment, "WRITEPATH_RABBITMQCTL": str(script)},
            settings=dict(place.service.environment),
            stop_signal=signal.SIGKILL,  # the data is thrown away, and an orderly stop takes seconds
        )

    def is_ready(self, place: Place) -> bool:
        """Whether a client's handshake is answered: the listener opens last."""
        return network.amqp_accepts(place.port(PORT))

    def version(self) -> Mapping[str, str]:
        """Of the installed package."""
        return {"rabbitmq": packages.rabbitmq_version()}


def _environment(place: Place) -> dict[str, str]:
    folder, name = place.folder, place.service.name
    given = place.service.environment
    cookie = place.write(".erlang.cookie", secrets.token_hex(16), mode=0o400)
    config = place.write(
        "rabbitmq.conf",
        f"listeners.tcp.1 = {LOOPBACK}:{place.port(PORT)}\n"
        f"default_user = {given.get('RABBITMQ_DEFAULT_USER', 'guest')}\n"
        f"default_pass = {given.get('RABBITMQ_DEFAULT_PASS', 'guest')}\n",
    )
    plugins = place.write("enabled_plugins", "[].\n")
    return {
        **place.base_environment(),
        "HOME": str(cookie.parent),  # Erlang looks for its cookie there
        "ERL_EPMD_PORT": str(place.port("epmd")),
        "ERL_EPMD_ADDRESS": LOOPBACK,
        "RABBITMQ_NODENAME": f"{name}@localhost",
        "RABBITMQ_DIST_PORT": str(place.port("dist")),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": f"-kernel inet_dist_use_interface {{{LOOPBACK.replace('.', ',')}}}",
        "RABBITMQ_CONF_ENV_FILE": str(folder / "none.conf"),  # the system's own settings stay out
        "RABBITMQ_CONFIG_FILE": str(config),
        "RABBITMQ_CONFIG_FILES": str(folder / "none.d"),
        "RABBITMQ_ADVANCED_CONFIG_FILE": str(folder / "none.config"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_LOGS": "-",
        "RABBITMQ_PID_FILE": str(folder / "node.pid"),
        "RUNNING_UNDER_SYSTEMD": "true",  # the script becomes the server: no shell stays between
    }


def _control_script(place: Place, server: Path, environment: Mapping[str, str]) -> Path:
    """The command rabbitmqctl for this node, callable by us; the cookie stands in its environment, not in a home."""
    names = "PATH LANG ERL_EPMD_PORT ERL_EPMD_ADDRESS RABBITMQ_NODENAME RABBITMQ_CONF_ENV_FILE"
    exports = "".join(f"export {name}={shlex.quote(environment[name])}\n" for name in names.split())
    cookie = (place.folder / ".erlang.cookie").read_text(encoding="ascii")
    home = place.account.make_folder(place.folder / "control")
    control = server.parent / CONTROL
    text = (
        f"#!/bin/sh\n{exports}export HOME={shlex.quote(str(home))} RABBITMQ_ERLANG_COOKIE={cookie}\n"
        f'exec {shlex.quote(str(control))} "$@"\n'
    )
    return place.write(CONTROL, text, mode=0o700)
