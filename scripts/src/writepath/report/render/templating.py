"""Loads the page templates; in HTML everything but a drawing is escaped by the engine."""

from __future__ import annotations

from pathlib import Path

import jinja2

TEMPLATES = Path(__file__).parents[1] / "templates"


def html(name: str) -> jinja2.Template:
    """A template of HTML."""
    engine = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return engine.get_template(name)


def markdown() -> jinja2.Environment:
    """For templates of Markdown; free text is escaped by escape.markdown before it is given to one."""
    return jinja2.Environment(  # noqa: S701 - HTML's escapes would show in Markdown
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
