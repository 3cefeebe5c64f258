"""`Item`, `Tool_call` and `Context` (builtins.md sections 5.3 to 5.5)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatml.border.python import from_json, to_json
from chatml.builtins.json_reader import read
from chatml.diagnostics.errors import RuntimeFailure
from chatml.values.model import BuiltinFailure, Value
from tests.chatml.builtins.machines import FakeMachine, caller
from tests.chatml.builtins.values_strategy import JSON

ITEM, CONTEXT, TOOL_CALL = caller("Item"), caller("Context"), caller("Tool_call")


def item(text: str, identity: str = "i") -> Value:
    return ITEM("create", identity, read(text))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('{"content":"plain"}', ["plain"]),
        ('{"content":["a",{"text":"b"},{"text":1},{"refusal":"no"},5,null,[{"text":"c"}]]}', ["a", "b"]),
        ('{"content":[],"output":"res"}', []),
        ('{"content":null,"output":"res"}', []),
        ('{"content":{"text":"a"}}', []),
        ('{"output":"res"}', ["res"]),
        ('{"output":["a",{"type":"input_text","text":"b"}]}', ["a", "b"]),
        ('{"output":{"parts":["a",{"text":"b"}]}}', ["a", "b"]),
        ('{"output":{"parts":"a"}}', []),
        ('{"output":{"text":"a"}}', []),
        ('{"summary":[{"type":"summary_text","text":"s"}]}', []),
        ('"text"', []),
        ('{"content":"first","content":"second"}', ["first"]),
    ],
)
def test_every_text_is_seen(text: str, parts: list[str]) -> None:
    assert ITEM("text_parts", item(text)) == parts
    assert ITEM("text", item(text)) == (("Some", parts[0]) if parts else ("None",))


@given(JSON)
def test_accessors_never_fail_on_json(value: Value) -> None:
    """Whatever JSON an item holds, every accessor answers."""
    made = ITEM("create", "i", value)
    for name in ("kind", "role", "text_parts", "text", "is_user", "is_assistant", "is_system", "is_tool_call"):
        ITEM(name, made)
    assert ITEM("value", made) is value
    assert ITEM("id", made) == "i"


@pytest.mark.parametrize(
    ("name", "args", "payload"),
    [
        (
            "user_text",
            ("a", "t"),
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "t"}]},
        ),
        (
            "notice",
            ("a", "t"),
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "t"}]},
        ),
        (
            "input_text_message",
            ("a", "System", "t"),
            {"type": "message", "role": "System", "content": [{"type": "input_text", "text": "t"}]},
        ),
        (
            "assistant_text",
            ("a", "t"),
            {
                "type": "message",
                "role": "assistant",
                "id": "a",
                "content": [{"type": "output_text", "text": "t", "annotations": []}],
                "status": "completed",
            },
        ),
    ],
)
def test_builders(name: str, args: tuple[str, ...], payload: dict[str, Any]) -> None:
    made = ITEM(name, *args)
    assert made["id"] == "a"
    assert to_json(made["value"]) == payload
    assert list(to_json(made["value"])) == list(payload)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "expected a record of type `item`"),
        ({"value": ("Null",)}, "the item has no field `id`"),
        ({"id": 1, "value": ("Null",)}, "the field `id` of the item must be a string"),
        ({"id": "a"}, "the item has no field `value`"),
        ({"id": "a", "value": "x"}, "the field `value` of the item must be json"),
    ],
)
def test_what_is_no_item(value: Value, message: str) -> None:
    for name in ("id", "value", "kind", "role", "text_parts", "text", "is_user", "is_tool_result"):
        with pytest.raises(BuiltinFailure, match=message):
            ITEM(name, value)


def context(items: list[Value], tools: list[Value] | None = None) -> Value:
    return {
        "session_id": "s",
        "now_ms": 0,
        "phase": "turn_start",
        "items": items,
        "available_tools": tools or [],
        "session_meta": ("Null",),
    }


ROLES = st.lists(st.sampled_from(["user", "assistant", "system", "developer", "tool", None]), max_size=6)


@given(ROLES)
def test_selectors(roles: list[str | None]) -> None:
    """Selectors by role find what a search through the list finds."""
    items = [ITEM("create", str(index), from_json({"role": role})) for index, role in enumerate(roles)]
    given_context = context(items)
    wanted_roles: dict[str, set[str | None]] = {
        "last_user_item": {"user"},
        "last_assistant_item": {"assistant"},
        "last_system_item": {"system", "developer"},
        "last_item": set(roles),
    }
    for name, wanted in wanted_roles.items():
        found = [made for made, role in zip(items, roles, strict=True) if role in wanted]
        assert CONTEXT(name, given_context) == (("Some", found[-1]) if found else ("None",))
    for role in ("user", "developer", "x"):
        wanted_items = [made for made, has in zip(items, roles, strict=True) if has == role]
        assert CONTEXT("items_by_role", given_context, role) == wanted_items
    assert CONTEXT("items_by_role", given_context, "") == [
        made for made, role in zip(items, roles, strict=True) if role is None
    ]
    since = CONTEXT("items_since_last_user_turn", given_context)
    start = max((index for index, role in enumerate(roles) if role == "user"), default=0)
    assert since == items[start:]
    assert since is not items


def test_find_item_takes_the_first() -> None:
    first, second = item("1", "a"), item("2", "a")
    assert CONTEXT("find_item", context([first, second]), "a")[1] is first
    assert CONTEXT("find_item", context([first]), "b") == ("None",)


def test_tools() -> None:
    tool = {"name": "grep", "description": "", "input_schema": ("Null",)}
    given_context = context([], [tool])
    assert CONTEXT("find_tool", given_context, "grep")[1] is tool
    assert CONTEXT("has_tool", given_context, "grep") is True
    assert CONTEXT("has_tool", given_context, "rm") is False


def test_what_is_no_context() -> None:
    with pytest.raises(BuiltinFailure, match="expected a record of type `context`"):
        CONTEXT("last_item", None)
    with pytest.raises(BuiltinFailure, match="the context has no field `items`"):
        CONTEXT("last_item", {})
    with pytest.raises(BuiltinFailure, match="the item has no field `id`"):
        CONTEXT("last_user_item", context([{}]))
    with pytest.raises(BuiltinFailure, match="the tool_desc has no field `name`"):
        CONTEXT("has_tool", context([], [{}]), "x")


def test_limit_of_text() -> None:
    many = context([item('{"role":"user"}')] * 6)
    limited = caller("Context", FakeMachine(text=5))
    for name, args in (("items_by_role", ("user",)), ("items_since_last_assistant_turn", ())):
        with pytest.raises(RuntimeFailure, match="limit"):
            limited(name, many, *args)
    with pytest.raises(RuntimeFailure, match="limit"):
        caller("Item", FakeMachine(text=1))("text_parts", item('{"content":["a","b"]}'))


def test_arguments_of_a_tool_call() -> None:
    call = {"id": "1", "name": "grep", "args": read('{"s":"v","a":[1],"s":"w"}')}
    assert TOOL_CALL("arg_string", call, "s") == ("Some", "v")
    assert TOOL_CALL("arg_array", call, "a")[1] is call["args"][1][1]["value"][1]
    assert TOOL_CALL("arg_bool", call, "missing") == ("None",)
    assert TOOL_CALL("is_one_of", call, ["ls", "grep"]) is True
    with pytest.raises(BuiltinFailure, match="the tool_call has no field `args`"):
        TOOL_CALL("arg", {"id": "1", "name": "x"}, "s")
    with pytest.raises(BuiltinFailure, match="expected the arguments \\(record, string\\)"):
        TOOL_CALL("is_named", {"name": None}, "s")
