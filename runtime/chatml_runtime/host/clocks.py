"""The clocks by which timers ring: that of an event loop, and one that a test moves by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import Protocol

from chatml_runtime.host.post import Post


class Clock(Protocol):
    """Tells the time, and rings. Milliseconds from wherever it likes; it never goes backwards."""

    def now_ms(self) -> float:
        """What time it is."""

    def ring_at(self, at_ms: float, ring: Callable[[], None]) -> None:
        """Call `ring` at a time, or as soon as possible if that has passed. It replaces the last `ring_at`."""


class LoopClock:
    """The clock of the event loop that a post uses; to be set from any thread."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._handle: asyncio.TimerHandle | None = None

    def now_ms(self) -> float:
        """Milliseconds of the loop's own time; `OperationFailed` if no loop runs."""
        return self._post.loop.time() * 1000

    def ring_at(self, at_ms: float, ring: Callable[[], None]) -> None:
        """See `Clock`."""
        self._post.loop.call_soon_threadsafe(self._set, at_ms, ring, context=Context())

    def _set(self, at_ms: float, ring: Callable[[], None]) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._handle = self._post.loop.call_at(at_ms / 1000, ring)


class ManualClock:
    """A clock that stands still until it is moved.

    >>> clock = ManualClock()
    >>> clock.ring_at(20, lambda: print("ring"))
    >>> clock.advance(19)
    >>> clock.advance(1)
    ring
    """

    def __init__(self, now_ms: float = 0) -> None:
        self._now_ms = now_ms
        self._set: tuple[float, Callable[[], None]] | None = None

    def now_ms(self) -> float:
        """What time it is."""
        return self._now_ms

    def ring_at(self, at_ms: float, ring: Callable[[], None]) -> None:
        """See `Clock`; nothing rings before the clock is moved, be it by nothing."""
        self._set = (at_ms, ring)

    @property
    def next_ring_ms(self) -> float | None:
        """When it will ring next."""
        return None if self._set is None else self._set[0]

    def advance(self, ms: float) -> None:
        """Move on, ringing for every time that is reached on the way, in order."""
        target = self._now_ms + ms
        while self._set is not None and self._set[0] <= target:
            (at_ms, ring), self._set = self._set, None
            self._now_ms = max(self._now_ms, at_ms)
            ring()
        self._now_ms = target
