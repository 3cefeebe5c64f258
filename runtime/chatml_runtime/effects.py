"""Effects: what a run asked for, as records (runtime.md sections 0.3 and 4.3).

An `Effect` is an operation's name and its arguments, as the script built them. `decode_local_effect` turns one of
the standard local operations into a record of its own, so that nobody else takes argument lists apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import attrs

from chatml.values import Value
from chatml_runtime import problems
from chatml_runtime.errors import CommitRejectedError


@attrs.frozen
class Effect:
    """One operation that a task performed: its name and the values it was given."""

    op: str
    args: tuple[Value, ...] = ()


@attrs.frozen
class PrependSystem:
    """`Turn.prepend_system`: an instruction before the history."""

    text: str


@attrs.frozen
class AppendMessage:
    """`Turn.append_message`: an item, still a value of the script, after the history."""

    item: Value


@attrs.frozen
class ReplaceMessage:
    """`Turn.replace_message`: an item, still a value of the script, in place of an entry."""

    target_id: str
    item: Value


@attrs.frozen
class DeleteMessage:
    """`Turn.delete_message`: an entry that the model no longer sees."""

    target_id: str


@attrs.frozen
class Halt:
    """`Turn.halt`: the conversation ends; the overlay keeps the reason."""

    reason: str


@attrs.frozen
class Approve:
    """`Tool.approve`: the call under review runs as it is."""


@attrs.frozen
class Reject:
    """`Tool.reject`: the call under review does not run."""

    reason: str


@attrs.frozen
class RewriteCall:
    """`Tool.rewrite_args`: the call under review runs with these arguments, still a value of the script."""

    args: Value


@attrs.frozen
class RedirectCall:
    """`Tool.redirect`: another tool runs, with these arguments, still a value of the script."""

    name: str
    args: Value


@attrs.frozen
class Notify:
    """`Ui.notify`: a text for the person at the screen."""

    text: str


@attrs.frozen
class Emit:
    """`Runtime.emit`: an event for the session's own queue."""

    event: Value


@attrs.frozen
class RequestCompaction:
    """`Runtime.request_compaction`: the host may shorten the history."""


@attrs.frozen
class RequestTurn:
    """`Runtime.request_turn`: the host may ask the model again."""


@attrs.frozen
class EndSession:
    """`Runtime.end_session`: the session takes no event after this one."""

    reason: str


TurnEffect: TypeAlias = PrependSystem | AppendMessage | ReplaceMessage | DeleteMessage | Halt
ToolDecisionEffect: TypeAlias = Approve | Reject | RewriteCall | RedirectCall
LocalEffect: TypeAlias = TurnEffect | ToolDecisionEffect | Notify | Emit | RequestCompaction | RequestTurn | EndSession

LOCAL_EFFECTS: Mapping[str, Callable[..., LocalEffect]] = {
    "Turn.prepend_system": PrependSystem,
    "Turn.append_message": AppendMessage,
    "Turn.replace_message": ReplaceMessage,
    "Turn.delete_message": DeleteMessage,
    "Turn.halt": Halt,
    "Tool.approve": Approve,
    "Tool.reject": Reject,
    "Tool.rewrite_args": RewriteCall,
    "Tool.redirect": RedirectCall,
    "Ui.notify": Notify,
    "Runtime.emit": Emit,
    "Runtime.request_compaction": RequestCompaction,
    "Runtime.request_turn": RequestTurn,
    "Runtime.end_session": EndSession,
}
"""The standard local operations, each with the record of its effect."""


def decode_local_effect(effect: Effect) -> LocalEffect:
    """The record of a local effect. `CommitRejectedError` if its operation is none of `LOCAL_EFFECTS`.

    >>> decode_local_effect(Effect("Turn.halt", ("enough",)))
    Halt(reason='enough')
    """
    record = LOCAL_EFFECTS.get(effect.op)
    if record is None:
        raise CommitRejectedError(problems.unknown_local_effect(effect.op))
    return record(*effect.args)
