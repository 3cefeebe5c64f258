"""What an expression looks like from outside, as far as its layout depends on it."""

from __future__ import annotations

from chatml.syntax import ast

FIRST_PARTS: dict[type, str] = {
    ast.Call: "function",
    ast.FieldGet: "record",
    ast.ArrayGet: "array",
    ast.ArraySet: "array",
    ast.SetRef: "ref",
    ast.Binary: "left",
    ast.And: "left",
    ast.Or: "left",
}
"""The forms that begin with an expression."""


def begins_with_a_name(expr: ast.Expr) -> bool:
    """Whether the first token of an expression may be a lower-case name."""
    while type(expr) in FIRST_PARTS and not is_task_let(expr):
        expr = getattr(expr, FIRST_PARTS[type(expr)])
    return isinstance(expr, ast.Name) and not expr.name[0].isupper()


def is_task_let(expr: ast.Expr) -> bool:
    return isinstance(expr, ast.Call) and expr.form is not None


def breaks_well(expr: ast.Expr) -> bool:
    """Whether an expression may stay on the line where it begins, when only its inside has to be broken."""
    match expr:
        case ast.Lambda() | ast.RecordUpdate():
            return True
        case ast.RecordLit(fields=parts) | ast.ArrayLit(items=parts):
            return bool(parts)
    return False


def operator(expr: ast.Expr) -> str | None:
    """The sign of an operation."""
    match expr:
        case ast.Binary(op=op):
            return op
        case ast.And():
            return "&&"
        case ast.Or():
            return "||"
    return None


def let_body(expr: ast.Expr) -> ast.Expr | None:
    """What follows the `in` of a `let` of any kind; None for other forms."""
    match expr:
        case ast.Let(body=body) | ast.LetRec(body=body):
            return body
        case ast.Call(args=(_, ast.Lambda(body=body)), form=str()):
            return body
    return None
