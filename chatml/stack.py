"""Room for deep recursion (decision X-04).

CPython keeps the frames of calls from Python to Python off the C stack, so that a tree of any depth can be
walked by plain recursion, if only the recursion limit lets it. `deep` lifts that limit while it is needed.
It protects nothing that recurses through C: `repr`, `==`, `hash`, generators, `sorted` keys.
"""

from __future__ import annotations

import sys
from _thread import allocate_lock
from collections.abc import Iterator
from contextlib import contextmanager

DEFAULT_FRAMES = 400_000


class _Limit:
    """The recursion limit of the process, shared by everyone who lifts it."""

    def __init__(self) -> None:
        self.lock = allocate_lock()
        self.users = 0
        self.own: int | None = None
        """The host's limit while it is lifted."""

    def lift(self, frames: int) -> None:
        with self.lock:
            current = sys.getrecursionlimit()
            if self.own is None:
                self.own = current
            if current < self.own + frames:
                sys.setrecursionlimit(self.own + frames)
            self.users += 1

    def drop(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0 and self.own is not None:
                try:
                    sys.setrecursionlimit(self.own)
                except RecursionError:
                    return  # This thread stands deeper than the host's limit: the next to leave restores it.
                self.own = None


_limit = _Limit()


@contextmanager
def deep(frames: int = DEFAULT_FRAMES) -> Iterator[None]:
    """Let Python code recurse by at least so many frames more than the host allows.

    Re-entrant and safe between threads: when the last user leaves, the host's own limit is in force again.
    Recursion beyond the frames raises `RecursionError`, as ever.

    >>> def depth(n: int) -> int:
    ...     return 0 if n == 0 else 1 + depth(n - 1)
    >>> with deep():
    ...     depth(20_000)
    20000
    """
    _limit.lift(frames)
    try:
        yield
    finally:
        _limit.drop()
