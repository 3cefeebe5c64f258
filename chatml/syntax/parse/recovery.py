"""What can be read of a script that is being written: its statements, but for those parts of it that are wrong."""

from __future__ import annotations

from collections.abc import Iterator

from chatml.source import Source
from chatml.syntax import ast
from chatml.syntax.parse import STATEMENT_KEYWORDS, read
from chatml.syntax.parse.lexer import tokens
from chatml.syntax.parse.problems import Rejected

MOST_JOINED = 3
"""How many parts are tried together where the first one ends too early."""


def parse_parts(source: Source) -> ast.Script:
    """The tree of a script in which something is wrong, without the parts that are at fault. Never raises.

    >>> script = parse_parts(Source("s", "let a = 1\\nlet b = (\\nlet c = 3\\n"))
    >>> [statement.name.name for statement in script.statements]
    ['a', 'c']
    """
    bounds = [0, *[start for start in statement_starts(source.text) if start], len(source.text)]
    statements: list[ast.Statement] = []
    index = 0
    while index < len(bounds) - 1:
        part, index = next_part(source, bounds, index)
        statements += part
    return ast.Script(tuple(statements), source.span(0, len(source.text)))


def next_part(source: Source, bounds: list[int], index: int) -> tuple[tuple[ast.Statement, ...], int]:
    """The statements of the part that begins at a bound, and the bound after it; a part at fault has none."""
    for end in range(index + 1, min(index + 1 + MOST_JOINED, len(bounds))):
        read = read_part(source, bounds[index], bounds[end])
        if isinstance(read, ast.Script):
            return read.statements, end
        if read < bounds[end]:
            break
    return (), index + 1


def read_part(source: Source, left: int, right: int) -> ast.Script | int:
    """The script between two offsets, with its places in the whole text, or the offset of what is wrong in it."""
    try:
        script = read(source, "program", left, right)
    except Rejected as rejected:
        return rejected.problem.span.left
    assert isinstance(script, ast.Script)
    return script


def statement_starts(text: str, position: int = 0) -> Iterator[int]:
    """Where a statement seems to begin, from an offset between two tokens on.

    That is at one of its keywords, first on a line, no further right than where the text begins.
    """
    _, first, _ = next(tokens(text))
    margin = len(indent(text, first) or "")
    for _, left, word in tokens(text, position):
        if word in STATEMENT_KEYWORDS and (before := indent(text, left)) is not None and len(before) <= margin:
            yield left


def indent(text: str, offset: int) -> str | None:
    """The blanks before an offset in its line; None if there is anything else."""
    start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    before = text[start:offset]
    return None if before.strip(" \t") else before
