"""How does what is measured on one started stack come to its record, however it ends?"""

from __future__ import annotations

import contextlib
import traceback
from typing import TYPE_CHECKING, Literal, Protocol

from writepath.capacity.rig import Rig
from writepath.errors import WritepathError
from writepath.run import loading
from writepath.run.truth import Truth

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from writepath.capacity.search_run import SearchSpec
    from writepath.run.runner import Bench

TRACE_FILE = "error.log"


class Kept(Protocol):
    """A record under way, which can be written at any moment."""

    outcome: Literal["finished", "failed", "aborted"]  # aborted until proved otherwise

    def fail(self, error: str) -> None:
        """It could not be measured to its end, or the stack not be stopped; what there is stays."""

    def save(self) -> object:
        """Writes the record."""


@contextlib.contextmanager
def to_its_end(record: Kept, folder: Path) -> Iterator[None]:
    """Writes the record whatever happens in the block. Only KeyboardInterrupt comes out."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
        record.outcome = "finished"
    except WritepathError as error:
        record.fail(str(error))
    except Exception as error:  # noqa: BLE001 - one failure must not end the suite; the trace is kept
        (folder / TRACE_FILE).write_text("".join(traceback.format_exception(error)), encoding="utf-8")
        record.fail(f"unexpected {type(error).__name__}: {error}; the trace is in {TRACE_FILE}")
    finally:
        record.save()


@contextlib.contextmanager
def rigged(spec: SearchSpec, bench: Bench) -> Iterator[Rig]:
    """A started stack, to be loaded again and again; its logs are kept, then it is stopped."""

    @contextlib.contextmanager
    def shown(name: str) -> Iterator[None]:
        bench.progress.phase(name)
        yield

    with (
        loading.started(bench, spec.variant, spec.overrides, shown) as stack,
        Truth.of(stack, spec.variant) as truth,
    ):
        try:
            yield Rig(spec=spec, bench=bench, stack=stack, truth=truth)
        finally:
            with contextlib.suppress(OSError, WritepathError):
                stack.save_logs(spec.folder / "logs")
