"""Calls that are inside something that takes one at a time, and how code that they run finds out (section 20)."""

from __future__ import annotations

from contextvars import ContextVar, Token
from types import TracebackType

from chatml_runtime.moderation.turnstile import Ticket, Turnstile, WouldDeadlock
from chatml_runtime.script import problems
from chatml_runtime.script.errors import SessionBusyError

ACTIVE: ContextVar[tuple[Visit, ...]] = ContextVar("chatml_visits", default=())
"""The visits that the running code is part of. Tasks that a callable starts inherit them."""


def is_inside(turnstile: Turnstile) -> bool:
    """Whether the running code is part of a call that has passed this turnstile and has not left yet."""
    return any(visit.active and visit.turnstile is turnstile for visit in ACTIVE.get())


def is_anywhere_inside() -> bool:
    """Whether the running code is part of a call that has passed any turnstile and has not left yet."""
    return any(visit.active for visit in ACTIVE.get())


class Visit:
    """One call behind a turnstile: `with` for a thread, `async with` for a coroutine.

    `SessionBusyError` for a call from inside another one, which would wait for itself, and for a thread that would
    wait for its own event loop.
    """

    __slots__ = ("_ticket", "_token", "active", "turnstile")

    def __init__(self, turnstile: Turnstile) -> None:
        self.turnstile = turnstile
        self.active = False
        self._ticket: Ticket
        self._token: Token[tuple[Visit, ...]]

    def __enter__(self) -> None:
        self._refuse_from_inside()
        try:
            self._ticket = self.turnstile.enter()
        except WouldDeadlock:
            raise SessionBusyError(problems.BUSY_LOOP) from None
        self._begin()

    async def __aenter__(self) -> None:
        self._refuse_from_inside()
        self._ticket = await self.turnstile.aenter()
        self._begin()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.active = False
        ACTIVE.reset(self._token)
        self.turnstile.leave(self._ticket)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def _refuse_from_inside(self) -> None:
        if is_inside(self.turnstile):
            raise SessionBusyError(problems.BUSY)

    def _begin(self) -> None:
        self.active = True
        self._token = ACTIVE.set((*ACTIVE.get(), self))
