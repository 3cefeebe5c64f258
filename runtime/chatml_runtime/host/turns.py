"""The turn driver: the moderation events around a model request and its tool calls (runtime.md section 13).

Each operation is written once, as a generator that yields what it wants of the moderator or of a person; the plain
method and the coroutine differ only in how they carry that out. Without a moderator the same code asks nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias, TypeVar

import attrs

from chatml.diagnostics.errors import SessionError
from chatml_runtime.host.hosts import ApprovalProvider, Steering
from chatml_runtime.host.policy import DEFAULT_POLICY, RuntimePolicy
from chatml_runtime.moderation.approval import bound
from chatml_runtime.moderation.identities import HistoryEntry, Json
from chatml_runtime.moderation.items import Item, instruction
from chatml_runtime.moderation.moderator import Moderator
from chatml_runtime.moderation.outcome import DECISION_NAMES, Outcome, RuntimeRequest, ToolDecision
from chatml_runtime.moderation.overlay import Overlay
from chatml_runtime.moderation.results import DrainResult, EventInput, ModerationResult, StopReason
from chatml_runtime.moderation.tool_calls import ReviewedCall, apply_tool_decision, item_of, result_of
from chatml_runtime.moderation.vocabulary import (
    Event,
    ItemAppended,
    Phase,
    PostToolResponse,
    PreToolCall,
    SessionResume,
    SessionStart,
    ToolCall,
    ToolDesc,
    ToolKind,
    TurnEnd,
    TurnStart,
)
from chatml_runtime.script import problems
from chatml_runtime.script.approvals import Expired, PendingRequest
from chatml_runtime.script.drivers import adrive, discard, drive
from chatml_runtime.script.errors import (
    ApprovalResponseError,
    ReplayError,
    SessionEndedError,
    SessionSuspendedError,
    UnexpectedToolDecisionError,
)
from chatml_runtime.script.session import RunStatus


@attrs.frozen
class TurnInput:
    """What the host knows when it calls the driver; `now_ms` counts milliseconds since the epoch."""

    history: Sequence[HistoryEntry]
    available_tools: Sequence[ToolDesc] = ()
    now_ms: int = 0


@attrs.frozen
class PreparedRequest:
    """A model request: the provider items to send. With `ended` none is to be made."""

    inputs: tuple[Json, ...]
    requests: tuple[RuntimeRequest, ...] = ()
    ended: bool = False


@attrs.frozen(eq=False)
class Wish:
    """Something an operation wants done, as a plain call and as one that may have to be awaited."""

    plain: Callable[[], Any]
    awaited: Callable[[], Any]


@attrs.frozen(eq=False)
class Question(Wish):
    """The wish to have a person asked; `problem` says why the last answer was not taken."""

    request: PendingRequest
    problem: str | None


NO_OVERLAY = Overlay()
"""That of a conversation without a moderator."""

Result = TypeVar("Result")
Steps: TypeAlias = Generator[Wish, Any, Result]
Requests: TypeAlias = tuple[RuntimeRequest, ...]


def carry_out(steps: Steps[Result]) -> Result:
    """Do what the steps want, one after another."""
    return drive(steps, lambda wish: wish.plain())


async def acarry_out(steps: Steps[Result]) -> Result:
    """Do what the steps want, awaiting each."""
    return await adrive(steps, lambda wish: wish.awaited())


class TurnDriver:
    """Delivers the moderation events of one conversation and applies what comes of them.

    Every method has a coroutine with an `a` before its name. A method that needs the moderator raises its errors: a
    failing event fails the operation, so that nothing goes on unmoderated. `SessionSuspendedError`, which carries the
    request, if a script asks a person and it has no `approval` provider; then the host resumes the moderator itself.
    `UnexpectedToolDecisionError` for a tool decision where no call is under review; the run that took it is committed.

    `on_outcome` is handed the outcome of every run that has committed, in order.
    """

    def __init__(
        self,
        moderator: Moderator | None,
        *,
        session_id: str,
        session_meta: Json = None,
        policy: RuntimePolicy = DEFAULT_POLICY,
        approval: ApprovalProvider | None = None,
        on_outcome: Callable[[Outcome], object] | None = None,
        approval_binding: bool = True,
    ) -> None:
        """`moderator=None` for a conversation without a script (section 21).

        With `approval_binding`, a call about which a person was asked runs only as the person has seen it: one that the
        script rewrites after that does not run, unless it asked about the rewritten one (`Approval.ask_about`).
        """
        self.moderator = moderator
        self.session_id = session_id
        self.session_meta = session_meta
        self.policy = policy
        self._approval = approval
        self._on_outcome = on_outcome
        self._binding = approval_binding
        self._answered: list[PendingRequest] = []
        if moderator is not None and moderator.drain_limit is not None:
            moderator.drain_limit = policy.budget.max_internal_event_drain

    @property
    def is_ended(self) -> bool:
        """Whether the moderator has ended the session: no event is delivered and no request is made any more."""
        return self.moderator is not None and self.moderator.is_halted

    @property
    def end_reason(self) -> str | None:
        """Why the session has ended."""
        return None if self.moderator is None else self.moderator.end_reason

    @property
    def overlay(self) -> Overlay:
        """What the moderator has changed; nothing without one."""
        return NO_OVERLAY if self.moderator is None else self.moderator.overlay

    # The operations

    def start(self, given: TurnInput, *, resumed: bool = False) -> Requests:
        """Deliver the first event of a session: its start, or its resumption from a snapshot (section 13.6).

        Nothing is delivered to a restored session that is over.
        """
        return carry_out(self.start_steps(given, resumed))

    async def astart(self, given: TurnInput, *, resumed: bool = False) -> Requests:
        """`start` as a coroutine."""
        return await acarry_out(self.start_steps(given, resumed))

    def begin_request(self, given: TurnInput, steering: Steering | None = None) -> PreparedRequest:
        """Deliver `Turn_start`, and say what to send to the model; nothing is delivered to an ended session."""
        return carry_out(self.begin_request_steps(given, steering))

    async def abegin_request(self, given: TurnInput, steering: Steering | None = None) -> PreparedRequest:
        """`begin_request` as a coroutine."""
        return await acarry_out(self.begin_request_steps(given, steering))

    def entry_appended(self, given: TurnInput) -> Requests:
        """Deliver `Item_appended` for the last entry of the history."""
        return carry_out(self.entry_appended_steps(given))

    async def aentry_appended(self, given: TurnInput) -> Requests:
        """`entry_appended` as a coroutine."""
        return await acarry_out(self.entry_appended_steps(given))

    def review_tool_call(self, given: TurnInput, call: ToolCall, *, entry: HistoryEntry | None = None) -> ReviewedCall:
        """Deliver `Pre_tool_call`, and carry out the decision.

        Scripts see the call as the last item of the history. `entry` is its provider item under the identity that is
        reserved for it; without, the moderator's allocator gives one.
        """
        return carry_out(self.review_steps(given, call, entry))

    async def areview_tool_call(
        self, given: TurnInput, call: ToolCall, *, entry: HistoryEntry | None = None
    ) -> ReviewedCall:
        """`review_tool_call` as a coroutine."""
        return await acarry_out(self.review_steps(given, call, entry))

    def tool_result(self, given: TurnInput, *, name: str, kind: ToolKind, output_item: Json) -> Requests:
        """Deliver `Post_tool_response` and `Item_appended` for an output, the last entry of the history.

        `name` is the tool that ran, `kind` how it was called.
        """
        return carry_out(self.tool_result_steps(given, name, kind, output_item))

    async def atool_result(self, given: TurnInput, *, name: str, kind: ToolKind, output_item: Json) -> Requests:
        """`tool_result` as a coroutine."""
        return await acarry_out(self.tool_result_steps(given, name, kind, output_item))

    def end_turn(self, given: TurnInput) -> Requests:
        """Deliver `Turn_end`."""
        return carry_out(self.end_turn_steps(given))

    async def aend_turn(self, given: TurnInput) -> Requests:
        """`end_turn` as a coroutine."""
        return await acarry_out(self.end_turn_steps(given))

    def drain(self, given: TurnInput) -> Requests:
        """Replay what has been queued from outside, within the policy's drain limit (section 15.3).

        A request that is pending is answered first; without a provider, `SessionSuspendedError`.
        """
        return carry_out(self.drain_steps(given))

    async def adrain(self, given: TurnInput) -> Requests:
        """`drain` as a coroutine."""
        return await acarry_out(self.drain_steps(given))

    # Each operation, written once: what it wants done, for whoever carries that out

    def start_steps(self, given: TurnInput, resumed: bool) -> Steps[Requests]:
        if self.is_ended:
            return ()
        return (yield from self._tell(SessionResume() if resumed else SessionStart(), given))

    def begin_request_steps(self, given: TurnInput, steering: Steering | None) -> Steps[PreparedRequest]:
        requests: Requests = ()
        if not self.is_ended:
            with suppress(SessionEndedError):  # it may end while this event waits for another
                requests = yield from self._tell(TurnStart(), given)
        inputs = self.overlay.items(given.history)
        if self.is_ended:
            return PreparedRequest(inputs, requests, ended=True)
        text = steering.take_text() if steering is not None else None
        return PreparedRequest((*inputs, instruction(text)) if text else inputs, requests)

    def entry_appended_steps(self, given: TurnInput) -> Steps[Requests]:
        return (yield from self._tell(appended(given.history[-1]), given))

    def review_steps(self, given: TurnInput, call: ToolCall, entry: HistoryEntry | None) -> Steps[ReviewedCall]:
        item = item_of(call, None if entry is None else entry.item)
        if self.moderator is None:
            return ReviewedCall(call, item)
        entry_id = self.moderator.allocator.allocate() if entry is None else entry.id
        seen = attrs.evolve(given, history=(*given.history, HistoryEntry(entry_id, item)))
        self._answered = []
        own, *replayed = yield from self._deliver(PreToolCall(call), seen)
        refuse_decisions(replayed, Phase.INTERNAL_EVENT)
        reviewed = apply_tool_decision(call, own, item)
        if self._binding:
            reviewed = bound(self.session_id, entry_id.encode(), call, self._answered, reviewed)
        return attrs.evolve(reviewed, requests=requests_of([own, *replayed]))

    def tool_result_steps(self, given: TurnInput, name: str, kind: ToolKind, output_item: Json) -> Steps[Requests]:
        result = attrs.evolve(result_of(name, output_item), kind=kind)
        requests = yield from self._tell(PostToolResponse(result), given)
        if self.is_ended:
            return requests
        return requests + (yield from self._tell(appended(given.history[-1]), given))

    def end_turn_steps(self, given: TurnInput) -> Steps[Requests]:
        return (yield from self._tell(TurnEnd(), given))

    def drain_steps(self, given: TurnInput) -> Steps[Requests]:
        if self.moderator is None or self.is_ended:
            return ()
        outcomes: list[Outcome] = []
        yield from self._settle(self.moderator, outcomes, self._shown(given), replays=True)
        refuse_decisions(outcomes, Phase.INTERNAL_EVENT)
        return requests_of(outcomes)

    # Deliveries

    def _tell(self, event: Event, given: TurnInput) -> Steps[Requests]:
        """Deliver an event that no tool decision may answer."""
        if self.moderator is None:
            return ()
        outcomes = yield from self._deliver(event, given)
        refuse_decisions(outcomes[:1], event.phase)
        refuse_decisions(outcomes[1:], Phase.INTERNAL_EVENT)
        return requests_of(outcomes)

    def _deliver(self, event: Event, given: TurnInput) -> Steps[list[Outcome]]:
        """Deliver an event until it is committed and what it queued is replayed; its own outcome comes first."""
        moderator, shown = self.moderator, self._shown(given)
        assert moderator is not None
        self._refuse_pending()
        outcomes: list[Outcome] = []
        handle = partial(moderator.handle_event, event, shown), partial(moderator.ahandle_event, event, shown)
        yield from self._call(outcomes, Wish(*handle))
        yield from self._settle(moderator, outcomes, shown, replays=moderator.drain_limit is None)
        return outcomes

    def _settle(
        self, moderator: Moderator, outcomes: list[Outcome], shown: EventInput, *, replays: bool
    ) -> Steps[None]:
        """Have questions answered, and replay the queue if that is the driver's to do, until neither is left."""
        limit = self.policy.budget.max_internal_event_drain
        replay = partial(moderator.replay, shown, max_events=limit), partial(moderator.areplay, shown, max_events=limit)
        while True:
            if moderator.pending is not None:
                yield from self._have_answered(moderator, moderator.pending, outcomes, shown)
            elif replays and not moderator.is_halted:
                drained = yield from self._call(outcomes, Wish(*replay))
                replays = isinstance(drained, DrainResult) and drained.stopped is StopReason.SUSPENDED
            else:
                return

    def _have_answered(
        self, moderator: Moderator, request: PendingRequest, outcomes: list[Outcome], shown: EventInput
    ) -> Steps[None]:
        """Ask until the answer is one that the request takes, and resume the run."""
        if self._approval is None:
            raise SessionSuspendedError(problems.SUSPENDED, request)
        problem: str | None = None
        while True:
            ask = partial(self._approval.answer, request, problem)
            response = yield Question(partial(plainly, ask), ask, request, problem)
            resume = partial(moderator.resume, response, shown), partial(moderator.aresume, response, shown)
            in_review = not outcomes and not isinstance(response, Expired)
            try:
                yield from self._call(outcomes, Wish(*resume))
            except ApprovalResponseError as error:
                problem = str(error)
            else:
                if in_review:
                    self._answered.append(request)
                return

    def _call(self, outcomes: list[Outcome], wish: Wish) -> Steps[ModerationResult | DrainResult]:
        """Have the moderator do something, and keep the outcomes of what has committed."""
        try:
            result: ModerationResult | DrainResult = yield wish
        except ReplayError as error:
            self._keep(outcomes, committed(error.committed, error.outcomes))
            raise
        if isinstance(result, DrainResult):
            self._keep(outcomes, list(result.outcomes))
        else:
            self._keep(outcomes, committed(result, () if result.replayed is None else result.replayed.outcomes))
        return result

    def _keep(self, outcomes: list[Outcome], more: list[Outcome]) -> None:
        outcomes += more
        for outcome in more:
            if self._on_outcome is not None:
                self._on_outcome(outcome)

    def _refuse_pending(self) -> None:
        moderator = self.moderator
        if moderator is not None and moderator.pending is not None:
            raise SessionSuspendedError(problems.SUSPENDED, moderator.pending)

    def _shown(self, given: TurnInput) -> EventInput:
        return EventInput(self.session_id, given.now_ms, given.history, given.available_tools, self.session_meta)


def appended(entry: HistoryEntry) -> ItemAppended:
    """The event for an entry that has joined the history."""
    return ItemAppended(Item(entry.id.encode(), entry.item))


def committed(result: ModerationResult | None, replayed: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes of an event and of what was replayed after it, without that of a run that is suspended."""
    return [*([] if result is None or result.status is RunStatus.SUSPENDED else [result.outcome]), *replayed]


def requests_of(outcomes: Sequence[Outcome]) -> Requests:
    """The requests of some outcomes, in order, not collapsed."""
    return tuple(request for outcome in outcomes for request in outcome.runtime_requests)


def refuse_decisions(outcomes: Sequence[Outcome], source: Phase) -> None:
    """`UnexpectedToolDecisionError` if one of these outcomes decides about a call (section 12)."""
    for outcome in outcomes:
        if outcome.tool_decision is not None:
            raise UnexpectedToolDecisionError(decision_problem(outcome.tool_decision, source))


def unexpected_decision(outcome: Outcome, phase: Phase) -> str | None:
    """What is wrong with the decision of a run in a phase: nothing where a call is under review (X-58)."""
    if outcome.tool_decision is None or phase is Phase.PRE_TOOL_CALL:
        return None
    return decision_problem(outcome.tool_decision, phase)


def decision_problem(decision: ToolDecision, source: Phase) -> str:
    return problems.unexpected_decision(source.value, DECISION_NAMES[type(decision)])


def plainly(ask: Callable[[], Any]) -> Any:
    """Ask someone who answers at once; `SessionError` if the answer is still to come."""
    answer = ask()
    if inspect.isawaitable(answer):
        discard(answer)
        raise SessionError(problems.asynchronous_approval())
    return answer
