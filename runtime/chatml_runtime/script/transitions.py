"""What a session may be asked in which status, and what follows: all transitions in one table (sections 6 to 8)."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping

import attrs

from chatml.diagnostics.errors import SessionError
from chatml_runtime.script import problems
from chatml_runtime.script.approvals import PendingRequest
from chatml_runtime.script.errors import NotSuspendedError, SessionBusyError, SessionEndedError, SessionSuspendedError


class Status(enum.StrEnum):
    """What a session is doing."""

    IDLE = "idle"
    RUNNING = "running"
    SUSPENDED = "suspended"
    HALTED = "halted"


class Action(enum.StrEnum):
    """What a host asks of a session, and below, how a handler run goes on."""

    HANDLE_EVENT = "handle_event"
    RESUME = "resume"
    ABANDON = "abandon"
    ENQUEUE = "enqueue"
    RESTORE = "restore"
    RESTORE_HALTED = "restore_halted"

    SUSPEND = "suspend"
    ROLL_BACK = "roll_back"
    COMMIT = "commit"
    HALT = "halt"


@attrs.frozen
class Refusal:
    """An action that a status does not allow: the class of the error, and its wording."""

    error: Callable[..., SessionError]
    message: str

    def error_for(self, pending: PendingRequest | None) -> SessionError:
        """The error to raise for a session with this pending request."""
        facts = (self.message,) if pending is None else (self.message, pending)
        return self.error(*facts)


ENDED = Refusal(SessionEndedError, problems.ENDED)
BUSY = Refusal(SessionBusyError, problems.BUSY)
BUSY_RESTORE = Refusal(SessionBusyError, problems.RESTORE_WHILE_RUNNING)
WAITING = Refusal(SessionSuspendedError, problems.SUSPENDED)
WAITING_RESTORE = Refusal(SessionSuspendedError, problems.RESTORE_WHILE_SUSPENDED)
NOTHING_WAITS = Refusal(NotSuspendedError, problems.NOT_SUSPENDED)

IDLE, RUNNING, SUSPENDED, HALTED = Status
TRANSITIONS: Mapping[Action, Mapping[Status, Status | Refusal]] = {
    Action.HANDLE_EVENT: {IDLE: RUNNING, RUNNING: BUSY, SUSPENDED: WAITING, HALTED: ENDED},
    Action.RESUME: {IDLE: NOTHING_WAITS, RUNNING: BUSY, SUSPENDED: RUNNING, HALTED: NOTHING_WAITS},
    Action.ABANDON: {IDLE: IDLE, RUNNING: RUNNING, SUSPENDED: IDLE, HALTED: HALTED},
    Action.ENQUEUE: {IDLE: IDLE, RUNNING: RUNNING, SUSPENDED: SUSPENDED, HALTED: ENDED},
    Action.RESTORE: {IDLE: IDLE, RUNNING: BUSY_RESTORE, SUSPENDED: WAITING_RESTORE, HALTED: IDLE},
    Action.RESTORE_HALTED: {IDLE: HALTED, RUNNING: BUSY_RESTORE, SUSPENDED: WAITING_RESTORE, HALTED: HALTED},
    Action.SUSPEND: {RUNNING: SUSPENDED},
    Action.ROLL_BACK: {RUNNING: IDLE},
    Action.COMMIT: {RUNNING: IDLE},
    Action.HALT: {RUNNING: HALTED},
}
"""Every action in every status: the status after it, or the refusal. The last four are a run's own (section 6.1)."""
