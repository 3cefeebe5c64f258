"""What a host and a moderator talk about: phases, events, contexts, tools (runtime.md section 9).

Everything here is a frozen record of plain data; `to_value` gives the form that scripts see.
"""

from __future__ import annotations

import enum
from typing import ClassVar, TypeAlias

import attrs

from chatml.border.python import from_json
from chatml.builtins.json_reader import read
from chatml.diagnostics.errors import BoundaryError
from chatml.values.model import Value
from chatml_runtime.moderation.fields import int_field, text_field
from chatml_runtime.moderation.identities import Json
from chatml_runtime.moderation.items import Item


class Phase(enum.StrEnum):
    """Where in the conversation an event happens (section 9.1). The value is what `context.phase` says."""

    SESSION_START = "session_start"
    SESSION_RESUME = "session_resume"
    TURN_START = "turn_start"
    MESSAGE_APPENDED = "message_appended"
    PRE_TOOL_CALL = "pre_tool_call"
    POST_TOOL_RESPONSE = "post_tool_response"
    TURN_END = "turn_end"
    INTERNAL_EVENT = "internal_event"

    @classmethod
    def _missing_(cls, value: object) -> Phase:
        raise BoundaryError(f'unknown moderation phase "{value}"; the phases are {", ".join(cls)}')


@attrs.frozen
class ToolDesc:
    """A tool that the next model request offers; `input_schema` is plain data and not to be changed in place."""

    name: str
    description: str = ""
    input_schema: Json = None

    def to_value(self) -> Value:
        """The record `tool_desc` of the script."""
        return {
            "name": text_field("tool_desc.name", self.name),
            "description": text_field("tool_desc.description", self.description),
            "input_schema": from_json(self.input_schema),
        }


class ToolKind(enum.Enum):
    """The two kinds of call: `function` takes JSON arguments, `custom` takes text."""

    FUNCTION = "function"
    CUSTOM = "custom"


@attrs.frozen
class ToolCall:
    """A call under review. `id` is the provider's call id, `payload` the text of the arguments, `args` their data.

    `repeated_payload` is what the model wrote, if that repeats a key: scripts see all its entries (X-53).
    """

    id: str
    name: str
    args: Json
    kind: ToolKind = ToolKind.FUNCTION
    payload: str = ""
    item_id: str | None = None
    repeated_payload: str | None = None

    def to_value(self) -> Value:
        """The record `tool_call` of the script."""
        return {
            "id": text_field("tool_call.id", self.id),
            "name": text_field("tool_call.name", self.name),
            "args": from_json(self.args) if self.repeated_payload is None else read(self.repeated_payload),
        }


@attrs.frozen
class ToolResult:
    """What a tool answered; `name` is the tool that ran, also after a redirect."""

    call_id: str
    name: str
    result: Json
    kind: ToolKind = ToolKind.FUNCTION
    raw_output: str | None = None

    def to_value(self) -> Value:
        """The record `tool_result` of the script."""
        return {
            "call_id": text_field("tool_result.call_id", self.call_id),
            "name": text_field("tool_result.name", self.name),
            "result": from_json(self.result),
        }


@attrs.frozen
class ModerationContext:
    """What a script is told besides the event (section 9.2). `items` is the canonical history, not the overlay's."""

    session_id: str
    now_ms: int
    phase: Phase
    items: tuple[Item, ...] = ()
    available_tools: tuple[ToolDesc, ...] = ()
    session_meta: Json = None

    def to_value(self) -> Value:
        """The record `context` of the script."""
        return {
            "session_id": text_field("context.session_id", self.session_id),
            "now_ms": int_field("context.now_ms", self.now_ms),
            "phase": self.phase.value,
            "items": [item.to_value() for item in self.items],
            "available_tools": [tool.to_value() for tool in self.available_tools],
            "session_meta": from_json(self.session_meta),
        }


@attrs.frozen
class SessionStart:
    """The first start of a moderated conversation."""

    phase: ClassVar[Phase] = Phase.SESSION_START

    def to_value(self) -> Value:
        return ("Session_start",)


@attrs.frozen
class SessionResume:
    """The start from a stored snapshot."""

    phase: ClassVar[Phase] = Phase.SESSION_RESUME

    def to_value(self) -> Value:
        return ("Session_resume",)


@attrs.frozen
class TurnStart:
    """Before each model request."""

    phase: ClassVar[Phase] = Phase.TURN_START

    def to_value(self) -> Value:
        return ("Turn_start",)


@attrs.frozen
class ItemAppended:
    """After an entry joined the canonical history."""

    item: Item
    phase: ClassVar[Phase] = Phase.MESSAGE_APPENDED

    def to_value(self) -> Value:
        return ("Item_appended", self.item.to_value())


@attrs.frozen
class PreToolCall:
    """Before a tool runs; the only event whose handler may decide about a call."""

    call: ToolCall
    phase: ClassVar[Phase] = Phase.PRE_TOOL_CALL

    def to_value(self) -> Value:
        return ("Pre_tool_call", self.call.to_value())


@attrs.frozen
class PostToolResponse:
    """After a tool's output exists."""

    result: ToolResult
    phase: ClassVar[Phase] = Phase.POST_TOOL_RESPONSE

    def to_value(self) -> Value:
        return ("Post_tool_response", self.result.to_value())


@attrs.frozen
class TurnEnd:
    """After each model response and its tool calls."""

    phase: ClassVar[Phase] = Phase.TURN_END

    def to_value(self) -> Value:
        return ("Turn_end",)


@attrs.frozen
class InternalEvent:
    """A value of the session's own queue, delivered as it is."""

    value: Value
    phase: ClassVar[Phase] = Phase.INTERNAL_EVENT

    def to_value(self) -> Value:
        return self.value


Event: TypeAlias = (
    SessionStart | SessionResume | TurnStart | ItemAppended | PreToolCall | PostToolResponse | TurnEnd | InternalEvent
)
