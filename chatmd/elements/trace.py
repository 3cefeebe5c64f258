"""The trace of tool calls (chatmd.md section 5.6)."""

from __future__ import annotations

import attrs

from chatmd.elements.content import Content, read_content
from chatmd.elements.message import HistoryEntry, read_identity, source_context
from chatmd.elements.reading import Reading, lenient
from chatmd.text.tree import Element

CUSTOM_CALL = "custom_tool_call"
"""The `type` that marks a custom tool call and its response."""


@attrs.frozen
class ToolCall(HistoryEntry):
    """A call that the model made; its arguments are the content."""

    function_name: str
    tool_call_id: str
    content: Content
    type: str | None = None
    id: str | None = None
    status: str | None = None


@attrs.frozen
class ToolResponse(HistoryEntry):
    """What a tool answered to a call."""

    tool_call_id: str
    content: Content = None
    type: str | None = None
    id: str | None = None
    name: str | None = None
    status: str | None = None


def read_tool_call(element: Element, reading: Reading) -> ToolCall:
    """A call. Raises `ChatmdError`: `chatmd.missing_attribute`, `_invalid_history_id`,
    `_tool_call_missing_content`.
    """
    given = lenient(element)
    name = reading.required(element, given, "function_name")
    call_id = reading.required(element, given, "tool_call_id")
    identity = read_identity(element, given, reading)
    content = read_content(element, reading)
    if content is None:
        raise reading.fault("chatmd.tool_call_missing_content", element.span, tag=element.tag)
    return ToolCall(
        name,
        call_id,
        content,
        given.get("type"),
        given.get("id"),
        given.get("status"),
        history_id=identity,
        source_context=source_context(given, reading),
        span=element.span,
        source_record=reading.record,
    )


def read_tool_response(element: Element, reading: Reading) -> ToolResponse:
    """A response. Raises `ChatmdError`: `chatmd.missing_attribute`, `chatmd.invalid_history_id`."""
    given = lenient(element)
    call_id = reading.required(element, given, "tool_call_id")
    identity = read_identity(element, given, reading)
    return ToolResponse(
        call_id,
        read_content(element, reading),
        given.get("type"),
        given.get("id"),
        given.get("name"),
        given.get("status"),
        history_id=identity,
        source_context=source_context(given, reading),
        span=element.span,
        source_record=reading.record,
    )
