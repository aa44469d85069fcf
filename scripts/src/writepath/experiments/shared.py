"""What every experiment does around its cells: folders that nothing overwrites, what cells share, the exit code."""

import contextlib
import itertools
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from writepath import pidfile
from writepath.config.registry import Variant
from writepath.load.dataset import Dataset
from writepath.measure import host
from writepath.measure.bench import Bench
from writepath.measure.host import CanaryCage
from writepath.progress import Progress
from writepath.records.index import VariantRecord
from writepath.runtime.base import Runtime

STAMP = "%Y%m%dT%H%M%SZ"
LATEST = "latest"
INTERRUPTED = 130


def worst(codes: Iterator[int]) -> int:
    """Of exit codes: infrastructure (10+) over invalid (1) over unknown (3) over valid (0)."""
    order = {0: 0, 3: 1, 1: 2}
    return max(codes, key=lambda code: order.get(code, code), default=0)


def variant_records(variants: Sequence[Variant]) -> tuple[VariantRecord, ...]:
    """Variants as they are defined now, for an index."""
    return tuple(
        VariantRecord(
            name=v.name,
            title=v.title,
            family=v.family,
            acknowledges=v.acknowledges,
            profiles=tuple(v.profiles),
            settings=dict(v.settings),
            naive_twin_of=v.naive_twin_of,
            tutorial_of=v.tutorial_of,
            control_of=v.control_of,
        )
        for v in variants
    )


def set_aside(place: Path) -> None:
    """Renames what a cell left that was stopped, failed or says nothing: never counted, but kept."""
    if place.exists():
        names = (place.with_name(f"{place.name}-replaced-{number}") for number in itertools.count(1))
        place.rename(next(name for name in names if not name.exists()))


def replaced(place: Path) -> int:
    """How often a cell's folder was set aside."""
    return len([*place.parent.glob(f"{place.name}-replaced-*")])


def link_latest(results: Path, folder: Path) -> None:
    """Makes results/latest name this suite run."""
    link, new = results / LATEST, results / f".{LATEST}.part"
    new.unlink(missing_ok=True)
    new.symlink_to(folder.relative_to(results), target_is_directory=True)
    new.replace(link)


@contextlib.contextmanager
def bench(root: Path, state: Path, dataset: Dataset, runtime: Runtime, progress: Progress) -> Iterator[Bench]:
    """What all cells share. state: the ignored folder of what a checkout keeps at run time."""
    content = state / "content.json"
    dataset.write(content)
    pids = state / "run" / f"load-{os.getpid()}"
    pids.mkdir(parents=True, exist_ok=True)
    pidfile.claim(pids)
    try:
        yield Bench(
            runtime=runtime,
            progress=progress,
            cage=CanaryCage(folder=state),
            host=host.host_facts(state),
            content=content,
            pids=pids,
            root=root,
        )
    finally:
        shutil.rmtree(pids, ignore_errors=True)
