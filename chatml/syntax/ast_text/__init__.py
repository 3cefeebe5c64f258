"""Syntax trees as text that parses to the same tree, with the fewest parentheses that the grammar allows.

Two things ask for parentheses: a form that is looser than its place wants (a sum as a factor), and a form that would go
on and swallow what follows it ("keep going", language.md 2.1): `(fun x -> x)(1)`, `(ref a) + b`, `(-a) * b`. So each
expression is written for a place, the loosest level that may stand there bare, and with what comes after it.

What is written is a document (`document`), which knows where its lines may end: `show` makes one line of it, and
`chatml.syntax.format` a page.
"""

from __future__ import annotations

from chatml.stack import deep
from chatml.syntax import ast
from chatml.syntax.ast_dump import dump
from chatml.syntax.ast_text.document import flat
from chatml.syntax.ast_text.precedence import EXPR
from chatml.syntax.ast_text.writer import Writer

__all__ = ["dump", "show", "show_expression"]


def show(script: ast.Script) -> str:
    """A script as canonical text, a line for each statement. If any text parses to the tree, this one does.

    >>> from chatml.syntax.parse import parse
    >>> from chatml.source import Source
    >>> show(parse(Source("s", "let f x=((x)+(1*2))  print((fun y->y)(f((3))))")))
    'let f x = x + 1 * 2\\nprint((fun y -> y)(f(3)))\\n'
    """
    with deep():
        lines = []
        before: ast.Statement | None = None
        for statement in script.statements:
            writer = Writer()
            writer.statement(statement, before)
            lines.append(flat(writer.out) + "\n")
            before = statement
        return "".join(lines)


def show_expression(expr: ast.Expr) -> str:
    """An expression as canonical text."""
    with deep():
        writer = Writer()
        writer.expr(expr, EXPR)
        return flat(writer.out)
