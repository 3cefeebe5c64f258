"""Which branches of a script ran: its core tree with a note at the head of each, which any engine can run.

A branch is the body of a function (so also what follows a `let*`), of an arm, and either side of an `if`.
"""

from __future__ import annotations

from typing import Any, get_args

from chatml import core
from chatml.pipeline import Program
from chatml.records import evolve
from chatml.source import Span
from chatml.stack import deep
from chatml.surfaces.model import Builtin, Surface
from chatml.types.model import Fun, Int, Unit
from chatml.values import Value

NOTE = "%note"
"""The builtin that notes a branch: a name that no script can write."""

BRANCHES: dict[type, tuple[str, ...]] = {core.Lambda: ("body",), core.Arm: ("body",), core.If: ("then", "otherwise")}
INNER = {*get_args(core.Expr), *get_args(core.Statement), core.Arm} - {core.Constant, core.Local, core.Global}


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
        script = program.core
        marker = Marker(script.cells)
        with deep():
            statements = tuple([marker.copy(statement) for statement in script.statements])
        self.branches: tuple[Span, ...] = tuple(marker.branches)
        cell = core.BuiltinCell(script.cells, NOTE, None)
        marked = core.Script(statements, script.cells + 1, script.size, (*script.builtins, cell), script.definitions)
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


class Marker:
    """Copies a tree, with a note before each branch. `branches` are those met so far, `cell` holds the builtin."""

    def __init__(self, cell: int) -> None:
        self.cell = cell
        self.branches: list[Span] = []

    def copy(self, node: Any) -> Any:
        kind = type(node)
        parts = []
        for name in kind.__match_args__:
            part = getattr(node, name)
            if name in BRANCHES.get(kind, ()):
                parts.append(self.branch(part))
            else:
                parts.append(self.part(part))
        return kind(*parts)

    def part(self, part: Any) -> Any:
        if type(part) is tuple:
            return tuple([self.part(element) for element in part])
        return self.copy(part) if type(part) in INNER else part

    def branch(self, body: core.Expr) -> core.Expr:
        span = body.span
        number = core.Constant(len(self.branches), span)
        self.branches.append(span)
        note = core.Call(core.Global(self.cell, span), (number,), span)
        return core.Seq(note, self.part(body), span)
