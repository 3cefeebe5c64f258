"""ChatML expressions that are data: literals, tags, records and arrays, and nothing that computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from chatml.diagnostics.errors import CompileError
from chatml.diagnostics.model import Diagnostic
from chatml.source import Source
from chatml.stack import deep
from chatml.syntax import ast
from chatml.syntax.parse import parse_expression
from chatml.values.model import Value


def read_data(source: Source) -> Value:
    """The value of an expression of data. `CompileError` for a syntax error and for anything that is not data.

    >>> read_data(Source("event", "`Tick(1, { on = true })"))
    ('Tick', 1, {'on': True})
    """
    with deep():
        return value_of(parse_expression(source))


def value_of(node: ast.Expr) -> Value:
    read = READERS.get(type(node), refuse)
    return read(node)


VALUE = 'write the value itself, such as `Tick(1) or { n = 2; names = ["a"] }'


def refuse(
    node: ast.Expr,
    message: str = "this is not data: an event is built of literals, tags, records and arrays only",
    help: str = VALUE,
) -> NoReturn:
    raise CompileError([Diagnostic("scenario.not_data", message, node.span, help=help)])


def read_record(node: ast.RecordLit) -> Value:
    record = {}
    for field in node.fields:
        label = field.label.name
        if label in record:
            refuse(node, f"this is not data: a record has the field `{label}` twice", "remove one of them")
        record[label] = value_of(field.value)
    return record


def read_negative(node: ast.Neg) -> Value:
    operand = node.operand
    if isinstance(operand, ast.Float if node.op == "-." else ast.Int):
        return -operand.value
    if isinstance(operand, ast.Float):
        refuse(node, "this is not data: `-` negates an integer, and this is a float", "negate a float with `-.`")
    if isinstance(operand, ast.Int):
        refuse(node, "this is not data: `-.` negates a float, and this is an integer", "negate an integer with `-`")
    refuse(node)


READERS: dict[type, Callable[[Any], Value]] = {
    ast.Unit: lambda node: None,
    ast.Int: lambda node: node.value,
    ast.Float: lambda node: node.value,
    ast.Bool: lambda node: node.value,
    ast.String: lambda node: node.value,
    ast.Neg: read_negative,
    ast.Variant: lambda node: (node.tag, *[value_of(arg) for arg in node.args]),
    ast.ArrayLit: lambda node: [value_of(item) for item in node.items],
    ast.RecordLit: read_record,
}
