"""A lock that threads and coroutines share, and that lets callers through in the order in which they came (20)."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import attrs


class WouldDeadlock(Exception):
    """A thread would wait for a coroutine that only the same thread can finish."""


@attrs.define(eq=False)
class Ticket:
    """One caller's place. `loop` is the event loop of a coroutine, None for a plain thread."""

    loop: asyncio.AbstractEventLoop | None
    passed: threading.Event | asyncio.Future[None]
    granted: bool = False

    def grant(self) -> None:
        """Let the caller through."""
        self.granted = True
        if isinstance(self.passed, threading.Event):
            self.passed.set()
        elif self.loop is not None:
            self.loop.call_soon_threadsafe(self._pass)

    def _pass(self) -> None:
        if isinstance(self.passed, asyncio.Future) and not self.passed.done():
            self.passed.set_result(None)


class Turnstile:
    """At most one caller is inside; the others wait, first come, first served."""

    __slots__ = ("_holder", "_mutex", "_waiting")

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._holder: Ticket | None = None
        self._waiting: deque[Ticket] = deque()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Pass as a thread. `WouldDeadlock` if a coroutine of this thread's own running loop is before it."""
        ticket = Ticket(None, threading.Event())
        with self._mutex:
            before = [ticket for ticket in (self._holder, *self._waiting) if ticket is not None]
            if before:
                loop = running_loop()
                if loop is not None and any(one.loop is loop for one in before):
                    raise WouldDeadlock
            self._enter(ticket)
        try:
            if not ticket.granted:
                assert isinstance(ticket.passed, threading.Event)
                ticket.passed.wait()
        except BaseException:
            self._leave(ticket)
            raise
        try:
            yield
        finally:
            self._leave(ticket)

    @asynccontextmanager
    async def ahold(self) -> AsyncIterator[None]:
        """Pass as a coroutine; one that is cancelled while it waits gives its place up."""
        loop = asyncio.get_running_loop()
        passed: asyncio.Future[None] = loop.create_future()
        ticket = Ticket(loop, passed)
        with self._mutex:
            self._enter(ticket)
        try:
            if not ticket.granted:
                await passed
            yield
        finally:
            self._leave(ticket)

    def _enter(self, ticket: Ticket) -> None:
        """Take the place inside, or the last one outside. The mutex is held."""
        if self._holder is None:
            self._holder = ticket
            ticket.granted = True
        else:
            self._waiting.append(ticket)

    def _leave(self, ticket: Ticket) -> None:
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
