"""Says which version of Writepath this is: the git commit, and a digest of the code that measures."""

from collections.abc import Iterator
from pathlib import Path

from writepath import process
from writepath.errors import WritepathError
from writepath.provision import state
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
    digest = state.digest(root, _files(root))
    try:
        commit = process.call("git", "-C", root, "rev-parse", "--verify", "HEAD", timeout_s=10).strip()
        changed = process.call(
            "git", "-C", root, "status", "--porcelain", "--untracked-files=no", timeout_s=30
        )
    except WritepathError:
        return Code(commit="unknown", dirty=True, digest=digest)
    return Code(commit=commit, dirty=bool(changed.strip()), digest=digest)


def _files(root: Path) -> Iterator[Path]:
    for top in (root / name for name in MEASURES):
        for path in (top, *top.rglob("*")):
            if not any(part in f"/{path.relative_to(root).as_posix()}" for part in EXCEPT):
                yield path
