"""CPU quotas of local processes: a control group for each, where this machine lets one be made."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from writepath import control_groups, poll, process
from writepath.errors import SetupError

PERIOD_US = 100_000  # Docker's
_LINK = ".group"  # in a stack's folder: where the group of a process is, for whoever removes the folder
_BUSY_SECONDS = 2.0


def made(folder: Path, name: str, cpus: float) -> Path:
    """A new control group for one process: the file in which that process writes its id to join it.

    folder: of the stack, with which the group is removed. SetupError where no group with a quota can be made.
    """
    problems = []
    for parent in control_groups.of_this_process():
        if not _gives_time(parent):
            continue
        try:
            with _new(parent, name) as group:
                members = group / "cgroup.procs"
                _limit(group, round(cpus * PERIOD_US))
                process.call(*process.joining(members), "true")  # the kernel may refuse the move
                (folder / f"{name}{_LINK}").symlink_to(group)
                return members
        except (OSError, process.CallError) as error:
            problems.append(f"{parent}: {error}")
    raise SetupError(
        f"{name}: APPLICATION_CPUS={cpus:g}: this user cannot make a control group with a CPU quota on this machine."
        " Run as root where control groups can be changed, or in containers (RUNTIME=docker), whose engine makes them."
        f"\n{problems[0] if problems else 'No control group gives processor time to others.'}"
    )


def removed(folder: Path) -> bool:
    """Removes the groups of a stack, whose processes have ended; whether none is left."""
    for link in folder.glob(f"*{_LINK}"):
        if poll.until(partial(_remove, link.readlink()), _BUSY_SECONDS):
            link.unlink()
    return not any(folder.glob(f"*{_LINK}"))


def _gives_time(parent: Path) -> bool:
    """Whether a group made there would have the files of a quota."""
    try:
        return "cpu" in (parent / "cgroup.subtree_control").read_text(encoding="ascii").split()
    except OSError:
        return (parent / "cpu.cfs_quota_us").exists()


@contextmanager
def _new(parent: Path, name: str) -> Iterator[Path]:
    """Gone again where something fails."""
    group = Path(tempfile.mkdtemp(prefix=f"writepath-{name}-", dir=parent))
    try:
        yield group
    except BaseException:
        _remove(group)
        raise


def _limit(group: Path, quota_us: int) -> None:
    if (group / "cpu.max").exists():
        (group / "cpu.max").write_text(f"{quota_us} {PERIOD_US}", encoding="ascii")
    else:
        (group / "cpu.cfs_period_us").write_text(f"{PERIOD_US}", encoding="ascii")
        (group / "cpu.cfs_quota_us").write_text(f"{quota_us}", encoding="ascii")


def _remove(group: Path) -> bool:
    """Whether it is gone."""
    try:
        group.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
