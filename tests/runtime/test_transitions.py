"""The table of transitions, walked: every action in every status does what its row says, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chatml.values.model import Perform, Pure
from chatml_runtime.script.errors import OperationFailed, SessionSuspendedError, TaskFailedError
from chatml_runtime.script.operations import OpContext
from chatml_runtime.script.session import RunStatus, Session
from chatml_runtime.script.standard import Handlers
from chatml_runtime.script.transitions import TRANSITIONS, Action, Refusal, Status
from tests.runtime.puppets import TICK, TURN_START, session, then

OUTER = [Action.HANDLE_EVENT, Action.RESUME, Action.ABANDON, Action.ENQUEUE, Action.RESTORE, Action.RESTORE_HALTED]
ACTIONS: dict[Action, Callable[[Session], Any]] = {
    Action.HANDLE_EVENT: lambda it: it.handle_event(TURN_START, ("Quiet",)),
    Action.RESUME: lambda it: it.resume("yes"),
    Action.ABANDON: lambda it: it.abandon_pending(),
    Action.ENQUEUE: lambda it: it.enqueue(("Queued",)),
    Action.RESTORE: lambda it: it.restore("restored", [], False),
    Action.RESTORE_HALTED: lambda it: it.restore("restored", [], True),
}


def observed(it: Session) -> tuple[Any, ...]:
    """All that a host can see of a session."""
    return (
        it.state,
        it.phase,
        it.pending,
        it.pending_effects,
        it.committed_effects,
        it.queued_events,
        it.is_halted,
        it.is_running,
        it.end_reason,
    )


def status_of(it: Session) -> Status:
    """The status that the public properties show."""
    if it.is_running:
        return Status.RUNNING
    if it.pending is not None:
        return Status.SUSPENDED
    return Status.HALTED if it.is_halted else Status.IDLE


def make(inside: Callable[[Session], None] = lambda it: None) -> Session:
    """A session whose handler goes where the event says; `inside` is called during its only operation."""

    def handler(state: Any, event: Any) -> Any:
        match event[0]:
            case "Ask":
                return then(Perform("Approval.ask_text", ("go?",)), lambda answer: Pure(answer))
            case "End":
                return then(Perform("Runtime.end_session", ("done",)), lambda _: Pure("ended"))
            case "Call":
                return then(Perform("Tool.call", ("t", ("Null",))), lambda answer: Pure(answer))
            case "Fail":
                return then(Perform("Turn.prepend_system", ("x",)), lambda _: Perform("No.such", ()))
        return Pure("quiet")

    def tool_call(context: OpContext, name: str, args: Any) -> Any:
        inside(context.session)
        return ("Ok", args)

    return session(handler, "initial", handlers=Handlers(tool_call=tool_call))


def attempt(it: Session, action: Action) -> None:
    """Ask for an action, and check that exactly what the table says came of it."""
    before, status = observed(it), status_of(it)
    reached = TRANSITIONS[action][status]
    if isinstance(reached, Refusal):
        with pytest.raises(reached.error) as raised:
            ACTIONS[action](it)
        assert str(raised.value) == reached.message
        assert observed(it) == before
        return
    ACTIONS[action](it)
    if action in (Action.HANDLE_EVENT, Action.RESUME):
        reached = TRANSITIONS[Action.COMMIT][reached]
    assert status_of(it) is reached


@pytest.mark.parametrize("action", OUTER, ids=lambda action: action.value)
@pytest.mark.parametrize("status", Status, ids=lambda status: status.value)
def test_every_action_in_every_status(status: Status, action: Action) -> None:
    """An action leads to the status that the table names, or is refused with its error and changes nothing."""
    tried = []

    def inside(it: Session) -> None:
        tried.append(status_of(it))
        attempt(it, action)

    it = make(inside)
    match status:
        case Status.RUNNING:
            it.handle_event(TURN_START, ("Call",))
            assert tried == [Status.RUNNING]
            return
        case Status.SUSPENDED:
            it.handle_event(TURN_START, ("Ask",))
        case Status.HALTED:
            it.handle_event(TURN_START, ("End",))
    assert status_of(it) is status
    attempt(it, action)


@pytest.mark.parametrize(
    ("event", "action"),
    [("Quiet", Action.COMMIT), ("Ask", Action.SUSPEND), ("End", Action.HALT), ("Fail", Action.ROLL_BACK)],
)
def test_every_end_of_a_run(event: str, action: Action) -> None:
    """A run leaves the session in the status that the table names for its end."""
    it = make()
    if action is Action.ROLL_BACK:
        before = observed(it)
        with pytest.raises(TaskFailedError):
            it.handle_event(TURN_START, (event,))
        assert observed(it) == before
    else:
        it.handle_event(TURN_START, (event,))
    assert status_of(it) is TRANSITIONS[action][Status.RUNNING]


def test_the_table_is_whole() -> None:
    """Every action of a host has a row with every status; a run's own begin where a run is."""
    for action in OUTER:
        assert set(TRANSITIONS[action]) == set(Status)
    for action in set(Action) - set(OUTER):
        assert set(TRANSITIONS[action]) == {Status.RUNNING}


def test_a_refusal_while_suspended_carries_the_request() -> None:
    it = make()
    request = it.handle_event(TURN_START, ("Ask",)).pending
    with pytest.raises(SessionSuspendedError) as raised:
        it.handle_event(TURN_START, TICK)
    assert raised.value.pending == request


def test_a_refused_call_from_inside_is_a_failure_that_the_script_can_see() -> None:
    """Re-entrance is refused to the callable; if that lets the error go, its operation fails."""
    it = make(lambda inner: inner.handle_event(TURN_START, TICK))
    with pytest.raises(TaskFailedError, match="already handling"):
        it.handle_event(TURN_START, ("Call",))
    assert it.handle_event(TURN_START, ("Quiet",)).status is RunStatus.COMMITTED


def test_operation_failed_is_no_error_of_the_toolkit() -> None:
    assert OperationFailed.__mro__[1] is Exception
