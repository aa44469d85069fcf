"""The control groups (version 1 or 2) that decide how much processor time this process gets."""

from collections.abc import Iterator
from pathlib import Path

import psutil

GROUPS = Path("/sys/fs/cgroup")
_FOLDERS = ("cpu", "cpu,cpuacct")  # of version 1


def of_this_process() -> Iterator[Path]:
    """Its own and all above it, the nearest first. In a container the path may begin outside of what is seen."""
    listed = Path(psutil.PROCFS_PATH) / "self" / "cgroup"
    for line in listed.read_text(encoding="utf-8").splitlines() if listed.exists() else ():
        _, controllers, path = line.split(":", 2)
        if not controllers or "cpu" in controllers.split(","):
            inner = Path(path.strip("/"))
            tops = [GROUPS / name for name in _FOLDERS] if controllers else [GROUPS]
            yield from (top / part for top in tops for part in (inner, *inner.parents))
