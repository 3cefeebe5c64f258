"""Short spellings for the nodes of Python's syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, TypeVar

Block = list[ast.stmt]

LOAD, STORE = ast.Load(), ast.Store()


def name(identifier: str) -> ast.Name:
    return ast.Name(identifier, LOAD)


def const(value: Any) -> ast.Constant:
    return ast.Constant(value)


def call(function: str | ast.expr, *args: ast.expr) -> ast.Call:
    return ast.Call(name(function) if isinstance(function, str) else function, list(args), [])


def assign(target: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(target, STORE)], value)


def keep(target: str, value: ast.expr) -> ast.NamedExpr:
    """`(target := value)`"""
    return ast.NamedExpr(ast.Name(target, STORE), value)


def item(value: ast.expr, key: ast.expr) -> ast.Subscript:
    return ast.Subscript(value, key, LOAD)


def attribute(value: ast.expr, label: str) -> ast.Attribute:
    return ast.Attribute(value, label, LOAD)


def compare(left: ast.expr, op: ast.cmpop, right: ast.expr) -> ast.Compare:
    return ast.Compare(left, [op], [right])


def is_a(value: ast.expr, kind: str) -> ast.expr:
    """Whether a value is of exactly that class."""
    return compare(call("type", value), ast.Is(), name(kind))


def both(conditions: Sequence[ast.expr]) -> ast.expr:
    """A conjunction; of nothing, true."""
    if not conditions:
        return const(True)
    return conditions[0] if len(conditions) == 1 else ast.BoolOp(ast.And(), list(conditions))


def either(conditions: Sequence[ast.expr]) -> ast.expr:
    """A disjunction of at least one condition."""
    return conditions[0] if len(conditions) == 1 else ast.BoolOp(ast.Or(), list(conditions))


def define(function: str, params: Sequence[str], body: Block, line: int) -> ast.FunctionDef:
    arguments = ast.arguments([], [ast.arg(param) for param in params], None, [], [], None, [])
    return ast.FunctionDef(function, arguments, body, [], lineno=line, end_lineno=line, col_offset=0, end_col_offset=0)


Tree = TypeVar("Tree", bound=ast.AST)


def located(tree: Tree) -> Tree:
    """The tree, whose nodes without a line have that of the node around them, as Python's compiler asks for.

    `ast.fix_missing_locations` does the same for four attributes apart, in three times the time.
    """
    todo: list[tuple[ast.AST, int]] = [(tree, 1)]
    while todo:
        node, line = todo.pop()
        known = node.__dict__
        line = known.setdefault("lineno", line)
        if "col_offset" not in known:
            known["end_lineno"], known["col_offset"], known["end_col_offset"] = line, 0, 0
        for field in PARTS[type(node)]:
            part = known.get(field)
            if type(part) is list:
                todo += [(inner, line) for inner in part]
            elif part is not None:
                todo.append((part, line))
    return tree


NO_PARTS = {"ctx", "op", "ops", "id", "name", "names", "attr", "arg", "kind", "type_comment", "type_ignores"}
"""The fields of nodes that hold texts, or nodes without a place."""


PARTS: dict[type, tuple[str, ...]] = {
    kind: tuple([field for field in kind._fields if field not in NO_PARTS])
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
"""The fields of each kind of node that hold nodes with a place."""
PARTS[ast.Constant] = ()
