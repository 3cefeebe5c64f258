"""JSON text as the plain data of a host, and back, without a value of the language in between (X-53).

Values of the type `json` hold doubles, so an id such as 1234567890123456789 would come out of one as another number.
What no script has touched never goes through them: it is read and written here, integers of any size as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from json.encoder import encode_basestring
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from math import isfinite
from typing import Any

from chatml.border.python import to_json
from chatml.builtins import json_reader
from chatml.builtins.json_scanner import SURROGATE_ESCAPE, is_deep
from chatml.diagnostics.errors import BoundaryError
from chatml.records import frozen
from chatml.stack import deep
from chatml.values.surrogates import surrogate_problem
from chatml.values.walk import CYCLIC

LONGEST = 309
"""The most digits that an integer within the range of doubles has: no script could be shown a longer one."""


@frozen
class Read:
    """The data of a JSON text. Of entries with the same key the first counts; `repeats` says that there were any."""

    data: Any
    repeats: bool


def read_data(text: str) -> Read:
    """The data of a JSON text, in which the same texts are JSON as for `Json.parse`: `JsonError` for any other.

    >>> read_data('{"id": 1234567890123456789, "id": 2}')
    Read(data={'id': 1234567890123456789}, repeats=True)
    """
    reader = _Reader()
    try:
        read = reader.read(text)
    except (ValueError, RecursionError):
        return Read(to_json(json_reader.read(text)), False)  # which words the error
    if SURROGATE_ESCAPE.search(text):
        json_reader.read(text)
    return Read(read, reader.repeats)


class _Reader:
    """Reads one text with the scanner of Python's `json` module; the one in Python if it is deep."""

    def __init__(self) -> None:
        self.repeats = False

    def read(self, text: str) -> Any:
        decoder = json.JSONDecoder(
            object_pairs_hook=self.object, parse_int=whole, parse_float=finite, parse_constant=refuse
        )
        if not is_deep(text):
            return decoder.decode(text)
        decoder.scan_once = py_make_scanner(decoder)  # type: ignore[attr-defined]
        with deep():
            return decoder.decode(text)

    def object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        data = dict(pairs)
        if len(data) == len(pairs):
            return data
        self.repeats = True
        first: dict[str, Any] = {}
        for key, value in pairs:
            first.setdefault(key, value)
        return first


def whole(digits: str) -> int:
    if len(digits) > LONGEST + 1:
        raise ValueError("beyond the range of a double")
    number = int(digits)
    finite(digits)
    return number


def finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError("beyond the range of a double")
    return number


def refuse(constant: str) -> None:
    raise ValueError(constant)


def write_data(data: Any) -> str:
    """The compact JSON text of plain data: integers as they are, other numbers as `Json.stringify` writes them.

    Raises `BoundaryError` for what has no JSON text: NaN and infinities, a lone surrogate, a key that is not a string,
    an object of another type, and data that contain themselves.

    >>> write_data({"id": 1234567890123456789, "x": [1.0, None]})
    '{"id":1234567890123456789,"x":[1,null]}'
    """
    pieces: list[str] = []
    members: Iterator[Any] = iter((data,))
    open: dict[int, None] = {}
    outer: list[tuple[Iterator[Any], bool, str, Any]] = []
    in_object, end, container = False, "", None
    first = True
    while True:
        for member in members:
            if not first:
                pieces.append(",")
            first = False
            if in_object:
                key, member = member
                pieces.append(text_of(key, "JSON keys are strings, not a") + ":")
            write = ATOMS.get(type(member))
            if write is not None:
                pieces.append(write(member))
                continue
            if not isinstance(member, dict | list | tuple):
                pieces.append(other_atom(member))
                continue
            if id(member) in open:
                raise BoundaryError(CYCLIC)
            open[id(member)] = None
            outer.append((members, in_object, end, container))
            in_object, container = isinstance(member, dict), member
            pieces.append("{" if in_object else "[")
            members, end, first = iter(member.items() if isinstance(member, dict) else member), "]}"[in_object], True
            break
        else:
            pieces.append(end)
            if not outer:
                return "".join(pieces)
            del open[id(container)]
            members, in_object, end, container = outer.pop()
            first = False


def text_of(text: Any, otherwise: str = "not a") -> str:
    if not isinstance(text, str):
        raise BoundaryError(f"{otherwise} Python `{type(text).__name__}`")
    problem = surrogate_problem(text)
    if problem is not None:
        raise BoundaryError(problem)
    return encode_basestring(text)


def integer(number: int) -> str:
    try:
        return int.__repr__(number)
    except ValueError:  # Python refuses to write out a really large one
        raise BoundaryError(f"an integer of {number.bit_length()} bits is too large for a text") from None


def number_text(number: float) -> str:
    if not isfinite(number):
        raise BoundaryError(f"JSON has no number {number}")
    return float.__repr__(number).removesuffix(".0") if number else "0"


def other_atom(value: Any) -> str:
    """The text of an instance of a subclass, such as a `StrEnum`."""
    for kind, write in ATOMS.items():
        if isinstance(value, kind):
            return write(value)
    raise BoundaryError(f"a Python `{type(value).__name__}` is not JSON data")


ATOMS: dict[type, Callable[[Any], str]] = {
    str: text_of,
    bool: lambda value: "true" if value else "false",
    type(None): lambda value: "null",
    int: integer,
    float: number_text,
}
