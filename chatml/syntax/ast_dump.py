"""Syntax trees as nested lists, to compare them and to look at them."""

from __future__ import annotations

from typing import TypeAlias

from chatml.records import frozen
from chatml.stack import deep
from chatml.syntax import ast

WIDTH = 100
DEEPEST_INDENT = 40

ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"})


@frozen
class Group:
    """A list in brackets, and the width that it takes on one line."""

    brackets: str
    items: list[Item]
    width: int


Item: TypeAlias = Group | str


def dump(node: object) -> str:
    """A syntax tree as text without its spans: equal trees, and only those, have equal dumps.

    >>> from chatml.syntax.parse import parse
    >>> from chatml.source import Source
    >>> print(dump(parse(Source("s", "let f x = 1 + x"))))
    (Script [(LetStatement f (Lambda [x] (Binary + (Int 1) (Name x)) short))])
    """
    with deep():
        out: list[str] = []
        write(item(node), 0, out)
        return "".join(out)


def show_string(text: str) -> str:
    """A STRING token for a text (language.md 1.4).

    >>> print(show_string('a\\n"b"'))
    "a\\n\\"b\\""
    """
    return f'"{text.translate(ESCAPES)}"'


def item(value: object) -> Item:
    """A part of a tree as text or a group."""
    match value:
        case ast.Ident():
            return value.name
        case ast.String() | ast.StringPattern():
            return group("()", [type(value).__name__, show_string(value.value)])
        case ast.Bool() | ast.BoolPattern():
            return group("()", [type(value).__name__, "true" if value.value else "false"])
        case tuple():
            return group("[]", [item(part) for part in value])
        case str() | int() | float():
            return str(value)
    items: list[Item] = [type(value).__name__]
    for name, part in ast.parts(value):
        if part is True:
            items.append(name)
        elif part is not False and part is not None:
            items.append(item(part))
    return group("()", items)


def group(brackets: str, items: list[Item]) -> Group:
    width = len(brackets) + max(0, len(items) - 1)
    for part in items:
        width += len(part) if isinstance(part, str) else part.width
    return Group(brackets, items, width)


def write(part: Item, indent: int, out: list[str]) -> None:
    """Writes a part: on one line if it fits there, else an item a line."""
    if isinstance(part, str):
        out.append(part)
        return
    broken = indent + part.width > WIDTH and indent <= DEEPEST_INDENT
    out.append(part.brackets[0])
    for number, each in enumerate(part.items):
        if number:
            out.append("\n" + " " * (indent + 2) if broken else " ")
        write(each, indent + 2, out)
    out.append(part.brackets[1])
