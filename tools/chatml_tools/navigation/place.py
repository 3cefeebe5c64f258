"""What stands at a place of a script: the name, or the smallest expression."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from chatml.records import frozen
from chatml.source import Span
from chatml.syntax import ast
from chatml_tools.navigation.bindings import Bindings, Occurring


@frozen
class Occurrence:
    """A name where it is bound or used, and where exactly it stands."""

    node: Occurring
    span: Span


def name_at(script: ast.Script, bindings: Bindings, offset: int) -> Occurrence | None:
    """The name that the character at an offset belongs to, or else the name that ends there."""
    found: Occurrence | None = None
    for node in nodes_at(script, offset):
        name = NAMES.get(node.__class__)
        if name is None or (isinstance(node, ast.Ident) and node not in bindings.binders):
            continue
        text, span = name(node)
        if covers(span, offset) and span.text == text:  # which is not so for what `let*` stands for
            found = Occurrence(node, span)
            if offset < span.right:
                break
    return found


NAMES: dict[type, Callable[[Any], tuple[str, Span]]] = {
    ast.Ident: lambda node: (node.name, node.span),
    ast.NamePattern: lambda node: (node.name, node.span),
    ast.Name: lambda node: (node.name, node.span),
    ast.NamedType: lambda node: (node.name, node.span),
    ast.FieldGet: lambda node: (node.label.name, node.label.span),
    ast.OpenStatement: lambda node: (node.name.name, node.name.span),
}
"""The nodes that are names or end with one: its text, and where it stands."""


def expression_at(script: ast.Script, offset: int) -> ast.Expr | None:
    """The smallest expression around the character at an offset."""
    found: Any = None
    for node in nodes_at(script, offset):
        span = node.span
        is_in = isinstance(node, ast.Expr) and span.left <= offset < span.right
        if is_in and (found is None or span.right - span.left <= found.span.right - found.span.left):
            found = node
    return found.value if isinstance(found, ast.Annot) else found


def nodes_at(script: ast.Script, offset: int) -> Iterator[Any]:
    """The nodes of the statements around an offset, from the outside in; those that are clearly elsewhere left out."""
    waiting: list[Any] = [each for each in reversed(script.statements) if covers(each.span, offset)]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.ModuleStatement):
            inside: list[Any] = [node.name, *[each for each in node.items if covers(each.span, offset)]]
        else:
            inside = [*ast.children(node)]
        waiting += reversed(inside)


def covers(span: Span, offset: int) -> bool:
    """Whether a cursor at an offset touches a span."""
    return span.left <= offset <= span.right
