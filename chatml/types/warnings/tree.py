"""Walking the tree of a script for warnings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chatml.syntax import ast
from chatml.types.report.words import place_of

LONGEST = 40
"""How long a text may be that is written over again in a message."""


def nodes_in(node: Any) -> Iterator[Any]:
    """A node and everything in it, in order of place."""
    waiting: list[Any] = [node]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += reversed(list(ast.children(part)))


def short(expr: ast.Expr, otherwise: str) -> str:
    """The text of an expression, if it is short enough to say it again."""
    text = place_of(expr).text
    return text if len(text) <= LONGEST and "\n" not in text else otherwise
