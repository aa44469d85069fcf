"""Escapes free text, so that it becomes neither markup nor a formula: reviews, titles and errors are free text."""

import re

MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~!$&])")
SPACE = re.compile(r"[\s\x00-\x1f\x7f\u2028\u2029]+")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069]")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\x00")
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "`": "&#96;"}
BARE_ADDRESS = re.compile(r"(?i)\b(https?|ftp|mailto|www)(?=[:.])")


def markdown(value: str) -> str:
    """One line of text that renders as itself, in a table's cell too: no markup, no HTML, no links, no lists."""
    line = SPACE.sub(" ", CONTROL.sub("", value)).strip()
    line = MARKDOWN.sub(lambda found: ENTITIES.get(found[1], "\\" + found[1]), line)
    line = BARE_ADDRESS.sub(lambda found: found[1] + "&#8203;", line)  # GitHub links bare addresses
    if line[:1] in ("-", "+", "="):  # a list, or a heading's underline
        return "\\" + line
    return re.sub(r"^(\d+)([.)])(?=\s|$)", r"\1\\\2", line)


def csv(value: str) -> str:
    """Text of a CSV cell that no spreadsheet takes for a formula (a leading apostrophe). Quoting is the writer's."""
    text = CONTROL.sub("", value.replace("\x00", ""))
    return "'" + text if value.startswith(FORMULA) else text


def terminal(value: str) -> str:
    """Text without control sequences."""
    return SPACE.sub(" ", CONTROL.sub("", value))
