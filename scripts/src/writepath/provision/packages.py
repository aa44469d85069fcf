"""Finds RabbitMQ and nginx, or installs the distribution's packages, never as running daemons."""

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from writepath import process
from writepath.errors import SetupError

INSTALL_SECONDS = 900.0
LOCK_SECONDS = 300
POLICY = Path("/usr/sbin/policy-rc.d")
_POLICY_KEPT = Path("/usr/sbin/policy-rc.d.before-writepath")
_POLICY_TEXT = "#!/bin/sh\n# Written by Writepath while it installs packages: no daemon starts.\nexit 101\n"


@dataclass(frozen=True, kw_only=True)
class Package:
    """A program that a distribution's package brings."""

    name: str
    program: str
    folders: tuple[str, ...] = ()

    def find(self) -> Path | None:
        """The program, if it is installed."""
        for folder in self.folders:  # before the PATH: Debian's wrapper there insists on its own user
            if (Path(folder) / self.program).exists():
                return Path(folder) / self.program
        return process.find(self.program)

    def installed(self) -> Path:
        """The program; SetupError with the command to type where it is not installed."""
        found = self.find()
        if found is None:
            raise SetupError(f"{self.program}: not found. Run: {_command([self.name])}")
        return found


RABBITMQ = Package(
    name="rabbitmq-server",
    program="rabbitmq-server",
    folders=("/usr/lib/rabbitmq/bin", "/opt/rabbitmq/sbin"),
)
NGINX = Package(name="nginx", program="nginx")
ALL = (RABBITMQ, NGINX)  # what a run needs
PGBENCH = Package(name="postgresql", program="pgbench")  # no server of it ever runs
CHROMIUM = Package(name="chromium", program="chromium")  # tests look at the results site in it


def missing(among: Sequence[Package] = ALL) -> list[Package]:
    """Those that are not installed."""
    return [package for package in among if package.find() is None]


def _command(names: Sequence[str]) -> str:
    """What a person types to install them."""
    return f"sudo apt-get install -y --no-install-recommends {' '.join(names)}"


def ensure(say: Callable[[str], None], among: Sequence[Package] = ALL) -> None:
    """Installs what is missing; SetupError with the one command to type where that is not allowed."""
    wanted = missing(among)
    if not wanted:
        return
    names = [package.name for package in wanted]
    prefix = _as_root()
    if prefix is None or process.find("apt-get") is None:
        raise SetupError(
            f"{' and '.join(names)} not installed, and this user may not install packages. Run: {_command(names)}"
        )
    say(f"packages: installing {' and '.join(names)}")
    with _no_daemons(prefix):
        install = ("install", "-y", "--no-install-recommends", *names)
        try:
            try:
                _apt(prefix, *install)
            except process.CallError:  # package lists are missing or out of date
                _apt(prefix, "update", "-q")
                _apt(prefix, *install)
        except process.CallError as error:
            raise SetupError(f"{error}\nInstall manually: {_command(names)}") from error
    for package in wanted:
        package.installed()


def _apt(prefix: Sequence[str], *args: str) -> None:
    quiet = ("env", "DEBIAN_FRONTEND=noninteractive")  # sudo drops the environment
    options = ("-o", f"DPkg::Lock::Timeout={LOCK_SECONDS}", "-o", "Dpkg::Options::=--force-confold")
    process.call(*prefix, *quiet, "apt-get", *options, *args, timeout_s=INSTALL_SECONDS)


def may_install() -> bool:
    """Whether ensure could install what is missing, without a question."""
    return process.find("apt-get") is not None and _as_root() is not None


def _as_root() -> tuple[str, ...] | None:
    """How to run a command as root: as we are, through sudo without a question, or not at all."""
    if os.geteuid() == 0:
        return ()
    if process.find("sudo") and process.attempt("sudo", "-n", "true").returncode == 0:
        return ("sudo", "-n")
    return None


@contextlib.contextmanager
def _no_daemons(prefix: Sequence[str]) -> Iterator[None]:
    """Forbids packages to start their daemons, and puts the machine's own policy back afterwards."""
    # A kept one is left of a killed set-up: it is the real one.
    if POLICY.exists() and not _POLICY_KEPT.exists():
        process.call(*prefix, "mv", POLICY, _POLICY_KEPT)
    process.call(*prefix, "tee", POLICY, text_in=_POLICY_TEXT)
    process.call(*prefix, "chmod", "755", POLICY)
    try:
        yield
    finally:
        process.call(*prefix, "rm", "-f", POLICY)
        if _POLICY_KEPT.exists():
            process.call(*prefix, "mv", _POLICY_KEPT, POLICY)


def nginx_version() -> str:
    """1.22.1."""
    output = process.attempt(NGINX.find() or "nginx", "-v")
    return _version(output.stderr + output.stdout)


def rabbitmq_version() -> str:
    """3.10.8, from the folder name of the server's own libraries: asking the program would start an Erlang."""
    program = RABBITMQ.find()
    folders = program.resolve().parent.parent.glob("**/rabbit-[0-9]*") if program else ()
    return _version(min((folder.name for folder in folders), default=""))


def _version(text: str) -> str:
    found = re.search(r"\d+\.\d+(\.\d+)?", text)
    return found[0] if found else "unknown"
