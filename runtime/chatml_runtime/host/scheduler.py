"""Timers that scripts set: `Schedule.after_ms` and `Schedule.cancel` (runtime.md section 16.3)."""

from __future__ import annotations

import threading

from chatml.values.model import Value
from chatml_runtime.host.agenda import Agenda
from chatml_runtime.host.clocks import Clock, LoopClock
from chatml_runtime.host.post import Letter, Post
from chatml_runtime.script import problems
from chatml_runtime.script.errors import OperationFailed

OP = "Schedule.after_ms"


class Scheduler:
    """The timers of any number of sessions; safe to use from any thread.

    A timer is pending until its event is in the queue of its session: one that is cancelled while the session is busy
    is not delivered, even though it was due. Timers are not stored, and an ended session gets none.
    """

    def __init__(self, *, post: Post | None = None, clock: Clock | None = None, max_timers: int = 10_000) -> None:
        """`post` delivers the events; `clock` says when, by default that of the post's event loop."""
        self.post = Post() if post is None else post
        self._clock = LoopClock(self.post) if clock is None else clock
        self._max_timers = max_timers
        self._agenda: Agenda[Letter] = Agenda()
        self._pending: dict[str, Letter] = {}
        self._number = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """How many timers are pending."""
        with self._lock:
            self._prune()
            return len(self._pending)

    def after_ms(self, session_id: str, delay_ms: int, event: Value) -> str:
        """Have a session get an event after some milliseconds, never at once; the id of the timer.

        `OperationFailed` for a negative delay, for one timer too many, and once the host has closed.
        """
        if delay_ms < 0:
            raise OperationFailed(problems.negative_delay(OP, delay_ms))
        if self.post.is_closed:
            raise OperationFailed(problems.host_closed(OP))
        at_ms = self._clock.now_ms() + delay_ms
        with self._lock:
            if len(self._pending) >= self._max_timers:
                self._prune()
            if len(self._pending) >= self._max_timers:
                raise OperationFailed(problems.too_many_timers(OP, self._max_timers))
            self._number += 1
            timer_id = f"timer-{self._number}"
            letter = self._pending[timer_id] = Letter(session_id, event)
            self._agenda.add(at_ms, timer_id, letter)
            self._set_clock()
        return timer_id

    def cancel(self, timer_id: str, *, session_id: str | None = None) -> None:
        """Cancel a timer if it is pending, and if a session is given, one of that session's."""
        with self._lock:
            letter = self._pending.get(timer_id)
            if letter is not None and session_id in (None, letter.session_id):
                self._cancel(timer_id)

    def forget(self, session_id: str) -> None:
        """Cancel the timers of a session."""
        with self._lock:
            for timer_id in [name for name, letter in self._pending.items() if letter.session_id == session_id]:
                self._cancel(timer_id)

    def close(self) -> None:
        """Cancel all timers (X-29)."""
        with self._lock:
            for timer_id in list(self._pending):
                self._cancel(timer_id)

    def _cancel(self, timer_id: str) -> None:
        self._agenda.remove(timer_id)
        self.post.withdraw(self._pending.pop(timer_id))

    def _ring(self) -> None:
        with self._lock:
            self._prune()
            due = self._agenda.due(self._clock.now_ms())
            for _, letter in due:
                self.post.send(letter)
            self._set_clock()

    def _set_clock(self) -> None:
        if self._agenda.next_at is not None:
            self._clock.ring_at(self._agenda.next_at, self._ring)

    def _prune(self) -> None:
        """Forget the timers whose events have arrived."""
        arrived = [name for name, letter in self._pending.items() if not letter.is_under_way]
        for name in arrived:
            del self._pending[name]
