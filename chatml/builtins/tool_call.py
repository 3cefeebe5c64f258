"""`Tool_call`: the arguments and the name of a tool call (builtins.md sections 5.4 and 10)."""

from __future__ import annotations

from chatml.builtins.checks import expected, is_some, read_field
from chatml.builtins.json import find_field, payload_of
from chatml.builtins.schemes import JSON, option, record
from chatml.surfaces.model import Builtin, Host, Module, inline, on_data, uses_machine
from chatml.types.model import Array, Bool, Fun, Int, String
from chatml.values.arithmetic import int_argument
from chatml.values.model import Machine, Value
from chatml.values.paths import path_argument


def find_argument(call: Value, key: Value) -> Value | None:
    if type(key) is not str:
        raise expected("tool_call", "string")
    return find_field(read_field(call, "tool_call", "args", tuple), key)


@on_data("('Some', from_json(a['args'][b])) if type(a['args']) is dict and b in a['args'] else ('None',)")
def argument(call: Value, key: Value) -> Value:
    found = find_argument(call, key)
    return ("None",) if found is None else ("Some", found)


def argument_of(kind: str, python: str, content: str = "t") -> Host:
    """A function that reads an argument with one of the tags of `json`; which Python class has such data."""

    @on_data(
        f"('Some', {content}) if type(a['args']) is dict and type(t := a['args'].get(b)) is {python} else ('None',)"
    )
    def argument_of_kind(call: Value, key: Value) -> Value:
        found = find_argument(call, key)
        return ("None",) if found is None else payload_of(found, kind)

    return argument_of_kind


@uses_machine
def path(machine: Machine, call: Value, key: Value) -> Value:
    text = argument_with(call, key, "String")
    if type(text) is str:
        machine.charge(len(text))
    return path_argument(text)


def argument_with(call: Value, key: Value, kind: str) -> Value | None:
    """What an argument with this tag of `json` holds; None if there is no such argument."""
    found = find_argument(call, key)
    payload: Value = ("None",) if found is None else payload_of(found, kind)
    return payload[1] if is_some(payload) else None


@on_data("int_argument(a['args'].get(b)) if type(a['args']) is dict else ('None',)")
def whole(call: Value, key: Value) -> Value:
    return int_argument(argument_with(call, key, "Number"))


@inline("a['name'] == b")
def is_named(call: Value, name: Value) -> bool:
    if type(name) is not str:
        raise expected("tool_call", "string")
    return bool(read_field(call, "tool_call", "name", str) == name)


@inline("a['name'] in b")
def is_one_of(call: Value, names: Value) -> bool:
    if type(names) is not list:
        raise expected("tool_call", "string array")
    return read_field(call, "tool_call", "name", str) in names


TOOL_CALL_TYPE = record(id=String, name=String, args=JSON)

TOOL_CALL = Module(
    "Tool_call",
    (
        Builtin("arg", Fun([TOOL_CALL_TYPE, String], option(JSON)), argument),
        Builtin("arg_string", Fun([TOOL_CALL_TYPE, String], option(String)), argument_of("String", "str")),
        Builtin("arg_bool", Fun([TOOL_CALL_TYPE, String], option(Bool)), argument_of("Bool", "bool")),
        Builtin(
            "arg_array",
            Fun([TOOL_CALL_TYPE, String], option(Array(JSON))),
            argument_of("Array", "list", "from_json(t)[1]"),
        ),
        Builtin("path", Fun([TOOL_CALL_TYPE, String], option(String)), path),
        Builtin("arg_int", Fun([TOOL_CALL_TYPE, String], option(Int)), whole),
        Builtin("is_named", Fun([TOOL_CALL_TYPE, String], Bool), is_named),
        Builtin("is_one_of", Fun([TOOL_CALL_TYPE, Array(String)], Bool), is_one_of),
    ),
)
