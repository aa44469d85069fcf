"""How does PostgreSQL run as a local process? From a data folder made once and copied for each start."""

import hashlib
import signal
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from writepath import process
from writepath.errors import SetupError
from writepath.provision import archives, state
from writepath.runtime import network
from writepath.runtime.native.account import Account
from writepath.runtime.native.part import Part, Place, Recipe
from writepath.runtime.network import LOOPBACK
from writepath.runtime.topology import Service

PORT = 5432
_INITDB_SECONDS = 120.0


class Postgres(Recipe):
    """Recipe of the image `postgres`: its POSTGRES_* variables and the flags of `command`."""

    def prepare(self, root: Path, service: Service, account: Account) -> None:
        """Makes the template of the data folder."""
        _template(root, service, account)

    def launch(self, place: Place) -> Iterator[Part]:
        """One server without a Unix socket: a path below a deep checkout is too long for one."""
        data = place.folder / "data"
        template = _template(place.root, place.service, place.account)
        # Resolved: of a link, as in a cache folder shared by two checkouts, cp would copy the link alone.
        process.call("cp", "-a", "--reflink=auto", template.resolve(), data)
        flags = list(place.service.command[1:])
        port = place.port(PORT)
        server = archives.postgres(place.root) / "bin" / "postgres"
        network = [f"listen_addresses={LOOPBACK}", f"port={port}", "unix_socket_directories="]
        yield Part(
            component=place.service.name,
            name=place.service.name,
            args=[server, "-D", data, *flags, *(word for setting in network for word in ("-c", setting))],
            env=place.base_environment(),
            settings={"flags": " ".join(flags)},
            stop_signal=signal.SIGQUIT,  # immediate: the data is thrown away
            orderly_signal=signal.SIGINT,  # fast; SIGTERM would wait for every client to leave
            death_signal=signal.SIGQUIT,  # SIGKILL would leave its shared memory behind
        )

    def is_ready(self, place: Place) -> bool:
        """Whether a session may begin."""
        return network.postgres_accepts(place.port(PORT), _user(place.service))

    def version(self) -> Mapping[str, str]:
        """Of the fetched binaries."""
        return {"postgresql": ".".join(archives.POSTGRES_VERSION.split(".")[:2])}


def _user(service: Service) -> str:
    return service.environment.get("POSTGRES_USER", "postgres")


def _template(root: Path, service: Service, account: Account) -> Path:
    """A data folder with the service's superuser and database: what the official image makes at its first start."""
    user = _user(service)
    password = service.environment.get("POSTGRES_PASSWORD", "")
    database = service.environment.get("POSTGRES_DB", user)
    identity = f"{archives.POSTGRES_VERSION}\0{user}\0{password}\0{database}\0{account.uid}"
    name = f"postgresql-template-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"
    target = state.folder(root) / name
    if target.is_dir():
        return target
    with state.lock(root, name):
        if not target.is_dir():
            _make_template(root, target, (user, password, database), account)
    return target


def _make_template(root: Path, target: Path, names: tuple[str, str, str], account: Account) -> None:
    user, password, database = names
    programs = archives.postgres(root) / "bin"
    prefix: list[str | Path] = ["setpriv", *account.privileges, "--"] if account.privileges else []
    environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    with state.made_whole(target) as part, tempfile.NamedTemporaryFile("w") as secret:
        part.chmod(0o700)
        secret.write(password)
        secret.flush()
        account.own(part, Path(secret.name))
        initdb: list[str | Path] = [programs / "initdb", "-D", part, "-U", user, "--pwfile", secret.name]
        locale = ["--encoding=UTF8", "--locale=C.UTF-8"]  # UTF-8 types of characters: pg_trgm needs them
        single: list[str | Path] = [programs / "postgres", "--single", "-D", part, "postgres"]
        create = f'CREATE DATABASE "{database}"\n' if database != "postgres" else ""
        for command, given in (
            ([*initdb, *locale, "--auth=scram-sha-256", "--no-sync"], ""),
            (single, create),
        ):
            try:
                process.call(
                    *(*prefix, *command), cwd=part, env=environment, text_in=given, timeout_s=_INITDB_SECONDS
                )
            except process.CallError as error:
                raise SetupError(f"postgres: initdb failed.\n{error}") from error
