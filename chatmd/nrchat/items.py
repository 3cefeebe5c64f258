"""Messages as provider items and back: the dicts of a Responses-style conversation.

One item is one message. Its kind is the role, its text is the body, and every other field is a member of the
meta:

| item `type` | role | name | body |
|---|---|---|---|
| `message` | the item's `role` | `name` | `content` |
| `function_call` | `function_call` | `name` | `arguments` |
| `custom_tool_call` | `custom_tool_call` | `name` | `input` |
| `function_call_output`, `custom_tool_call_output` | the type | `name` | `output` |
| `reasoning` | `reasoning` | `name` | `summary` |
| anything else, or an item that the rules above cannot tell apart | `item` | | the whole item as JSON5 |

A body is text in one of three forms. The usual one goes without saying; another is named by `format` in the
meta:

| `format` | the field is | usual for |
|---|---|---|
| `'string'` | the body | arguments, input, output |
| `'part'` | a list of one text part | content, summary |
| `'json5'` | the value that the body is the JSON5 of | |

The text part is an `output_text` for an assistant (with `annotations: []` when the item has an `id`), a
`summary_text` for reasoning, an `input_text` for all others.

`from_item` then `to_item` gives the same item, also through `stringify` and `parse`: a text that would not
survive there (a carriage return at a line end, an unclosed fence) is written as JSON5. Numbers beyond 2**53
become the nearest double.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from chatmd.nrchat.errors import Json5Error, WriteTypeError
from chatmd.nrchat.json5.compare import same_value
from chatmd.nrchat.json5.read import parse_json5
from chatmd.nrchat.json5.write import stringify_json5
from chatmd.nrchat.message import Message
from chatmd.nrchat.problems import losses, refusals

STRING, PART, JSON5 = "string", "part", "json5"
FORMATS = (STRING, PART, JSON5)
WHOLE = "item"


@attrs.frozen
class Kind:
    """How items of one type are written: the field that is the body, and its usual form."""

    body: str
    usual: str


KINDS = {
    "message": Kind("content", PART),
    "function_call": Kind("arguments", STRING),
    "custom_tool_call": Kind("input", STRING),
    "function_call_output": Kind("output", STRING),
    "custom_tool_call_output": Kind("output", STRING),
    "reasoning": Kind("summary", PART),
}
"""The types of items that have a role, a name and a body of their own."""


def to_item(message: Message) -> dict[str, Any]:
    """The provider item that a message stands for.

    Roles are not interpreted beyond the table above: `%meta` becomes a message of role `meta`. Members of the
    meta become fields of the item; a meta that would hide one of the item's own fields becomes its field
    `meta`.

    >>> to_item(Message("user", "Bob", body="hi"))
    {'type': 'message', 'role': 'user', 'name': 'Bob', 'content': [{'type': 'input_text', 'text': 'hi'}]}
    >>> to_item(Message("function_call", "get_weather", {"call_id": "c1"}, "{}"))
    {'type': 'function_call', 'name': 'get_weather', 'arguments': '{}', 'call_id': 'c1'}
    """
    whole = _whole_item(message)
    if whole is not None:
        return whole
    type_ = message.role if message.role in KINDS else "message"
    kind = KINDS[type_]
    item: dict[str, Any] = {"type": type_}
    if type_ == "message":
        item["role"] = message.role
    if message.name:
        item["name"] = message.name
    form, meta = _form(message, kind)
    item[kind.body] = None
    if meta is not None:
        item |= {"meta": meta} if _hides(meta, kind) else meta
    item[kind.body] = parse_json5(message.body) if form == JSON5 else _text_value(form, item, message.body)
    return item


def from_item(item: Mapping[str, Any]) -> Message:
    """The message that stands for a provider item; `to_item` gives the item back.

    An item without `type` that has a `role` is a message, and comes back with its type. Raises
    `WriteTypeError`, a `TypeError`, for values that have no JSON5 form.

    >>> output = from_item({"type": "function_call_output", "call_id": "c1", "output": "sunny"})
    >>> output.role, output.meta, output.body
    ('function_call_output', {'call_id': 'c1'}, 'sunny')
    >>> from_item({"type": "message", "role": "user", "content": "hi"}).meta
    {'format': 'string'}
    """
    if not isinstance(item, Mapping):
        raise WriteTypeError(f"an item is a mapping, not {type(item).__name__}")
    wanted = dict(item) if "type" in item or "role" not in item else {"type": "message", **item}
    for message in _candidates(wanted):
        if not refusals(message) and not any(losses(message)) and same_value(to_item(message), wanted):
            return message
    return Message(WHOLE, body=stringify_json5(wanted))


def _candidates(item: dict[str, Any]) -> Iterator[Message]:
    """Messages that may stand for an item, the plainest first. Whether one does is for `to_item` to say."""
    fields = dict(item)
    type_ = fields.pop("type", None)
    kind = KINDS.get(type_) if isinstance(type_, str) else None
    if kind is None or kind.body not in fields:
        return
    role = fields.pop("role", None) if type_ == "message" else type_
    name = fields.pop("name", None)
    value = fields.pop(kind.body)
    meta = fields or None
    if fields.keys() == {"meta"} and isinstance(fields["meta"], dict) and _hides(fields["meta"], kind):
        meta = fields["meta"]
    text = value if isinstance(value, str) else _text_of_part(value)
    if text is not None:
        form = STRING if isinstance(value, str) else PART
        yield Message(role, name, meta if form == kind.usual else {**(meta or {}), "format": form}, text)
    yield Message(role, name, {**(meta or {}), "format": JSON5}, stringify_json5(value))


def _whole_item(message: Message) -> dict[str, Any] | None:
    """The item that is written down whole in the body of a message, if it is such a message."""
    if message.role != WHOLE or message.name or message.meta is not None:
        return None
    try:
        item = parse_json5(message.body)
    except Json5Error:
        return None
    return item if isinstance(item, dict) else None


def _form(message: Message, kind: Kind) -> tuple[str, dict[str, Any] | None]:
    """The form of a message's body, and its meta without the member that names it."""
    meta = message.meta
    form = None if meta is None else meta.get("format")
    if meta is None or form not in FORMATS or form == kind.usual or (form == JSON5 and not _is_json5(message.body)):
        return kind.usual, meta
    return form, {key: value for key, value in meta.items() if key != "format"} or None


def _is_json5(text: str) -> bool:
    try:
        parse_json5(text)
    except Json5Error:
        return False
    return True


def _hides(meta: dict[str, Any], kind: Kind) -> bool:
    """Whether a meta cannot be spread over the fields of an item: it is empty, or would hide one."""
    return not meta or not meta.keys().isdisjoint({"type", "role", "name", "meta", kind.body})


def _text_value(form: str, item: dict[str, Any], text: str) -> Any:
    """A text as the value of an item's field."""
    if form == STRING:
        return text
    if item["type"] == "reasoning":
        return [{"type": "summary_text", "text": text}]
    if item.get("role") != "assistant":
        return [{"type": "input_text", "text": text}]
    part: dict[str, Any] = {"type": "output_text", "text": text}
    return [part | {"annotations": []} if "id" in item else part]


def _text_of_part(value: Any) -> str | None:
    """The text of a list of one part, if it is one."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        text = value[0].get("text")
        return text if isinstance(text, str) else None
    return None
