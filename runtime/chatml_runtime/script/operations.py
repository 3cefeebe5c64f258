"""Operations: what a task can ask of the host (runtime.md section 4).

`standard` defines the standard ones, `registry` collects what one session knows.
"""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

import attrs

from chatml.values.model import Value
from chatml_runtime.script import problems
from chatml_runtime.script.arguments import Kind
from chatml_runtime.script.errors import OperationFailed


class OpKind(enum.Enum):
    """How an operation is reached and what becomes of it (section 4.2)."""

    LOCAL_TRANSACTIONAL = "local_transactional"
    EXTERNAL_SYNC = "external_sync"
    EXTERNAL_ASYNC = "external_async"
    DIAGNOSTIC = "diagnostic"


PhaseCheck: TypeAlias = Callable[[str], str | None]
"""Takes a phase; returns None if the operation is allowed in it, else the reason."""


def allow_all_phases(phase: str) -> str | None:
    """The phase check of an operation that is allowed everywhere."""
    return None


def require_phases(*phases: str) -> PhaseCheck:
    """The phase check of an operation that is allowed in these phases only.

    >>> require_phases("turn_end")("turn_start")
    'expected one of [turn_end]'
    """

    def check(phase: str) -> str | None:
        return None if phase in phases else problems.unexpected_phase(phases)

    return check


class ActiveRun(Protocol):
    """What an operation's callable may ask of the handler run that called it."""

    active: bool
    emitted: list[Value]
    end_reason: str | None


class SessionView(Protocol):
    """What an operation's callable may read of the session that calls it, and the one thing that it may do to it.

    A `Session` is one. It is described here from below, since a session is built of operations.
    """

    @property
    def state(self) -> Value: ...

    @property
    def phase(self) -> str | None: ...

    @property
    def queued_events(self) -> tuple[Value, ...]: ...

    @property
    def is_halted(self) -> bool: ...

    def enqueue(self, event: Value) -> None: ...


@attrs.frozen
class OpContext:
    """The first argument of every operation's callable: which operation runs, where, and for whom.

    `key` is the same whenever this very operation is repeated, and another for every other one; empty where steps are
    not recorded.
    """

    session: SessionView
    op: str
    phase: str
    spawned: bool
    _run: ActiveRun | None = attrs.field(default=None, repr=False, eq=False)
    key: str = ""

    def emit(self, event: Value) -> None:
        """Add an event to those that join the session's queue if this run commits; leaves no effect.

        `OperationFailed` outside the handler run that made this context.
        """
        self._active_run().emitted.append(event)

    def request_end(self, reason: str) -> None:
        """Let the session end if this run commits; a later reason replaces an earlier one.

        `OperationFailed` outside the handler run that made this context.
        """
        self._active_run().end_reason = reason

    def _active_run(self) -> ActiveRun:
        if self._run is None or not self._run.active:
            raise OperationFailed(problems.not_in_a_run(self.op))
        return self._run


OpCallable: TypeAlias = Callable[..., "Value | Awaitable[Value]"]
"""Called as `call(context, *args)` with the arguments of the effect; sync or async. Raises `OperationFailed`."""


@attrs.frozen
class OpDef:
    """An operation: its name, how it is reached, what carries it out, and where it is allowed.

    `result` is what the callable has to answer; an operation of kind `Kind.UNIT` gives unit whatever it answers.
    `on_success` is called as `on_success(context, *args)` once the callable has answered.
    """

    name: str
    kind: OpKind
    call: OpCallable
    phase_check: PhaseCheck = allow_all_phases
    result: Kind = Kind.VALUE
    on_success: Callable[..., None] | None = None
