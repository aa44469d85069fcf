"""Ahead-of-time caches of the applications: classes and method profiles of a training run (JDK 25, JEP 514, 515).

An application records what it does under load, and a process of its own makes the cache once it has ended. Caches of
one build of one application are in a folder: `<what chooses its code>-<digest>.aot`.
"""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from writepath.runtime import topology

SETTING = "AOT_CACHE"
NONE, TRAINED, RECORD = "none", "trained", "record"  # record: in the training run itself
TRAINING = {SETTING: RECORD, "INSTANCES": "1", "CONSUMERS": "1"}
CREATE_SECONDS = 300.0
DIGITS = 12
TRAINING_RUN = (
    "with the requests of the runner"  # of another one an older cache has profiles, and is not used
)
RECORDING = "recorded.aotconf"
JAVA = "JDK_JAVA_OPTIONS"
_PROCESSORS = re.compile(rf"{topology.JVM_FLAG}\d+")
CHOOSING = (  # which code runs, and the layout of the JVM
    *("SPRING_PROFILES_ACTIVE", "VIRTUAL_THREADS", "WRITEPATH_POSTGRES_WRITE_MODE"),
    JAVA,
)


def find(folder: Path, environment: Mapping[str, str]) -> Path | None:
    """The cache; None where no training run has made it."""
    return next(folder.glob(f"{_key(environment)}-*.aot"), None)


def flags(
    folder: Path, environment: Mapping[str, str], recording: Path, seen: Path | None = None
) -> tuple[list[str], str]:
    """Java's, for what the setting asks, and the digest of the cache. seen: the folder, as the application sees it."""
    asked = environment.get(SETTING)
    if asked == RECORD:
        return ["-XX:AOTMode=record", f"-XX:AOTConfiguration={recording}"], RECORD
    cache = find(folder, environment) if asked == TRAINED else None
    if cache is None:
        return [], NONE
    # on: a cache that does not fit is an error, never a colder start that nobody sees
    return ["-XX:AOTMode=on", f"-XX:AOTCache={(seen or folder) / cache.name}"], cache.stem.rpartition("-")[2]


def creating(folder: Path, environment: Mapping[str, str], recording: Path) -> list[str]:
    """Java's flags to make the cache; keep() takes it into use."""
    return [
        "-XX:AOTMode=create",
        f"-XX:AOTConfiguration={recording}",
        f"-XX:AOTCache={_part(folder, environment)}",
    ]


def keep(folder: Path, environment: Mapping[str, str]) -> None:
    """Takes a whole cache into use. What it was made of is in a folder of the stack, or here."""
    part = _part(folder, environment)
    (folder / RECORDING).unlink(missing_ok=True)
    with part.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:DIGITS]
    part.rename(part.with_name(f"{part.stem}-{digest}.aot"))


def _part(folder: Path, environment: Mapping[str, str]) -> Path:
    return folder / f"{_key(environment)}.part"


def _key(environment: Mapping[str, str]) -> str:
    """Whatever the number of processors: it chooses no code, and one cache is for all levels of APPLICATION_CPUS."""
    values = (_PROCESSORS.sub("", environment.get(name, "")) for name in CHOOSING)
    chosen = "\0".join((*values, TRAINING_RUN))
    return hashlib.sha256(chosen.encode()).hexdigest()[:DIGITS]
