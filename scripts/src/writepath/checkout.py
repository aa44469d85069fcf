"""Says which version of Writepath this is: the git commit, and a digest of the code that measures."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from writepath import process
from writepath.errors import WritepathError
from writepath.records.measures import Code

PACKAGE = "scripts/src/writepath"
MEASURES = (  # what decides a measurement; documents, reports and analysis do not
    "services",
    "k6",
    "nginx",
    "docker-compose.yml",
    ".env",
    "scripts/requirements.lock",
    *(f"{PACKAGE}/{name}" for name in ("measure", "load", "runtime", "provision", "experiments")),
    *(f"{PACKAGE}/{name}.py" for name in ("process", "pidfile", "poll")),
)
EXCEPT = (  # parts of folders above that measure nothing, and what a build leaves
    *("/src/test/", "/tests/", "/sections", "README"),
    *("/target/", "/node_modules/", "/__pycache__/"),
)


def code(root: Path) -> Code:
    """Unknown and dirty where this is no git checkout, or there is no git."""
    try:
        commit = process.call("git", "-C", root, "rev-parse", "--verify", "HEAD", timeout_s=10).strip()
        changed = process.call(
            "git", "-C", root, "status", "--porcelain", "--untracked-files=no", timeout_s=30
        )
    except WritepathError:
        return Code(commit="unknown", dirty=True, digest=digest(root))
    return Code(commit=commit, dirty=bool(changed.strip()), digest=digest(root))


def digest(root: Path) -> str:
    """SHA-256 over the names and contents of all files that decide a measurement."""
    whole = hashlib.sha256()
    for name in sorted(_names(root)):
        content = (root / name).read_bytes()
        whole.update(f"{name}\0{len(content)}\0".encode())
        whole.update(content)
    return whole.hexdigest()


def _names(root: Path) -> Iterator[str]:
    for top in (root / name for name in MEASURES):
        for path in (top, *top.rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.is_file() and not any(part in f"/{name}" for part in EXCEPT):
                yield name
