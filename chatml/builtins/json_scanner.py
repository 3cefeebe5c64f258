"""Reading JSON text with the scanner of Python's `json` module where that is exact and safe.

The scanner is written in C and many times faster than `json_reader`, which defines what is read and how it fails. It
differs in what this module looks after: it takes `NaN`, infinities and lone surrogates, and recurses on the C stack.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from math import isinf

from chatml.border.python import FALSE, NULL, TRUE
from chatml.builtins.json_writer import write
from chatml.values.model import Value
from chatml.values.surrogates import SURROGATE

DEEPEST = 200
"""Levels of nesting that any C stack has room for."""

STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
BRACKET = re.compile(r"[\[\]{}]")
SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def read_quickly(text: str) -> Value | None:
    """The value of a JSON text; None if it is not JSON or the scanner is not to be trusted with it.

    >>> read_quickly('[1, "a"]')
    ('Array', [('Number', 1.0), ('String', 'a')])
    >>> read_quickly("[NaN]"), read_quickly("[1,]")
    (None, None)
    """
    if is_deep(text):
        return None
    try:
        value = lift(scan(text))
    except (ValueError, RecursionError):
        return None
    if SURROGATE_ESCAPE.search(text) and re.search(SURROGATE, write(value)):
        return None
    return value


def is_deep(text: str) -> bool:
    """Whether brackets nest too deep for the scanner. Up to the first mistake in a text the depth is the true one."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    depth = 0
    for bracket in BRACKET.findall(STRING.sub("", text)):
        if bracket in "[{":
            depth += 1
            if depth > DEEPEST:
                return True
        else:
            depth -= 1
    return False


def lift(data: Value) -> Value:
    """The value for what the scanner found; objects are values already."""
    return LIFT[type(data)](data)


def lift_array(items: list[Value]) -> Value:
    return ("Array", [LIFT[type(item)](item) for item in items])


def lift_object(pairs: list[tuple[str, Value]]) -> Value:
    return ("Object", [{"key": key, "value": LIFT[type(item)](item)} for key, item in pairs])


def lift_number(number: float) -> Value:
    if isinf(number):
        raise ValueError(number)
    return ("Number", number)


def refuse(constant: str) -> None:
    raise ValueError(constant)


LIFT: dict[type, Callable[[Value], Value]] = {
    str: lambda text: ("String", text),
    float: lift_number,
    bool: lambda truth: TRUE if truth else FALSE,
    type(None): lambda null: NULL,
    list: lift_array,
    tuple: lambda value: value,
}

scan = json.JSONDecoder(object_pairs_hook=lift_object, parse_int=float, parse_constant=refuse).decode
