"""The standard operations as one table, and the handlers through which a host fills it (runtime.md section 4.3)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import attrs

from chatml.values.model import Value
from chatml_runtime.script import problems
from chatml_runtime.script.arguments import Kind, check_arguments
from chatml_runtime.script.effects import LOCAL_EFFECTS, ToolDecisionEffect, TurnEffect
from chatml_runtime.script.errors import OperationFailed
from chatml_runtime.script.operations import OpCallable, OpContext, OpDef, OpKind, allow_all_phases, require_phases

LOGGER = logging.getLogger("chatml_runtime")
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}


@attrs.frozen
class Handlers:
    """What a host does for the standard operations. Each may be sync or async; None is the default of section 4.3.

    A handler of a local operation (`turn_effect`, `tool_decision`, `ui_notify`, `request_*`, `end_session`) runs
    before the commit: it may refuse by raising `OperationFailed`, and must not apply the effect.
    """

    log: Callable[[OpContext, str, str], Any] | None = None
    turn_effect: Callable[[OpContext, TurnEffect], Any] | None = None
    tool_decision: Callable[[OpContext, ToolDecisionEffect], Any] | None = None
    ui_notify: Callable[[OpContext, str], Any] | None = None
    tool_call: OpCallable | None = None
    tool_spawn: OpCallable | None = None
    model_call: OpCallable | None = None
    model_spawn: OpCallable | None = None
    process_run: OpCallable | None = None
    schedule_after_ms: OpCallable | None = None
    schedule_cancel: OpCallable | None = None
    request_compaction: Callable[[OpContext], Any] | None = None
    request_turn: Callable[[OpContext], Any] | None = None
    end_session: Callable[[OpContext, str], Any] | None = None


Given: TypeAlias = Callable[[str, Sequence[Value]], Sequence[Value]]
"""What a handler is called with, after the context, for an operation and its arguments."""


def log_by_default(context: OpContext, level: str, message: str) -> None:
    """Log lines of a host that takes none go to the logger `chatml_runtime`."""
    LOGGER.log(LEVELS[level], "%s", message)


def succeed(context: OpContext, *args: Value) -> None:
    """The default of an operation that a host need not know."""


def refuse(context: OpContext, *args: Value) -> None:
    """The default of an operation that only a host can carry out."""
    raise OperationFailed(problems.not_configured(context.op))


def plainly(op: str, args: Sequence[Value]) -> Sequence[Value]:
    """A handler that takes the operation's own arguments."""
    return args


def with_level(op: str, args: Sequence[Value]) -> Sequence[Value]:
    """A handler that takes the level first: `Log.info` with `info`."""
    return (op.removeprefix("Log."), *args)


def as_record(op: str, args: Sequence[Value]) -> Sequence[Value]:
    """A handler that takes the decoded effect."""
    record, _ = LOCAL_EFFECTS[op]
    return (record(*args),)


def non_negative(op: str, args: Sequence[Value]) -> Sequence[Value]:
    """A handler that takes a delay first, in milliseconds."""
    if args[0] < 0:
        raise OperationFailed(problems.negative_delay(op, args[0]))
    return args


@attrs.frozen
class Standard:
    """One row: a standard operation, the handler that carries it out, and how that is called."""

    name: str
    kind: OpKind
    args: tuple[Kind, ...]
    result: Kind
    handler: str | None
    default: Callable[..., Any]
    given: Given = plainly
    phases: tuple[str, ...] | None = None
    on_success: Callable[..., None] | None = None

    def define(self, handlers: Handlers) -> OpDef:
        """The operation, carried out by these handlers."""
        installed = None if self.handler is None else getattr(handlers, self.handler)
        handler = self.default if installed is None else installed
        given = plainly if handler is succeed else self.given

        def call(context: OpContext, *args: Value) -> Any:
            check_arguments(self.name, self.args, args)
            return handler(context, *given(self.name, args))

        phase_check = allow_all_phases if self.phases is None else require_phases(*self.phases)
        return OpDef(self.name, self.kind, call, phase_check, self.result, self.on_success)


def local(name: str, handler: str | None, given: Given = plainly, **rest: Any) -> Standard:
    """A row of a local operation, whose arguments are those of its effect."""
    kinds = LOCAL_EFFECTS[name][1]
    return Standard(name, OpKind.LOCAL_TRANSACTIONAL, kinds, UNIT, handler, succeed, given, **rest)


SYNC, ASYNC, DIAGNOSTIC = OpKind.EXTERNAL_SYNC, OpKind.EXTERNAL_ASYNC, OpKind.DIAGNOSTIC
STRING, INT, STRINGS, VALUE, UNIT = Kind.STRING, Kind.INT, Kind.STRINGS, Kind.VALUE, Kind.UNIT

# fmt: off
STANDARD: tuple[Standard, ...] = (
    Standard("Log.debug", DIAGNOSTIC, (STRING,), UNIT, "log", log_by_default, with_level),
    Standard("Log.info", DIAGNOSTIC, (STRING,), UNIT, "log", log_by_default, with_level),
    Standard("Log.warn", DIAGNOSTIC, (STRING,), UNIT, "log", log_by_default, with_level),
    Standard("Log.error", DIAGNOSTIC, (STRING,), UNIT, "log", log_by_default, with_level),
    local("Turn.prepend_system", "turn_effect", as_record),
    local("Turn.append_message", "turn_effect", as_record),
    local("Turn.replace_message", "turn_effect", as_record),
    local("Turn.delete_message", "turn_effect", as_record),
    local("Turn.halt", "turn_effect", as_record),
    local("Tool.approve", "tool_decision", as_record),
    local("Tool.reject", "tool_decision", as_record),
    local("Tool.rewrite_args", "tool_decision", as_record),
    local("Tool.redirect", "tool_decision", as_record),
    local("Ui.notify", "ui_notify"),
    Standard("Tool.call", SYNC, (STRING, VALUE), VALUE, "tool_call", refuse),
    Standard("Tool.spawn", ASYNC, (STRING, VALUE), STRING, "tool_spawn", refuse),
    Standard("Model.call", SYNC, (STRING, VALUE), VALUE, "model_call", refuse),
    Standard("Model.spawn", ASYNC, (STRING, VALUE), STRING, "model_spawn", refuse),
    Standard("Process.run", ASYNC, (STRING, STRINGS), STRING, "process_run", refuse),
    Standard("Schedule.after_ms", ASYNC, (INT, VALUE), STRING, "schedule_after_ms", refuse, non_negative),
    Standard("Schedule.cancel", SYNC, (STRING,), UNIT, "schedule_cancel", refuse),
    local("Runtime.emit", None, on_success=OpContext.emit),
    local("Runtime.request_compaction", "request_compaction"),
    local("Runtime.request_turn", "request_turn", phases=("turn_end", "internal_event")),
    local("Runtime.end_session", "end_session", on_success=OpContext.request_end),
)
# fmt: on
"""Every standard operation, one a row (section 4.3)."""


def standard_operations(handlers: Handlers | None = None) -> tuple[OpDef, ...]:
    """The standard operations, carried out by a host's handlers; without, with the defaults."""
    handlers = Handlers() if handlers is None else handlers
    return tuple(row.define(handlers) for row in STANDARD)
