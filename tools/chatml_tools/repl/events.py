"""Events as a person types them: a phase, the JSON5 of a scenario's event, or a ChatML value."""

from __future__ import annotations

from collections.abc import Sequence

from chatml.source import Source
from chatml.surfaces.moderator import EVENTS
from chatml_runtime.moderation.vocabulary import InternalEvent
from chatml_runtime.scenario import read_scenario
from chatml_runtime.scenario.data import read_data
from chatml_runtime.scenario.model import Deliver, Line
from chatml_tools.console import UsageError

NAME = "<event>"
CONTENT = {
    "Item_appended": "{ phase: 'message_appended', item: { … } }",
    "Pre_tool_call": "{ phase: 'pre_tool_call', call: { id: …, name: …, args: … } }",
    "Post_tool_response": "{ phase: 'post_tool_response', result: { call_id: …, name: …, result: … } }",
}
"""How the standard events with a content are written."""


def read_event(text: str) -> Sequence[Line]:
    """The events that a text stands for. `CompileError` with the place of what is wrong.

    >>> [type(line.event).__name__ for word in ("turn_start", "`Turn_start", "`Tick(1)") for line in read_event(word)]
    ['TurnStart', 'TurnStart', 'InternalEvent']
    """
    if text.startswith("`"):
        value = read_data(Source(NAME, text))
        tag = value[0]
        if tag in CONTENT:
            raise UsageError(f"`{tag} is made by the host: write `:event {CONTENT[tag]}`")
        return (Deliver(InternalEvent(value)),) if tag not in EVENTS else phase(tag.lower())
    return phase(text) if text.isidentifier() else read_scenario(Source(NAME, text)).events


def phase(name: str) -> Sequence[Line]:
    return read_scenario(Source(NAME, f"{{ phase: '{name}' }}")).events
