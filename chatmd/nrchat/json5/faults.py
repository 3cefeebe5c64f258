"""Errors of the JSON5 reader: where in the text, and what stood there."""

from __future__ import annotations

from chatmd.nrchat.errors import Json5Error


def fault(text: str, offset: int, reason: str) -> Json5Error:
    """The error for a place of the text; line and column are found only now (J13)."""
    line_start = text.rfind("\n", 0, offset) + 1
    line = text.count("\n", 0, line_start) + 1
    return Json5Error(reason, line=line, column=offset - line_start + 1, offset=offset)


def found(text: str, offset: int) -> str:
    """The character at a place, fit to be shown in a message.

    >>> found("a", 0), found("a\\0", 1), found("a", 1)
    ("'a'", 'U+0000', 'the end of the text')
    """
    if offset >= len(text):
        return "the end of the text"
    character = text[offset]
    return repr(character) if character.isprintable() else f"U+{ord(character):04X}"
