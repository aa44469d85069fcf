"""What of raw data may the world see? No paths of this machine, nothing about its user, no secrets."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

PERSONAL = {"HOME", "HOSTNAME", "LOGNAME", "OLDPWD", "PATH", "PWD", "SHELL", "USER", "USERNAME"}
SECRET = re.compile(r"(?i)password|passwd|secret|token|credential|cookie")
MACHINE_PATH = re.compile(r"(?<![\w./])/(?:[\w.+@-]+/)*[\w.+@-]+")


def scrubbed(value: Any) -> Any:
    """As the world may see it: no paths of this machine, nothing about its user, no secrets."""
    if isinstance(value, dict):
        kept = {key: entry for key, entry in value.items() if key.upper() not in PERSONAL}
        return {key: "***" if SECRET.search(key) else scrubbed(entry) for key, entry in kept.items()}
    if isinstance(value, list):
        return [scrubbed(entry) for entry in value]
    return MACHINE_PATH.sub("(path)", value) if isinstance(value, str) else value


def copy_json(source: Path, target: Path) -> None:
    """Parsed, scrubbed, and written so that a diff of two can be read."""
    data = scrubbed(json.loads(source.read_text(encoding="utf-8")))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
