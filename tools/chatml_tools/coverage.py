"""Which branches of a script ran: its core tree with a note at the head of each, which any engine can run.

A branch is the body of a function (so also what follows a `let*`), of an arm, and either side of an `if`.
"""

from __future__ import annotations

from typing import Any

from chatml.core import nodes
from chatml.core.branches import mark_branches
from chatml.pipeline import Program
from chatml.records import evolve
from chatml.source import Span
from chatml.surfaces.model import Builtin, Surface
from chatml.types.model import Fun, Int, Unit
from chatml.values.model import Value

NOTE = "%note"
"""The builtin that notes a branch: a name that no script can write."""

BRANCHES = {nodes.Lambda: ("body",), nodes.Arm: ("body",), nodes.If: ("then", "otherwise")}


class Coverage:
    """A program that notes which of its branches run, and what has been noted so far.

    >>> from chatml.pipeline import compile
    >>> coverage = Coverage(compile("let sign n = if n < 0 then 0 - 1 else 1"))
    >>> coverage.program.run().call("sign", 7)
    1
    >>> len(coverage.branches), [span.text for span in coverage.missed()]
    (3, ['0 - 1'])
    """

    def __init__(self, program: Program) -> None:
        self.reached: set[int] = set()
        spans: list[Span] = []
        cell = program.core.cells

        def head(owner: Any, part: str) -> nodes.Expr:
            span = getattr(owner, part).span
            spans.append(span)
            return nodes.Call(nodes.Global(cell, span), (nodes.Constant(len(spans) - 1, span),), span)

        script = mark_branches(program.core, BRANCHES, head)
        builtins = (*script.builtins, nodes.BuiltinCell(cell, NOTE, None))
        marked = nodes.Script(script.statements, cell + 1, script.size, builtins, script.definitions)
        self.branches: tuple[Span, ...] = tuple(spans)
        surface = program.surface.combine(Surface(globals=(Builtin(NOTE, Fun([Int], Unit), self.note),)))
        self.program = evolve(program, core=marked, surface=surface)

    def note(self, branch: Value) -> Value:
        self.reached.add(branch)

    def missed(self) -> list[Span]:
        """The branches that have not run, in source order, without those inside another one."""
        left = [span for index, span in enumerate(self.branches) if index not in self.reached]
        outermost: list[Span] = []
        for span in sorted(left, key=lambda span: (span.left, -span.right)):
            if not outermost or span.left >= outermost[-1].right:
                outermost.append(span)
        return outermost
