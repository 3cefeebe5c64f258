"""From text to syntax tree."""

from __future__ import annotations

from typing import cast

from chatml import ast
from chatml.errors import CompileError
from chatml.parse.driver import run
from chatml.parse.problems import Rejected, word
from chatml.source import Source

__all__ = ["parse", "parse_expression"]


def parse(source: Source) -> ast.Script:
    """The syntax tree of a script (language.md section 2); raises `CompileError`.

    >>> script = parse(Source("one.chatml", "let x = 1 print(x)"))
    >>> [type(statement).__name__ for statement in script.statements]
    ['LetStatement', 'ExprStatement']
    """
    return cast(ast.Script, parsed(source, "program"))


def parse_expression(source: Source) -> ast.Expr:
    """The syntax tree of a text that is one `expr`; raises `CompileError`.

    >>> parse_expression(Source("value", "`Tick(1)")).tag
    'Tick'
    """
    return cast(ast.Expr, parsed(source, "expression"))


def parsed(source: Source, start: str) -> object:
    """The value of a start symbol of the grammar."""
    try:
        return run(source, start)
    except Rejected as rejected:
        raise CompileError([word(rejected.problem)]) from None
