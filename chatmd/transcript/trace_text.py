"""Items of a conversation as blocks of a transcript (chatmd.md sections 14.2 to 14.5 and 16.3).

Each block ends with a line feed. Loading and converting a block gives an equal item back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from chatmd.elements import history_id
from chatmd.elements.history_id import HistoryId
from chatmd.elements.reasoning import SUMMARY_TEXT
from chatmd.elements.trace import CUSTOM_CALL
from chatmd.request.convert import CUSTOM_OUTPUT
from chatmd.text import markup
from chatmd.text.markup import Written

ItemDict = Mapping[str, Any]
Attributes = list[tuple[str, Written]]
TEXT_PARTS = frozenset(["input_text", "output_text", "text", "summary_text"])


class UnknownItemError(ValueError):
    """An item that no element can hold."""


def block(item: ItemDict, identity: HistoryId | None = None) -> str:
    """One item as an element (section 16.3). Raises `UnknownItemError` for an item of no known shape.

    >>> print(block({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}), end="")
    <msg role="user">
    RAW|
    Hi
    |RAW
    </msg>
    """
    write = BLOCKS.get(item.get("type", "message"))
    if write is None:
        raise UnknownItemError(f"items of type {item.get('type')!r} cannot be written")
    mark: Attributes = [(history_id.ATTRIBUTE, None if identity is None else str(identity))]
    try:
        return write(item, mark) + "\n"
    except (KeyError, TypeError, AttributeError) as error:
        raise UnknownItemError(f"an item of type {item.get('type')!r} is not complete: {error}") from None


def flatten_output(output: str | list[ItemDict]) -> str:
    """The output of a tool as one text: images as tags, parts joined by line feeds (section 14.4)."""
    if isinstance(output, str):
        return output
    return "\n".join(
        f'<img src="{part["image_url"]}" />' if part["type"] == "input_image" else str(part["text"]) for part in output
    )


def message_text(item: ItemDict) -> str:
    """The text of a message: its parts joined by a space."""
    content = item["content"]
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text", part.get("refusal", ""))) for part in content)


def _message(item: ItemDict, mark: Attributes) -> str:
    role = str(item["role"])
    if role == "assistant" and item.get("id") is not None:
        given: Attributes = [("id", item["id"]), ("status", item.get("status")), ("phase", item.get("phase"))]
        return markup.element("assistant", [*given, *mark], markup.framed(message_text(item)))
    content = item["content"]
    parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else list(content)
    # A `<msg>` of the assistant is always output, so what went in as input keeps the shorthand tag.
    tag = "assistant" if role == "assistant" else "msg"
    attributes: Attributes = [*([] if tag == "assistant" else [("role", role)]), *mark]
    return markup.element(tag, attributes, _body(parts)) if parts else markup.empty(tag, attributes)


def _body(parts: list[ItemDict]) -> str:
    """The parts of a message: a text in its frame, or texts and images without anything between them."""
    if all(part["type"] in TEXT_PARTS for part in parts):
        return markup.framed("".join(str(part["text"]) for part in parts))
    return "".join(_part(part) for part in parts)


def _part(part: ItemDict) -> str:
    if part["type"] == "input_image":
        return markup.empty("img", [("src", str(part["image_url"]))])
    return markup.raw(str(part["text"]))


def _call(item: ItemDict, mark: Attributes) -> str:
    custom = item["type"] == CUSTOM_CALL
    given: Attributes = [
        ("type", CUSTOM_CALL if custom else None),
        ("function_name", item["name"]),
        ("tool_call_id", item["call_id"]),
        ("id", item.get("id")),
        *mark,
    ]
    return markup.element("tool_call", given, markup.framed(item["input" if custom else "arguments"]))


def _output(item: ItemDict, mark: Attributes) -> str:
    custom = item["type"] == CUSTOM_OUTPUT
    given: Attributes = [("type", CUSTOM_CALL if custom else None), ("tool_call_id", item["call_id"]), *mark]
    output = item["output"]
    if not isinstance(output, str) and any(part["type"] == "input_image" for part in output):
        return markup.element("tool_response", given, _body(list(output)))
    return markup.element("tool_response", given, markup.framed(flatten_output(output)))


def _reasoning(item: ItemDict, mark: Attributes) -> str:
    summaries = []
    for summary in item.get("summary") or ():
        kind = summary.get("type", SUMMARY_TEXT)
        written: Attributes = [("type", None if kind == SUMMARY_TEXT else kind)]
        summaries.append(markup.element("summary", written, markup.raw(str(summary["text"]))))
    given: Attributes = [("id", item["id"]), ("status", item.get("status")), *mark]
    return markup.element("reasoning", given, "".join(summaries))


def _search(name: str) -> Callable[[ItemDict, Attributes], str]:
    def write(item: ItemDict, mark: Attributes) -> str:
        return markup.element("msg", [("role", "assistant"), ("id", item["id"]), *mark], name)

    return write


BLOCKS: dict[str, Callable[[ItemDict, Attributes], str]] = {
    "message": _message,
    "function_call": _call,
    CUSTOM_CALL: _call,
    "function_call_output": _output,
    CUSTOM_OUTPUT: _output,
    "reasoning": _reasoning,
    "web_search_call": _search("web_search"),
    "file_search_call": _search("file_search"),
}
"""How each type of item is written."""
