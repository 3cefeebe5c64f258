"""What one committed handler run asks of its host, sorted by kind (runtime.md sections 9.5 to 9.8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import attrs

from chatml.border.python import to_json
from chatml.values.model import Value
from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.items import Item
from chatml_runtime.script import effects
from chatml_runtime.script.effects import (
    LOCAL_EFFECTS,
    Approve,
    Effect,
    EndSession,
    Halt,
    Reject,
    RequestCompaction,
    RequestTurn,
    decode_local_effect,
)
from chatml_runtime.script.errors import CommitRejectedError, ToolDecisionConflictError


@attrs.frozen
class PrependInstruction:
    """An instruction message before the history."""

    text: str


@attrs.frozen
class AppendItem:
    """An item after the history."""

    item: Item


@attrs.frozen
class ReplaceItem:
    """An item in place of an entry, which keeps its identity."""

    target_id: str
    item: Item


@attrs.frozen
class DeleteItem:
    """An entry that the model no longer sees."""

    target_id: str


OverlayOp: TypeAlias = PrependInstruction | AppendItem | ReplaceItem | DeleteItem | Halt


@attrs.frozen
class RewriteArgs:
    """The call under review runs with these arguments."""

    args: Json


@attrs.frozen
class Redirect:
    """Another tool runs, with these arguments."""

    name: str
    args: Json


ToolDecision: TypeAlias = Approve | Reject | RewriteArgs | Redirect
RuntimeRequest: TypeAlias = RequestCompaction | RequestTurn | EndSession


@attrs.frozen
class Outcome:
    """The effects of one commit by kind, each kind in the order of execution."""

    overlay_ops: tuple[OverlayOp, ...] = ()
    tool_decision: ToolDecision | None = None
    ui_notifications: tuple[str, ...] = ()
    runtime_requests: tuple[RuntimeRequest, ...] = ()
    emitted_events: tuple[Value, ...] = ()
    custom_effects: tuple[Effect, ...] = ()

    @classmethod
    def from_effects(cls, committed: Sequence[Effect]) -> Outcome:
        """Sort the local effects of a run.

        `ToolDecisionConflictError` for a second tool decision, `ItemDecodeError` for an item that is not a record of
        an item, `CommitRejectedError` for arguments of a tool that are not JSON.

        >>> Outcome.from_effects([Effect("Ui.notify", ("hello",))]).ui_notifications
        ('hello',)
        """
        if not committed:
            return EMPTY
        overlay_ops: list[OverlayOp] = []
        decisions: list[ToolDecision] = []
        notifications: list[str] = []
        requests: list[RuntimeRequest] = []
        emitted: list[Value] = []
        custom: list[Effect] = []
        for effect in committed:
            if effect.op not in LOCAL_EFFECTS:
                custom.append(effect)
                continue
            match decode_local_effect(effect):
                case effects.PrependSystem(text=text):
                    overlay_ops.append(PrependInstruction(text))
                case effects.AppendMessage(item=item):
                    overlay_ops.append(AppendItem(Item.from_value(item)))
                case effects.ReplaceMessage(target_id=target, item=item):
                    overlay_ops.append(ReplaceItem(target, Item.from_value(item)))
                case effects.DeleteMessage(target_id=target):
                    overlay_ops.append(DeleteItem(target))
                case Halt() as halt:
                    overlay_ops.append(halt)
                case Approve() | Reject() as decision:
                    decisions.append(decision)
                case effects.RewriteCall(args=args):
                    decisions.append(RewriteArgs(plain(effect.op, args)))
                case effects.RedirectCall(name=name, args=args):
                    decisions.append(Redirect(name, plain(effect.op, args)))
                case effects.Notify(text=text):
                    notifications.append(text)
                case effects.Emit(event=event):
                    emitted.append(event)
                case (RequestCompaction() | RequestTurn() | EndSession()) as request:
                    requests.append(request)
        if len(decisions) > 1:
            raise ToolDecisionConflictError(
                f"at most one tool decision is expected for one event, and this run made {len(decisions)}: "
                f"{', '.join(DECISION_NAMES[type(decision)] for decision in decisions)}"
            )
        return cls(
            tuple(overlay_ops),
            decisions[0] if decisions else None,
            tuple(notifications),
            tuple(requests),
            tuple(emitted),
            tuple(custom),
        )


EMPTY = Outcome()

DECISION_NAMES = {Approve: "approve", Reject: "reject", RewriteArgs: "rewrite_args", Redirect: "redirect"}


def plain(op: str, value: Value) -> Json:
    """The arguments of a tool as plain data; `CommitRejectedError` names the operation if they are not JSON."""
    try:
        return to_json(value)
    except ValueError as error:
        raise CommitRejectedError(f"{op}: {error}") from None
