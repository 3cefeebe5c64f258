"""One handler run: what it has buffered, what it may still use, and how to undo it (runtime.md section 5.1)."""

from __future__ import annotations

import attrs

from chatml.engines.engine import Engine
from chatml.values.journal import Journal
from chatml.values.limits import Budget
from chatml.values.model import Value
from chatml_runtime.script.approvals import PendingRequest
from chatml_runtime.script.effects import Effect


@attrs.define(eq=False)
class Run:
    """A handler run, from its start to its commit or rollback. `event` is its name in reports.

    `pending` is set while the run is suspended, `active` while it is neither suspended nor over.
    """

    phase: str
    event: str
    budget: Budget
    max_spawns: int | None = None
    effects: list[Effect] = attrs.Factory(list)
    emitted: list[Value] = attrs.Factory(list)
    end_reason: str | None = None
    spawned: int = 0
    pending: PendingRequest | None = None
    active: bool = False
    journal: Journal = attrs.Factory(Journal)
    _outer_budget: Budget | None = None

    def enter(self, engine: Engine) -> None:
        """Take the engine: its writes go to this run's journal, its steps to this run's budget."""
        self.journal.bring_back()
        self._outer_budget = engine.budget
        engine.journal, engine.budget = self.journal, self.budget
        self.active = True

    def leave(self, engine: Engine) -> None:
        """Give the engine back."""
        self.active = False
        engine.journal = None
        if self._outer_budget is not None:
            engine.budget, self._outer_budget = self._outer_budget, None
