"""The operators on numbers: 63-bit integers that wrap, IEEE floats (language.md section 5.4)."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from chatml.values.model import INT_MAX, INT_MIN, Value, wrap


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


def towards_zero(number: float) -> Value:
    """The integer that a float is without its fraction, as an option: NaN and what exceeds 63 bits have none.

    >>> towards_zero(-2.5), towards_zero(1e19)
    (('Some', -2), ('None',))
    """
    if not math.isfinite(number):
        return ("None",)
    whole = math.trunc(number)
    return ("Some", whole) if INT_MIN <= whole <= INT_MAX else ("None",)


EXACT = 2**53
"""Each whole number below this magnitude is a double that no other whole number is read as."""


def int_argument(number: Value) -> Value:
    """An argument of a tool call as an integer, or `None: a number without fraction that JSON's doubles hold exactly.

    >>> int_argument(3.0), int_argument(0.5), int_argument(2.0**53), int_argument(True)
    (('Some', 3), ('None',), ('None',), ('None',))
    """
    if type(number) not in (int, float) or not -EXACT < number < EXACT or number != int(number):
        return ("None",)
    return ("Some", int(number))


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
