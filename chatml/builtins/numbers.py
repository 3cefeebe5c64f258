"""`Int` and `Float` (builtins.md section 10)."""

from __future__ import annotations

import math
from collections.abc import Callable

from chatml.builtins.checks import expected
from chatml.builtins.schemes import option
from chatml.surfaces.model import Builtin, Host, Module
from chatml.types.model import Float, Fun, Int
from chatml.values.arithmetic import towards_zero
from chatml.values.model import Value, wrap


def absolute(number: Value) -> int:
    if type(number) is not int:
        raise expected("int")
    return wrap(abs(number))


def int_to_float(number: Value) -> float:
    if type(number) is not int:
        raise expected("int")
    return float(number)


def smaller(kind: type, name: str) -> Host:
    """The smaller of two numbers of a kind. NaN is neither smaller nor larger, so it is asked for."""

    def smaller_of(left: Value, right: Value) -> Value:
        if not (type(left) is kind and type(right) is kind):
            raise expected(name, name)
        return left if left < right or left != left else right

    return smaller_of


def larger(kind: type, name: str) -> Host:
    """The larger of two numbers of a kind, likewise."""

    def larger_of(left: Value, right: Value) -> Value:
        if not (type(left) is kind and type(right) is kind):
            raise expected(name, name)
        return left if left > right or left != left else right

    return larger_of


def to_integral(rounding: Callable[[float], float]) -> Host:
    """A function that rounds; what has no fraction, or is infinite or NaN, stays, and so does the sign of a zero."""

    def rounded(number: Value) -> float:
        if type(number) is not float:
            raise expected("float")
        return math.copysign(rounding(number), number) if math.isfinite(number) else number

    return rounded


def half_away(number: float) -> float:
    """Rounded, halves away from zero. The fraction is exact, where `number + 0.5` would not be.

    >>> half_away(2.5), half_away(-0.5), half_away(0.49999999999999994)
    (3.0, -1.0, 0.0)
    """
    whole = float(math.trunc(number))
    return whole + math.copysign(1.0, number) if abs(number - whole) >= 0.5 else whole


def float_to_int(number: Value) -> Value:
    if type(number) is not float:
        raise expected("float")
    return towards_zero(number)


INT = Module(
    "Int",
    (
        Builtin("abs", Fun([Int], Int), absolute),
        Builtin("to_float", Fun([Int], Float), int_to_float),
        Builtin("min", Fun([Int, Int], Int), smaller(int, "int")),
        Builtin("max", Fun([Int, Int], Int), larger(int, "int")),
    ),
)
FLOAT = Module(
    "Float",
    (
        Builtin("min", Fun([Float, Float], Float), smaller(float, "float")),
        Builtin("max", Fun([Float, Float], Float), larger(float, "float")),
        Builtin("floor", Fun([Float], Float), to_integral(math.floor)),
        Builtin("ceil", Fun([Float], Float), to_integral(math.ceil)),
        Builtin("round", Fun([Float], Float), to_integral(half_away)),
        Builtin("to_int", Fun([Float], option(Int)), float_to_int),
    ),
)
