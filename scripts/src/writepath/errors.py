"""Which exit code does a failure have? One hierarchy, mapped to exit codes in one place (cli.main)."""

from collections.abc import Iterable

UNEXPECTED = 10
INTERRUPTED = 130


def worst(codes: Iterable[int]) -> int:
    """Of exit codes: infrastructure (10+) over invalid (1) over unknown (3) over valid (0)."""
    order = {0: 0, 3: 1, 1: 2}
    return max(codes, key=lambda code: order.get(code, code), default=0)


class WritepathError(Exception):
    """A failure the user can act on: what failed, why usually, what to do. Never a stack trace."""

    exit_code = 10


class UsageError(WritepathError):
    """A flag, file or value that the user gave is wrong; the message names flag, value and remedy."""

    exit_code = 2


class InvalidRunError(WritepathError):
    """A run finished and its verdict is invalid."""

    exit_code = 1


class SetupError(WritepathError):
    """Something the machine must have is missing and cannot be installed here."""

    exit_code = 10


class StartError(WritepathError):
    """A variant did not become ready; the message names the component and quotes the end of its log."""

    exit_code = 11


class LoadError(WritepathError):
    """The load generator could not run at all."""

    exit_code = 12


class AuditError(WritepathError):
    """The store could not be read back."""

    exit_code = 13
