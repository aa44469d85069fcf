"""Starts and ends programs: the only module that knows `subprocess`."""

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

from writepath import pidfile
from writepath.errors import SetupError, WritepathError
from writepath.processors import confine

SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin")
Output: TypeAlias = subprocess.CompletedProcess[str]


class ProgramMissingError(SetupError):
    """A program is not on the PATH."""


class CallError(WritepathError):
    """A program ended with an exit code that is not 0, or took too long; has its output."""

    def __init__(self, message: str, stdout: str = "", stderr: str = "") -> None:
        super().__init__(message)
        self.stdout = stdout
        self.stderr = stderr


def find(program: str | Path, *folders: str | Path) -> Path | None:
    """The program's path: on the PATH, in a given folder or a system folder (a PATH may lack sbin)."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *map(str, folders), *SYSTEM_FOLDERS])
    found = shutil.which(str(program), path=path)
    return Path(found) if found else None


def attempt(
    *args: str | Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    text_in: str = "",
) -> Output:
    """Runs a program to its end; returns what it said, whatever its exit code. env replaces the environment.

    ProgramMissingError if it does not exist, CallError if it takes longer than timeout_s.
    """
    command = _resolved(args)
    try:
        return subprocess.run(
            command,
            cwd=cwd,
            env=env,
            input=text_in,
            capture_output=True,
            timeout=timeout_s,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired as error:
        raise CallError(f"{shlex.join(command)}: timed out after {timeout_s:.0f} s") from error


def call(*args: str | Path, **how: Any) -> str:
    """As attempt, but returns standard output; CallError (with the output's end) unless it ended with 0."""
    output = attempt(*args, **how)
    if output.returncode != 0:
        said = "\n".join((output.stderr.strip() or output.stdout.strip()).splitlines()[-15:])
        message = f"{shlex.join(map(str, args))}: ended with exit code {output.returncode}\n{said}"
        raise CallError(message, output.stdout, output.stderr)
    return output.stdout


def run_through(*args: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> int:
    """Runs a program on the caller's terminal; returns its exit code. Ctrl-C reaches it and is waited for."""
    child = subprocess.Popen(_resolved(args), cwd=cwd, env=env)
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:  # the terminal sent it to the child too: let it end in its own way
            continue


def replace_self(*args: str | Path) -> None:
    """Becomes another program."""
    command = _resolved(args)
    os.execv(command[0], command)


def _resolved(args: Sequence[str | Path]) -> list[str]:
    command = [str(arg) for arg in args]
    program = find(command[0])
    if program is None:
        raise ProgramMissingError(
            f"{command[0]}: not found on the PATH; run `make doctor` to see how to install it"
        )
    command[0] = str(program)
    return command


_JOIN = 'echo $$ >"$0" && exec "$@"'  # of a shell, which becomes the program


def joining(group: Path) -> list[str]:
    """Before a command: it runs in a control group from its beginning. group: the file of the group's processes."""
    return ["sh", "-c", _JOIN, str(group)]


# One thread starts every long-lived child and lives as long as this process: the kernel sends the parent-death signal
# when the *thread* that started the child ends, so starting from a pool's thread would end the child with the pool.
_starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="process-starter")


def _started(processors: Collection[int], command: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
    """In the starter's thread: a child inherits its processors, so that they are set before the program begins."""
    os.sched_setaffinity(0, processors)
    return subprocess.Popen(command, **how)


def _confined(
    args: Sequence[str | Path],
    privileges: Sequence[str],
    death_signal: signal.Signals | None,
    group: Path | None,
) -> list[str]:
    """The command behind what confines it; a missing program is our error, not a line in the child's log."""
    flags, command = list(privileges), _resolved(args)
    if death_signal is not None and find("setpriv"):
        flags += ["--pdeathsig", death_signal.name.removeprefix("SIG")]
    if flags:
        command = _resolved(["setpriv", *flags, "--", *command])
    return (
        command if group is None else _resolved([*joining(group), *command])
    )  # joined before rights are dropped


class Daemon:
    """A long-lived child in its own session, with a log and a pid file; ended together with its own children.

    The kernel ends it (death_signal) when this process dies without a word; pidfile.reap ends what is left.
    """

    def __init__(  # noqa: PLR0913 all but two are keyword-only choices of a recipe
        self,
        name: str,
        args: Sequence[str | Path],
        *,
        pid_folder: Path,
        log: Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        privileges: Sequence[str] = (),
        stop_signal: signal.Signals = signal.SIGTERM,
        stop_seconds: float = 3.0,
        death_signal: signal.Signals | None = signal.SIGKILL,
        text_in: str = "",
        processors: Collection[int] = (),
        group: Path | None = None,
    ) -> None:
        """privileges: setpriv flags that drop the user; death_signal None: outlives this process.

        processors: that it may use, else those of the caller. group: as joining() takes it, else that of the caller.
        """
        self.name = name
        self.log = log
        self._stop_signal = stop_signal
        self._stop_seconds = stop_seconds
        command = _confined(args, privileges, death_signal, group)
        with log.open("ab") as output, tempfile.TemporaryFile() as given:
            given.write(text_in.encode())
            given.seek(0)
            self._child = _starter.submit(
                _started,
                processors or os.sched_getaffinity(0),
                command,
                cwd=cwd,
                env=env,
                stdin=given,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            ).result()
        self.pid = self._child.pid
        self._pid_file = pid_folder / f"{name}.pid"
        self._frozen: list[pidfile.Stat] = []
        self._identity = pidfile.write(self._pid_file, self.pid)

    def exit_code(self) -> int | None:
        """None while it runs; negative: ended by that signal."""
        return self._child.poll()

    def wait(self, timeout_s: float | None = None) -> int:
        """Its exit code, once it has ended; TimeoutError after timeout_s."""
        try:
            return self._child.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"{self.name}: still running after {timeout_s} s") from error

    @property
    def life(self) -> str | None:
        """`<pid>-<start ticks>` while it runs or stands still: no other process of this boot ever has it."""
        return self._identity.life if self._child.poll() is None else None

    def kill(self) -> None:
        """SIGKILL to it and all its children, as a crash would; gone on return. stop cleans up afterwards."""
        pidfile.kill_family(self._identity, self._frozen)
        with contextlib.suppress(subprocess.TimeoutExpired):  # it hangs in the kernel
            self._child.wait(pidfile.KILL_SECONDS)  # a zombie's pid still counts as a running process

    def freeze(self) -> None:
        """SIGSTOP to it and all its children."""
        if self._child.poll() is None:
            self._frozen = pidfile.freeze(self._identity)

    def thaw(self) -> None:
        """Lets what was frozen go on."""
        if self._frozen:
            pidfile.thaw(self._identity, self._frozen)
            self._frozen = []

    def let_use(self, processors: Collection[int]) -> None:
        """Moves it and all its children there, while they run."""
        for each in pidfile.family(self._identity):
            confine(each.pid, processors)

    def log_tail(self, lines: int = 15) -> str:
        """The last lines of its log."""
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""
        return end_of(text, lines)

    def ask_to_stop(self, number: int | None = None) -> None:
        """Sends the stop signal, or another one, and returns at once; stop waits. Nothing where it has ended."""
        self._child.send_signal(number or self._stop_signal)
        self.thaw()  # a frozen one hears of it only then

    def stop(self) -> None:
        """Stop signal, bounded wait, then SIGKILL to its whole session; afterwards nothing of it is left."""
        family = pidfile.family(self._identity)
        self.ask_to_stop()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(self._stop_seconds)
        pidfile.kill_family(self._identity, family)
        self._child.wait()
        self._pid_file.unlink(missing_ok=True)


def end_of(log: str, lines: int) -> str:
    """The last lines of a log, for people: of an application's objects, what they say."""
    return "\n".join("\n".join(_readable(line) for line in log.splitlines()[-lines:]).splitlines()[-lines:])


def _readable(line: str) -> str:
    """Level, message and trace of a JSON object of an application's log; any other line as it is."""
    try:
        entry = json.loads(line)
        words = [entry["log"]["level"], entry["message"], entry.get("error", {}).get("stack_trace", "")]
    except (ValueError, KeyError, TypeError, AttributeError):
        return line
    return " ".join(words).rstrip()


def stop_all(daemons: Sequence[Daemon]) -> None:
    """Stops them side by side: every one gets its signal before any is waited for."""
    for daemon in daemons:
        daemon.ask_to_stop()
    for daemon in daemons:
        daemon.stop()
