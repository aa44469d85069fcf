"""The JSON Schemas of variants.yaml and suites.yaml, for editors and other languages.

`python -m writepath.config.schemas` rewrites the committed files; a test fails where they differ.
"""

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from writepath.config.entries import SuitesFile, VariantsFile

ROOT = Path(__file__).parents[4]
_FILES: dict[str, type] = {"variants": VariantsFile, "suites": SuitesFile}


class _Untitled(GenerateJsonSchema):
    """Without a title for each field, which only repeats its name."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False


def files() -> dict[str, str]:
    """Name below schemas/ and text of each file."""
    return {
        f"{name}.schema.json": json.dumps(_schema(name, kind), indent=2, ensure_ascii=False) + "\n"
        for name, kind in _FILES.items()
    }


def _schema(name: str, kind: type) -> dict[str, Any]:
    schema = TypeAdapter(kind).json_schema(schema_generator=_Untitled)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    suite = schema.get("$defs", {}).get("SuiteEntry")
    if suite is not None:
        # Only the kind knows what the part with its name may hold.
        part = {
            "type": "object",
            "description": "The part named like the kind, as in `capacity: {slo_ms: 100}`.",
        }
        suite["additionalProperties"] = part
    return head | schema | {"title": f"{name}.yaml"}


if __name__ == "__main__":
    for file, text in files().items():
        (ROOT / "schemas" / file).write_text(text, encoding="utf-8")
