"""What must be there before a variant can start, and how does it get here? A done step does nothing."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from writepath.provision import archives, golang, jdk, k6, maven, packages, state, toxiproxy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    Step = Callable[[], object]


def setup(
    root: Path, say: Callable[[str], None], runtime: str = "native", only: Collection[str] | None = None
) -> None:
    """Does every missing step, independent ones side by side. SetupError says what to type where it cannot.

    runtime `docker` needs none of this: its images are built and pulled by its own prepare. only: some steps.
    """
    started = time.monotonic()
    state.folder(root)
    if runtime == "docker":
        return
    jdk.find()
    maven.find()
    waiting = {name: step for name, step in _missing(root, say).items() if only is None or name in only}
    if waiting:
        state.check_disk(root)
        _side_by_side(waiting, say)
        say(f"setup: done in {time.monotonic() - started:.1f} s")


def _missing(root: Path, say: Callable[[str], None]) -> dict[str, Step]:
    steps: dict[str, Step] = {}
    if packages.missing():
        steps["packages"] = lambda: packages.ensure(say)
    if not archives.postgres(root).is_dir():
        steps["postgres"] = lambda: archives.ensure_postgres(root, say)
    if not archives.elasticsearch(root).is_dir():
        steps["elasticsearch"] = lambda: archives.ensure_elasticsearch(root, say)
    if maven.jars(root) is None:
        steps["services"] = lambda: maven.build(root, say)
    if k6.find(root) is None:
        steps["k6"] = lambda: k6.ensure(root, say)
    if toxiproxy.find(root) is None and golang.find() is not None:  # only faults on the network need it
        steps["toxiproxy"] = lambda: toxiproxy.ensure(root, say)
    return steps


def _side_by_side(steps: dict[str, Step], say: Callable[[str], None]) -> None:
    def timed(name: str, step: Step) -> None:  # say is the caller's: it decides how lines of threads mix
        started = time.monotonic()
        step()
        say(f"{name}: ready after {time.monotonic() - started:.1f} s")

    with ThreadPoolExecutor(len(steps)) as pool:
        jobs = [pool.submit(timed, name, step) for name, step in steps.items()]
    for job in jobs:  # all have ended: one failure does not leave another step half done
        job.result()
