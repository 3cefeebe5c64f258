"""Items of a conversation: provider items as JSON, and the records that scripts see (runtime.md section 9.3).

`decode_item` is the border on the way out: whatever a script appends or puts in place of an entry must be an item
that a provider takes. The shapes are the table `SHAPES`; fields beyond those it names are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import attrs

from chatml.border.python import from_json, is_plain_json, to_json
from chatml.diagnostics.errors import BoundaryError
from chatml.values.model import Value
from chatml_runtime.moderation.fields import text_field
from chatml_runtime.moderation.identities import Json
from chatml_runtime.script.errors import ItemDecodeError, OperationFailed


@attrs.frozen
class Item:
    """An item as scripts know it: `id` is an entry's identity or a label of the script, `value` a provider item."""

    id: str
    value: Json

    def to_value(self) -> Value:
        """The record `{id; value}` of the script."""
        return {"id": text_field("item.id", self.id), "value": from_json(self.value)}

    @classmethod
    def from_value(cls, value: Value) -> Item:
        """The item that a script's record holds; `ItemDecodeError` if it is not such a record."""
        if type(value) is not dict:
            raise ItemDecodeError("item: expected a record with the fields `id` and `value`")
        for field in ("id", "value"):
            if field not in value:
                raise ItemDecodeError(f"item: missing field '{field}'")
        if type(value["id"]) is not str:
            raise ItemDecodeError("item.id: expected a string")
        try:
            return cls(value["id"], to_json(value["value"]))
        except ValueError as error:
            raise ItemDecodeError(f"item.value: {error}") from None


def check_json(what: str, item: Json) -> None:
    """Refuse, with `BoundaryError`, an item of a host that no script could be shown.

    It must not join a history: every later event would fail at it. The usual ones are text with half a character of
    two (X-01), NaN, and objects that are not JSON.

    >>> check_json("the item", {"type": "message", "role": "user", "content": "a\\ud83d"})
    Traceback (most recent call last):
    ...
    chatml.diagnostics.errors.BoundaryError: the item cannot join the history: the string holds the lone surrogate \
U+D83D at index 1
    """
    if not is_plain_json(item):
        try:
            from_json(item)
        except BoundaryError as error:
            raise BoundaryError(f"{what} cannot join the history: {error}") from None


class Mismatch(Exception):
    """Where an item departs from its shape, and what was expected there."""


Check: TypeAlias = Callable[[Json, str], None]
"""Takes a piece of an item and its path; raises `Mismatch` if it has not the expected shape."""


def check_text(value: Json, path: str) -> None:
    if not isinstance(value, str):
        raise Mismatch(f"{path}: expected a string")


def check_any(value: Json, path: str) -> None:
    """Takes everything."""


def check_array(value: Json, path: str) -> None:
    if not isinstance(value, list):
        raise Mismatch(f"{path}: expected an array")


def array_of(element: Check) -> Check:
    """The check of an array whose elements all pass a check."""

    def check(value: Json, path: str) -> None:
        check_array(value, path)
        for index, part in enumerate(value):
            element(part, f"{path}[{index}]")

    return check


@attrs.frozen
class Shape:
    """The shape of an object: the fields it must have, and those it may have; null stands for an absent one."""

    required: Mapping[str, Check]
    optional: Mapping[str, Check] = attrs.field(factory=dict)

    def __call__(self, value: Json, path: str) -> None:
        if not isinstance(value, dict):
            raise Mismatch(f"{path or 'the item'}: expected an object")
        for field, check in self.required.items():
            if field not in value:
                raise Mismatch(f"{joined(path, field)}: the field is missing")
            check(value[field], joined(path, field))
        for field, check in self.optional.items():
            if value.get(field) is not None:
                check(value[field], joined(path, field))


def joined(path: str, field: str) -> str:
    return f"{path}.{field}" if path else field


def check_input_part(value: Json, path: str) -> None:
    """A part of a message: a string, or a text or image object."""
    if not isinstance(value, str):
        one_of_parts(MESSAGE_PARTS, value, path)


def check_output_part(value: Json, path: str) -> None:
    """A part of a tool's output: a text or image object."""
    one_of_parts(OUTPUT_PARTS, value, path)


def one_of_parts(parts: Mapping[str, Shape], value: Json, path: str) -> None:
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in parts:
        raise Mismatch(f"{path}: expected an object of type {' or '.join(parts)}")
    parts[kind](value, path)


def text_or(array: Check) -> Check:
    """The check of a string or an array."""

    def check(value: Json, path: str) -> None:
        if isinstance(value, str):
            return
        if not isinstance(value, list):
            raise Mismatch(f"{path}: expected a string or an array")
        array(value, path)

    return check


TEXT_PART = Shape({"type": check_text, "text": check_text})
MESSAGE_PARTS = {
    "input_text": TEXT_PART,
    "input_image": Shape({"image_url": check_text, "detail": check_text}),
}
OUTPUT_PARTS = {
    "input_text": TEXT_PART,
    "input_image": Shape({"image_url": check_text}, {"detail": check_text}),
}
ANNOTATED = Shape({"type": check_text, "text": check_text, "annotations": check_array})
INPUT_MESSAGE = Shape({"role": check_text, "content": text_or(array_of(check_input_part))})
ASSISTANT_MESSAGE = Shape(
    {"role": check_text, "id": check_text, "status": check_text, "content": array_of(ANNOTATED)},
    {"phase": check_text},
)
TOOL_OUTPUT = Shape(
    {"call_id": check_text, "output": text_or(array_of(check_output_part))},
    {"id": check_text, "status": check_text},
)

SHAPES: Mapping[str, Shape] = {
    "function_call": Shape(
        {"name": check_text, "arguments": check_text, "call_id": check_text},
        {"id": check_text, "status": check_text},
    ),
    "custom_tool_call": Shape({"name": check_text, "input": check_text, "call_id": check_text}, {"id": check_text}),
    "function_call_output": TOOL_OUTPUT,
    "custom_tool_call_output": TOOL_OUTPUT,
    "reasoning": Shape({"id": check_text, "summary": array_of(TEXT_PART)}, {"status": check_text}),
    "web_search_call": Shape({"id": check_text, "status": check_text}),
    "file_search_call": Shape({"id": check_text, "status": check_text, "queries": check_any, "results": check_any}),
}
"""The items that are no messages, by their `type`."""

INPUT_ROLES = ("user", "system", "developer")


def decode_item(item: Item) -> Json:
    """The provider item that an item of a script stands for; `ItemDecodeError` names the item and what is wrong.

    An assistant message built like an input message is completed: `id` is the script's, `status` `completed`,
    every text part an `output_text` with annotations.

    >>> decode_item(Item("a1", {"type": "message", "role": "assistant", "content": "hi"}))["status"]
    'completed'
    >>> decode_item(Item("x", {"type": "message", "role": "tool", "content": "hi"}))
    Traceback (most recent call last):
    ...
    chatml_runtime.script.errors.ItemDecodeError: the item "x" is not a provider item: role: expected one of user, \
system, developer, assistant, not "tool"
    """
    try:
        return decoded(item)
    except Mismatch as mismatch:
        raise ItemDecodeError(f'the item "{item.id}" is not a provider item: {mismatch}') from None


DEEPEST = 200
"""No item nests deeper: Python's `json`, which stores and sends them, gives up not far beyond."""


def check_depth(value: Json) -> None:
    """Refuse what no store and no provider could be given."""
    level: list[Json] = [value]
    for _ in range(DEEPEST):
        nested = (part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list))
        level = [part for parts in nested for part in parts]
        if not level:
            return
    raise Mismatch(f"it nests deeper than {DEEPEST} levels, so it could not be stored or sent")


def decoded(item: Item) -> Json:
    value = item.value
    check_depth(value)
    Shape({"type": check_text})(value, "")
    kind = value["type"]
    if kind != "message":
        if kind not in SHAPES:
            raise Mismatch(f'type: unknown type "{kind}"')
        SHAPES[kind](value, "")
        return value
    role = value.get("role")
    if role in INPUT_ROLES:
        INPUT_MESSAGE(value, "")
        return value
    if role == "assistant":
        completed = {**value, **assistant_fields(item.id, value)}
        ASSISTANT_MESSAGE(completed, "")
        return completed
    named = "" if role is None else f', not "{role}"'
    raise Mismatch(f"role: expected one of {', '.join(INPUT_ROLES)}, assistant{named}")


def assistant_fields(script_id: str, value: Mapping[str, Json]) -> dict[str, Json]:
    """The fields that complete an assistant message."""
    content = value.get("content")
    parts = [content] if isinstance(content, str) else content
    return {
        "id": script_id if value.get("id") is None else value["id"],
        "status": "completed" if value.get("status") is None else value["status"],
        "content": [complete_part(part) for part in parts] if isinstance(parts, list) else parts,
    }


def complete_part(part: Json) -> Json:
    """A text part as the provider writes it; anything else unchanged."""
    if isinstance(part, str):
        return {"type": "output_text", "text": part, "annotations": []}
    if isinstance(part, dict) and part.get("type") in ("input_text", "output_text"):
        return {"annotations": [], **part, "type": "output_text"}
    return part


def instruction(text: str) -> Json:
    """The message of an instruction that a script prepends: role `developer` (X-09)."""
    return {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": text}]}


def json_argument(op: str, value: Value) -> Json:
    """An argument of an operation as plain data; `OperationFailed` names the operation if it is not JSON."""
    try:
        return to_json(value)
    except ValueError as error:
        raise OperationFailed(f"{op}: {error}") from None
