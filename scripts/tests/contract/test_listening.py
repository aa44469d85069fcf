"""Nothing of a stack can be reached from another machine."""

import contextlib
from collections.abc import Iterator

import docker
import psutil

from contract.subject import Subject
from writepath.runtime.docker.stack import DockerStack
from writepath.runtime.native.stack import NativeStack
from writepath.runtime.network import LOOPBACK


def _listening(pid: int) -> Iterator[str]:
    """Addresses on which a process and those below it listen."""
    root = psutil.Process(pid)
    for process in (root, *root.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):  # PostgreSQL's workers end at any time
            for connection in process.net_connections("tcp"):
                if connection.status == psutil.CONN_LISTEN:
                    yield connection.laddr.ip


def test_no_part_listens_beyond_loopback(subject: Subject) -> None:
    stack = subject.stack
    if isinstance(stack, NativeStack):
        addresses = {address for pid in stack.pids() for address in _listening(pid)}
    else:
        assert isinstance(stack, DockerStack)
        engine = docker.from_env()
        found = [engine.containers.get(one) for part in stack.components for one in stack.container_ids(part)]
        published = [place for one in found for places in one.ports.values() for place in places or ()]
        addresses = {place["HostIp"] for place in published}
    assert addresses
    assert addresses <= {LOOPBACK, "::1", f"::ffff:{LOOPBACK}"}
