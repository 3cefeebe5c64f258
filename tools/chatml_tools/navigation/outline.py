"""The outline of a script: its definitions, those of a module inside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from chatml.records import frozen
from chatml.source import Span
from chatml.stack import deep
from chatml.syntax import ast
from chatml.types import Checked
from chatml.types.checked import type_of_entry
from chatml.types.environment import ModuleType
from chatml.types.model import Fun
from chatml.types.scheme import ANYTHING
from chatml.types.show import Shower
from chatml.types.variables import resolved

Kind: TypeAlias = Literal["function", "value", "type", "module"]

MOST_LEVELS = 50
"""How deep modules are looked into."""

MOST_PARTS = 40
"""How many parts of a type are shown beside a name."""


@frozen
class Symbol:
    """A definition: its name, its type as text, the whole of it, where the name stands, and what is defined inside."""

    name: str
    kind: Kind
    detail: str
    span: Span
    place: Span
    inside: tuple[Symbol, ...] = ()


def outline(checked: Checked) -> tuple[Symbol, ...]:
    """The definitions of a script in order.

    >>> from chatml.syntax.parse import parse
    >>> from chatml.source import Source
    >>> from chatml.types import Environment, check
    >>> script = parse(Source("s", "module M = struct let id x = x end let n = 1"))
    >>> [(each.name, each.kind, each.detail, len(each.inside)) for each in outline(check(script, Environment({})))]
    [('M', 'module', '', 1), ('n', 'value', 'int', 0)]
    """
    with deep():
        return tuple(symbols(checked, checked.script.statements))


def symbols(checked: Checked, statements: Sequence[ast.Statement], level: int = 0) -> Iterator[Symbol]:
    for statement in statements:
        match statement:
            case ast.LetStatement(name=name, span=span):
                yield definition(checked, name, span)
            case ast.LetRecStatement(bindings=bindings):
                for binding in bindings:
                    yield definition(checked, binding.name, binding.name.span.to(binding.span))
            case ast.TypeStatement(name=name, span=span):
                yield Symbol(name.name, "type", "", span, name.span)
            case ast.ModuleStatement(name=name, items=items, span=span):
                inside = symbols(checked, items, level + 1) if level < MOST_LEVELS else ()
                yield Symbol(name.name, "module", "", span, name.span, tuple(inside))


def definition(checked: Checked, name: ast.Ident, span: Span) -> Symbol:
    entry = checked.binders.get(name)
    if entry is None or entry is ANYTHING or isinstance(entry, ModuleType):  # it is at fault, or what is before it
        return Symbol(name.name, "value", "", span, name.span)
    type = type_of_entry(entry)
    kind: Kind = "function" if isinstance(resolved(type), Fun) else "value"
    return Symbol(name.name, kind, Shower(MOST_PARTS, checked.names).show(type), span, name.span)
