"""Reading JSON5 (nrchat.md section 12).

One regular expression takes a whole key with its colon, another a whole value with the blanks around it. What
they do not take (comments, strings with escapes, keys beyond ASCII, closing brackets, faults) is read
character by character. The open containers are on a list, so depth costs no Python frames.
"""

from __future__ import annotations

import re
from typing import Any

from chatmd.nrchat.errors import Json5Error
from chatmd.nrchat.json5.faults import fault, found
from chatmd.nrchat.json5.identifiers import is_part, is_start
from chatmd.nrchat.json5.numbers import NUMBER, read_number
from chatmd.nrchat.json5.strings import read_string
from chatmd.nrchat.whitespace import WHITESPACE

MAX_DEPTH = 1_000_000
"""Brackets nested deeper than this are an error: each open one takes far more memory than its character."""

BLANKS = f"[{WHITESPACE}]*+"
PLAIN_STRINGS = r"""'([^'\\\n\r]*+)'|"([^"\\\n\r]*+)\""""
VALUE = re.compile(rf"{BLANKS}(?:{PLAIN_STRINGS}|({NUMBER})|(null|true|false)|([\[{{])){BLANKS}")
NUMBER_GROUP, WORD_GROUP, OPEN_GROUP = 3, 4, 5
KEY = re.compile(rf"{BLANKS}(?:([A-Za-z_$][A-Za-z0-9_$]*+)|{PLAIN_STRINGS}){BLANKS}:")

SPACE = re.compile(BLANKS)
LINE_COMMENT = re.compile(r"//[^\n\r\u2028\u2029]*")
WORD = re.compile("[A-Za-z_$][A-Za-z0-9_$]{0,30}")
UNICODE_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
WORDS = {"null": None, "true": True, "false": False}
SHORT_NUMBER = 15


def parse_json5(text: str) -> Any:
    """The value of a JSON5 text: dict, list, str, int, float, bool or None (nrchat.md section 12).

    A whole number that a double holds exactly is an `int`, every other number a `float`; `-0` is `-0.0`. Of
    equal keys the last one counts. Raises `Json5Error`, which is a `ValueError`, with line and column for any
    other text.

    >>> parse_json5("{unquoted: 'yes', \\"hex\\": 0xFF, half: .5, list: [1, 2,], /* why not */}")
    {'unquoted': 'yes', 'hex': 255, 'half': 0.5, 'list': [1, 2]}
    >>> parse_json5("{a: 1, b: 010}")
    Traceback (most recent call last):
    chatmd.nrchat.errors.Json5Error: found '1' where ',' or '}' is expected (line 1, column 12)
    """
    if not isinstance(text, str):
        raise TypeError(f"parse_json5 reads a str, not {type(text).__name__}; decode bytes as UTF-8 first")
    key_at, value_at = KEY.match, VALUE.match
    containers: list[Any] = []  # around `container`, outermost first; None stands for the text itself
    keys: list[Any] = []  # where in each of them the next one goes, if it is an object
    container: Any = None
    key: Any = None
    value: Any = None
    position = 0
    while True:
        # An item of `container` begins here, or the container ends: it is empty, or a comma stood before.
        closed = False
        if type(container) is dict:
            match = key_at(text, position)
            if match is not None:
                key = match[match.lastindex or 0]
                position = match.end()
            else:
                position = skip_space(text, position)
                closed = text.startswith("}", position)
                if not closed:
                    key, position = _read_key(text, position)
        if not closed:
            match = value_at(text, position)
            if match is None:
                position = skip_space(text, position)
                match = value_at(text, position)
            if match is not None:
                kind = match.lastindex or 0
                position = match.end()
                literal = match[kind]
                if kind == OPEN_GROUP:
                    if len(containers) >= MAX_DEPTH:
                        raise fault(text, position, f"brackets are nested deeper than {MAX_DEPTH} levels")
                    containers.append(container)
                    keys.append(key)
                    container = {} if literal == "{" else []
                    continue
                if kind == NUMBER_GROUP:
                    short = len(literal) <= SHORT_NUMBER and literal.isdigit()
                    value = int(literal) if short else read_number(literal)
                else:
                    value = WORDS[literal] if kind == WORD_GROUP else literal
            elif text.startswith(("'", '"'), position):
                value, position = read_string(text, position)
            else:
                closed = type(container) is list and text.startswith("]", position)
                if not closed:
                    raise _no_value(text, position)
        # A value is complete, or a container is. Containers end here until a comma comes.
        while True:
            if closed:
                value = container
                container = containers.pop()
                key = keys.pop()
                position += 1
            if container is None:
                position = skip_space(text, position)
                if position < len(text):
                    raise _unexpected(text, position, "the end of the text")
                return value
            is_object = type(container) is dict
            if is_object:
                container[key] = value
            else:
                container.append(value)
            here = text[position : position + 1]
            if here not in (",", "}", "]"):
                position = skip_space(text, position)
                here = text[position : position + 1]
            if here == ",":
                position += 1
                break
            closed = here == ("}" if is_object else "]")
            if not closed:
                raise _unexpected(text, position, "',' or '}'" if is_object else "',' or ']'")


def skip_space(text: str, position: int) -> int:
    """The offset after the blanks and comments that begin at `position` (J1)."""
    while True:
        match = SPACE.match(text, position)
        assert match is not None
        position = match.end()
        if text.startswith("/*", position):
            end = text.find("*/", position + 2)
            if end < 0:
                raise fault(text, position, "a comment that begins with /* has no */")
            position = end + 2
        elif (comment := LINE_COMMENT.match(text, position)) is not None:
            position = comment.end()
        else:
            return position


def _read_key(text: str, position: int) -> tuple[str, int]:
    """The key that begins at `position`, and the offset after its colon."""
    if text.startswith(("'", '"'), position):
        key, position = read_string(text, position)
    else:
        key, position = _read_name(text, position)
    position = skip_space(text, position)
    if not text.startswith(":", position):
        raise _unexpected(text, position, "':' after a key")
    return key, position + 1


def _read_name(text: str, position: int) -> tuple[str, int]:
    """The bare key that begins at `position`, and the offset after it (J4)."""
    letters: list[str] = []
    allowed = is_start
    while True:
        letter = text[position : position + 1]
        end = position + 1
        escaped = letter == "\\"
        if escaped:
            match = UNICODE_ESCAPE.match(text, position)
            if match is None:
                raise fault(text, position, "in a key, \\u and four hexadecimal digits are the only escape")
            letter = chr(int(match[1], 16))
            end = match.end()
        if not letter or not allowed(letter):
            if escaped:
                raise fault(
                    text,
                    position,
                    f"the escaped character {found(letter, 0)} cannot stand here in a bare key",
                )
            if not letters:
                raise _unexpected(text, position, "a key")
            return "".join(letters), position
        letters.append(letter)
        allowed = is_part
        position = end


def _no_value(text: str, position: int) -> Json5Error:
    word = WORD.match(text, position)
    if word is not None:
        return fault(text, position, f"the word {word[0]!r} is not a value; text needs quotes")
    return _unexpected(text, position, "a value")


def _unexpected(text: str, position: int, wanted: str) -> Json5Error:
    return fault(text, position, f"found {found(text, position)} where {wanted} is expected")
