"""Short spellings for the nodes of Python's syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

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
    return ast.FunctionDef(function, arguments, body, [], lineno=line, end_lineno=line)
