"""Events on their way to moderators: those of jobs and timers (runtime.md section 16).

Each session has one line. Its events are queued one after another, each once, when the moderator is free; then the
session's wakeup is called. A session that has ended, or a host that has closed, takes nothing more.
"""

from __future__ import annotations

import enum
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import Context
from typing import TYPE_CHECKING

import attrs

from chatml.lazy import lazy
from chatml.values.model import Value
from chatml_runtime.moderation.moderator import Moderator
from chatml_runtime.moderation.turnstile import running_loop
from chatml_runtime.script import problems
from chatml_runtime.script.errors import OperationFailed, SessionClosedError, SessionEndedError

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = lazy("asyncio")

LOGGER = logging.getLogger("chatml_runtime")


class Delivery(enum.Enum):
    """What has become of a letter. One that is kept waits for a moderator to be registered."""

    WAITING = "waiting"
    KEPT = "kept"
    DELIVERED = "delivered"
    WITHDRAWN = "withdrawn"
    REFUSED = "refused"


@attrs.define(eq=False)
class Letter:
    """An event for a session. `handed_over` is done once it no longer waits for the moderator to be free."""

    session_id: str
    event: Value
    delivery: Delivery = Delivery.WAITING
    handed_over: Future[None] = attrs.Factory(Future)

    @property
    def is_under_way(self) -> bool:
        """Whether it may still arrive."""
        return self.delivery in (Delivery.WAITING, Delivery.KEPT)

    def settle(self, delivery: Delivery) -> None:
        """Take note of what has become of it."""
        self.delivery = delivery
        if not self.handed_over.done():
            self.handed_over.set_result(None)


@attrs.define(eq=False)
class Line:
    """The way to one session: its moderator and wakeup, once known, and the letters that have not arrived.

    `busy` while someone delivers them, be it `task` or a registration; `current` is the letter that waits for the
    moderator to be free.
    """

    moderator: Moderator | None = None
    on_wakeup: Callable[[], object] | None = None
    letters: deque[Letter] = attrs.Factory(deque)
    current: Letter | None = None
    task: asyncio.Task[None] | None = None
    busy: bool = False


class Post:
    """Carries events to the moderators of any number of sessions, from any thread, in order and at most once."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """`loop` is the event loop that does the work; None for the one that runs when it is first needed."""
        self._loop = loop
        self._lines: dict[str, Line] = {}
        self._lock = threading.Lock()
        self._closed = False

    @property
    def is_closed(self) -> bool:
        """Whether nothing is delivered any more."""
        return self._closed

    @property
    def is_busy(self) -> bool:
        """Whether letters are under way to a moderator that is known."""
        with self._lock:
            return any(line.busy for line in self._lines.values())

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop; `OperationFailed` if none was given and none runs."""
        loop = self._loop
        if loop is None:
            loop = self._loop = running_loop()
        if loop is None:
            raise OperationFailed(problems.NO_EVENT_LOOP)
        return loop

    def register(self, session_id: str, moderator: Moderator, on_wakeup: Callable[[], object] | None = None) -> None:
        """Say who a session is. What was kept for it is delivered now.

        `on_wakeup` is called after each delivery, in the thread that delivers, and must only signal; what it raises is
        logged.
        """
        with self._lock:
            line = self._lines.setdefault(session_id, Line())
            line.moderator, line.on_wakeup = moderator, on_wakeup
            if self._closed or line.busy or not line.letters:
                return
            line.busy = True
        while (letter := self._next(line)) is not None:
            with refusing(letter):
                moderator.enqueue(letter.event)
                letter.settle(Delivery.DELIVERED)
            self._wake(line, letter)

    def unregister_wakeup(self, session_id: str) -> None:
        """Wake a session's host no longer; deliveries go on."""
        with self._lock:
            if session_id in self._lines:
                self._lines[session_id].on_wakeup = None

    def forget(self, session_id: str) -> None:
        """Drop a session, and what is under way to it."""
        with self._lock:
            line = self._lines.pop(session_id, None)
            if line is not None:
                self._drop(line)

    def send(self, letter: Letter) -> None:
        """Put a letter at the end of its session's line."""
        with self._lock:
            if self._closed:
                letter.settle(Delivery.REFUSED)
                return
            line = self._lines.setdefault(letter.session_id, Line())
            if line.moderator is None:
                line.letters.append(letter)
                letter.settle(Delivery.KEPT)
                return
            loop = self.loop
            if loop.is_closed():
                letter.settle(Delivery.REFUSED)
                return
            line.letters.append(letter)
            if line.busy:
                return
            line.busy = True
        # an empty context: whoever sends from inside a handler run is not the one who delivers
        loop.call_soon_threadsafe(self._start, line, context=Context())

    def withdraw(self, letter: Letter) -> None:
        """Take a letter back, unless it has arrived."""
        with self._lock:
            line = self._lines.get(letter.session_id)
            if line is not None:
                if letter in line.letters:
                    line.letters.remove(letter)
                self._stop(line, letter, Delivery.WITHDRAWN)

    def close(self) -> None:
        """Deliver nothing more."""
        with self._lock:
            self._closed = True
            for line in self._lines.values():
                self._drop(line)
            self._lines.clear()

    def _start(self, line: Line) -> None:
        line.task = asyncio.get_running_loop().create_task(self._deliver(line))

    async def _deliver(self, line: Line) -> None:
        """Deliver what is in line, until nothing is."""
        while (letter := self._next(line)) is not None:
            try:
                with refusing(letter):
                    if line.moderator is not None:
                        await line.moderator.aenqueue(letter.event)
                        letter.settle(Delivery.DELIVERED)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if letter.is_under_way or task is None:
                    raise  # the event loop ends
                task.uncancel()  # this letter was taken back
            self._wake(line, letter)

    def _let_go(self, line: Line, letter: Letter) -> None:
        """Stop waiting for the moderator to take a letter."""
        if line.current is letter and line.task is not None:
            line.task.cancel()

    def _next(self, line: Line) -> Letter | None:
        """Take the next letter of a line, or leave the line."""
        with self._lock:
            line.current = None
            if not line.letters:
                line.busy = False
                return None
            letter = line.current = line.letters.popleft()
            letter.delivery = Delivery.WAITING
            return letter

    def _wake(self, line: Line, letter: Letter) -> None:
        """Tell the host of a session that an event has arrived."""
        on_wakeup = line.on_wakeup
        if letter.delivery is Delivery.DELIVERED and on_wakeup is not None:
            try:
                on_wakeup()
            except Exception:
                LOGGER.exception("the wakeup of session %s failed", letter.session_id)

    def _drop(self, line: Line) -> None:
        """Deliver nothing of a line. The lock is held."""
        letters = [*([] if line.current is None else [line.current]), *line.letters]
        line.letters.clear()
        for letter in letters:
            self._stop(line, letter, Delivery.REFUSED)

    def _stop(self, line: Line, letter: Letter, delivery: Delivery) -> None:
        """Do not deliver a letter that has not arrived. The lock is held."""
        if letter.is_under_way:
            letter.settle(delivery)
            if line.current is letter and self._loop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._let_go, line, letter)


@contextmanager
def refusing(letter: Letter) -> Iterator[None]:
    """Take note of it if a letter is not taken: its session has ended or was closed."""
    try:
        yield
    except (SessionEndedError, SessionClosedError):
        letter.settle(Delivery.REFUSED)
