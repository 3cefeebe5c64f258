"""A lock that threads and coroutines share, and that lets callers through in the order in which they came (20)."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

from chatml.lazy import lazy

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = lazy("asyncio")


class WouldDeadlock(Exception):
    """A thread would wait for a coroutine that only the same thread can finish."""


class Ticket:
    """One caller's place. `loop` is the event loop of a coroutine, None for a plain thread."""

    __slots__ = ("loop", "passed")

    def __init__(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self.loop = loop
        self.passed: threading.Event | asyncio.Future[None] | None = None

    def grant(self) -> None:
        """Let the caller through."""
        if isinstance(self.passed, threading.Event):
            self.passed.set()
        elif self.loop is not None:
            self.loop.call_soon_threadsafe(self._pass)

    def _pass(self) -> None:
        if isinstance(self.passed, asyncio.Future) and not self.passed.done():
            self.passed.set_result(None)


class Turnstile:
    """At most one caller is inside; the others wait, first come, first served. Whoever has come in must `leave`."""

    __slots__ = ("_holder", "_mutex", "_waiting")

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._holder: Ticket | None = None
        self._waiting: deque[Ticket] = deque()

    def enter(self) -> Ticket:
        """Come in as a thread. `WouldDeadlock` if a coroutine of this thread's own running loop is before it."""
        ticket = Ticket(None)
        with self._mutex:
            if self._holder is None:
                self._holder = ticket
                return ticket
            loop = running_loop()
            if loop is not None and any(one.loop is loop for one in (self._holder, *self._waiting)):
                raise WouldDeadlock
            passed = ticket.passed = threading.Event()
            self._waiting.append(ticket)
        try:
            passed.wait()
        except BaseException:
            self.leave(ticket)
            raise
        return ticket

    async def aenter(self) -> Ticket:
        """Come in as a coroutine; one that is cancelled while it waits gives its place up."""
        loop = asyncio.get_running_loop()
        ticket = Ticket(loop)
        with self._mutex:
            if self._holder is None:
                self._holder = ticket
                return ticket
            passed = ticket.passed = loop.create_future()
            self._waiting.append(ticket)
        try:
            await passed
        except BaseException:
            self.leave(ticket)
            raise
        return ticket

    def leave(self, ticket: Ticket) -> None:
        """Let the next caller through, or give a place outside up."""
        with self._mutex:
            if self._holder is not ticket:
                self._waiting.remove(ticket)
                return
            self._holder = self._waiting.popleft() if self._waiting else None
            if self._holder is not None:
                self._holder.grant()


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that runs in this thread, if any."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
