"""Builtins that are an expression of Python: written as text beside the builtin, filled in where it is called."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from chatml.surfaces.model import PARAMETERS


class Template(ast.NodeTransformer):
    """A Python expression of the parameters `a`, `b` and so on, to be filled in once.

    >>> filled = Template("b in a").fill([ast.Name("text"), ast.Constant("..")])
    >>> ast.unparse(filled)
    "'..' in text"
    """

    def __init__(self, text: str) -> None:
        self.tree = ast.parse(text, mode="eval").body
        nodes = list(ast.walk(self.tree))
        names = [node for node in nodes if isinstance(node, ast.Name) and node.id in PARAMETERS]
        self.order = "".join(node.id for node in sorted(names, key=lambda node: node.col_offset))
        self.args: dict[str, ast.expr] = {}
        for node in nodes:  # The places in this text are none of the script's.
            for place in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
                node.__dict__.pop(place, None)

    def in_order(self, count: int) -> bool:
        """Whether the expression evaluates so many arguments as a call does: each once, from left to right."""
        return self.order == PARAMETERS[:count]

    def fill(self, args: Sequence[ast.expr]) -> ast.expr:
        """The expression of these arguments."""
        self.args = dict(zip(PARAMETERS, args, strict=False))
        filled: ast.expr = self.visit(self.tree)
        return filled

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.args.get(node.id, node)
