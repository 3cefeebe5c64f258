"""The strings that the language can hold: Unicode text, so none with a surrogate code point (X-01)."""

from __future__ import annotations

import re

SURROGATE = re.compile("[\ud800-\udfff]")


def surrogate_problem(text: str) -> str | None:
    """What is wrong with a string that holds a surrogate; None for text.

    >>> surrogate_problem("a\\ud83d")
    'the string holds the lone surrogate U+D83D at index 1'
    """
    if text.isascii():
        return None
    match = SURROGATE.search(text)
    if match is None:
        return None
    return f"the string holds the lone surrogate U+{ord(match[0]):04X} at index {match.start()}"
