"""JSON5 numbers: from a literal to a Python number, and from a Python number to its canonical text.

Every number is an IEEE double (nrchat.md J7). A whole literal that a double holds exactly becomes an `int`.
"""

from __future__ import annotations

import math

NUMBER = (
    r"[+-]?(?:0[xX][0-9a-fA-F]+"
    r"|(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    r"|Infinity|NaN)"
)
"""The grammar of a number (J6), as a regular expression without groups."""

LARGEST_EXACT = 2**53 - 1
DIGITS_OF_EXACT = 16
PLAIN_DIGITS = 21


def read_number(literal: str) -> int | float:
    """The value of a literal that matches `NUMBER` (J7).

    >>> [read_number(text) for text in ("7", "-0x10", "5.", "-0", "9007199254740993")]
    [7, -16, 5.0, -0.0, 9007199254740992.0]
    """
    digits = literal.lstrip("+-")
    magnitude = _magnitude(digits)
    if literal[0] != "-" or math.isnan(magnitude):
        return magnitude
    return -magnitude if magnitude else -0.0


def _magnitude(digits: str) -> int | float:
    """The value of a literal without its sign. Long digits never meet `int`, which refuses them."""
    if digits[:2] in ("0x", "0X"):
        return nearest(int(digits, 16))
    if digits.isdigit() and len(digits) <= DIGITS_OF_EXACT:
        return nearest(int(digits))
    return float(digits)


def nearest(number: int) -> int | float:
    """An integer; as the nearest double when no double is exactly it, infinite beyond their range."""
    if -LARGEST_EXACT <= number <= LARGEST_EXACT:
        return number
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def write_number(number: int | float) -> str:
    """The canonical text of a number: JavaScript's shortest one that reads back as the same double (K5).

    >>> [write_number(number) for number in (5.0, -0.0, 1e21, 0.00001, 1.5e-9, 2**70)]
    ['5', '-0', '1e+21', '0.00001', '1.5e-9', '1.1805916207174113e+21']
    """
    number = nearest(number) if isinstance(number, int) else float(number)
    if isinstance(number, int):
        return int.__repr__(number)
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    sign = "-" if math.copysign(1, number) < 0 else ""
    return sign + _shortest(repr(abs(number)))


def _shortest(python: str) -> str:
    """Python's shortest digits of a finite, positive double in JavaScript's notation."""
    mantissa, _, exponent = python.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if not digits:
        return "0"
    if len(digits) <= point <= PLAIN_DIGITS:
        return digits + "0" * (point - len(digits))
    if 0 < point <= PLAIN_DIGITS:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{tail}e{point - 1:+d}"
