"""Bounds on what a script may use (decisions X-04, X-05, X-28)."""

from __future__ import annotations

import attrs

DEFAULT_DEPTH = 200_000


@attrs.frozen
class Limits:
    """What one evaluation may use; None is no bound.

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
