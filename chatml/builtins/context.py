"""`Context`: what a handler sees of its conversation (builtins.md section 5.5)."""

from __future__ import annotations

from chatml.builtins.checks import expected, read_field
from chatml.builtins.item import (
    ITEM_TYPE,
    has_role,
    is_instruction,
    is_tool_call,
    is_tool_result,
    item_id,
    role_of,
)
from chatml.builtins.schemes import JSON, option, record
from chatml.surfaces.model import Builtin, Host, Module
from chatml.types.model import Array, Bool, Fun, Int, String
from chatml.values.model import Machine, Value


def items_of(context: Value) -> list[Value]:
    items: list[Value] = read_field(context, "context", "items", list)
    return items


def last_index(items: list[Value], test: Host) -> int:
    """The index of the last item that passes a test, or -1."""
    for index in range(len(items) - 1, -1, -1):
        if test(items[index]):
            return index
    return -1


def last_item(context: Value) -> Value:
    items = items_of(context)
    return ("Some", items[-1]) if items else ("None",)


def last(test: Host) -> Host:
    """A function that finds the last item that passes a test."""

    def last_that_passes(context: Value) -> Value:
        items = items_of(context)
        index = last_index(items, test)
        return ("None",) if index < 0 else ("Some", items[index])

    return last_that_passes


def since_last(test: Host) -> Host:
    """A function that takes the items from the last one that passes a test; all of them if none does."""

    def since_last_that_passes(machine: Machine, context: Value) -> list[Value]:
        items = items_of(context)
        since = items[max(last_index(items, test), 0) :]
        machine.check_size(len(since))
        return since

    return since_last_that_passes


def find_item(context: Value, identity: Value) -> Value:
    if type(identity) is not str:
        raise expected("context", "string")
    for item in items_of(context):
        if item_id(item) == identity:
            return ("Some", item)
    return ("None",)


def items_by_role(machine: Machine, context: Value, role: Value) -> list[Value]:
    if type(role) is not str:
        raise expected("context", "string")
    items = [item for item in items_of(context) if (role_of(item) or "") == role]
    machine.check_size(len(items))
    return items


def find_tool(context: Value, name: Value) -> Value:
    if type(name) is not str:
        raise expected("context", "string")
    for tool in read_field(context, "context", "available_tools", list):
        if read_field(tool, "tool_desc", "name", str) == name:
            return ("Some", tool)
    return ("None",)


def has_tool(context: Value, name: Value) -> bool:
    return len(find_tool(context, name)) == 2


TOOL_DESC_TYPE = record(name=String, description=String, input_schema=JSON)

CONTEXT_TYPE = record(
    session_id=String,
    now_ms=Int,
    phase=String,
    items=Array(ITEM_TYPE),
    available_tools=Array(TOOL_DESC_TYPE),
    session_meta=JSON,
)

ONE_ITEM = Fun([CONTEXT_TYPE], option(ITEM_TYPE))
SOME_ITEMS = Fun([CONTEXT_TYPE], Array(ITEM_TYPE))

CONTEXT = Module(
    "Context",
    (
        Builtin("last_item", ONE_ITEM, last_item),
        Builtin("last_user_item", ONE_ITEM, last(has_role("user"))),
        Builtin("last_assistant_item", ONE_ITEM, last(has_role("assistant"))),
        Builtin("last_system_item", ONE_ITEM, last(is_instruction)),
        Builtin("last_tool_call", ONE_ITEM, last(is_tool_call)),
        Builtin("last_tool_result", ONE_ITEM, last(is_tool_result)),
        Builtin("find_item", Fun([CONTEXT_TYPE, String], option(ITEM_TYPE)), find_item),
        Builtin("items_since_last_user_turn", SOME_ITEMS, since_last(has_role("user")), machine=True),
        Builtin("items_since_last_assistant_turn", SOME_ITEMS, since_last(has_role("assistant")), machine=True),
        Builtin("items_by_role", Fun([CONTEXT_TYPE, String], Array(ITEM_TYPE)), items_by_role, machine=True),
        Builtin("find_tool", Fun([CONTEXT_TYPE, String], option(TOOL_DESC_TYPE)), find_tool),
        Builtin("has_tool", Fun([CONTEXT_TYPE, String], Bool), has_tool),
    ),
)
