"""What follows what in a conversation: a submission, a response, its calls, their outputs, the next request.

What comes in: a `Turn`, which is all that a host remembers between two events, as plain data. What goes out: the next
`Step`. A host asks `next_step`, does what it says, and tells the turn what came of it; so it goes until `Stop`. Nothing
here delivers an event, asks a model or waits: a host that plays a scenario in plain calls, one that awaits, and one
that stores the turn in between have the same order of events, because there is one (runtime.md sections 13.3, 15.3).

A whole turn in which the model calls a tool and the session goes on:

>>> call = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}
>>> entry = HistoryEntry(EntryId("s", 1), call)
>>> turn = Turn().wanted()
>>> next_step(turn)
BeginRequest()
>>> turn = turn.begun().received(entry)
>>> next_step(turn).call.name
'read'
>>> turn = turn.reviewed(ReviewedCall(call_of(call), call)).joined()
>>> next_step(turn).opened.call.id
'c1'
>>> turn = turn.running(entry.id).over()
>>> next_step(turn).opened.call.id, next_step(turn.answered(entry.id, "text")).item["output"]
('c1', 'text')
>>> turn = turn.answered(entry.id, "text").told()
>>> next_step(turn), next_step(turn.noted(()))
(TakeNotes(), EndTurn())
>>> next_step(turn.noted(()).closed(RuntimePolicy()))
BeginRequest()
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TypeAlias

import attrs

from chatml_runtime.host.followups import StartReason
from chatml_runtime.host.policy import RuntimePolicy, decide_after_turn, next_self_triggered
from chatml_runtime.host.responses import is_call
from chatml_runtime.moderation.identities import EntryId, HistoryEntry, Json
from chatml_runtime.moderation.outcome import RuntimeRequest
from chatml_runtime.moderation.tool_calls import ReviewedCall, call_of, item_of, output_item
from chatml_runtime.moderation.vocabulary import ToolCall
from chatml_runtime.script import problems

# Between two runs


class Operation(enum.Enum):
    """What a session does next while no run is under way. The order is that of precedence."""

    DRAIN = "drain"
    COMPACT = "compact"
    RUN_FOR_NOTES = "run_for_notes"
    RUN_FOR_SUBMISSION = "run_for_submission"
    RUN_AUTOMATICALLY = "run_automatically"


@attrs.frozen
class Waiting:
    """What waits between two runs.

    `question` is one that was left unanswered, `events` are queued ones that may be handled, `notes` those of the user
    that no run has taken, `turn` is why a run is wanted that no one has submitted anything for.
    """

    question: bool = False
    events: bool = False
    compaction: bool = False
    notes: bool = False
    submission: bool = False
    turn: StartReason | None = None


def next_operation(waiting: Waiting, *, drained: bool = False) -> Operation | None:
    """What comes next, or None. Queued events come before anything else is begun (15.3), but not twice in a row.

    >>> next_operation(Waiting(events=True, submission=True)), next_operation(Waiting(submission=True))
    (<Operation.DRAIN: 'drain'>, <Operation.RUN_FOR_SUBMISSION: 'run_for_submission'>)
    """
    due = {
        Operation.DRAIN: (waiting.question or waiting.events) and not drained,
        Operation.COMPACT: waiting.compaction,
        Operation.RUN_FOR_NOTES: waiting.notes,
        Operation.RUN_FOR_SUBMISSION: waiting.submission,
        Operation.RUN_AUTOMATICALLY: waiting.turn is not None,
    }
    return next((operation for operation, is_due in due.items() if is_due), None)


# Inside a run


@attrs.frozen
class OpenCall:
    """A call that is in the history and has no output there yet. `entry` is that of the call."""

    entry: EntryId
    call: ToolCall
    is_running: bool = False
    is_answered: bool = False
    output: Json = None


@attrs.frozen
class BeginRequest:
    """Deliver `Turn_start`, then ask the model; say `begun`."""


@attrs.frozen
class Review:
    """Deliver `Pre_tool_call` for a call of the response; say `reviewed`."""

    entry: HistoryEntry
    call: ToolCall


@attrs.frozen
class Append:
    """Deliver `Item_appended` for an entry, then let it join the history; say `joined`."""

    entry: HistoryEntry


@attrs.frozen
class StartTool:
    """Run a tool; say `running`, and `answered` once its output is known, before or after."""

    opened: OpenCall


@attrs.frozen
class AwaitResponse:
    """Wait for the model; say `received` for an item, or `over`."""


@attrs.frozen
class AwaitOutput:
    """Wait for the output of the oldest open call; say `answered`."""

    opened: OpenCall


@attrs.frozen
class TellOutput:
    """Deliver `Post_tool_response` and `Item_appended` for an output, then let it join the history; say `told`."""

    call: ToolCall
    item: Json


@attrs.frozen
class TakeNotes:
    """Take what the user has added meanwhile; say `noted`."""


@attrs.frozen
class EndTurn:
    """Deliver `Turn_end`; say `closed`."""


@attrs.frozen
class Stop:
    """The run is over: there is nothing more to do, or the session has `ended`."""

    ended: bool


Step: TypeAlias = (
    BeginRequest | Review | Append | StartTool | AwaitResponse | AwaitOutput | TellOutput | TakeNotes | EndTurn | Stop
)


class Stage(enum.Enum):
    """How far a run has come: nothing is to be done, a request is due, or one is open."""

    IDLE = "idle"
    DUE = "due"
    OPEN = "open"


@attrs.frozen
class Turn:
    """Where a run stands. Its methods say what has happened and give the turn after that; they change nothing.

    `arrived` are entries that are about to join the history, with the first one's review if it is a call that has had
    one. `requests` are those that scripts made since the model was asked. `self_triggered` counts the turns in a row
    that happened only because a script asked for them.
    """

    stage: Stage = Stage.IDLE
    arrived: tuple[HistoryEntry, ...] = ()
    review: ReviewedCall | None = None
    is_over: bool = False
    open: tuple[OpenCall, ...] = ()
    notes_taken: bool = False
    has_news: bool = False
    requests: tuple[RuntimeRequest, ...] = ()
    self_triggered: int = 0

    def wanted(self) -> Turn:
        """A request is due, whoever wants it."""
        return Turn(Stage.DUE)

    def begun(self) -> Turn:
        """The model is asked. What scripts requested before that asks for nothing more (section 14.2)."""
        return Turn(Stage.OPEN, self_triggered=self.self_triggered)

    def received(self, entry: HistoryEntry) -> Turn:
        """A finished item of the response, under the identity that is reserved for it."""
        return attrs.evolve(self, arrived=(*self.arrived, entry))

    def reviewed(self, review: ReviewedCall) -> Turn:
        """The call that has arrived first is reviewed."""
        return attrs.evolve(self, review=review)

    def joined(self) -> Turn:
        """The entry that has arrived first is in the history. The model has news if it is the user's."""
        entry, *rest = self.arrived
        if self.notes_taken:
            return attrs.evolve(self, arrived=tuple(rest), has_news=True)
        if not is_call(entry.item):
            return attrs.evolve(self, arrived=tuple(rest))
        review = self.review or unreviewed(entry)
        rejected = review.synthetic_output is not None
        opened = OpenCall(entry.id, review.call, is_answered=rejected, output=review.synthetic_output)
        return attrs.evolve(self, arrived=tuple(rest), review=None, open=(*self.open, opened), has_news=True)

    def running(self, entry: EntryId) -> Turn:
        """The tool of a call runs."""
        return self._with_call(entry, is_running=True)

    def answered(self, entry: EntryId, output: Json) -> Turn:
        """The output of a call is known."""
        return self._with_call(entry, is_answered=True, output=output)

    def over(self) -> Turn:
        """The response is complete."""
        return attrs.evolve(self, is_over=True)

    def told(self) -> Turn:
        """The output of the oldest open call is in the history."""
        return attrs.evolve(self, open=self.open[1:])

    def noted(self, entries: Sequence[HistoryEntry]) -> Turn:
        """What the user has added during this turn is taken."""
        return attrs.evolve(self, arrived=(*self.arrived, *entries), notes_taken=True)

    def asked(self, requests: Sequence[RuntimeRequest]) -> Turn:
        """Scripts have requested something."""
        return attrs.evolve(self, requests=(*self.requests, *requests))

    def closed(self, policy: RuntimePolicy) -> Turn:
        """`Turn_end` is handled: the model is asked again, or that was all (section 14.2).

        `BudgetExceededError` if a script keeps asking for turns.
        """
        decision = decide_after_turn(policy, tool_followup=self.has_news, requests=self.requests)
        if not decision.continue_:
            return Turn()
        counter = 0 if self.has_news else next_self_triggered(policy, self.self_triggered)
        return Turn(Stage.DUE, self_triggered=counter)

    def _with_call(self, entry: EntryId, **facts: Json) -> Turn:
        calls = (attrs.evolve(opened, **facts) if opened.entry == entry else opened for opened in self.open)
        return attrs.evolve(self, open=tuple(calls))


def next_step(turn: Turn, end_reason: str | None = None) -> Step:
    """What a host does next. `end_reason` is why the session has ended, None while it has not.

    After the end no event is delivered (section 13.3): what a step says of an event is then left out. Calls that have
    not begun get an output that says so, those that run are awaited, and there is neither a next request nor a
    `Turn_end`.
    """
    ended = end_reason is not None
    if turn.stage is Stage.IDLE or (ended and turn.stage is Stage.DUE):
        return Stop(ended)
    if turn.stage is Stage.DUE:
        return BeginRequest()
    if turn.arrived:
        return next_of_entry(turn, turn.arrived[0], ended)
    for opened in turn.open:
        if not (opened.is_running or opened.is_answered or ended):
            return StartTool(opened)
    if not turn.is_over:
        return AwaitResponse()
    if turn.open:
        return next_of_call(turn.open[0], end_reason)
    if ended:
        return Stop(True)
    return EndTurn() if turn.notes_taken else TakeNotes()


def next_of_entry(turn: Turn, entry: HistoryEntry, ended: bool) -> Step:
    """A call is reviewed before it joins, and joins as the review leaves it."""
    if turn.notes_taken or not is_call(entry.item):
        return Append(entry)
    if turn.review is None and not ended:
        return Review(entry, call_of(entry.item))
    return Append(attrs.evolve(entry, item=(turn.review or unreviewed(entry)).call_item))


def next_of_call(opened: OpenCall, end_reason: str | None) -> Step:
    """Outputs are told in the order of the calls, whichever is known first."""
    if opened.is_answered:
        return TellOutput(opened.call, output_item(opened.call, opened.output))
    if opened.is_running or end_reason is None:
        return AwaitOutput(opened)
    return TellOutput(opened.call, output_item(opened.call, problems.ended_by_moderator(end_reason)))


def unreviewed(entry: HistoryEntry) -> ReviewedCall:
    """A call that nobody has reviewed, since the session has ended; it never runs."""
    call = call_of(entry.item)
    return ReviewedCall(call, item_of(call, entry.item))


def closing_outputs(turn: Turn) -> tuple[Json, ...]:
    """The outputs of the calls that a failing run leaves open, so that the history has one for each call."""
    return tuple(output_item(opened.call, problems.UNANSWERED_CALL) for opened in turn.open)
