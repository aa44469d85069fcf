"""Turns an SVG file into a part of an HTML page that takes the page's colours."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

OPENING = re.compile(r"<svg [^>]*>")
VIEW_BOX = re.compile(r'viewBox="([^"]+)"')
METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
GROUP_ID = re.compile(r'<g id="[^"]*"')
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
FONT = re.compile(r"font: ((?:bold )?[\d.]+px)[^;\"]*")
NAME = re.compile(r'(?<=id=")([^"]+)(?=")|(?<=href="#)([^"]+)(?=")|(?<=url\(#)([^)]+)(?=\))')


def inline(text: str, colours: Mapping[str, str], prefix: str = "") -> str:
    """Without what belongs to a file: prolog, fixed size, metadata, ids of groups.

    colours: a style of the page, such as --ink, by the colour that it replaces. prefix: of the remaining ids, where
    several drawings would share them.
    """
    opening = OPENING.search(text)
    box = VIEW_BOX.search(text)
    assert opening is not None  # noqa: S101 - matplotlib wrote it
    assert box is not None  # noqa: S101
    body = METADATA.sub("", COMMENT.sub("", text[opening.end() :]))
    body = FONT.sub(r"font: \1 system-ui, sans-serif", GROUP_ID.sub("<g", body))
    if prefix:
        body = NAME.sub(lambda found: f"{prefix}{found[0]}", body)
    for colour, own in colours.items():
        body = body.replace(colour.lower(), f"var({own})")
    head = f'<svg viewBox="{box[1]}" xmlns="http://www.w3.org/2000/svg"'
    return f'{head} xmlns:xlink="http://www.w3.org/1999/xlink" aria-hidden="true" focusable="false">{body}'.strip()
