"""Bounds on what a script may use (decisions X-04, X-05, X-28)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator

from chatml.diagnostics.errors import RuntimeFailure
from chatml.records import frozen
from chatml.source import Span

DEFAULT_DEPTH = 200_000
LARGEST = 2**28
"""The most elements that any string or array may have, with or without a limit."""


@frozen
class Limits:
    """What one evaluation may use; None sets no bound.

    `steps` counts function entries and loop turns, `depth` the calls running at once (None stands for
    `DEFAULT_DEPTH`: there is always a bound, so that a runaway recursion fails instead of exhausting the host),
    `text` the length of any string or array that one operation builds, `tasks` the task nodes that a host interprets.

    >>> Limits(steps=10_000).steps
    10000
    """

    steps: int | None = None
    depth: int | None = None
    text: int | None = None
    tasks: int | None = None


Left = tuple[Iterator[object], float]
"""The steps and the task nodes that an evaluation has left."""


class Budget:
    """What is left of some limits while an evaluation runs. Each run has a fresh one, or a renewed one.

    `steps` yields once for each step that is left; `tasks` counts down, from infinity when unbounded; `depth` and
    `text` are bounds that do not change.
    """

    __slots__ = ("allowed", "depth", "limits", "steps", "tasks", "text")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.allowed: Iterable[object] = itertools.repeat(True) if limits.steps is None else range(limits.steps)
        self.depth: int = DEFAULT_DEPTH if limits.depth is None else limits.depth
        self.text: int = LARGEST if limits.text is None else min(limits.text, LARGEST)
        self.steps: Iterator[object] = iter(self.allowed)
        self.tasks: float = math.inf if limits.tasks is None else limits.tasks

    def renew(self) -> Left:
        """Allow all that the limits allow: another evaluation begins.

        Returns what is left, for `restore`: the sink or a builtin of the host may have begun it inside another one.
        """
        left = self.steps, self.tasks
        self.steps = iter(self.allowed)
        self.tasks = math.inf if self.limits.tasks is None else self.limits.tasks
        return left

    def restore(self, left: Left) -> None:
        """Go on with what was left before `renew`."""
        self.steps, self.tasks = left

    def charge(self, steps: int) -> bool:
        """Use up several steps at once; whether there were as many left."""
        if self.limits.steps is None:
            return True
        return next(itertools.islice(self.steps, steps - 1, steps), None) is not None

    def exceeded(self, name: str, span: Span | None = None) -> RuntimeFailure:
        """The failure of a run that went beyond the limit of that name."""
        bound = getattr(self.limits, name)
        if bound is None:
            bound = getattr(self, name)
        wording = WORDING[name]
        failure = RuntimeFailure(
            f"limit `{name}` exceeded: {wording.format(bound=bound)}",
            span,
            code="runtime.limit",
            help=HELP[name],
        )
        failure.limit = name
        return failure


WORDING = {
    "steps": "the run took more than {bound:,} steps (function entries and loop turns)",
    "depth": "more than {bound:,} calls were running at once",
    "text": "an operation would build a string or an array of more than {bound:,} elements",
    "tasks": "the run needed more than {bound:,} task nodes",
}
HELP = {
    "steps": "look for a loop or a recursion that does not end",
    "depth": "look for a recursion without an end, or make the call the last thing that the function does",
    "text": "build less at once",
    "tasks": "look for tasks that bind each other without an end",
}
