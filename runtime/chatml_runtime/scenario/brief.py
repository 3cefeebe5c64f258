"""Values in short, for people: items by who says what, JSON as JSON, calls as a tool and its arguments."""

from __future__ import annotations

from collections.abc import Sequence

from chatml.border.python import to_json
from chatml.builtins import json_writer
from chatml.diagnostics.errors import BoundaryError
from chatml.values.model import BuiltinFailure, Value
from chatml.values.text import show
from chatml_runtime.moderation.identities import Json

JSON_TAGS = ("Null", "Bool", "Number", "String", "Array", "Object")


def brief_event(event: Value) -> str:
    """An event in short: what it carries, if it is one of the standard events with a content.

    >>> brief_event(("Pre_tool_call", {"id": "c1", "name": "read", "args": ("Null",)}))
    'read null'
    """
    match event:
        case ("Session_start" | "Session_resume" | "Turn_start" | "Turn_end",):
            return ""
        case ("Item_appended", item):
            return brief(item)
        case ("Pre_tool_call", {"name": str(name), "args": args}):
            return f"{name} {brief(args)}"
        case ("Post_tool_response", {"name": str(name), "result": result}):
            return f"{name} gave {brief(result)}"
    return value_text(event)


def brief_effect(op: str, args: Sequence[Value]) -> str:
    """An effect in short, as a script would call it."""
    return f"{op}({', '.join(brief(arg) for arg in args)})"


def brief(value: Value) -> str:
    """A value in short."""
    match value:
        case {"id": str(), "value": (tag, *_) as payload} if len(value) == 2 and tag in JSON_TAGS:
            return brief_item(payload)
        case (tag, *_) if type(value) is tuple and tag in JSON_TAGS:
            return json_text(value)
        case str():
            return f'"{value}"'
    return value_text(value)


def brief_item(payload: Value) -> str:
    try:
        item = to_json(payload)
    except BoundaryError:
        return value_text(payload)
    return item_line(item) if isinstance(item, dict) else json_text(payload)


def item_line(item: dict[str, Json]) -> str:
    """A provider item in one line: who says what."""
    kind = item.get("type")
    if kind == "message":
        return f"{item.get('role')}: {parts_text(item.get('content'))}"
    if kind in ("function_call", "custom_tool_call"):
        return f"call {item.get('name')} {item.get('arguments', item.get('input'))}"
    if kind in ("function_call_output", "custom_tool_call_output"):
        return f"output: {parts_text(item.get('output'))}"
    return f"{kind}: {parts_text(item.get('summary'))}"


def parts_text(content: Json) -> str:
    """The texts of a message or an output, however packaged; other parts by their type."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return " ".join(part_text(part) for part in content)


def part_text(part: Json) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return "?"
    text = part.get("text")
    return text if isinstance(text, str) else f"[{part.get('type')}]"


def json_text(value: Value) -> str:
    try:
        return json_writer.write(value)
    except BuiltinFailure:
        return value_text(value)


def value_text(value: Value) -> str:
    """The text of a value, also of one that has none because it contains itself or is too large."""
    try:
        return show(value)
    except BuiltinFailure as failure:
        return f"<{failure.message}>"
