"""A value of type `json` from JSON text: RFC 8259 and nothing else (builtins.md section 3.8.1, X-06)."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isinf

from chatml.border.python import FALSE, NULL, TRUE
from chatml.builtins.json_scanner import read_quickly
from chatml.diagnostics.errors import ChatmlError
from chatml.records import mutable
from chatml.source import Source
from chatml.values.model import Value

SPACE = re.compile(r"[ \t\n\r]*")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
NUMBER_LIKE = re.compile(r"[-+.0-9]+(?:[eE][-+.0-9]*)?")
WORD = re.compile(r"\w+")
PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
HEX = re.compile(r"[0-9a-fA-F]{4}")
LOW_SURROGATE = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
LITERALS = {"null": NULL, "true": TRUE, "false": FALSE}


class JsonError(ChatmlError, ValueError):
    """Text that is not JSON: `reason` says what, where, and in which array or object; `offset` counts code points."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset


def read(text: str, check_size: Callable[[int], None] | None = None) -> Value:
    """The value of a JSON text. Objects keep order and repeated keys, numbers become the nearest double.

    Raises `JsonError`, and what `check_size` (the `Machine.check_size` of a running script) raises for the length of an
    array, object or string. Nesting may be of any depth.

    >>> read('{"n": [1, true]}')
    ('Object', [{'key': 'n', 'value': ('Array', [('Number', 1.0), ('Bool', True)])}])
    """
    if check_size is None:
        value = read_quickly(text)
        if value is not None:
            return value
    return _Reader(text, check_size or _any_size).read()


def _any_size(size: int) -> None:
    """No part of a text is larger than the text."""


@mutable
class _Container:
    """An array or object whose members are being read; `parts` are those of `value`."""

    kind: str
    value: Value
    parts: list[Value]
    end: str
    offset: int


class _Reader:
    """Reads one text, from left to right, with its own stack of open containers."""

    def __init__(self, text: str, check_size: Callable[[int], None]) -> None:
        self.text = text
        self.check_size = check_size
        self.offset = 0
        self.open: list[_Container] = []

    def read(self) -> Value:
        while True:
            value = self.start_value()
            while value is not None:
                if not self.open:
                    if self.peek():
                        raise self.unexpected("the end of the text after the value")
                    return value
                value = self.add(value)

    def peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        match = SPACE.match(self.text, self.offset)
        if match is not None:
            self.offset = match.end()
        return self.text[self.offset : self.offset + 1]

    def start_value(self) -> Value | None:
        """Read an atom or an empty container; or open a container, read up to its first value, and return None."""
        character = self.peek()
        if character == '"':
            return ("String", self.string())
        if character == "[":
            return self.open_container("array", "]")
        if character == "{":
            return self.open_container("object", "}")
        if NUMBER_LIKE.match(self.text, self.offset):
            return ("Number", self.number())
        word = WORD.match(self.text, self.offset)
        if word is not None and word[0] in LITERALS:
            self.offset = word.end()
            return LITERALS[word[0]]
        raise self.unexpected("a value")

    def open_container(self, kind: str, end: str) -> Value | None:
        parts: list[Value] = []
        value = (kind.capitalize(), parts)
        start = self.offset
        self.offset += 1
        if self.peek() == end:
            self.offset += 1
            return value
        self.open.append(_Container(kind, value, parts, end, start))
        if kind == "object":
            self.key()
        return None

    def add(self, value: Value) -> Value | None:
        """Add a value to the innermost container, and read on; the container if that ends it, else None."""
        container = self.open[-1]
        if container.kind == "object":
            container.parts[-1]["value"] = value
        else:
            container.parts.append(value)
        character = self.peek()
        if character == container.end:
            self.offset += 1
            self.open.pop()
            self.check_size(len(container.parts))
            return container.value
        if character != ",":
            raise self.unexpected(f"`,` or `{container.end}`")
        self.offset += 1
        if container.kind == "object":
            self.key()
        return None

    def key(self) -> None:
        """Read a key and its colon, and add an entry that still lacks its value."""
        if self.peek() != '"':
            raise self.unexpected("a key in double quotes")
        self.open[-1].parts.append({"key": self.string(), "value": None})
        if self.peek() != ":":
            raise self.unexpected("`:` after a key")
        self.offset += 1

    def number(self) -> float:
        match = NUMBER.match(self.text, self.offset)
        like = NUMBER_LIKE.match(self.text, self.offset)
        if match is None or like is None or match.end() != like.end():
            raise self.error(f"`{_short(like[0] if like else '')}` is not how JSON writes a number")
        number = float(match[0])
        if isinf(number):
            raise self.error(f"the number `{_short(match[0])}` is beyond the range of a double")
        self.offset = match.end()
        return number

    def string(self) -> str:
        start = self.offset
        pieces: list[str] = []
        self.offset += 1
        while True:
            plain = PLAIN.match(self.text, self.offset)
            if plain is not None:
                pieces.append(plain[0])
                self.offset = plain.end()
            character = self.text[self.offset : self.offset + 1]
            if character == '"':
                self.offset += 1
                string = "".join(pieces)
                self.check_size(len(string))
                return string
            if character == "\\":
                pieces.append(self.escape())
            elif character:
                raise self.error(f"the control character U+{ord(character):04X} must be escaped in a string")
            else:
                raise self.error(f"the string that opens at {self.place(start)} is not closed")

    def escape(self) -> str:
        letter = self.text[self.offset + 1 : self.offset + 2]
        if letter in ESCAPES:
            self.offset += 2
            return ESCAPES[letter]
        digits = HEX.match(self.text, self.offset + 2)
        if letter != "u" or digits is None:
            raise self.error(
                f"`{self.text[self.offset : self.offset + 2]}` begins no escape that JSON knows in a string"
            )
        code = int(digits[0], 16)
        end = digits.end()
        if 0xD800 <= code < 0xE000:
            low = LOW_SURROGATE.match(self.text, end)
            if code >= 0xDC00 or low is None:
                raise self.error(f"`{self.text[self.offset : end]}` is a lone surrogate in a string")
            code = 0x10000 + ((code - 0xD800) << 10) + (int(low[1], 16) - 0xDC00)
            end = low.end()
        self.offset = end
        return chr(code)

    # Errors

    def unexpected(self, wanted: str) -> JsonError:
        """The error for what stands at the offset instead of what was wanted."""
        word = WORD.match(self.text, self.offset)
        found = word[0] if word is not None else self.text[self.offset : self.offset + 1]
        return self.error(f"expected {wanted}, but {f'found `{_short(found)}`' if found else 'the text ends'}")

    def error(self, reason: str) -> JsonError:
        where = ""
        if self.open:
            where = f" in the {self.open[-1].kind} that opens at {self.place(self.open[-1].offset)}"
        return JsonError(f"{self.place(self.offset)}: {reason}{where}", self.offset)

    def place(self, offset: int) -> str:
        position = Source("", self.text).position(offset)
        return f"line {position.line}, column {position.column + 1}"


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
