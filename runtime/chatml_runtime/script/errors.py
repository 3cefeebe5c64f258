"""The exceptions of the runtime (runtime.md section 19). They join the one tree of `chatml.diagnostics.errors`.

```text
ChatmlError
├── InstantiationError               a compiled script cannot become a session; `code` says why
├── SessionError                     a session refused what it was asked, and is unchanged
│   ├── SessionEndedError            it has ended
│   ├── SessionClosedError           the host has closed its moderator
│   ├── SessionSuspendedError        it waits for an answer; carries the `pending` request
│   ├── SessionBusyError             it is handling an event
│   ├── NotSuspendedError            nothing waits for an answer
│   ├── ApprovalResponseError        the answer is not one the request takes; it waits still
│   └── InvalidContextError          the context has no phase
├── HandlerError                     a handler run failed and was rolled back
│   ├── TaskFailedError              a failure that no `Task.catch` took
│   ├── ScriptRuntimeError           the script failed (also a `chatml.RuntimeFailure`)
│   │   └── LimitExceededError       a limit was exceeded; `limit` is its name
│   ├── ModuleStateError             it wrote to what is not stored, in a session that is
│   └── HandlerContractError         something else than a task, where a task was due
├── CommitRejectedError              the host refused the commit; the run was rolled back
│   ├── ToolDecisionConflictError    two tool decisions in one run
│   ├── UnknownTargetError           a replaced or deleted entry does not exist
│   └── ItemDecodeError              an item is not a provider item
├── UnexpectedToolDecisionError      a tool decision where no call was under review; it is committed
├── ReplayDivergedError              a step that was repeated from its record does something else, twice
├── ReplayError                      a replayed event failed; carries what was committed before it
├── BudgetExceededError              too many self-triggered turns; carries the history
├── ModelResponseError               a model client answered with something that is not a provider item
└── SnapshotError
    ├── SnapshotSuspendedError       a session that waits for an answer cannot be stored
    ├── UnserializableValueError     the state holds something that is not data
    ├── SnapshotFormatError          the snapshot is damaged
    └── SnapshotMismatchError        the snapshot belongs to another script; `field` says what differs
```

`OperationFailed` stands outside: a host's callable raises it to fail the task that called it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from chatml.diagnostics.errors import ChatmlError, RuntimeFailure, SessionError, SnapshotError


class Question(Protocol):
    """What a suspended session asks a person: a record of `approvals`, which is built on these exceptions."""

    @property
    def prompt(self) -> str: ...


class OperationFailed(Exception):
    """Raised by a host's callable to fail the task that called it; the script may catch it (section 5.4)."""


class InstantiationError(ChatmlError):
    """A compiled script that cannot become a session (section 3.2). `code` is stable and dotted."""

    def __init__(self, message: str, code: str) -> None:
        self.code = code
        super().__init__(message)


class SessionEndedError(SessionError):
    """An event or an enqueue for a session that has ended."""


class SessionClosedError(SessionError):
    """An event, an answer or an enqueue for a moderator that the host has closed."""


class SessionSuspendedError(SessionError):
    """A session that waits for an answer; `pending` is what it asks (section 7.2)."""

    def __init__(self, message: str, pending: Question) -> None:
        self.pending = pending
        super().__init__(message)


class SessionBusyError(SessionError):
    """A second event, or a call from inside the run that is active (X-26)."""


class NotSuspendedError(SessionError):
    """An answer, and nothing that waits for one."""


class ApprovalResponseError(SessionError):
    """An answer that the pending request does not take; the request stays pending (section 7.3)."""


class InvalidContextError(SessionError):
    """A context that is not a record with a string field `phase` (section 6.1)."""


class HandlerError(ChatmlError):
    """A handler run that failed; everything it did to the session is undone (section 6.3)."""


class TaskFailedError(HandlerError):
    """A task that failed, and no `Task.catch` around it. `str(error)` is the task's own text."""


class ScriptRuntimeError(HandlerError, RuntimeFailure):
    """A script that failed while it ran; `message`, `span`, `trace` and `diagnostic` as in `RuntimeFailure`."""

    @classmethod
    def of(cls, failure: RuntimeFailure) -> ScriptRuntimeError:
        """The failure as one of a handler run; a `LimitExceededError` if it names a limit."""
        kind = cls if failure.limit is None else LimitExceededError
        message = failure.message if failure.limit is None else f"{failure.message}{where(failure)}"
        error = kind(message, failure.span, code=failure.code, help=failure.help)
        error.origin, error.limit, error.trace = failure.origin, failure.limit, failure.trace
        error.__cause__ = failure.__cause__
        return error.with_traceback(failure.__traceback__)

    def __str__(self) -> str:
        """The whole report: place, message, line and carets."""
        return str(self.diagnostic)


def told(error: ChatmlError) -> str:
    """An error in one line: a failure of a script with its place."""
    if isinstance(error, RuntimeFailure):
        place = "" if error.span is None else f" ({error.span.source.name}:{error.span.start.place})"
        return f"{error.message}{place}"
    return str(error)


def where(failure: RuntimeFailure) -> str:
    """The loop or the function in which a limit was exceeded."""
    if failure.span is not None and failure.span.text.startswith("while"):
        return f", in the loop of line {failure.span.start.line}"
    return f", in the function `{failure.trace[0].name}`" if failure.trace else ""


class LimitExceededError(ScriptRuntimeError):
    """A run that used more than its `Limits` allow; `limit` is `steps`, `depth`, `text` or `tasks` (X-05)."""


class ModuleStateError(HandlerError):
    """A run that wrote to an array or ref of the script's top level, in a session that is stored (X-55)."""


class HandlerContractError(HandlerError):
    """A handler or a continuation that returned something else than a task."""


class CommitRejectedError(ChatmlError):
    """A commit that the host refused, by `validate_state` or `prepare_commit`; the run is rolled back (6.2)."""


class ToolDecisionConflictError(CommitRejectedError):
    """More than one tool decision in one run (section 9.8)."""


class UnknownTargetError(CommitRejectedError):
    """An overlay operation on an entry that does not exist (section 11.4)."""


class ItemDecodeError(CommitRejectedError):
    """An item of a script that is not a provider item (section 9.3)."""


class UnexpectedToolDecisionError(ChatmlError):
    """A tool decision where no tool call was under review; the run that took it is committed (section 12)."""


class ReplayError(ChatmlError):
    """A queued event that failed in a replay (section 11.7).

    `outcomes` are those of the events replayed before it, `cause` is its error, and `committed` is the result of
    the event or answer that the replay followed (None for a replay on demand).
    """

    def __init__(self, message: str, *, outcomes: Sequence[Any], cause: ChatmlError, committed: Any = None) -> None:
        self.outcomes = tuple(outcomes)
        self.cause = cause
        self.committed = committed
        super().__init__(message)


class ReplayDivergedError(ChatmlError):
    """A step that runs from its record and twice has done something else than the record says (live.md D.1)."""


class BudgetExceededError(ChatmlError):
    """More consecutive self-triggered turns than the policy allows; `history` is what they produced (14.4)."""

    def __init__(self, message: str, history: Sequence[Any] = ()) -> None:
        self.history = tuple(history)
        super().__init__(message)


class ModelResponseError(ChatmlError):
    """A model client that answered with something else than provider items (section 13.3)."""


class SnapshotSuspendedError(SnapshotError):
    """A snapshot of a session that waits for an answer (section 7.2)."""


class UnserializableValueError(SnapshotError):
    """A state or a queued event that holds something else than data; the message names its path (17.2)."""


class SnapshotFormatError(SnapshotError):
    """A snapshot that is damaged, or of another format or version (section 17.4)."""


class SnapshotMismatchError(SnapshotError):
    """A snapshot of another script (section 17.4)."""

    def __init__(self, message: str, field: Literal["script_id", "source_hash"]) -> None:
        self.field = field
        super().__init__(message)
