"""Writing JSON5 in its one canonical form (nrchat.md section 13).

The open containers are on a list, so depth costs no Python frames.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from chatmd.nrchat.errors import WriteTypeError
from chatmd.nrchat.json5.numbers import write_number
from chatmd.nrchat.json5.strings import write_string

BARE_KEY = re.compile("[A-Za-z_$][A-Za-z0-9_$]*")
INDEX = re.compile("0|[1-9][0-9]{0,9}")
LAST_INDEX = 2**32 - 2
SHOWN_KEY = 40


def _word(value: bool | None) -> str:
    return "null" if value is None else "true" if value else "false"


SCALARS: dict[type, Callable[[Any], str]] = {
    str: write_string,
    int: write_number,
    float: write_number,
    bool: _word,
    type(None): _word,
}
BRACKETS: dict[type, tuple[str, str]] = {dict: ("{", "}"), list: ("[", "]"), tuple: ("[", "]")}


def stringify_json5(value: Any) -> str:
    """The canonical JSON5 text of a value, on one line (nrchat.md section 13).

    Takes None, bool, int, float, str, list, tuple and dict with str keys. The same value always gives the
    same characters, and those of the format's other implementations: keys bare where ASCII allows it, strings
    in single quotes, numbers as JavaScript writes them (an int beyond 2**53 as the nearest double). Raises
    `WriteTypeError`, which is a `TypeError`, for anything else and for a container inside itself.

    >>> stringify_json5({"a-b": "it's", "n": [1, 2.0, None], "deep": {"ok": True}})
    "{'a-b': 'it\\\\'s', n: [1, 2, null], deep: {ok: true}}"
    """
    out: list[str] = []
    items: Iterator[tuple[str, Any]] = iter([("", value)])
    outer: list[tuple[Iterator[tuple[str, Any]], str, int]] = []
    open_now: set[int] = set()
    while True:
        for before, item in items:
            out.append(before)
            write = SCALARS.get(type(item))
            if write is None:
                kind = _kind(item, before)
                write = SCALARS.get(kind)
            if write is not None:
                out.append(write(item))
                continue
            if id(item) in open_now:
                raise WriteTypeError(f"a {kind.__name__} that holds itself has no JSON5 form{_place(before)}")
            opening, closing = BRACKETS[kind]
            out.append(opening)
            open_now.add(id(item))
            outer.append((items, closing, id(item)))
            items = iter(_members(item) if kind is dict else _elements(item))
            break
        else:
            if not outer:
                return "".join(out)
            items, closing, identity = outer.pop()
            open_now.remove(identity)
            out.append(closing)


def _kind(value: Any, before: str) -> type:
    """The built-in type that a value is written as: its own, or the one it is derived from (K6)."""
    for kind in (*BRACKETS, str, int, float):
        if isinstance(value, kind):
            return kind
    raise WriteTypeError(
        f"a value of type {type(value).__name__} has no JSON5 form{_place(before)}; "
        "None, bool, int, float, str, list, tuple and dict have one"
    )


def _members(mapping: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    """What stands before each value of an object, and the value, in canonical order (K2, K3)."""
    indexes: list[tuple[int, str, Any]] = []
    others: list[tuple[str, Any]] = []
    for key, value in mapping.items():
        if not isinstance(key, str):
            raise WriteTypeError(f"an object's keys are str, not {type(key).__name__}")
        if BARE_KEY.fullmatch(key):
            others.append((key, value))
        elif INDEX.fullmatch(key) and int(key) <= LAST_INDEX:
            indexes.append((int(key), key, value))
        else:
            others.append((write_string(key), value))
    comma = ""
    if indexes:
        for _, key, value in sorted(indexes, key=lambda member: member[0]):
            yield f"{comma}'{key}': ", value
            comma = ", "
    for name, value in others:
        yield f"{comma}{name}: ", value
        comma = ", "


def _elements(sequence: list[Any] | tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    comma = ""
    for value in sequence:
        yield comma, value
        comma = ", "


def _place(before: str) -> str:
    """Where in an object a value stands, for a message."""
    key = before.removeprefix(", ").removesuffix(": ")
    return f" (it is the value of the key {key[:SHOWN_KEY]})" if key else ""
