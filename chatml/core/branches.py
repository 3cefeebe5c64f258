"""Something to be evaluated at the head of each branch of a script: a copy of its core tree, which any engine can run.

What is put there must change nothing: the value of a branch stays its own, and its last call a tail call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from chatml.core import nodes
from chatml.records import frozen
from chatml.stack import deep

Head = Callable[[Any, str], nodes.Expr]
"""Makes what a branch begins with, of the node that has the branch and the name of that part."""

INNER = {*get_args(nodes.Expr), *get_args(nodes.Statement), nodes.Arm} - {nodes.Constant, nodes.Local, nodes.Global}


def mark_branches(script: nodes.Script, branches: Mapping[type, tuple[str, ...]], head: Head) -> nodes.Script:
    """The script with a head on each branch: the parts of these names, of nodes of these types, in source order."""
    marker = Marker(branches, head)
    with deep():
        statements = tuple([marker.copy(statement) for statement in script.statements])
    return nodes.Script(statements, script.cells, script.size, script.builtins, script.definitions)


@frozen
class Marker:
    """Copies a tree, with a head on each branch."""

    branches: Mapping[type, tuple[str, ...]]
    head: Head

    def copy(self, node: Any) -> Any:
        kind = type(node)
        parts = []
        for name in kind.__match_args__:
            part = getattr(node, name)
            if name in self.branches.get(kind, ()):
                head = self.head(node, name)
                parts.append(nodes.Seq(head, self.part(part), part.span))
            else:
                parts.append(self.part(part))
        return kind(*parts)

    def part(self, part: Any) -> Any:
        if type(part) is tuple:
            return tuple([self.part(element) for element in part])
        return self.copy(part) if type(part) in INNER else part
