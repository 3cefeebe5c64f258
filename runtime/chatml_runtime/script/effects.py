"""Effects: what a run asked for, as records (runtime.md sections 0.3 and 4.3).

An `Effect` is an operation's name and its arguments, as the script built them. `decode_local_effect` turns one of
the standard local operations into a record of its own, so that nobody else takes argument lists apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import attrs

from chatml.source import Span
from chatml.values.model import Value
from chatml_runtime.script import problems
from chatml_runtime.script.arguments import Kind, check_arguments
from chatml_runtime.script.errors import CommitRejectedError, OperationFailed


@attrs.frozen
class Effect:
    """One operation that a task performed: its name and the values it was given.

    `site` is the place of the expression that decided on it, where the script was compiled with `sites`.
    """

    op: str
    args: tuple[Value, ...] = ()
    site: Span | None = attrs.field(default=None, eq=False, repr=False)


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

LOCAL_EFFECTS: Mapping[str, tuple[Callable[..., LocalEffect], tuple[Kind, ...]]] = {
    "Turn.prepend_system": (PrependSystem, (Kind.STRING,)),
    "Turn.append_message": (AppendMessage, (Kind.VALUE,)),
    "Turn.replace_message": (ReplaceMessage, (Kind.STRING, Kind.VALUE)),
    "Turn.delete_message": (DeleteMessage, (Kind.STRING,)),
    "Turn.halt": (Halt, (Kind.STRING,)),
    "Tool.approve": (Approve, ()),
    "Tool.reject": (Reject, (Kind.STRING,)),
    "Tool.rewrite_args": (RewriteCall, (Kind.VALUE,)),
    "Tool.redirect": (RedirectCall, (Kind.STRING, Kind.VALUE)),
    "Ui.notify": (Notify, (Kind.STRING,)),
    "Runtime.emit": (Emit, (Kind.VALUE,)),
    "Runtime.request_compaction": (RequestCompaction, ()),
    "Runtime.request_turn": (RequestTurn, ()),
    "Runtime.end_session": (EndSession, (Kind.STRING,)),
}
"""The standard local operations, each with the record of its effect and the kinds of its arguments."""


def decode_local_effect(effect: Effect) -> LocalEffect:
    """The record of a local effect.

    `CommitRejectedError` if its operation is none of `LOCAL_EFFECTS` or its arguments are not of their kinds.

    >>> decode_local_effect(Effect("Turn.halt", ("enough",)))
    Halt(reason='enough')
    """
    if effect.op not in LOCAL_EFFECTS:
        raise CommitRejectedError(problems.unknown_local_effect(effect.op))
    record, kinds = LOCAL_EFFECTS[effect.op]
    try:
        check_arguments(effect.op, kinds, effect.args)
    except OperationFailed as failure:
        raise CommitRejectedError(str(failure)) from failure
    return record(*effect.args)
