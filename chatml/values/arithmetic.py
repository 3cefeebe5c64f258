"""The operators on numbers: 63-bit integers that wrap, IEEE floats (language.md section 5.4)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from chatml.values.model import wrap


def divide(dividend: int, divisor: int) -> int:
    """The quotient, truncated towards zero.

    >>> divide(-7, 2)
    -3
    """
    quotient = abs(dividend) // abs(divisor)
    return wrap(quotient if (dividend < 0) == (divisor < 0) else -quotient)


def remainder(dividend: int, divisor: int) -> int:
    """What `divide` leaves over; it has the sign of the dividend.

    >>> remainder(-7, 3)
    -1
    """
    rest = abs(dividend) % abs(divisor)
    return -rest if dividend < 0 else rest


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: wrap(a + b),
    "-": lambda a, b: wrap(a - b),
    "*": lambda a, b: wrap(a * b),
    "/": divide,
    "%": remainder,
    "+.": operator.add,
    "-.": operator.sub,
    "*.": operator.mul,
    "/.": operator.truediv,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "<.": operator.lt,
    "<=.": operator.le,
    ">.": operator.gt,
    ">=.": operator.ge,
}
"""Of two ints, or two floats for an operator with a point. A zero divisor raises `ZeroDivisionError`."""


def number_of(op: str) -> type:
    """The kind of number that an operator takes.

    >>> number_of("<=."), number_of("-")
    (<class 'float'>, <class 'int'>)
    """
    return float if op.endswith(".") else int
