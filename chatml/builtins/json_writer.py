"""JSON text of a value of type `json`: RFC 8259 (builtins.md section 3.8.2, X-06)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from json.encoder import encode_basestring
from math import isfinite

from chatml.border.python import EXPECTED_JSON
from chatml.builtins.checks import entry_key
from chatml.values.model import BuiltinFailure, Machine, Value
from chatml.values.text_builder import CHUNK, TextBuilder

LONG = 2**12


def write(
    value: Value,
    machine: Machine | None = None,
    *,
    pretty: bool = False,
    arrange: Callable[[list[Value]], list[Value]] | None = None,
) -> str:
    """The JSON text of a value: without white space, or `pretty`, with a line for each member.

    `arrange` gives the entries of an object that are written, in their order; all, as they stand, without it.
    A running script passes its machine, whose limits hold.
    Raises `BuiltinFailure` for NaN and infinities, and for a value that is not of type `json` or contains itself.

    >>> write(("Array", [("Number", 1.0), ("Number", 2.5), ("String", "a\\nb"), ("Null",)]))
    '[1,2.5,"a\\\\nb",null]'
    """
    builder = TextBuilder(value, machine)
    pieces = builder.pieces
    colon = ": " if pretty else ":"
    members: Iterator[Value] = iter((value,))
    in_object, before, between, end = False, "", "", ""
    outer: list[tuple[Iterator[Value], bool, str, str]] = []
    open: list[Value] = []
    while True:
        if len(pieces) >= CHUNK or len(between) > LONG:
            builder.flush(open)
        for member in members:
            if before:
                pieces.append(before)
            before = between
            if in_object:
                pieces.append(encode_basestring(entry_key(member)) + colon)
                member = member["value"]
            text = _atom(member)
            if text is None:
                outer.append((members, in_object, between, end))
                open.append(member[1])
                in_object = member[0] == "Object"
                members = iter(arrange(member[1]) if in_object and arrange is not None else member[1])
                line = "\n" + "  " * len(outer) if pretty else ""
                text = ("{" if in_object else "[") + line
                before, between, end = "", "," + line, line[:-2] + ("}" if in_object else "]")
                pieces.append(text)
                break
            pieces.append(text)
            if len(pieces) >= CHUNK or len(text) > LONG:
                builder.flush(open)
        else:
            pieces.append(end)
            if not outer:
                return builder.finish()
            members, in_object, between, end = outer.pop()
            open.pop()
            before = between


def _atom(value: Value) -> str | None:
    """The text of a value without members; None for one that has members."""
    if type(value) is tuple and len(value) == 2:
        tag, content = value
        kind = type(content)
        if tag == "String" and kind is str:
            return encode_basestring(content)
        if tag == "Number" and kind is float:
            return show_number(content)
        if tag == "Bool" and kind is bool:
            return "true" if content else "false"
        if kind is list and (tag == "Array" or tag == "Object"):
            return None if content else "[]" if tag == "Array" else "{}"
    elif type(value) is tuple and len(value) == 1 and value[0] == "Null":
        return "null"
    raise BuiltinFailure(EXPECTED_JSON)


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
