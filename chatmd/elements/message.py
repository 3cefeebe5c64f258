"""Messages (chatmd.md section 5.5)."""

from __future__ import annotations

from typing import Literal

import attrs

from chatmd.elements import history_id
from chatmd.elements.content import Content, read_content
from chatmd.elements.history_id import HistoryId
from chatmd.elements.reading import Placed, Reading, lenient
from chatmd.text.attributes import places
from chatmd.text.tree import Element

MessageKind = Literal["msg", "user", "assistant", "system", "developer"]
SHORTHANDS: dict[str, MessageKind] = {
    "msg": "msg",
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "developer",
}


@attrs.frozen(kw_only=True)
class HistoryEntry(Placed):
    """A part of the conversation: it may carry an identity, and knows the label of the file it stands in.

    `source_context` is `ochat-source-context` where that is written, else the label of the declaring file.
    """

    history_id: HistoryId | None = None
    source_context: str | None = attrs.field(default=None, eq=False)


@attrs.frozen
class LegacyCall:
    """The tool call that an old `<msg tool_call ...>` holds."""

    name: str
    call_id: str


@attrs.frozen
class Message(HistoryEntry):
    """A message: `kind` is its tag, `role` what the tag says, or the attribute of a `<msg>` as written."""

    kind: MessageKind
    role: str
    content: Content = None
    type: str | None = None
    name: str | None = None
    id: str | None = None
    status: str | None = None
    phase: str | None = None
    tool_call_id: str | None = None
    legacy_call: LegacyCall | None = None


def read_message(element: Element, reading: Reading) -> Message:
    """A message of any of the five tags.

    Raises `ChatmdError`: `chatmd.missing_attribute`, `chatmd.invalid_history_id`, and for an old tool call
    without content `chatmd.tool_call_missing_content`.
    """
    given = lenient(element)
    kind = SHORTHANDS[element.tag]
    role = reading.required(element, given, "role", empty=True) if kind == "msg" else kind
    identity = read_identity(element, given, reading)
    legacy = None
    if kind == "msg" and "tool_call" in given:
        name = reading.required(element, given, "function_name")
        legacy = LegacyCall(name, reading.required(element, given, "tool_call_id"))
    content = read_content(element, reading)
    if legacy is not None and not content:
        raise reading.fault("chatmd.tool_call_missing_content", element.span, tag=element.tag)
    return Message(
        kind,
        role,
        content,
        given.get("type"),
        given.get("name"),
        given.get("id"),
        given.get("status"),
        given.get("phase"),
        given.get("tool_call_id"),
        legacy,
        history_id=identity,
        source_context=source_context(given, reading),
        span=element.span,
        source_record=reading.record,
    )


def read_identity(element: Element, given: dict[str, str], reading: Reading) -> HistoryId | None:
    """The history identity of an element: absent, or written once and in canonical form."""
    if history_id.ATTRIBUTE not in given:
        return None
    found = [
        place for (name, _), place in zip(element.attrs, places(element), strict=True) if name == history_id.ATTRIBUTE
    ]
    written = given[history_id.ATTRIBUTE]
    identity = HistoryId.parse(written)
    if len(found) > 1 or identity is None:
        why = "it is given twice" if len(found) > 1 else f"`{written}` is not in the canonical form"
        span = found[-1].value or found[-1].name
        raise reading.fault("chatmd.invalid_history_id", span, value=written, why=why)
    return identity


def source_context(given: dict[str, str], reading: Reading) -> str:
    """The label that an entry says it came from, else that of its file."""
    return given.get("ochat-source-context", reading.record.file)
