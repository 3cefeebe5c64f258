"""A backend of tests: a function answers in the place of a process. It counts as a sandbox unless told otherwise."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import attrs

from chatml_shell.plans.outcome import Status
from chatml_shell.plans.plan import Launch, Order, Plan

Answer = tuple[Status, bytes, bytes]
"""A status, what was written, and what was written to the error channel."""


@attrs.frozen
class Fake:
    """Simulates commands. Everything else about them is real: they are resolved, reviewed, recorded and redacted."""

    simulate: Callable[[Plan, bytes], Answer | Awaitable[Answer]]
    name: str = "fake"
    eligible: bool = True
    id: str | None = None
    unavailable: str | None = None

    def launch(self, order: Order) -> Launch:
        """The words that a process would get."""
        target = order.executable
        return Launch(argv=(target.path, *order.command.arguments), program=target, verified=(target,))
