"""Numbers of requests and plans: one counter for the process."""

from __future__ import annotations

import itertools

COUNTER = itertools.count(1)


def next_id() -> str:
    """The next id of a request or a plan, as `shell-00000001`."""
    return f"shell-{next(COUNTER):08d}"
