"""The way of events from outside into a session's queue: behind whatever runs right now (runtime.md section 20)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from chatml.values.model import Value
from chatml_runtime.moderation.turnstile import Turnstile, WouldDeadlock
from chatml_runtime.moderation.visits import is_inside
from chatml_runtime.script import problems
from chatml_runtime.script.errors import SessionEndedError
from chatml_runtime.script.session import Session


class Inbox:
    """Queues events of the host one at a time. One that comes from inside a run is put aside until the run has ended.

    `refuse_if_closed` raises if the moderator takes nothing any more.
    """

    __slots__ = ("_aside", "_refuse_if_closed", "_session", "_turnstile")

    def __init__(self, session: Session, turnstile: Turnstile, refuse_if_closed: Callable[[], None]) -> None:
        self._session = session
        self._turnstile = turnstile
        self._refuse_if_closed = refuse_if_closed
        self._aside: deque[Value] = deque()

    def enqueue(self, event: Value) -> None:
        """Queue an event, waiting until the moderator is free, unless that would be for ever."""
        self._refuse_if_closed()
        if is_inside(self._turnstile):
            self._put_aside(event)
            return
        try:
            ticket = self._turnstile.enter()
        except WouldDeadlock:
            self._put_aside(event)
            return
        try:
            self._refuse_if_closed()
            self._session.enqueue(event)
        finally:
            self._turnstile.leave(ticket)

    async def aenqueue(self, event: Value) -> None:
        """`enqueue`, waiting without blocking the event loop."""
        self._refuse_if_closed()
        if is_inside(self._turnstile):
            self._put_aside(event)
            return
        ticket = await self._turnstile.aenter()
        try:
            self._refuse_if_closed()
            self._session.enqueue(event)
        finally:
            self._turnstile.leave(ticket)

    def empty(self) -> None:
        """Queue what was put aside; an ended session delivers to no one."""
        while self._aside:
            event = self._aside.popleft()
            if not self._session.is_halted:
                self._session.enqueue(event)

    def _put_aside(self, event: Value) -> None:
        """Keep an event until the run has ended, so that it comes behind the run's own."""
        if self._session.is_halted:
            raise SessionEndedError(problems.ENDED)
        self._aside.append(event)
