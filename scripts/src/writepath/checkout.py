"""Says which version of Writepath this is, the git commit and a digest of the code that measures; makes commits."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from writepath import process
from writepath.errors import UsageError, WritepathError
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
    *("/src/test/", "/tests/", "/sections", "tables.py", "/pictures.py", "README"),
    *(f"/experiments/{name}.py" for name in ("campaign", "publish", "reporting", "series", "site")),
    *("/target/", "/node_modules/", "/__pycache__/"),
)


def code(root: Path) -> Code:
    """Unknown and dirty where this is no git checkout, or there is no git."""
    digest = state.digest(root, _files(root))
    try:
        head = _git(root, "rev-parse", "--verify", "HEAD", timeout_s=10).strip()
        changed = _git(root, "status", "--porcelain", "--untracked-files=no", timeout_s=30)
    except WritepathError:
        return Code(commit="unknown", dirty=True, digest=digest)
    return Code(commit=head, dirty=bool(changed.strip()), digest=digest)


def require_clean(root: Path) -> None:
    """UsageError for files that differ from the last commit or are in none; CallError where git cannot commit."""
    if found := _git(root, "status", "--porcelain").splitlines():
        raise UsageError(
            f"{len(found)} files differ from the last commit, the first is {found[0][3:]}; a suite is measured and"
            " published at one commit. Commit them, or put them aside with `git stash --include-untracked`"
        )
    _git(root, "var", "GIT_COMMITTER_IDENT")  # where it has none, git says how to set it


def commit(root: Path, paths: Collection[str], subject: str) -> None:
    """What changed below the paths, where something did."""
    _git(root, "add", "--all", "--", *(path for path in paths if (root / path).exists()))
    if _git(root, "diff", "--cached", "--name-only"):
        # Git's clean-up, which a commit may start in the background, would disturb what is measured next.
        _git(root, "-c", "maintenance.auto=false", "commit", "--quiet", "--message", subject)


def restore(root: Path, paths: Collection[str]) -> None:
    """Makes what is below the paths as the last commit has it; deletes the files that it does not have."""
    _git(root, "reset", "--quiet")
    if changed := _git(root, "ls-files", "-z", "--modified", "--", *paths):
        _git(root, "checkout", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul", text_in=changed)
    _git(root, "clean", "--quiet", "-d", "--force", "--", *paths)


def _git(root: Path, *words: str, **how: Any) -> str:
    """What it says; CallError with its words where it fails."""
    return process.call("git", "-C", root, *words, **how)


def _files(root: Path) -> Iterator[Path]:
    for top in (root / name for name in MEASURES):
        for path in (top, *top.rglob("*")):
            if not any(part in f"/{path.relative_to(root).as_posix()}" for part in EXCEPT):
                yield path
