"""The session controller: one conversation in the hands of an interactive host (runtime.md section 15).

It does one thing at a time: a run, a compaction, or a drain of the queue. What a person or a job adds meanwhile waits
for the next safe point. Everything happens in one event loop, in `settle` or `serve`; nothing else of it awaits.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from chatml.diagnostics.errors import SessionError
from chatml_runtime.host.conversation import Conversation, wall_clock_ms
from chatml_runtime.host.followups import DRAINS_PAUSED, AutomaticTurn, FollowupLedger, StartReason
from chatml_runtime.host.hosts import ApprovalProvider, Compact, ModelClient, ToolRunner, View
from chatml_runtime.host.policy import DEFAULT_POLICY, PauseCondition, RuntimePolicy
from chatml_runtime.host.reduction import reduce_outcomes
from chatml_runtime.host.rows import Row, VisibleHistory
from chatml_runtime.host.succession import Operation, Waiting, next_operation
from chatml_runtime.host.turns import TurnDriver
from chatml_runtime.host.work import AsyncWork
from chatml_runtime.host.workers import called
from chatml_runtime.moderation.fields import text_field
from chatml_runtime.moderation.identities import EntryIdAllocator, HistoryEntry, Json
from chatml_runtime.moderation.moderator import Moderator
from chatml_runtime.moderation.outcome import Outcome
from chatml_runtime.moderation.vocabulary import ToolDesc
from chatml_runtime.script import problems
from chatml_runtime.script.approvals import Answered, Expired, PendingRequest, Response
from chatml_runtime.script.errors import SessionBusyError


class Controller:
    """Decides what happens next: starts runs, drains the queue, passes notes and answers on, keeps what is shown.

    `submit` takes whatever the person types: the answer to a question, a note for the run that is under way, or the
    start of a new one. `wake` says that a job or a timer has queued an event. `settle` does all that is to be done.
    """

    def __init__(
        self,
        moderator: Moderator | None,
        *,
        session_id: str,
        allocator: EntryIdAllocator,
        model: ModelClient,
        run_tool: ToolRunner,
        view: View,
        history: Sequence[HistoryEntry] = (),
        tools: Sequence[ToolDesc] = (),
        policy: RuntimePolicy = DEFAULT_POLICY,
        session_meta: Json = None,
        resumed: bool = False,
        compact: Compact | None = None,
        approval: ApprovalProvider | None = None,
        work: AsyncWork | None = None,
        parallel_tools: bool = True,
        clock_ms: Callable[[], int] = wall_clock_ms,
        max_wait_ms: int | None = None,
    ) -> None:
        """`resumed` if the moderator was restored from a snapshot. `compact` is what a request for compaction calls,
        if the policy honours it. `approval` asks a person in place of the view. `work` holds the jobs and timers: the
        session is registered there, and forgotten when it ends. `max_wait_ms` is how long the view asks a question that
        has no time of its own: after that, the operation that asks fails."""
        self.policy = policy
        self.driver = TurnDriver(
            moderator,
            session_id=session_id,
            session_meta=session_meta,
            policy=policy,
            approval=self if approval is None else approval,
            on_outcome=self._take_outcome,
        )
        self.conversation = Conversation(
            self.driver,
            history=history,
            allocator=allocator,
            model=model,
            tools=tools,
            run_tool=run_tool,
            steering=self,
            parallel_tools=parallel_tools,
            on_entry=self._take_entry,
            clock_ms=clock_ms,
        )
        self._moderator = moderator
        self._allocator = allocator
        self._view = view
        self._resumed = resumed
        self._compact = compact
        self._work = work
        self._clock_ms = clock_ms
        self._ledger = FollowupLedger()
        self._visible = VisibleHistory()
        self._submissions: deque[str] = deque()
        self._notes: deque[HistoryEntry] = deque()
        self._handed_over: list[HistoryEntry] = []
        self._text_once: list[str] = []
        self._shown_keys: set[str] = set()
        self._answer: asyncio.Future[Response] | None = None
        self._max_wait_ms = max_wait_ms
        self._deadline: float | None = None
        self._answered = False
        self._turn_wanted: StartReason | None = None
        self._compaction_wanted = False
        self._dirty = False
        self._running = False
        self._started = False
        self._failure: Exception | None = None
        self._busy = False
        self._closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()
        self._ready = asyncio.Event()

    # What a host can see

    @property
    def history(self) -> tuple[HistoryEntry, ...]:
        """The canonical history."""
        return self.conversation.history

    @property
    def rows(self) -> tuple[Row, ...]:
        """The history as it was shown last."""
        return self._visible.rows

    @property
    def is_ended(self) -> bool:
        """Whether the session is over; `driver.end_reason` says why."""
        return self.driver.is_ended

    @property
    def is_running(self) -> bool:
        """Whether a run is under way, so that what is submitted steers it."""
        return self._running

    @property
    def has_work(self) -> bool:
        """Whether `settle` would do something."""
        if self.is_ended or self._closed or self._failure is not None:
            return False
        return not self._started or self._next_operation() is not None

    # What a host says

    def submit(self, text: str, *, by: str = "") -> None:
        """Take what a person has typed. Blank text is ignored, except as an answer. Only in the event loop.

        `by` is who that is, where the host knows. `BoundaryError` for text that holds half a character of two (X-01):
        nothing has happened then.
        """
        text_field("the text of a submission", text)
        if self._answer is not None and not self._answer.done():
            self._ready.clear()
            self._answer.set_result(Answered(text, by, self._clock_ms()))
            return
        text = text.strip()
        if not text or self.is_ended or self._closed or self._failure is not None:
            return
        if self._running:
            self._notes.append(HistoryEntry(self._allocator.allocate(), user_message(text)))
        else:
            self._submissions.append(text)
        self._ready.clear()
        self._woken.set()

    def steer_once(self, text: str) -> None:
        """Show the model a text with its next request only; the history never holds it. `BoundaryError` as `submit`."""
        text_field("the text to steer with", text)
        if text.strip():
            self._text_once.append(text)

    def wake(self) -> None:
        """Note that events may be queued, from any thread; they are handled at the next safe point."""
        self._dirty = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._woken.set)

    def close(self) -> None:
        """Begin nothing more, drop the session's jobs and timers, and give up on a question that is asked.

        A run that is under way goes on to its end; to stop it at once, cancel `serve`.
        """
        self._closed = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(SessionError(problems.CLOSED_CONTROLLER))
        if self._work is not None:
            self._work.forget(self.driver.session_id)
        self._woken.set()

    # What the controller does

    async def settle(self) -> None:
        """Do what is to be done, until nothing is left but to wait.

        What fails is shown, and the session goes on; only a failing start raises, now and every time (13.6).
        `SessionBusyError` while another `settle` or `serve` is active. A queue that refills itself keeps nothing else
        from being done, and is left for the next call in the end.
        """
        if self._busy:
            raise SessionBusyError(problems.BUSY_CONTROLLER)
        self._busy, self._loop = True, asyncio.get_running_loop()
        try:
            await self._start()
            drained = False
            while not self.is_ended and not self._closed:
                operation = self._next_operation(drained)
                if operation is None:
                    break
                drained = operation is Operation.DRAIN
                await self._attempt(operation)
            if self.is_ended:
                self._end()
            elif self._dirty and self._drains_are_paused:
                self._show_once(DRAINS_PAUSED)
        finally:
            self._busy = False

    async def serve(self) -> None:
        """`settle` again and again, whenever there is something to do, until the session has ended or is closed."""
        try:
            while True:
                self._woken.clear()
                await self.settle()
                if self.is_ended or self._closed:
                    return
                if self.has_work:
                    await asyncio.sleep(0)
                else:
                    self._ready.set()
                    await self._woken.wait()
        finally:
            self._ready.set()

    async def ready(self) -> None:
        """Wait until `serve` waits for the person: there is nothing to be done, a question is asked, or it is over."""
        await self._ready.wait()

    def _next_operation(self, drained: bool = False) -> Operation | None:
        waiting = Waiting(
            question=self._is_pending,
            events=self._dirty and not self._drains_are_paused,
            compaction=self._compaction_wanted and self._compact is not None,
            notes=bool(self._notes),
            submission=bool(self._submissions),
            turn=self._turn_wanted,
        )
        return next_operation(waiting, drained=drained)

    @property
    def _is_pending(self) -> bool:
        """Whether a question was left unanswered when something was cancelled."""
        return self._moderator is not None and self._moderator.pending is not None

    @property
    def _drains_are_paused(self) -> bool:
        return PauseCondition.INTERNAL_EVENT_DRAINS in self.policy.budget.pause_conditions

    async def _attempt(self, operation: Operation) -> None:
        """Carry out one operation. If it fails, so does the run that still waits for an answer."""
        try:
            match operation:
                case Operation.DRAIN:
                    await self._drain()
                case Operation.COMPACT:
                    await self._do_compact()
                case Operation.RUN_FOR_NOTES:
                    await self._run_for_notes()
                case Operation.RUN_FOR_SUBMISSION:
                    await self._run_for_submission()
                case Operation.RUN_AUTOMATICALLY:
                    await self._run_automatically()
        except Exception as error:
            if self._moderator is not None:
                self._moderator.abandon_pending()
            if not self._closed:
                self._view.show_error(error)
        finally:
            self._running = self._answered = False
        self._refresh()

    async def _start(self) -> None:
        """Deliver the first event, once; a failure is final."""
        if self._failure is not None:
            raise self._failure
        if self._started:
            return
        self._started = True
        if self._work is not None and self._moderator is not None:
            self._work.register(self.driver.session_id, self._moderator, self.wake)
        try:
            await self.driver.astart(self.conversation.given(), resumed=self._resumed)
        except Exception as error:
            self._failure = error
            self._end()
            raise
        finally:
            self._answered = False
        self._refresh()

    async def _drain(self) -> None:
        """Handle queued events; a failing one is shown and not tried again."""
        self._dirty = False
        await self.driver.adrain(self.conversation.given())
        self._dirty = self._dirty or bool(self._moderator is not None and self._moderator.queued_events)

    async def _do_compact(self) -> None:
        self._compaction_wanted = False
        assert self._compact is not None
        self.conversation.replace_history(await called(self._compact, self.history))

    async def _run_for_notes(self) -> None:
        """Notes that no run has taken are moderated as they join; then the model is asked, as for a submission."""
        self._running = True
        while self._notes:
            await self.conversation.append(self._notes.popleft())
        await self._run(StartReason.USER_SUBMIT)

    async def _run_for_submission(self) -> None:
        self._running = True
        self.conversation.add(user_message(self._submissions.popleft()))
        await self._run(StartReason.USER_SUBMIT)

    async def _run_automatically(self) -> None:
        reason, self._turn_wanted = self._turn_wanted, None
        assert reason is not None
        decision = self._ledger.decide(self.policy, reason, self._clock_ms())
        if decision.allowed:
            await self._run(reason)
        else:
            self._show_once(decision)

    async def _run(self, reason: StartReason) -> None:
        self._running, self._turn_wanted = True, None
        self._ledger.note_started(self.policy, reason, self._clock_ms())
        try:
            await self.conversation.run()
        finally:
            self._notes.extendleft(reversed(self._handed_over))
            self._handed_over = []

    def _end(self) -> None:
        """The session is over: what waits is dropped."""
        self._submissions.clear()
        self._notes.clear()
        if self._work is not None:
            self._work.forget(self.driver.session_id)

    def _refresh(self) -> None:
        if self._visible.refresh(self.driver.overlay.apply(self.history)):
            self._view.show_rows(self._visible.rows)

    def _show_once(self, decision: AutomaticTurn) -> None:
        key, text = decision.notice_key, decision.notice_text
        if key is not None and text is not None and key not in self._shown_keys:
            self._shown_keys.add(key)
            self._view.show_notice(text)

    # What the driver and the conversation call

    def _take_outcome(self, outcome: Outcome) -> None:
        """Act on what a handler run has committed; turns that it asks for during a run are the driver's (15.1)."""
        asked_by = StartReason.MODERATOR_REQUEST if self._answered else StartReason.IDLE_FOLLOWUP
        actions = reduce_outcomes(self.policy, [outcome], schedule=None if self._running else asked_by)
        self._compaction_wanted = self._compaction_wanted or actions.request_compact
        self._turn_wanted = self._turn_wanted or actions.request_turn
        for text in actions.system_notices:
            self._view.show_notice(text)

    def _take_entry(self, entry: HistoryEntry) -> None:
        if entry in self._handed_over:
            self._handed_over.remove(entry)
        self._view.show_entry(entry)

    def take_text(self) -> str | None:
        """See `Steering`."""
        text, self._text_once = "\n".join(self._text_once), []
        return text or None

    def take_entries(self) -> Sequence[HistoryEntry]:
        """See `Steering`."""
        self._handed_over = list(self._notes)
        self._notes.clear()
        return tuple(self._handed_over)

    async def answer(self, request: PendingRequest, problem: str | None) -> Response:
        """See `ApprovalProvider`: the next `submit` is the answer, or the time is over."""
        loop = asyncio.get_running_loop()
        within_ms = self._max_wait_ms if request.within_ms is None else request.within_ms
        if problem is None:
            self._deadline = None if within_ms is None else loop.time() + within_ms / 1000
        waiting: asyncio.Future[Response] = loop.create_future()
        self._answer = waiting
        ring = None if self._deadline is None else loop.call_at(self._deadline, expire, waiting, within_ms)
        try:
            self._view.ask(request, problem)
            self._ready.set()
            return await waiting
        finally:
            if ring is not None:
                ring.cancel()
            self._answer = None
            self._answered = True


def expire(waiting: asyncio.Future[Response], within_ms: int | None) -> None:
    """Nobody has answered in time."""
    if not waiting.done():
        waiting.set_result(Expired(within_ms))


def user_message(text: str) -> Json:
    """The provider item of what a user says."""
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
