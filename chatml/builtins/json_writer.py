"""JSON text of a value of type `json`: RFC 8259 (builtins.md section 3.8.2, X-06)."""

from __future__ import annotations

from collections.abc import Callable
from json.encoder import encode_basestring
from math import isfinite

from chatml.builtins.checks import entry_key
from chatml.text_builder import CHUNK, TextBuilder
from chatml.values import BuiltinFailure, Value

LONG = 2**12
EXPECTED = "expected json: `Null, or `Bool, `Number, `String, `Array or `Object with its payload"


class _End(str):
    """The end of a container, among the text and the values that are left to write."""

    __slots__ = ()


def write(value: Value, check_size: Callable[[int], None] | None = None, *, pretty: bool = False) -> str:
    """The JSON text of a value: without white space, or `pretty`, with a line for each member.

    Raises `BuiltinFailure` for NaN and infinities, a value that is not of type `json` or contains itself, and what
    `check_size` (the `Machine.check_size` of a running script) raises.

    >>> write(("Array", [("Number", 1.0), ("Number", 2.5), ("String", "a\\nb"), ("Null",)]))
    '[1,2.5,"a\\\\nb",null]'
    """
    builder = TextBuilder(value, check_size)
    pieces = builder.pieces
    todo: list[Value] = [_checked(value)]
    depth = 0
    while todo:
        part = todo.pop()
        if type(part) is tuple:
            atom = _atom(part)
            if atom is None:
                depth += 1
            text = atom or _open(part, "\n" + "  " * depth if pretty else "", todo)
        else:
            text = part
            if type(part) is _End:
                depth -= 1
        pieces.append(text)
        if len(pieces) >= CHUNK or len(text) > LONG:
            builder.flush()
    return builder.finish()


def _checked(value: Value) -> tuple[Value, ...]:
    if type(value) is not tuple:
        raise BuiltinFailure(EXPECTED)
    return value


def _atom(value: tuple[Value, ...]) -> str | None:
    """The text of a value without members; None for one that has members."""
    match value:
        case ("String", str(text)):
            return encode_basestring(text)
        case ("Number", float(number)):
            return show_number(number)
        case ("Bool", bool(truth)):
            return "true" if truth else "false"
        case ("Null",):
            return "null"
        case ("Array", list(items)):
            return None if items else "[]"
        case ("Object", list(entries)):
            return None if entries else "{}"
    raise BuiltinFailure(EXPECTED)


def show_number(number: float) -> str:
    """A number as JSON: whole ones without point, others as short as they read back.

    >>> show_number(-0.0), show_number(7.0), show_number(1e21)
    ('0', '7', '1e+21')
    """
    if not isfinite(number):
        raise BuiltinFailure(f"JSON has no number {number}")
    if number == 0:
        return "0"
    return repr(number).removesuffix(".0")


def _open(container: tuple[Value, ...], line: str, todo: list[Value]) -> str:
    """The opening bracket of a container; its members and its end go to `todo`. `line` begins a member's line."""
    parent = line[:-2]
    separator = "," + line
    if container[0] == "Array":
        todo.append(_End(parent + "]"))
        for item in reversed(container[1]):
            todo += (_checked(item), separator)
        todo.pop()
        return "[" + line
    todo.append(_End(parent + "}"))
    colon = ": " if line else ":"
    for entry in reversed(container[1]):
        key = encode_basestring(entry_key(entry))
        todo += (_checked(entry["value"]), key + colon, separator)
    todo.pop()
    return "{" + line
