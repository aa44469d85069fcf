"""How is a component's small disk filled, and emptied again? Through the container that keeps it mounted."""

from writepath.errors import StartError
from writepath.process import call
from writepath.runtime.base import FILL_BYTES_PER_S
from writepath.runtime.docker.engine import Container

BALLAST = ".writepath-ballast"
_PAGE_BYTES = 64 * 1024  # a file system in memory rounds its size up to a page, of at most so many
_FILL_SECONDS = 60
_STEPS_PER_S = 10
_FILL = (  # each ends when nothing more fits: the steps, and what fills the rest
    f"(while dd if=/dev/zero bs={FILL_BYTES_PER_S // _STEPS_PER_S} count=1; do sleep {1 / _STEPS_PER_S}; done;"
    ' cat /dev/zero) >"$0" 2>/dev/null || true'
)


def fill(keeper: Container, size_bytes: int) -> int:
    """Writes until nothing more fits; the bytes left. StartError, before a byte, on any other file system."""
    kind, size, _ = _state(keeper)
    if kind != "tmpfs" or not size_bytes <= size < size_bytes + _PAGE_BYTES:
        raise StartError(
            f"{keeper.name}: {_place(keeper)} is a {kind} of {size} bytes, not the small disk of {size_bytes}; "
            "nothing was written"
        )
    _run(keeper, _FILL)
    return _state(keeper)[2]


def free(keeper: Container) -> None:
    """Takes away what fill wrote."""
    _run(keeper, 'rm -f "$0"')


def _state(keeper: Container) -> tuple[str, int, int]:
    """Kind, size and free bytes of the file system."""
    said = call("docker", "exec", keeper.id, "df", "-B1", "--output=fstype,size,avail", _place(keeper))
    kind, size, free_bytes = said.splitlines()[-1].split()
    return kind, int(size), int(free_bytes)


def _run(keeper: Container, script: str) -> None:
    ballast = f"{_place(keeper)}/{BALLAST}"
    call("docker", "exec", keeper.id, "sh", "-c", script, ballast, timeout_s=_FILL_SECONDS)


def _place(keeper: Container) -> str:
    return keeper.volumes[0]
