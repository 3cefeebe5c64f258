"""A session: one live instance of a script, handling one event at a time (runtime.md sections 3 and 6 to 8).

Each handler run is written once, as a generator that yields the operations it wants; `drivers` carries them out,
plainly or in `asyncio`. `transitions` says what a session may be asked when.
"""

from __future__ import annotations

import enum
import threading
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import attrs

from chatml.diagnostics.errors import RuntimeFailure
from chatml.pipeline import Instance
from chatml.values.copies import fresh
from chatml.values.journal import Container
from chatml.values.limits import Budget, Limits
from chatml.values.model import Value
from chatml_runtime.script import problems
from chatml_runtime.script.approvals import PendingRequest, Response
from chatml_runtime.script.drivers import adrive, drive
from chatml_runtime.script.effects import Effect, EndSession, Halt, decode_local_effect
from chatml_runtime.script.errors import (
    CommitRejectedError,
    HandlerError,
    InvalidContextError,
    OperationFailed,
    ScriptRuntimeError,
)
from chatml_runtime.script.module_state import refuse_module_state
from chatml_runtime.script.operations import OpDef
from chatml_runtime.script.runs import Run
from chatml_runtime.script.standard import LOGGER
from chatml_runtime.script.tasks import Call, Finished, Interpreter, Wish, failure_text
from chatml_runtime.script.transitions import TRANSITIONS, Action, Refusal, Status


class RunStatus(enum.Enum):
    """How a handler run that did not fail stands."""

    COMMITTED = "committed"
    SUSPENDED = "suspended"


@attrs.frozen
class RunResult:
    """What came of an event or an answer: the effects of its commit, or the request that it waits for."""

    status: RunStatus
    effects: tuple[Effect, ...] = ()
    pending: PendingRequest | None = None


PrepareCommit: TypeAlias = Callable[[Sequence[Effect]], Callable[[], None]]
"""Takes the effects of a run that is about to commit; returns what installs them, or raises to refuse."""

ValidateState: TypeAlias = Callable[[Value], None]
"""Takes the state that a run is about to commit; raises to refuse."""

END_SESSION, HALT = "Runtime.end_session", "Turn.halt"

RunSteps: TypeAlias = Generator[Call, Any, RunResult]


@attrs.frozen
class Hooks:
    """What a host may say to a commit. With `copies`, state and events are kept as a snapshot would give them: sharing
    no array and no ref with anything else."""

    validate_state: ValidateState | None
    prepare_commit: PrepareCommit | None
    copies: bool = False


class Session:
    """One live instance of a script: its own globals, its state, its queue of internal events.

    Made by `CompiledScript.instantiate`. One thread or task at a time: a second event is refused (X-26).
    A run that fails leaves nothing behind: state, queue, and every array and ref are as before it (X-20).
    """

    _interpreter_class: type[Interpreter] = Interpreter

    def __init__(self, instance: Instance, operations: Mapping[str, OpDef], state: Value, handler: Value) -> None:
        self._instance = instance
        self._operations = operations
        self._handler = handler
        self._state = state
        self._queue: deque[Value] = deque()
        self._committed: list[Effect] = []
        self._status = Status.IDLE
        self._interpreter: Interpreter | None = None
        self._end_reason: str | None = None
        self._lock = threading.Lock()

    # What can be read at any time (section 7.2)

    @property
    def _run(self) -> Run | None:
        """The run that is active or suspended."""
        interpreter = self._interpreter
        return None if interpreter is None else interpreter.run

    @property
    def state(self) -> Value:
        """The state that was committed last. Its arrays and refs are the session's own: read them, do not write."""
        return self._state

    @property
    def phase(self) -> str | None:
        """The phase of the run that is active or suspended."""
        run = self._run
        return None if run is None else run.phase

    @property
    def pending(self) -> PendingRequest | None:
        """The request that the session waits for."""
        run = self._run
        return None if run is None else run.pending

    @property
    def pending_effects(self) -> tuple[Effect, ...]:
        """The effects that the active or suspended run has buffered, in order."""
        run = self._run
        return () if run is None else tuple(run.effects)

    @property
    def written(self) -> tuple[Container, ...]:
        """The arrays and refs that the active or suspended run has written to."""
        run = self._run
        return () if run is None else run.journal.containers

    def refuse_module_state(self) -> None:
        """`ModuleStateError` if the run has written to something that the top level of the script holds (X-55)."""
        refuse_module_state(self._instance, self.written)

    @property
    def committed_effects(self) -> tuple[Effect, ...]:
        """The effects of all commits, in order, since the session began, was restored, or `take_committed`."""
        return tuple(self._committed)

    @property
    def queued_events(self) -> tuple[Value, ...]:
        """The internal events that wait, oldest first."""
        with self._lock:
            return tuple(self._queue)

    @property
    def is_halted(self) -> bool:
        """Whether the session has ended."""
        return self._status is Status.HALTED or self._end_reason is not None

    @property
    def is_running(self) -> bool:
        """Whether a handler runs right now."""
        return self._status is Status.RUNNING

    @property
    def end_reason(self) -> str | None:
        """Why the session ended: the first `Runtime.end_session`, else the `Turn.halt`; None after a restore."""
        return self._end_reason

    # Events and answers (sections 6 and 7.3)

    def handle_event(
        self,
        context: Value,
        event: Value,
        *,
        limits: Limits = Limits(),
        max_spawns: int | None = None,
        validate_state: ValidateState | None = None,
        prepare_commit: PrepareCommit | None = None,
    ) -> RunResult:
        """Deliver an event: run the handler, then commit, or suspend, or roll back and raise.

        `context` is a record with a string field `phase`. `limits` and `max_spawns` bound this run, and what is left
        of it after a suspension; a `depth` below 1,000 is counted exactly if the session was instantiated with such a
        limit. `SessionError` refuses the event; `HandlerError` and `CommitRejectedError` report a
        run that was rolled back. What is not an `Exception` (an interrupt) rolls back, too, and passes.
        """
        return drive(self.event_steps(context, event, limits, max_spawns, Hooks(validate_state, prepare_commit)))

    async def ahandle_event(
        self,
        context: Value,
        event: Value,
        *,
        limits: Limits = Limits(),
        max_spawns: int | None = None,
        validate_state: ValidateState | None = None,
        prepare_commit: PrepareCommit | None = None,
    ) -> RunResult:
        """`handle_event`, awaiting operations that are asynchronous. A cancellation rolls the run back."""
        return await adrive(self.event_steps(context, event, limits, max_spawns, Hooks(validate_state, prepare_commit)))

    def resume(
        self,
        response: Response,
        *,
        validate_state: ValidateState | None = None,
        prepare_commit: PrepareCommit | None = None,
    ) -> RunResult:
        """Answer the pending request and go on with the run; the result is as for `handle_event`.

        `NotSuspendedError` if nothing is pending; `ApprovalResponseError` if the request does not take this answer,
        and then it is pending still.
        """
        return drive(self.answer_steps(response, Hooks(validate_state, prepare_commit)))

    async def aresume(
        self,
        response: Response,
        *,
        validate_state: ValidateState | None = None,
        prepare_commit: PrepareCommit | None = None,
    ) -> RunResult:
        """`resume`, awaiting operations that are asynchronous. A cancellation drops the suspended run."""
        return await adrive(self.answer_steps(response, Hooks(validate_state, prepare_commit)))

    def abandon_pending(self) -> PendingRequest | None:
        """Drop the suspended run as if it had failed, and return what it asked (section 7.5); None if none is."""
        with self._lock:
            request = self.pending
            self._move(Action.ABANDON)
            if request is not None:
                self._interpreter = None  # what the run has written is undone since it was suspended
            return request

    # The queue, and restoring (section 8)

    def enqueue(self, event: Value) -> None:
        """Append an internal event, also during a run or a suspension. `SessionEndedError` if it has ended."""
        with self._lock:
            self._move(Action.ENQUEUE)
            self._queue.append(event)

    def take_queued(self) -> Value | None:
        """Remove and return the oldest internal event; None if there is none, as for a queued unit."""
        with self._lock:
            return self._queue.popleft() if self._queue else None

    def take_committed(self) -> tuple[Effect, ...]:
        """Return `committed_effects` and forget them, so that a long session does not keep them all."""
        with self._lock:
            taken, self._committed = tuple(self._committed), []
            return taken

    def restore(self, state: Value, queued_events: Sequence[Value], halted: bool) -> None:
        """Replace state, queue and halted flag, and forget the committed effects. The state is taken as it is:
        a moderator has held it against its type.

        `SessionBusyError` or `SessionSuspendedError` while a run is active or suspended.
        """
        with self._lock:
            self._move(Action.RESTORE_HALTED if halted else Action.RESTORE)
            self._state = state
            self._queue = deque(queued_events)
            self._committed = []
            self._end_reason = None

    # A run, from its start to its end

    def event_steps(
        self, context: Value, event: Value, limits: Limits, max_spawns: int | None, hooks: Hooks
    ) -> RunSteps:
        """What `handle_event` does, for a caller that has `drivers` carry it out as part of something larger."""
        with self._lock:
            running = self._after(Action.HANDLE_EVENT)
            run = Run(phase_of(context), tag_of(event), Budget(limits), max_spawns)
            machine = self._instance.machine
            interpreter = self._interpreter_class(run, self, self._operations, machine.call)
            self._status, self._interpreter = running, interpreter
        first = partial(interpreter.start, self._handler, [context, self._state, event])
        return (yield from self._advance(interpreter, first, hooks))

    def answer_steps(self, response: Response, hooks: Hooks) -> RunSteps:
        """What `resume` does, for a caller that has `drivers` carry it out as part of something larger."""
        with self._lock:
            running = self._after(Action.RESUME)
            interpreter = self._interpreter
            assert interpreter is not None
            run = interpreter.run
            assert run.pending is not None
            try:
                go_on = partial(interpreter.succeed, run.pending.accept(response))
            except OperationFailed as failure:  # nobody answers any more, and the request has no word for that
                go_on = partial(interpreter.fail, failure)
            self._status, run.pending = running, None
        return (yield from self._advance(interpreter, go_on, hooks))

    def _advance(self, interpreter: Interpreter, first: Callable[[], Wish], hooks: Hooks) -> RunSteps:
        """Let the run go on until it commits, suspends or fails, yielding the operations that it calls."""
        run, machine = interpreter.run, self._instance.machine
        try:
            run.enter(machine)
            wish: Wish = machine.guard(first)
            while isinstance(wish, Call):
                try:
                    answer = yield wish
                except BaseException as error:
                    wish = machine.guard(partial(interpreter.fail, error))
                else:
                    wish = machine.guard(partial(interpreter.succeed, answer))
            if not isinstance(wish, Finished):
                return self._suspend(run, wish)
            end_reason = ending(run)
            install = prepared(run, wish.value, hooks)
            state = fresh(wish.value) if hooks.copies else wish.value
            if hooks.copies:
                run.emitted[:] = map(fresh, run.emitted)
        except BaseException as error:
            self._roll_back(run, error)
            if isinstance(error, RuntimeFailure):
                error = ScriptRuntimeError.of(error)
            LOGGER.info("%s in phase %s is rolled back: %s", run.event, run.phase, failure_text(error))
            raise error
        return self._commit(run, state, end_reason, install)

    def _suspend(self, run: Run, request: PendingRequest) -> RunResult:
        run.leave(self._instance.machine)
        run.journal.put_away()
        run.pending = request
        result = RunResult(RunStatus.SUSPENDED, pending=request)
        with self._lock:
            self._move(Action.SUSPEND)
        return result

    def _roll_back(self, run: Run, error: BaseException) -> None:
        run.leave(self._instance.machine)
        run.journal.undo()
        with self._lock:
            self._move(Action.ROLL_BACK)
            self._interpreter = None

    def _commit(self, run: Run, state: Value, end_reason: str | None, install: Callable[[], None]) -> RunResult:
        run.leave(self._instance.machine)
        effects = tuple(run.effects)
        try:
            with self._lock:
                self._state = state
                self._committed += effects
                self._queue.extend(run.emitted)
                self._end_reason = end_reason
            install()
        finally:
            with self._lock:
                self._move(Action.COMMIT if end_reason is None else Action.HALT)
                self._interpreter = None
        return RunResult(RunStatus.COMMITTED, effects)

    def _after(self, action: Action) -> Status:
        """The status after an action; the `SessionError` of the table if it is refused. Under the lock."""
        reached = TRANSITIONS[action][self._status]
        if isinstance(reached, Refusal):
            raise reached.error_for(self.pending)
        return reached

    def _move(self, action: Action) -> None:
        self._status = self._after(action)


def phase_of(context: Value) -> str:
    """The phase that a context names; `InvalidContextError` if it is not a record with a string field `phase`."""
    if not isinstance(context, dict):
        raise InvalidContextError(problems.CONTEXT_NO_RECORD)
    if "phase" not in context:
        raise InvalidContextError(problems.CONTEXT_WITHOUT_PHASE)
    phase = context["phase"]
    if not isinstance(phase, str):
        raise InvalidContextError(problems.PHASE_NO_STRING)
    return phase


def tag_of(event: Value) -> str:
    """What an event is called in reports: the tag of a variant."""
    return f"`{event[0]}" if isinstance(event, tuple) and event else "a value"


def prepared(run: Run, state: Value, hooks: Hooks) -> Callable[[], None]:
    """What installs a commit that the host agrees to; `CommitRejectedError` if it refuses (section 6.2)."""
    try:
        if hooks.validate_state is not None:
            hooks.validate_state(state)
        if hooks.prepare_commit is not None:
            install = hooks.prepare_commit(tuple(run.effects))
            if not callable(install):
                raise CommitRejectedError(problems.no_install(type(install).__name__))
            return install
    except (CommitRejectedError, HandlerError):
        raise
    except Exception as error:
        raise CommitRejectedError(failure_text(error)) from error
    return install_nothing


def install_nothing() -> None:
    """The commit of a host that prepares none."""


def ending(run: Run) -> str | None:
    """Why a run that commits ends its session, or None if it does not (section 6.4).

    Of several reasons the first `Runtime.end_session` counts; of several `Turn.halt`, the last, as in the overlay.
    """
    effects = [decode_local_effect(effect) for effect in run.effects if effect.op in (END_SESSION, HALT)]
    if run.end_reason is not None:
        return next((effect.reason for effect in effects if isinstance(effect, EndSession)), run.end_reason)
    halts = [effect.reason for effect in effects if isinstance(effect, Halt)]
    return halts[-1] if halts else None
