"""Builtins that are an expression of Python: the row has the text, and the function is made of it.

Generated code has the expression where the builtin is called, so that it needs neither a call nor a look at the
arguments. Everybody else calls the function, which refuses arguments that are not of the row's types.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from chatml.builtins.checks import expected
from chatml.surfaces.model import PARAMETERS, Builtin
from chatml.types.model import Array, Bool, Fun, Record, String, Type
from chatml.types.show import flatten
from chatml.values.model import Value

KINDS: dict[Type, tuple[type, str]] = {String: (str, "string"), Bool: (bool, "bool")}
"""The scalars among the parameters of such builtins: their Python class, and what a failure calls them."""


def expression(name: str, scheme: Fun, text: str) -> Builtin:
    """The row of a builtin that is an expression of its arguments `a`, `b` and so on.

    >>> row = expression("contains", Fun([String, String], Bool), "b in a")
    >>> row.function("text", "ex"), row.inline
    (True, 'b in a')
    """
    kinds = [kind_of(param) for param in scheme.params]

    def evaluate(*args: Value) -> Value:
        if not all(map(fits, scheme.params, args)):
            raise expected(*kinds)
        return compiled(text, len(args))(*args)

    return Builtin(name, scheme, evaluate, inline=text)


@cache
def compiled(text: str, count: int) -> Callable[..., Value]:
    """An expression of so many parameters as a function."""
    function: Callable[..., Value] = eval(f"lambda {', '.join(PARAMETERS[:count])}: {text}")
    return function


def fits(type_: Type, value: Value) -> bool:
    """Whether a value is of a type, as far as such an expression looks into it."""
    if type_ in KINDS:
        return type(value) is KINDS[type_][0]
    if isinstance(type_, Array):
        return type(value) is list
    if isinstance(type_, Record):
        return type(value) is dict and all(
            label in value and fits(field, value[label]) for label, field in flatten(type_.row)[0].items()
        )
    return True


def kind_of(type_: Type) -> str:
    """What a failure calls a type."""
    if type_ in KINDS:
        return KINDS[type_][1]
    return "array" if isinstance(type_, Array) else "record" if isinstance(type_, Record) else "'a"
