"""From text to syntax tree."""

from __future__ import annotations

from typing import cast

from chatml import ast
from chatml.errors import CompileError
from chatml.parse.driver import run
from chatml.parse.problems import Rejected, Surrogate, word
from chatml.source import Source
from chatml.surrogates import SURROGATE

__all__ = ["is_incomplete", "parse", "parse_expression"]


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
        if not source.text.isascii() and (surrogate := SURROGATE.search(source.text)):
            raise Rejected(Surrogate(source.span(*surrogate.span())))
        return run(source, start)
    except Rejected as rejected:
        raise CompileError([word(rejected.problem)]) from None


def is_incomplete(error: CompileError) -> bool:
    """Whether more text might mend what is wrong with a text: its end came too early.

    >>> try:
    ...     parse(Source("input", "print(1 +"))
    ... except CompileError as error:
    ...     is_incomplete(error)
    True
    """
    first = error.diagnostics[0]
    return first.code == "syntax.unterminated_comment" or (
        first.code.startswith("syntax.") and first.span is not None and first.span.left == len(first.span.source.text)
    )
