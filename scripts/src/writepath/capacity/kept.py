"""How does what is measured on one started stack come to its record, however it ends?"""

from __future__ import annotations

import contextlib
import time
import traceback
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from writepath.capacity.rig import Rig
from writepath.errors import WritepathError
from writepath.load.plan import new_run_id
from writepath.measure import loading
from writepath.measure.facts import dataset_facts, moment
from writepath.measure.truth import Truth

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from writepath.capacity.search_run import SearchSpec
    from writepath.measure.bench import Bench
    from writepath.records import Durability
    from writepath.records.capacity import Hold

TRACE_FILE = "error.log"
T = TypeVar("T")


@dataclass(kw_only=True)
class Draft(ABC):
    """A record under way, which can be written at any moment."""

    spec: SearchSpec
    bench: Bench
    run_id: str = field(default_factory=new_run_id)
    began: float = field(default_factory=time.time)
    outcome: Literal["finished", "failed", "aborted"] = "aborted"  # until proved otherwise
    error: str | None = None
    durability: Durability | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    holds: list[Hold] = field(default_factory=list)

    def fail(self, error: str) -> None:
        """It could not be measured to its end, or the stack not be stopped; what there is stays."""
        self.outcome, self.error = "failed", error

    @abstractmethod
    def save(self) -> object:
        """Writes the record; what it says."""

    def facts(self) -> dict[str, Any]:
        """What every record says that is made on one stack, as far as it is known now."""
        spec, variant = self.spec, self.spec.variant
        return {
            "run_id": self.run_id,
            "suite": spec.suite,
            "variant": variant.name,
            "title": variant.title,
            "family": variant.family,
            "block": spec.block,
            "position": spec.position,
            "again": spec.again,
            "runtime": self.bench.runtime.name,
            "seed": spec.seed,
            "overrides": dict(spec.overrides),
            "dataset": dataset_facts(spec.dataset),
            "code": spec.code,
            "started_at": moment(self.began),
            "finished_at": moment(time.time()),
            "outcome": self.outcome,
            "error": self.error,
            "durability": self.durability,
            "holds": tuple(self.holds),
            "host": self.bench.host,
            "versions": dict(self.versions),
        }


def required(value: T | None) -> T:
    """The value, which the order of steps guarantees."""
    if value is None:
        raise AssertionError("asked for before its step")
    return value


@contextlib.contextmanager
def to_its_end(record: Draft, folder: Path) -> Iterator[None]:
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
