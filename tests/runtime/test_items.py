"""Items: the shapes that providers take, and the completion of assistant messages (runtime.md section 9.3)."""

from __future__ import annotations

from typing import Any

import pytest

from chatml.border.python import from_json, to_json
from chatml_runtime.moderation.items import SHAPES, Item, decode_item, instruction
from chatml_runtime.script.errors import ItemDecodeError

ANNOTATED = {"type": "output_text", "text": "hi", "annotations": []}

GOOD: list[dict[str, Any]] = [
    {"type": "message", "role": "user", "content": "hi"},
    {"type": "message", "role": "system", "content": ["a", {"type": "input_text", "text": "b"}]},
    {
        "type": "message",
        "role": "developer",
        "content": [{"type": "input_image", "image_url": "u", "detail": "auto"}],
        "extra": {"kept": True},
    },
    {"type": "message", "role": "assistant", "id": "m", "status": "completed", "content": [ANNOTATED]},
    {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c", "id": None, "status": "done"},
    {"type": "custom_tool_call", "name": "f", "input": "x", "call_id": "c", "id": "i"},
    {"type": "function_call_output", "call_id": "c", "output": "x"},
    {"type": "custom_tool_call_output", "call_id": "c", "output": [{"type": "input_image", "image_url": "u"}]},
    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "s"}]},
    {"type": "web_search_call", "id": "w", "status": "done"},
    {"type": "file_search_call", "id": "w", "status": "done", "queries": ["q"], "results": None},
]


@pytest.mark.parametrize("value", GOOD, ids=lambda value: value.get("role", value["type"]))
def test_provider_items_pass_unchanged(value: dict[str, Any]) -> None:
    assert decode_item(Item("i", value)) == value
    assert to_json(from_json(value)) == value


@pytest.mark.parametrize(
    ("value", "fact"),
    [
        (None, "the item: expected an object"),
        ([1], "the item: expected an object"),
        ({}, "type: the field is missing"),
        ({"type": 1}, "type: expected a string"),
        ({"type": "poem"}, 'unknown type "poem"'),
        ({"type": "message"}, "role: expected one of user, system, developer, assistant"),
        ({"type": "message", "role": "tool", "content": "x"}, 'not "tool"'),
        ({"type": "message", "role": ["x"], "content": "x"}, "role: expected one of"),
        ({"type": "message", "role": "user"}, "content: the field is missing"),
        ({"type": "message", "role": "user", "content": 1}, "content: expected a string or an array"),
        ({"type": "message", "role": "user", "content": [1]}, r"content\[0\]: expected an object of type"),
        (
            {"type": "message", "role": "user", "content": ["a", {"type": "input_text"}]},
            r"content\[1\].text: the field is missing",
        ),
        (
            {"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": "u"}]},
            r"content\[0\].detail: the field is missing",
        ),
        ({"type": "message", "role": "assistant", "content": 3}, "content: expected an array"),
        (
            {"type": "message", "role": "assistant", "content": [{"type": "input_image", "image_url": "u"}]},
            r"content\[0\].text: the field is missing",
        ),
        ({"type": "message", "role": "assistant", "content": "x", "id": 7}, "id: expected a string"),
        ({"type": "function_call", "name": "f", "call_id": "c"}, "arguments: the field is missing"),
        ({"type": "function_call_output", "call_id": "c", "output": {}}, "output: expected a string or an array"),
        ({"type": "reasoning", "id": "r", "summary": ["s"]}, r"summary\[0\]: expected an object"),
    ],
)
def test_other_items_are_refused_with_the_place(value: Any, fact: str) -> None:
    with pytest.raises(ItemDecodeError, match=fact) as caught:
        decode_item(Item("x1", value))
    assert '"x1"' in str(caught.value)


@pytest.mark.parametrize("kind", SHAPES)
def test_every_required_field_is_required(kind: str) -> None:
    good = next(value for value in GOOD if value["type"] == kind)
    for field in SHAPES[kind].required:
        with pytest.raises(ItemDecodeError, match=f"{field}: the field is missing"):
            decode_item(Item("x", {key: part for key, part in good.items() if key != field}))


@pytest.mark.parametrize(
    "content",
    ["hi", ["hi"], [{"type": "input_text", "text": "hi"}], [{"type": "output_text", "text": "hi"}], [ANNOTATED]],
)
def test_assistant_messages_are_completed(content: Any) -> None:
    value = {"type": "message", "role": "assistant", "content": content}
    completed = {**value, "id": "lab", "status": "completed", "content": [ANNOTATED]}
    assert decode_item(Item("lab", value)) == completed


def test_what_an_assistant_message_says_of_itself_is_kept() -> None:
    value = {"type": "message", "role": "assistant", "id": "own", "status": "incomplete", "content": "hi"}
    decoded = decode_item(Item("lab", value))
    assert (decoded["id"], decoded["status"]) == ("own", "incomplete")


def test_an_instruction_is_a_developer_message() -> None:
    assert instruction("rules") == {
        "type": "message",
        "role": "developer",
        "content": [{"type": "input_text", "text": "rules"}],
    }


@pytest.mark.parametrize(
    ("value", "fact"),
    [
        (7, "item: expected a record"),
        ({"value": ("Null",)}, "missing field 'id'"),
        ({"id": "x"}, "missing field 'value'"),
        ({"id": 1, "value": ("Null",)}, "item.id: expected a string"),
        ({"id": "x", "value": 1}, "item.value: expected Json.t"),
        ({"id": "x", "value": ("Number", float("nan"))}, "item.value: "),
    ],
)
def test_a_record_of_an_item_has_an_id_and_json(value: Any, fact: str) -> None:
    with pytest.raises(ItemDecodeError, match=fact):
        Item.from_value(value)


def test_an_item_crosses_both_ways() -> None:
    item = Item("x", {"type": "message", "n": [1, 2.5, None]})
    assert Item.from_value(item.to_value()) == item
