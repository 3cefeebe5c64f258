"""The strings that the language can hold: Unicode text, so none with a surrogate code point (X-01)."""

from __future__ import annotations

import re

SURROGATE = "[\ud800-\udfff]"
PAIR = "[\ud800-\udbff][\udc00-\udfff]"
"""Patterns; `re` compiles them when they are first used, which few scripts do."""


def pairs_joined(text: str) -> str:
    """A string in which two halves that make a character, as JSON writes it with escapes, are that character.

    >>> pairs_joined("\\ud83d\\ude00") == "\\U0001f600"
    True
    """
    return re.sub(PAIR, lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)


def surrogate_problem(text: str) -> str | None:
    """What is wrong with a string that holds a surrogate; None for text.

    >>> surrogate_problem("a\\ud83d")
    'the string holds the lone surrogate U+D83D at index 1'
    """
    if text.isascii():
        return None
    match = re.search(SURROGATE, text)
    if match is None:
        return None
    return f"the string holds the lone surrogate U+{ord(match[0]):04X} at index {match.start()}"
