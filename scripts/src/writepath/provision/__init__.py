"""What must be there before a variant can start, and how does it get here? A done step does nothing."""

import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from writepath.provision import archives, golang, jdk, maven, packages, state


def setup(root: Path, say: Callable[[str], None], only: Collection[str] | None = None) -> None:
    """Does every missing step, or those of `only`, side by side. SetupError says what to type where it cannot."""
    started = time.monotonic()
    jdk.find()
    maven.find()
    steps: dict[str, tuple[bool, Callable[[], object]]] = {  # by name: whether it is done, and what does it
        "packages": (not packages.missing(), lambda: packages.ensure(say)),
        "postgres": (archives.postgres(root).is_dir(), lambda: archives.ensure_postgres(root, say)),
        "elasticsearch": (
            archives.elasticsearch(root).is_dir(),
            lambda: archives.ensure_elasticsearch(root, say),
        ),
        "services": (maven.jars(root) is not None, lambda: maven.build(root, say)),
        "k6": (golang.K6.find(root) is not None, lambda: golang.K6.ensure(root, say)),
        # Only faults on the network need it.
        "toxiproxy": (
            golang.TOXIPROXY.find(root) is not None or golang.find() is None,
            lambda: golang.TOXIPROXY.ensure(root, say),
        ),
    }
    waiting = {name: do for name, (done, do) in steps.items() if not done and (only is None or name in only)}
    if not waiting:
        return
    state.check_disk(root)

    def timed(name: str) -> None:  # say is the caller's: it decides how lines of threads mix
        began = time.monotonic()
        waiting[name]()
        say(f"{name}: ready after {time.monotonic() - began:.1f} s")

    with ThreadPoolExecutor(len(waiting)) as pool:
        jobs = [pool.submit(timed, name) for name in waiting]
    for job in jobs:  # all have ended: one failure does not leave another step half done
        job.result()
    say(f"setup: done in {time.monotonic() - started:.1f} s")
