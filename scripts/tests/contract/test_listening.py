"""Nothing of a stack can be reached from another machine."""

from pathlib import Path

import docker

from contract.subject import Subject
from writepath import pidfile
from writepath.runtime.docker.stack import DockerStack
from writepath.runtime.native.stack import NativeStack
from writepath.runtime.network import LOOPBACK

LISTENS = "0A"  # as a state in /proc/net/tcp
LOCAL = {"0100007F", f"{'0' * 24}01000000", f"{'0' * 16}FFFF00000100007F"}  # 127.0.0.1, ::1, ::ffff:127.0.0.1


def _listening(pids: set[int]) -> set[str]:
    """Addresses on which the processes listen, as the kernel writes them."""
    files = (file for pid in pids for file in Path(f"/proc/{pid}/fd").iterdir())
    sockets = {str(file.readlink()) for file in files if file.is_symlink()}
    rows = (
        row.split() for name in ("tcp", "tcp6") for row in Path("/proc/net", name).read_text().splitlines()
    )
    return {row[1].partition(":")[0] for row in rows if row[3] == LISTENS and f"socket:[{row[9]}]" in sockets}


def test_no_part_listens_beyond_loopback(subject: Subject) -> None:
    stack = subject.stack
    if isinstance(stack, NativeStack):
        known = pidfile.everything()
        started = set(stack.pids())
        pids = started | {one.pid for root in started for one in pidfile.descendants(root, known)}
        addresses = _listening(pids)
        assert addresses
        assert addresses <= LOCAL
    else:
        assert isinstance(stack, DockerStack)
        engine = docker.from_env()
        found = [engine.containers.get(one) for part in stack.components for one in stack.container_ids(part)]
        published = [place for one in found for places in one.ports.values() for place in places or ()]
        assert {place["HostIp"] for place in published} == {LOOPBACK}
