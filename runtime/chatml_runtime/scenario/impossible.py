"""Events of a scenario that no host would deliver: a policy that is right about them is right about nothing real.

Hosts tell a script of an item (`message_appended`) while a turn is under way: of what the model says, of outputs, of
what the user adds meanwhile. A submission has no event of its own (runtime.md section 13.3).
"""

from __future__ import annotations

from collections.abc import Iterator

from chatml.diagnostics.model import Diagnostic
from chatml_runtime.moderation.vocabulary import Phase
from chatml_runtime.scenario.document import Node, show_path

CODE = "scenario.impossible_event"
OPENING = {Phase.TURN_START.value, Phase.PRE_TOOL_CALL.value, Phase.POST_TOOL_RESPONSE.value}
"""The phases that happen only while a turn is under way."""


def impossible_events(events: Node) -> tuple[Diagnostic, ...]:
    """A warning for each `message_appended` where no turn can be under way; `events` have been read already."""
    return tuple(find(events))


def find(events: Node) -> Iterator[Diagnostic]:
    in_turn = False
    for node in [events.at(index) for index in range(len(events.data))] if isinstance(events.data, list) else [events]:
        line = node.data
        phase = line.get("phase")
        if phase in OPENING or "user" in line or "model" in line:
            in_turn = True
        elif phase == Phase.TURN_END.value:
            in_turn = False
        elif phase == Phase.MESSAGE_APPENDED.value and not in_turn:
            yield warning(node)


def warning(node: Node) -> Diagnostic:
    place = show_path(node.path)
    item = node.data["item"]
    of_user = item.get("role") == "user"
    what = "the user has said outside of a turn" if of_user else "an item outside of a turn"
    return Diagnostic(
        CODE,
        f"{place + ': ' if place else ''}no host tells a script of what {what} with this event"
        if of_user
        else f"{place + ': ' if place else ''}no host tells a script of {what}",
        node.document.span_of(node.path),
        severity="warning",
        help="write { user: '…' } for what the user submits: the script finds it in `ctx.items` at `Turn_start`"
        if of_user
        else "begin a turn before it, with { user: '…' } and { model: [ … ] }, or with { phase: 'turn_start' }",
    )
