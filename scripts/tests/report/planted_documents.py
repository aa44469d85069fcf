"""The written documents with generated parts, as a checkout has them before anything is published."""

from pathlib import Path

README = "# Project\n\nBefore.\n\n<!-- results:answer:begin -->\nold\n<!-- results:answer:end -->\n\nAfter.\n"
DURABILITY = (
    "# Guarantees\n\n<!-- results:classes:begin -->\n<!-- results:classes:end -->\n\n"
    "<!-- faults:evidence:begin -->\nNothing yet.\n<!-- faults:evidence:end -->\n\nEnd.\n"
)


def write(root: Path) -> None:
    """README.md and docs/durability.md."""
    (root / "docs").mkdir(exist_ok=True)
    (root / "README.md").write_text(README, encoding="utf-8")
    (root / "docs/durability.md").write_text(DURABILITY, encoding="utf-8")
