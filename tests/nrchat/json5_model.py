"""A second JSON5 codec: recursive, character by character, as close to the specification's words as can be."""

from __future__ import annotations

import math
import struct
import unicodedata
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

BLANK = {
    *range(0x9, 0xE),
    0x20,
    0xA0,
    0x1680,
    *range(0x2000, 0x200B),
    0x2028,
    0x2029,
    0x202F,
    0x205F,
    0x3000,
    0xFEFF,
}
W = frozenset(map(chr, BLANK))
DIGITS = "0123456789"
HEX_DIGITS = "0123456789abcdefABCDEF"


class ModelError(Exception):
    """A text that the model refuses; `line` is set for a chat."""

    line = 0


# Reading JSON5 (section 12), by recursive descent


class Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def peek(self, count: int = 1) -> str:
        return self.text[self.at : self.at + count]

    def take(self) -> str:
        c = self.peek()
        if not c:
            raise ModelError("end of text")
        self.at += 1
        return c

    def expect(self, c: str) -> None:
        if self.take() != c:
            raise ModelError(c)

    def space(self) -> None:
        while True:
            if self.peek() in W and self.peek():
                self.take()
            elif self.peek(2) == "//":
                while self.peek() not in ("", "\n", "\r", "\u2028", "\u2029"):
                    self.take()
            elif self.peek(2) == "/*":
                self.at += 2
                while self.peek(2) != "*/":
                    self.take()
                self.at += 2
            else:
                return

    def value(self) -> Any:
        c = self.peek()
        if c == "{":
            return self.object()
        if c == "[":
            return self.array()
        if c in ("'", '"'):
            return self.string()
        for word, value in (("null", None), ("true", True), ("false", False)):
            if self.peek(len(word)) == word:
                self.at += len(word)
                return value
        return self.number()

    def object(self) -> dict[str, Any]:
        members: dict[str, Any] = {}
        self.expect("{")
        self.space()
        while self.peek() != "}":
            key = self.string() if self.peek() in ("'", '"') else self.name()
            self.space()
            self.expect(":")
            self.space()
            members[key] = self.value()
            self.space()
            if self.peek() != "}":
                self.expect(",")
                self.space()
        self.take()
        return members

    def array(self) -> list[Any]:
        items = []
        self.expect("[")
        self.space()
        while self.peek() != "]":
            items.append(self.value())
            self.space()
            if self.peek() != "]":
                self.expect(",")
                self.space()
        self.take()
        return items

    def name(self) -> str:
        name = ""
        while True:
            before = self.at
            c = self.peek()
            escaped = c == "\\"
            if escaped:
                self.take()
                self.expect("u")
                c = self.hex(4)
            if not c or not legal(c, first=not name):
                if escaped or not name:
                    raise ModelError("key")
                self.at = before
                return name
            if not escaped:
                self.take()
            name += c

    def hex(self, count: int) -> str:
        digits = "".join(self.take() for _ in range(count))
        if not set(digits) <= set(HEX_DIGITS):
            raise ModelError("hex")
        return chr(int(digits, 16))

    def string(self) -> str:
        quote = self.take()
        units: list[str] = []
        half = False  # whether the last unit is a high surrogate that was escaped
        while (c := self.take()) != quote:
            if c in "\n\r":
                raise ModelError("line end")
            if c != "\\":
                units.append(c)
                half = False
                continue
            before = len(units)
            c = self.take()
            if c in "bfnrtv":
                units.append(dict(zip("bfnrtv", "\b\f\n\r\t\v", strict=True))[c])
            elif c == "0" and self.peek() not in tuple(DIGITS):
                units.append("\0")
            elif c in DIGITS:
                raise ModelError("digit escape")
            elif c in "xu":
                unit = self.hex(2 if c == "x" else 4)
                if half and 0xDC00 <= ord(unit) < 0xE000:
                    pair = (ord(units.pop()) - 0xD800) * 0x400 + ord(unit) - 0xDC00 + 0x10000
                    unit = chr(pair)
                units.append(unit)
                half = 0xD800 <= ord(unit) < 0xDC00
                continue
            elif c == "\r":
                if self.peek() == "\n":
                    self.take()
            elif c not in "\n\u2028\u2029":
                units.append(c)
            half = half and len(units) == before
        return "".join(units)

    def digits(self) -> str:
        digits = ""
        while self.peek() and self.peek() in DIGITS:
            digits += self.take()
        return digits

    def number(self) -> Any:
        negative = self.peek() == "-"
        if self.peek() in ("+", "-"):
            self.take()
        for word, value in (("Infinity", math.inf), ("NaN", math.nan)):
            if self.peek(len(word)) == word:
                self.at += len(word)
                return -value if negative else value
        if self.peek(2) in ("0x", "0X"):
            self.at += 2
            magnitude, digits = Fraction(0), 0
            while self.peek() and self.peek() in HEX_DIGITS:
                magnitude = magnitude * 16 + HEX_DIGITS[:16].index(self.take().lower())
                digits += 1
            if not digits:
                raise ModelError("hex number")
            return number_of(negative, magnitude, whole=True)
        whole = self.digits()
        if len(whole) > 1 and whole[0] == "0":
            raise ModelError("leading zero")
        fraction, exponent, point, scientific = "", 0, False, False
        if self.peek() == ".":
            self.take()
            point = True
            fraction = self.digits()
        if not whole and not fraction:
            raise ModelError("number")
        if self.peek() in ("e", "E"):
            self.take()
            scientific = True
            minus = self.peek() == "-"
            if self.peek() in ("+", "-"):
                self.take()
            digits = self.digits()
            if not digits:
                raise ModelError("exponent")
            exponent = min(int(digits), 5000) * (-1 if minus else 1)
        magnitude = Fraction(int(whole + fraction or "0")) * Fraction(10) ** (exponent - len(fraction))
        return number_of(negative, magnitude, whole=not point and not scientific)


def number_of(negative: bool, magnitude: Fraction, *, whole: bool) -> int | float:
    if whole and magnitude <= 2**53 - 1 and (magnitude or not negative):
        return int(-magnitude if negative else magnitude)
    try:
        value = magnitude.numerator / magnitude.denominator
    except OverflowError:
        value = math.inf
    return -value if negative else value


def legal(c: str, *, first: bool) -> bool:
    category = unicodedata.category(c)
    if category in ("Lu", "Ll", "Lt", "Lm", "Lo", "Nl") or c in "$_\u1885\u1886\u2118\u212e\u309b\u309c":
        return c != "\u2e2f"
    if first:
        return False
    return (
        category in ("Mn", "Mc", "Nd", "Pc")
        or c in "\u200c\u200d\u00b7\u0387\u19da\u30fb\uff65"
        or 0x1369 <= ord(c) <= 0x1371
    )


def read_json5(text: str) -> Any:
    reader = Reader(text)
    reader.space()
    value = reader.value()
    reader.space()
    if reader.at != len(text):
        raise ModelError("after the value")
    return value


# Writing JSON5 (section 13)


def write_json5(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return write_double(value)
    if isinstance(value, str):
        return write_text(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(write_json5, value)) + "]"
    keys = list(value)
    indexes = [k for k in keys if k.isascii() and k.isdigit() and str(int(k)) == k and int(k) < 2**32 - 1]
    keys = sorted(indexes, key=int) + [key for key in keys if key not in indexes]
    return "{" + ", ".join(f"{write_key(key)}: {write_json5(value[key])}" for key in keys) + "}"


def write_key(key: str) -> str:
    bare = key and all(c.isascii() and (c.isalnum() or c in "_$") for c in key) and key[0] not in DIGITS
    return key if bare else write_text(key)


def write_text(text: str) -> str:
    result = "'"
    for at, c in enumerate(text):
        if c == "\0":
            follower = text[at + 1 : at + 2]
            result += "\\x00" if follower and follower in DIGITS else "\\0"
        elif c in "'\\":
            result += "\\" + c
        elif c in "\b\t\n\v\f\r":
            result += "\\" + "btnvfr"["\b\t\n\v\f\r".index(c)]
        elif c in "\u2028\u2029":
            result += f"\\u{ord(c):x}"
        elif c < " ":
            result += f"\\x{ord(c):02x}"
        else:
            result += c
    return result + "'"


def write_double(value: int | float) -> str:
    if isinstance(value, int) and abs(value) <= 2**53 - 1:
        return str(value)
    try:
        value = float(value)
    except OverflowError:
        value = math.inf if value > 0 else -math.inf
    if math.isnan(value):
        return "NaN"
    sign = "-" if struct.pack(">d", value)[0] & 0x80 else ""
    value = abs(value)
    if math.isinf(value):
        return sign + "Infinity"
    if not value:
        return sign + "0"
    digits, point = shortest(value)
    k, n = len(digits), point
    if k <= n <= 21:
        return sign + digits + "0" * (n - k)
    if 0 < n <= 21:
        return sign + digits[:n] + "." + digits[n:]
    if -6 < n <= 0:
        return sign + "0." + "0" * -n + digits
    e = f"e{'-' if n < 1 else '+'}{abs(n - 1)}"
    return sign + digits[0] + ("." + digits[1:] if k > 1 else "") + e


def shortest(value: float) -> tuple[str, int]:
    """The fewest digits that read back as a positive double (the nearest, of two the even ones), and the point."""
    exact = Decimal(value)
    for precision in range(1, 18):
        texts = [
            f"{Context(prec=precision, rounding=rounding).create_decimal(exact):.{precision - 1}e}"
            for rounding in (ROUND_FLOOR, ROUND_CEILING)
        ]
        fitting = [text for text in texts if float(text) == value]
        if fitting:
            best = min(
                fitting, key=lambda text: (abs(Fraction(text) - Fraction(value)), int(text.split("e")[0][-1]) % 2)
            )
            mantissa, exponent = best.split("e")
            return mantissa.replace(".", ""), int(exponent) + 1
    raise AssertionError(value)
