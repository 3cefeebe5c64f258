"""From text to syntax tree."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from chatml.diagnostics.errors import CompileError
from chatml.lazy import lazy
from chatml.source import Source
from chatml.syntax import ast
from chatml.syntax.parse.driver import run
from chatml.syntax.parse.lexer import tokens
from chatml.values.surrogates import SURROGATE

if TYPE_CHECKING:
    from chatml.syntax.parse import problems
else:
    problems = lazy("chatml.syntax.parse.problems")

__all__ = ["is_incomplete", "parse", "parse_expression"]


STATEMENT_KEYWORDS = frozenset(("let", "type", "module", "open"))
MOST_PROBLEMS = 20


def parse(source: Source) -> ast.Script:
    """The syntax tree of a script (language.md section 2); raises `CompileError`.

    The first diagnostic is the one that the language defines. More may follow, one for each later part of the script
    that is wrong on its own: reading goes on at the next keyword of a statement that begins a line.

    >>> script = parse(Source("one.chatml", "let x = 1 print(x)"))
    >>> [type(statement).__name__ for statement in script.statements]
    ['LetStatement', 'ExprStatement']
    """
    try:
        return cast(ast.Script, read(source, "program"))
    except problems.Rejected as rejected:
        first = rejected.problem
    raise CompileError([problems.word(problem) for problem in (first, *later_problems(source, first))])


def parse_expression(source: Source) -> ast.Expr:
    """The syntax tree of a text that is one `expr`; raises `CompileError`.

    >>> parse_expression(Source("value", "`Tick(1)")).tag
    'Tick'
    """
    try:
        return cast(ast.Expr, read(source, "expression"))
    except problems.Rejected as rejected:
        raise CompileError([problems.word(rejected.problem)]) from None


def read(source: Source, start: str, position: int = 0, end: int = sys.maxsize) -> object:
    """The value of a start symbol of the grammar, read from an offset on, up to an end."""
    if not source.text.isascii() and (surrogate := re.compile(SURROGATE).search(source.text, position, end)):
        raise problems.Rejected(problems.Surrogate(source.span(*surrogate.span())))
    return run(source, start, position, end)


def later_problems(source: Source, problem: problems.SyntaxProblem) -> Iterator[problems.SyntaxProblem]:
    """What else is wrong with a script, after its first problem."""
    for _ in range(MOST_PROBLEMS - 1):
        span = problem.span
        position = next_statement(source, span.right if isinstance(problem, problems.UnknownCharacter) else span.left)
        if position is None:
            return
        try:
            read(source, "program", position)
            return
        except problems.Rejected as rejected:
            problem = rejected.problem
            yield problem


def next_statement(source: Source, start: int) -> int | None:
    """Where a statement seems to begin from an offset on: at one of its keywords, first on a line."""
    for _, left, text in tokens(source.text, start):
        if text in STATEMENT_KEYWORDS and source.text[max(0, left - 1)] in "\r\n":
            return left
    return None


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
