"""The command line. Maps errors to exit codes; app.py has the commands, commands.py does the work.

0 valid, 3 unknown, 1 invalid or failed, 2 usage, 10 and above infrastructure, 130 stopped with Ctrl-C.
"""

import contextlib
import io
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.text import Text

from writepath.cli.app import app
from writepath.cli.options import ROOT
from writepath.errors import INTERRUPTED, UNEXPECTED, UsageError, WritepathError
from writepath.options import Call

PROGRAM = "wp"
COMPLETION = "_WP_COMPLETE"  # set by the shell function that `wp --install-completion` installs


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code. Never a stack trace: an unexpected error leaves one in a file and says where."""
    errors = Console(stderr=True)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # progress in a log file is there when it happens
    try:
        with _signals():
            return run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except WritepathError as error:
        errors.print(Text(f"writepath: {error}", style="red"), soft_wrap=True)
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNEXPECTED
    except Exception as error:  # noqa: BLE001 - the last resort
        path = _keep_trace()
        words = f"writepath: unexpected {type(error).__name__}: {error}; please report it and attach {path}"
        errors.print(Text(words, style="red"), soft_wrap=True)
        return UNEXPECTED


def run(arguments: Sequence[str], root: Path = ROOT) -> int:
    """As main, but raises."""
    line = typer.main.get_command(app)
    if COMPLETION in os.environ:
        line.main([], prog_name=PROGRAM)  # prints what the shell asked for, and exits
    name, *words = arguments if arguments and arguments[0] not in ("help", "-h") else ["--help"]
    try:
        call = Call(root=root, command=name, text=" ".join([name, *words]))
        with line.make_context(PROGRAM, [name, *words], obj=call) as context:
            code: int = line.invoke(context)
            return code
    except typer.Exit as end:  # --help
        return end.exit_code
    except typer.TyperException as error:
        raise UsageError(_explained(error)) from error


def _explained(error: typer.TyperException) -> str:
    """As make's user typed it: name, value, and what the value may be."""
    option, context = getattr(error, "param", None), getattr(error, "ctx", None)
    if option is None or context is None:
        return error.format_message()
    typed = option.opts[0]
    name = typed.lstrip("-").replace("-", "_").upper()
    if not error.message:
        command = context.info_name
        return f"{name} is missing: make {command} {name}=jpa, or wp {command} {typed} jpa"
    if not isinstance(error.__cause__, ValidationError):
        return f"{name}: {error.message}"
    value = error.__cause__.errors()[0]["input"]
    if getattr(option, "min", None) is not None:
        return f"{name}={value}: must be a whole number from {option.min} to {option.max}"
    return f"{name}={value}: {error.message.removeprefix('Value error, ')}"


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end a command as Ctrl-C does; a second Ctrl-C leaves at once. For the main thread."""
    received: list[int] = []

    def handle(number: int, _frame: object) -> None:
        received.append(number)
        if len(received) == 1:
            raise KeyboardInterrupt
        if number == signal.SIGINT:
            os.write(2, b"\nwritepath: stopped immediately; run `make down` to clean up\n")
            os._exit(INTERRUPTED)

    before = {
        number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _keep_trace() -> str:
    folder = ROOT / ".writepath" / "errors"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S}.log"
        path.write_text(traceback.format_exc(), encoding="utf-8")
        return str(path.relative_to(ROOT))
    except OSError:
        return "the message (the stack trace could not be saved)"
