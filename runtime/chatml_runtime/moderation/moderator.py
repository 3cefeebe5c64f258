"""The durable moderator: one session of a script, its overlay, its queue, and their storage (runtime.md section 11).

Every call is written once, as a generator that yields the operations it wants; the plain and the `async` method differ
only in the driver that carries them out. Calls on one moderator go one after another, in the order of arrival.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeAlias, TypeVar

import attrs

from chatml.diagnostics.errors import ChatmlError, SessionError
from chatml.values.limits import Limits
from chatml.values.model import Value
from chatml_runtime.moderation.capabilities import Capabilities
from chatml_runtime.moderation.changes import OverlayChange, Publisher, Subscription
from chatml_runtime.moderation.delivery import Delivery
from chatml_runtime.moderation.fields import check_kind
from chatml_runtime.moderation.history import SeenHistory
from chatml_runtime.moderation.identities import EntryIdAllocator, HistoryEntry, IdentityError, check_handed_out
from chatml_runtime.moderation.inbox import Inbox
from chatml_runtime.moderation.outcome import Outcome
from chatml_runtime.moderation.overlay import EffectiveEntry, Overlay, plan
from chatml_runtime.moderation.results import (
    DrainResult,
    EventInput,
    ModerationResult,
    RunRecord,
    StopReason,
    stop_reason,
)
from chatml_runtime.moderation.snapshots import ModeratorSnapshot, take_snapshot
from chatml_runtime.moderation.tool_calls import with_integers
from chatml_runtime.moderation.turnstile import Turnstile
from chatml_runtime.moderation.visits import Visit
from chatml_runtime.moderation.vocabulary import Event, InternalEvent, Phase, PreToolCall
from chatml_runtime.script import problems
from chatml_runtime.script.approvals import Answered, PendingRequest, Response, check_is_response
from chatml_runtime.script.drivers import adrive, drive
from chatml_runtime.script.effects import Effect
from chatml_runtime.script.errors import (
    CommitRejectedError,
    ReplayError,
    SessionClosedError,
    SessionSuspendedError,
    SnapshotSuspendedError,
)
from chatml_runtime.script.operations import OpDef
from chatml_runtime.script.scripts import ScriptArtifact, Sink
from chatml_runtime.script.session import Hooks, RunStatus, Session, ValidateState, install_nothing
from chatml_runtime.script.tasks import Call

MODERATOR_LIMITS = Limits(steps=10_000_000, depth=20_000, text=10_000_000, tasks=1_000_000)
"""What one event may use unless the host says otherwise (X-05, X-28)."""

Observer: TypeAlias = Callable[[RunRecord], object]
"""Told of every handler run right after its end, replayed ones included. It must not call the moderator.

One that has a method `run_started(phase, event)` is told of each start, too: of a `Phase`, and of the event as a value,
before its handler can write to it. A run that goes on after an answer does not start again.
"""


Result = TypeVar("Result")
Steps: TypeAlias = Generator[Call, Any, Result]


class Moderator:
    """A script at work on one conversation. Safe to share between threads and tasks.

    Callables of the host run inside the call that reached them. From there, `enqueue` puts its event aside until the
    run has ended, and every other call raises `SessionBusyError`.

    `drain_limit` is how many queued events are replayed after an event at most; None if the host replays them itself.
    A turn driver sets the limit to that of its policy.
    """

    def __init__(
        self,
        artifact: ScriptArtifact,
        session: Session,
        *,
        allocator: EntryIdAllocator,
        overlay: Overlay,
        limits: Limits,
        drain_limit: int | None,
        observer: Observer | None,
        validate_state: ValidateState | None,
        durable: bool,
    ) -> None:
        """Used by `create`."""
        self._durable = durable
        self._artifact = artifact
        self._session = session
        self._allocator = allocator
        self._overlay = overlay
        self._limits = limits
        self.drain_limit = drain_limit
        self._observer = observer
        self._validate_state = validate_state
        self._history = SeenHistory()
        self._publisher = Publisher()
        self._turnstile = Turnstile()
        self._inbox = Inbox(session, self._turnstile, self._refuse_if_closed)
        self._suspended: Delivery | None = None
        self._closed = False

    @classmethod
    def create(
        cls,
        artifact: ScriptArtifact,
        *,
        allocator: EntryIdAllocator,
        capabilities: Capabilities | None = None,
        extra_ops: Sequence[OpDef] = (),
        limits: Limits = MODERATOR_LIMITS,
        replay_after_events: bool = True,
        max_internal_event_drain: int = 100,
        snapshot: ModeratorSnapshot | None = None,
        observer: Observer | None = None,
        validate_state: ValidateState | None = None,
        durable: bool = False,
        print: Sink | None = None,
    ) -> Moderator:
        """Start a session of a script, or restore one from a snapshot (sections 3.2 and 17.4).

        `capabilities` is what the script can reach; sessions that share the bundle share its registry. `allocator` is
        the one that gives the conversation's entries their identities. `limits` bound each event and the top level.
        With `replay_after_events=False` the queue is replayed by `replay` only. `durable` is for a host that stores the
        session: a run that writes to what the top level of the script holds, which is not stored, then fails with
        `ModuleStateError`. `print` gets what the script prints.

        `InstantiationError` or `RuntimeFailure` if no session can be made of the script; `SnapshotMismatchError` or
        `SnapshotFormatError` for a snapshot of another script or a damaged one; `IdentityError` if the allocator would
        hand out an identity that the snapshot holds.
        """
        check_kind("the artifact of a moderator", artifact, ScriptArtifact, help=": see `ArtifactCache`")
        check_kind("the allocator of a moderator", allocator, EntryIdAllocator)
        if snapshot is not None:
            check_kind("a snapshot", snapshot, ModeratorSnapshot, help=": read it with `ModeratorSnapshot.from_json`")
        stored = None if snapshot is None else snapshot.contents(artifact)
        if snapshot is not None:
            check_handed_out(allocator, snapshot.overlay.identities, "the snapshot")
        registry = (DEFAULT if capabilities is None else capabilities).registry
        if extra_ops:
            registry = registry.replacing(*extra_ops)
        session = artifact.compiled.instantiate(registry, print=print, limits=limits)
        if stored is not None:
            session.restore(stored.state, stored.queue, stored.halted)
        return cls(
            artifact,
            session,
            allocator=allocator,
            overlay=Overlay() if snapshot is None else snapshot.overlay,
            limits=limits,
            drain_limit=max_internal_event_drain if replay_after_events else None,
            observer=observer,
            validate_state=validate_state,
            durable=durable,
        )

    # What can be read at any time, without waiting

    @property
    def artifact(self) -> ScriptArtifact:
        """The script."""
        return self._artifact

    @property
    def allocator(self) -> EntryIdAllocator:
        """What gives inserted entries their identities."""
        return self._allocator

    @property
    def state(self) -> Value:
        """The state that was committed last."""
        return self._session.state

    @property
    def queued_events(self) -> tuple[Value, ...]:
        """The internal events that wait, oldest first."""
        return self._session.queued_events

    @property
    def pending(self) -> PendingRequest | None:
        """What a suspended run asks a person."""
        return self._session.pending

    @property
    def is_halted(self) -> bool:
        """Whether the conversation has ended: no event is delivered any more."""
        return self._session.is_halted

    @property
    def end_reason(self) -> str | None:
        """Why it ended: the first `Runtime.end_session`, else the `Turn.halt`. Only the latter outlives a restore."""
        return self._session.end_reason if self._session.end_reason is not None else self._overlay.halt_reason

    @property
    def overlay(self) -> Overlay:
        """The overlay in force; immutable."""
        return self._overlay

    def effective_entries(self, history: Sequence[HistoryEntry]) -> tuple[EffectiveEntry, ...]:
        """A history as the model sees it, each entry with its provenance (section 11.5)."""
        return self._overlay.apply(history)

    def effective_history(self, history: Sequence[HistoryEntry]) -> tuple[HistoryEntry, ...]:
        """A history as the model sees it."""
        return tuple(effective.entry for effective in self._overlay.apply(history))

    # Events, answers, replays

    def handle_event(self, event: Event, given: EventInput) -> ModerationResult:
        """Deliver an event, commit what its handler did, and replay the queue (sections 11.3 and 11.7).

        `SessionError` refuses the event; `HandlerError` and `CommitRejectedError` report a run that was rolled back
        as a whole; `ReplayError` a queued event that failed after this one was committed.
        """
        with self._inside():
            return drive(self._handle(event, given))

    async def ahandle_event(self, event: Event, given: EventInput) -> ModerationResult:
        """`handle_event`, awaiting operations that are asynchronous. A cancellation rolls the run back."""
        async with self._inside():
            return await adrive(self._handle(event, given))

    def resume(self, response: Response, given: EventInput | None = None) -> ModerationResult:
        """Answer the pending request and go on with its run; the rest is as in `handle_event`.

        A text alone counts as given now by someone unknown; `Expired` says that nobody answers any more. The replay
        that may follow sees what was given with the suspended event, or what is `given` now. `NotSuspendedError` if
        nothing is pending; `ApprovalResponseError` if the request does not take this answer, and then it is pending
        still.
        """
        with self._inside():
            return drive(self._resume(response, given))

    async def aresume(self, response: Response, given: EventInput | None = None) -> ModerationResult:
        """`resume`, awaiting operations that are asynchronous. A cancellation drops the suspended run."""
        async with self._inside():
            return await adrive(self._resume(response, given))

    def replay(self, given: EventInput, *, max_events: int = 100) -> DrainResult:
        """Deliver queued events, oldest first, until one of the reasons to stop (section 11.7).

        `ReplayError` if one fails: it is consumed, those after it stay queued. `SessionSuspendedError` if an answer
        is pending already.
        """
        with self._inside():
            return drive(self._replay(given, max_events))

    async def areplay(self, given: EventInput, *, max_events: int = 100) -> DrainResult:
        """`replay`, awaiting operations that are asynchronous."""
        async with self._inside():
            return await adrive(self._replay(given, max_events))

    def enqueue(self, event: Value) -> None:
        """Queue an internal event behind whatever runs right now. `SessionEndedError` if the conversation has ended."""
        self._inbox.enqueue(event)

    async def aenqueue(self, event: Value) -> None:
        """`enqueue`, waiting its turn without blocking the event loop."""
        await self._inbox.aenqueue(event)

    # Storage, subscriptions, the end

    def snapshot(self) -> ModeratorSnapshot:
        """Everything that has to be stored to go on later (section 17.1).

        `SnapshotSuspendedError` while an answer is pending; `UnserializableValueError`, with a path, if the state or
        the queue holds something else than data.
        """
        with self._inside():
            return self._snapshot()

    async def asnapshot(self) -> ModeratorSnapshot:
        """`snapshot`, waiting its turn without blocking the event loop."""
        async with self._inside():
            return self._snapshot()

    def subscribe(self, on_wakeup: Callable[[], None]) -> Subscription:
        """Be told of every later change of the overlay. `on_wakeup` must only signal; its exceptions are swallowed."""
        return self._publisher.subscribe(on_wakeup)

    def abandon_pending(self) -> PendingRequest | None:
        """Drop the suspended run as if it had failed, and return what it asked; None if nothing is pending."""
        with self._inside():
            self._suspended = None
            return self._session.abandon_pending()

    def close(self) -> None:
        """Drop the suspended run, end all subscriptions, and take no more events: `SessionClosedError` from now on.

        What can be read can be read still, and a snapshot be taken. Closing twice is harmless.
        """
        with self._inside():
            self._closed = True
            self._suspended = None
            self._session.abandon_pending()
        self._publisher.close()

    # The calls, each written once

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise SessionClosedError(problems.CLOSED_MODERATOR)

    def _handle(self, event: Event, given: EventInput) -> Steps[ModerationResult]:
        self._refuse_if_closed()
        if isinstance(event, type) or not hasattr(event, "to_value"):
            raise TypeError(f"an event is an object such as `TurnStart()`, and the host gave {event!r:.80}")
        check_kind("what is given with an event", given, EventInput)
        outcome = yield from self._run(
            Delivery(event.phase, event.to_value(), given, event.call if isinstance(event, PreToolCall) else None)
        )
        return (yield from self._concluded(outcome, given))

    def _resume(self, response: Response, given: EventInput | None) -> Steps[ModerationResult]:
        self._refuse_if_closed()
        suspended = self._suspended
        if suspended is None:
            self._session.resume(response)  # refuses: nothing is pending
            raise AssertionError("a session cannot wait for an answer unknown to its moderator")
        check_is_response(response)
        if given is not None:
            suspended = attrs.evolve(suspended, given=given)
        if isinstance(response, str):
            response = Answered(response, at_ms=suspended.given.now_ms)
        outcome = yield from self._run(suspended, response)
        return (yield from self._concluded(outcome, suspended.given))

    def _concluded(self, outcome: Outcome, given: EventInput) -> Steps[ModerationResult]:
        """The result of a run that has not failed, after the replay that follows a commit."""
        if self._session.pending is not None:
            return ModerationResult(RunStatus.SUSPENDED, outcome, self._session.pending)
        result = ModerationResult(RunStatus.COMMITTED, outcome)
        if self.drain_limit is None or self._session.is_halted:
            return result
        try:
            replayed = yield from self._replay(given, self.drain_limit)
        except ReplayError as error:
            error.committed = result
            raise
        return attrs.evolve(result, pending=self._session.pending, replayed=replayed)

    def _replay(self, given: EventInput, max_events: int) -> Steps[DrainResult]:
        self._refuse_if_closed()
        self._inbox.empty()
        session = self._session
        outcomes: list[Outcome] = []
        suspended_before = session.pending
        while True:
            stopped = stop_reason(session, len(outcomes), max_events)
            if stopped is StopReason.SUSPENDED and suspended_before is not None:
                raise SessionSuspendedError(problems.SUSPENDED, suspended_before)
            if stopped is not None:
                return DrainResult(tuple(outcomes), stopped, len(session.queued_events))
            event = InternalEvent(session.take_queued())
            try:
                outcomes.append((yield from self._run(Delivery(event.phase, event.to_value(), given))))
            except ChatmlError as error:
                raise ReplayError(str(error), outcomes=outcomes, cause=error) from error

    def _run(self, delivery: Delivery, answer: Response | None = None) -> Steps[Outcome]:
        """One handler run, from its start or its suspension to its end."""
        self._inbox.empty()
        self._history.see(delivery.given.history)
        outcome = Outcome()

        def prepare(effects: Sequence[Effect]) -> Callable[[], None]:
            nonlocal outcome
            outcome = with_integers(Outcome.from_effects(effects), delivery.call)
            if self._durable:
                self._session.refuse_module_state()
            install = self._plan(outcome, delivery.phase)
            self._history.forget_written(self._session.written)
            return install

        hooks = Hooks(self._validate_state, prepare, self._durable)
        session = self._session
        if answer is None and not session.is_halted and session.pending is None:
            self._tell_start(delivery)
        steps = (
            session.event_steps(delivery.context(self._history), delivery.event, self._limits, None, hooks)
            if answer is None
            else session.answer_steps(answer, hooks)
        )
        try:
            result = yield from steps
        except SessionError:
            raise  # refused: whatever was suspended still is
        except BaseException as error:
            self._suspended = None
            if isinstance(error, ChatmlError):
                self._observe(RunRecord(delivery.phase, delivery.event, None, error=error))
            raise
        finally:
            self._inbox.empty()
        self._suspended = delivery if result.status is RunStatus.SUSPENDED else None
        self._session.take_committed()
        self._observe(RunRecord(delivery.phase, delivery.event, result.status, result.effects, outcome, result.pending))
        return outcome

    def _plan(self, outcome: Outcome, phase: Phase) -> Callable[[], None]:
        """Check the overlay operations of a run; the result installs them."""
        if not outcome.overlay_ops:
            return install_nothing
        try:
            planned = plan(self._overlay, outcome.overlay_ops, is_known=self._history.knows, allocator=self._allocator)
        except IdentityError as error:
            raise CommitRejectedError(str(error)) from error
        change = OverlayChange(
            planned.overlay.revision,
            planned.operations,
            self._artifact.script_id,
            self._artifact.source_hash,
            phase,
        )

        def install() -> None:
            self._overlay = planned.overlay
            self._publisher.publish(change)

        return install

    def _snapshot(self) -> ModeratorSnapshot:
        self._inbox.empty()
        if self._session.pending is not None:
            raise SnapshotSuspendedError(problems.SNAPSHOT_WHILE_SUSPENDED)
        return take_snapshot(self._artifact, self._session, self._overlay)

    def _tell_start(self, delivery: Delivery) -> None:
        run_started = getattr(self._observer, "run_started", None)
        if run_started is not None:
            run_started(delivery.phase, delivery.event)

    def _observe(self, record: RunRecord) -> None:
        if self._observer is not None:
            self._observer(record)

    def _inside(self) -> Visit:
        """A call that takes its turn."""
        return Visit(self._turnstile)


DEFAULT = Capabilities()
"""The bundle of a host that offers nothing."""
