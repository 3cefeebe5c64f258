"""`Item`: entries of a conversation (builtins.md section 5.3). What is read of their JSON never fails, it is absent."""

from __future__ import annotations

from chatml.builtins.checks import expected, is_json, read_field
from chatml.builtins.json import find_field, items_of
from chatml.builtins.schemes import JSON, option, record
from chatml.surfaces.model import Builtin, Host, Module
from chatml.types.model import Array, Bool, Fun, String
from chatml.values.model import Machine, Value

INSTRUCTION_ROLES = frozenset({"developer", "system"})
TOOL_CALLS = frozenset({"function_call", "custom_tool_call"})
TOOL_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})


def item_id(item: Value) -> str:
    read_field(item, "item", "value", tuple)
    identity: str = read_field(item, "item", "id", str)
    return identity


def payload(item: Value) -> Value:
    read_field(item, "item", "id", str)
    return read_field(item, "item", "value", tuple)


def string_field(value: Value, name: str) -> str | None:
    """A string field of a JSON object; None where there is none."""
    return string_of(find_field(value, name))


def string_of(value: Value | None) -> str | None:
    """The text of a JSON string; None for anything else."""
    if type(value) is tuple and len(value) == 2 and value[0] == "String" and type(value[1]) is str:
        return value[1]
    return None


def role_of(item: Value) -> str | None:
    return string_field(payload(item), "role")


def optional(text: str | None) -> Value:
    return ("None",) if text is None else ("Some", text)


def kind(item: Value) -> Value:
    return optional(string_field(payload(item), "type"))


def role(item: Value) -> Value:
    return optional(role_of(item))


def has_role(*roles: str) -> Host:
    def has_one_of_the_roles(item: Value) -> bool:
        return role_of(item) in roles

    return has_one_of_the_roles


def has_kind(kinds: frozenset[str]) -> Host:
    def has_one_of_the_kinds(item: Value) -> bool:
        return string_field(payload(item), "type") in kinds

    return has_one_of_the_kinds


def texts_of(item: Value) -> list[Value]:
    """Every text of an item, however it is packaged (X-27)."""
    value = payload(item)
    content = find_field(value, "content")
    if content is not None:
        return texts_in(content)
    output = find_field(value, "output")
    if output is None:
        return []
    parts = find_field(output, "parts")
    return texts_in(output) if parts is None or items_of(parts, "Array") is None else texts_in(parts)


def texts_in(value: Value) -> list[Value]:
    """A string, or the strings in an array and the string `text` of its objects."""
    text = string_of(value)
    if text is not None:
        return [text]
    texts = []
    for part in items_of(value, "Array") or ():
        text = string_of(part)
        if text is None:
            text = string_field(part, "text")
        if text is not None:
            texts.append(text)
    return texts


def text_parts(machine: Machine, item: Value) -> list[Value]:
    texts = texts_of(item)
    machine.check_size(len(texts))
    return texts


def text(item: Value) -> Value:
    texts = texts_of(item)
    return ("Some", texts[0]) if texts else ("None",)


# Builders


def create(identity: Value, value: Value) -> Value:
    if not (type(identity) is str and is_json(value)):
        raise expected("string", "json")
    return {"id": identity, "value": value}


def json_object(**fields: Value) -> Value:
    """A JSON object; a plain string stands for a JSON string."""
    return ("Object", [{"key": key, "value": json_string(value)} for key, value in fields.items()])


def json_string(value: Value) -> Value:
    return ("String", value) if type(value) is str else value


def input_text_message(identity: Value, role: Value, text: Value) -> Value:
    if not (type(identity) is str and type(role) is str and type(text) is str):
        raise expected("string", "string", "string")
    role = "developer" if role == "system" else role
    content = ("Array", [json_object(type="input_text", text=text)])
    return create(identity, json_object(type="message", role=role, content=content))


def output_text_message(identity: Value, text: Value) -> Value:
    if not (type(identity) is str and type(text) is str):
        raise expected("string", "string")
    content = ("Array", [json_object(type="output_text", text=text, annotations=("Array", []))])
    message = json_object(type="message", role="assistant", id=identity, content=content, status="completed")
    return create(identity, message)


def user_text(identity: Value, text: Value) -> Value:
    return input_text_message(identity, "user", text)


def instruction_text(identity: Value, text: Value) -> Value:
    return input_text_message(identity, "developer", text)


ITEM_TYPE = record(id=String, value=JSON)
TEST = Fun([ITEM_TYPE], Bool)
TEXT_MESSAGE = Fun([String, String], ITEM_TYPE)

is_tool_call = has_kind(TOOL_CALLS)
is_tool_result = has_kind(TOOL_RESULTS)
is_instruction = has_role(*INSTRUCTION_ROLES)

ITEM = Module(
    "Item",
    (
        Builtin("id", Fun([ITEM_TYPE], String), item_id),
        Builtin("value", Fun([ITEM_TYPE], JSON), payload),
        Builtin("kind", Fun([ITEM_TYPE], option(String)), kind),
        Builtin("role", Fun([ITEM_TYPE], option(String)), role),
        Builtin("text_parts", Fun([ITEM_TYPE], Array(String)), text_parts, machine=True),
        Builtin("text", Fun([ITEM_TYPE], option(String)), text),
        Builtin("is_user", TEST, has_role("user")),
        Builtin("is_assistant", TEST, has_role("assistant")),
        Builtin("is_system", TEST, is_instruction),
        Builtin("is_tool_call", TEST, is_tool_call),
        Builtin("is_tool_result", TEST, is_tool_result),
        Builtin("create", Fun([String, JSON], ITEM_TYPE), create),
        Builtin("input_text_message", Fun([String, String, String], ITEM_TYPE), input_text_message),
        Builtin("output_text_message", TEXT_MESSAGE, output_text_message),
        Builtin("user_text", TEXT_MESSAGE, user_text),
        Builtin("assistant_text", TEXT_MESSAGE, output_text_message),
        Builtin("system_text", TEXT_MESSAGE, instruction_text),
        Builtin("notice", TEXT_MESSAGE, instruction_text),
    ),
)
