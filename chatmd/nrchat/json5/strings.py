"""JSON5 strings with escapes, and the canonical quoting of a text (nrchat.md J8, J9, K4)."""

from __future__ import annotations

import re

from chatmd.nrchat.json5.faults import fault, found

PLAIN = {"'": re.compile(r"[^'\\\n\r]*"), '"': re.compile(r'[^"\\\n\r]*')}
HEX = {"x": re.compile("[0-9a-fA-F]{2}"), "u": re.compile("[0-9a-fA-F]{4}")}
LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
DIGITS = frozenset("0123456789")
LINE_ENDS = frozenset("\n\r\u2028\u2029")

HIGH_HALF = re.compile(r"\\u[dD][89abAB]")
LOW_HALF = re.compile(r"\\u[dD][c-fC-F]")

SPECIAL = re.compile("\0(?=([0-9]))|[\0-\x1f'\\\\\u2028\u2029]")
WRITTEN = {chr(code): f"\\x{code:02x}" for code in range(0x20)}
WRITTEN |= {character: f"\\{letter}" for letter, character in LETTERS.items()}
WRITTEN |= {"\0": "\\0", "'": "\\'", "\\": "\\\\", "\u2028": "\\u2028", "\u2029": "\\u2029"}
NUL_BEFORE_DIGIT = "\\x00"


def read_string(text: str, start: int) -> tuple[str, int]:
    """The string whose opening quote stands at `start`, and the offset after its closing quote.

    >>> read_string(r"'I can\\'t'", 0)
    ("I can't", 10)
    """
    quote = text[start]
    plain = PLAIN[quote]
    pieces: list[str] = []
    position = start + 1
    high = False  # whether the last piece is the first half of a character, from an escape
    while True:
        match = plain.match(text, position)
        assert match is not None
        if match.end() > position:
            pieces.append(match[0])
            position = match.end()
            high = False
        here = text[position : position + 1]
        if here == quote:
            return "".join(pieces), position + 1
        if here != "\\":
            raise _unfinished(text, start, position)
        piece, end = _read_escape(text, start, position)
        if high and LOW_HALF.match(text, position):
            pieces[-1] = _joined(pieces[-1] + piece)
            high = False
        elif piece:
            pieces.append(piece)
            high = HIGH_HALF.match(text, position) is not None
        position = end


def _read_escape(text: str, start: int, at: int) -> tuple[str, int]:
    """What the escape whose backslash stands at `at` means, and the offset after it."""
    letter = text[at + 1 : at + 2]
    if letter in LETTERS:
        return LETTERS[letter], at + 2
    if letter in HEX:
        digits = HEX[letter].match(text, at + 2)
        if digits is None:
            wanted = "two" if letter == "x" else "four"
            raise fault(text, at, f"the escape \\{letter} needs {wanted} hexadecimal digits")
        return chr(int(digits[0], 16)), digits.end()
    if letter in LINE_ENDS:
        return "", at + (3 if text.startswith("\r\n", at + 1) else 2)
    if letter == "0" and text[at + 2 : at + 3] not in DIGITS:
        return "\0", at + 2
    if letter in DIGITS:
        raise fault(text, at, f"octal and decimal escapes like \\{letter} do not exist; write \\x00 to \\xff")
    if not letter:
        raise _unfinished(text, start, at + 1)
    return letter, at + 2


def _joined(halves: str) -> str:
    """The one character that two halves stand for."""
    return halves.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _unfinished(text: str, start: int, at: int) -> Exception:
    """The fault of a string that stops at a line end or at the end of the text."""
    if at >= len(text):
        return fault(text, at, f"the string that begins with {found(text, start)} has no closing quote")
    return fault(text, at, "a string cannot hold a line end; write \\n or \\r, or end the line with a backslash")


def write_string(text: str) -> str:
    """A text in single quotes, with nothing escaped that need not be (K4).

    >>> print(write_string("it's\\n"))
    'it\\'s\\n'
    """
    return f"'{SPECIAL.sub(_escaped, text)}'"


def _escaped(match: re.Match[str]) -> str:
    return NUL_BEFORE_DIGIT if match.lastindex else WRITTEN[match[0]]
