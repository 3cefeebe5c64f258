"""Names that were known in the statement before: a new line ended it."""

from __future__ import annotations

from itertools import pairwise

from chatml.syntax import ast
from chatml.types.facts import UnknownVariable


def out_of_scope_help(problem: UnknownVariable, script: ast.Script) -> str | None:
    """What to do about a name that the statement before binds inside.

    A line that begins further to the right was meant to go on: the steps of a body are joined with `;`.
    """
    for before, here in pairwise(script.statements):
        if not (here.span.source is problem.span.source and here.span.left <= problem.span.left < here.span.right):
            continue
        if not isinstance(before, ast.LetStatement | ast.ExprStatement):
            return None
        line, last = here.span.start.line, before.span.end.line
        if is_parameter(before, problem.name) and here.span.start.column > before.span.start.column:
            return f"line {line} is a statement of its own: end line {last} with `;`, and it goes on"
        if isinstance(before, ast.ExprStatement) and is_bound_in(before.value, problem.name):
            name = problem.name
            return f"`{name}` is known up to the end of line {last}; written without `in` it is known from there on"
    return None


def is_parameter(statement: ast.LetStatement | ast.ExprStatement, name: str) -> bool:
    value = statement.value.value if isinstance(statement.value, ast.Annot) else statement.value
    is_function = isinstance(statement, ast.LetStatement) and isinstance(value, ast.Lambda)
    return is_function and isinstance(value, ast.Lambda) and any(param.name == name for param in value.params)


def is_bound_in(value: ast.Expr, name: str) -> bool:
    """Whether `let NAME = … in` begins an expression, after others perhaps."""
    while isinstance(value, ast.Let):
        if value.name.name == name:
            return True
        value = value.body
    return False
