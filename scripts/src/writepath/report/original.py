"""Reads the published figures of the original experiment from original.yaml."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

SOURCE = Path(__file__).with_name("original.yaml")


@cache
def published_figures() -> dict[str, Any]:
    """`variants` by name, `source` and `remarks`."""
    data: dict[str, Any] = yaml.safe_load(SOURCE.read_text(encoding="utf-8"))
    return data
