"""The engine of a workspace: an evaluator whose script grows while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

from chatml.core import nodes
from chatml.engines.walk import Walker
from chatml.values.journal import Journal
from chatml.values.limits import Budget, Limits
from chatml.values.model import Value

Builtins = Mapping[tuple[str | None, str], Value]
"""The values of a surface: globals and modules under `(None, name)`, exports under `(module, name)`."""

NOTHING = nodes.Script((), 0, 0, (), {})


class GrowingWalker(Walker):
    """Runs statements that are added to its script. What they define stays in `cells`."""

    def __init__(self, builtins: Builtins, sink: Callable[[str], object], limits: Limits) -> None:
        super().__init__(NOTHING, {}, sink, limits)
        self.builtins = builtins
        self.own_limits = limits

    def extend(self, script: nodes.Script, journal: Journal, inside: AbstractContextManager[object]) -> list[Value]:
        """Run further statements under a fresh budget, inside a context; returns the values of the expressions.

        When anything is raised, an interrupt included, every array, ref and cell is as before.
        """
        self.grow(script)
        self.budget, self.journal = Budget(self.own_limits), journal
        values: list[Value] = []
        try:
            with inside:
                self.guard(lambda: self.evaluate_all(script, values))
        except BaseException:
            journal.undo()
            raise
        finally:
            self.journal = None
            self.depth = 0
        return values

    def grow(self, script: nodes.Script) -> None:
        """Make room for the cells of a script, and fill those of its builtins that are new."""
        known = len(self.cells)
        self.script = script
        self.cells += [None] * (script.cells - known)
        for builtin in script.builtins:
            if builtin.cell >= known:
                self.cells[builtin.cell] = self.builtins[builtin.module, builtin.name]

    def evaluate_all(self, script: nodes.Script, values: list[Value]) -> None:
        frame: list[Value] = [None] * script.size
        for statement in script.statements:
            if isinstance(statement, nodes.Evaluate):
                values.append(self.evaluate(statement.value, frame, 0))
            else:
                self.statements((statement,), frame)

    def shrink(self, script: nodes.Script) -> None:
        """Go back to an earlier script: forget the cells that it did not have."""
        self.script = script
        del self.cells[script.cells :]
