"""Messages as provider items and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatmd.nrchat import Message, WriteTypeError, check, from_item, parse, stringify, to_item
from chatmd.nrchat.json5.compare import same_value
from tests.nrchat.strategies import FRAGMENTS, messages, values

INPUT = {"type": "input_text", "text": "hi"}
OUTPUT = {"type": "output_text", "text": "hi", "annotations": []}

CASES: list[tuple[dict[str, Any], str]] = [
    ({"type": "message", "role": "user", "content": [INPUT]}, "%user\nhi\n"),
    ({"type": "message", "role": "user", "name": "Bob", "content": [INPUT]}, "%user Bob\nhi\n"),
    ({"type": "message", "role": "user", "content": "hi"}, "%user {format: 'string'}\nhi\n"),
    (
        {"type": "message", "role": "assistant", "id": "m1", "status": "completed", "content": [OUTPUT]},
        "%assistant {id: 'm1', status: 'completed'}\nhi\n",
    ),
    (
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]},
        "%assistant\nhi\n",
    ),
    (
        {"type": "message", "role": "assistant", "content": [OUTPUT]},
        "%assistant {format: 'json5'}\n[{type: 'output_text', text: 'hi', annotations: []}]\n",
    ),
    (
        {"type": "message", "role": "user", "content": [INPUT, {"type": "input_image", "image_url": "u"}]},
        "%user {format: 'json5'}\n[{type: 'input_text', text: 'hi'}, {type: 'input_image', image_url: 'u'}]\n",
    ),
    ({"type": "message", "role": "user", "content": []}, "%user {format: 'json5'}\n[]\n"),
    ({"type": "message", "role": "user", "content": None}, "%user {format: 'json5'}\nnull\n"),
    (
        {"type": "function_call", "name": "get_weather", "arguments": '{"city": "Oslo"}', "call_id": "c1", "id": "f1"},
        "%function_call get_weather {call_id: 'c1', id: 'f1'}\n{\"city\": \"Oslo\"}\n",
    ),
    (
        {"type": "custom_tool_call", "name": "sh", "input": "ls\n%x", "call_id": "c2"},
        "%custom_tool_call sh {call_id: 'c2'}\nls\n\\%x\n",
    ),
    (
        {"type": "function_call_output", "call_id": "c1", "output": "3 °C"},
        "%function_call_output {call_id: 'c1'}\n3 °C\n",
    ),
    (
        {"type": "function_call_output", "call_id": "c1", "output": [INPUT]},
        "%function_call_output {call_id: 'c1', format: 'part'}\nhi\n",
    ),
    (
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "a\r\nb"},
        "%custom_tool_call_output {call_id: 'c2', format: 'json5'}\n'a\\r\\nb'\n",
    ),
    (
        {"type": "function_call_output", "call_id": "c", "output": "````"},
        "%function_call_output {call_id: 'c', format: 'json5'}\n'````'\n",
    ),
    (
        {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "think"}]},
        "%reasoning {id: 'r1'}\nthink\n",
    ),
    ({"type": "reasoning", "id": "r1", "summary": []}, "%reasoning {id: 'r1', format: 'json5'}\n[]\n"),
    (
        {"type": "web_search_call", "id": "w1", "status": "completed"},
        "%item\n{type: 'web_search_call', id: 'w1', status: 'completed'}\n",
    ),
    (
        {"type": "message", "role": "function_call", "content": [INPUT]},
        "%item\n{type: 'message', role: 'function_call', content: [{type: 'input_text', text: 'hi'}]}\n",
    ),
    ({"type": "message", "role": "a b", "content": "x"}, "%item\n{type: 'message', role: 'a b', content: 'x'}\n"),
    (
        {"type": "message", "role": "u", "name": " x ", "content": "x"},
        "%item\n{type: 'message', role: 'u', name: ' x ', content: 'x'}\n",
    ),
    (
        {"type": "message", "role": "u", "name": None, "content": "x"},
        "%item\n{type: 'message', role: 'u', name: null, content: 'x'}\n",
    ),
    ({"type": "message", "role": "u"}, "%item\n{type: 'message', role: 'u'}\n"),
    ({"type": "message", "role": "u", "content": [INPUT], "format": "part"}, "%u {format: 'part'}\nhi\n"),
    ({"type": "message", "role": "u", "content": [INPUT], "format": "json5"}, "%u {format: 'json5'}\nhi\n"),
    (
        {"type": "message", "role": "u", "content": [INPUT], "format": "string"},
        "%item\n{type: 'message', role: 'u', content: [{type: 'input_text', text: 'hi'}], format: 'string'}\n",
    ),
    (
        {"type": "message", "role": "u", "content": "x", "meta": {"a": 1}},
        "%item\n{type: 'message', role: 'u', content: 'x', meta: {a: 1}}\n",
    ),
    ({"type": "message", "role": "u", "content": [INPUT], "meta": {"type": 1}}, "%u {type: 1}\nhi\n"),
    ({"type": "message", "role": "item", "content": [INPUT]}, "%item\nhi\n"),
    ({"type": ["odd"], "a": None}, "%item\n{type: ['odd'], a: null}\n"),
    ({}, "%item\n{}\n"),
]


@pytest.mark.parametrize(("item", "text"), CASES, ids=range(len(CASES)))
def test_items_as_text(item: dict[str, Any], text: str) -> None:
    message = from_item(item)
    assert stringify([message]) == text
    assert to_item(message) == item
    assert to_item(parse(text)[0]) == item
    assert check([message]) == []


def test_an_item_without_a_type_is_a_message() -> None:
    assert to_item(from_item({"role": "user", "content": "hi"})) == {"type": "message", "role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("text", "item"),
    [
        (
            "%meta {format: 'nr-chat/1'}\n",
            {"type": "message", "role": "meta", "content": [{"type": "input_text", "text": ""}], "format": "nr-chat/1"},
        ),
        (
            "%u {format: 'json5'}\nnot json\n",
            {
                "type": "message",
                "role": "u",
                "content": [{"type": "input_text", "text": "not json"}],
                "format": "json5",
            },
        ),
        ("%u {role: 'x'}\nhi\n", {"type": "message", "role": "u", "content": [INPUT], "meta": {"role": "x"}}),
        ("%u {}\nhi\n", {"type": "message", "role": "u", "content": [INPUT], "meta": {}}),
        (
            "%item Bob\n{a: 1}\n",
            {"type": "message", "role": "item", "name": "Bob", "content": [{"type": "input_text", "text": "{a: 1}"}]},
        ),
        ("%item\n[1]\n", {"type": "message", "role": "item", "content": [{"type": "input_text", "text": "[1]"}]}),
        ("%function_call f\n{}\n", {"type": "function_call", "name": "f", "arguments": "{}"}),
    ],
)
def test_messages_as_items(text: str, item: dict[str, Any]) -> None:
    assert to_item(parse(text)[0]) == item


texts = st.one_of(st.text(max_size=6), st.lists(st.sampled_from(FRAGMENTS), max_size=5).map("".join))
parts = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(["input_text", "output_text", "summary_text"]), "text": texts}),
    st.fixed_dictionaries({"type": st.just("output_text"), "text": texts, "annotations": st.just([])}),
    values,
)
contents = st.one_of(texts, st.lists(parts, max_size=2), values)
extra = st.dictionaries(
    st.sampled_from(["id", "status", "call_id", "name", "role", "format", "meta", "content", "output", "summary"]),
    st.one_of(st.sampled_from(["a", "string", "part", "json5", None, {}, {"type": 1}, {"meta": 1}]), contents),
    max_size=3,
)
fields = st.sampled_from(["content", "arguments", "input", "output", "summary"])
types = st.sampled_from(
    ["message", "function_call", "custom_tool_call", "function_call_output", "reasoning", "item", "other"]
)
items = st.one_of(
    st.builds(
        lambda role, content, more: {"type": "message", "role": role, "content": content, **more},
        st.sampled_from(["user", "assistant", "item", "reasoning", "a b", ""]),
        contents,
        extra,
    ),
    st.builds(
        lambda type_, field, content, more: {"type": type_, field: content, **more}, types, fields, contents, extra
    ),
    st.dictionaries(st.text(max_size=4), values, max_size=3),
)


@given(items)
def test_items_survive(item: dict[str, Any]) -> None:
    """An item becomes a message that can be written, and is the same item again when that is read."""
    expected = {"type": "message", **item} if "type" not in item and "role" in item else item
    message = from_item(item)
    assert check([message]) == []
    assert same_value(to_item(message), expected)
    (back,) = parse(stringify([message]))
    assert same_value(to_item(back), expected)


@given(messages())
def test_messages_survive(message: Message) -> None:
    """A message that says nothing about its format comes back from its item."""
    if message.role == "item" or "format" in (message.meta or {}):
        return
    assert from_item(to_item(message)).same_content(message)


def test_values_that_have_no_json5_form() -> None:
    with pytest.raises(WriteTypeError):
        from_item({"type": "message", "role": "user", "content": b"x"})
    with pytest.raises(WriteTypeError, match="an item is a mapping, not str"):
        from_item("text")  # type: ignore[arg-type]
