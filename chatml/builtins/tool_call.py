"""`Tool_call`: the arguments and the name of a tool call (builtins.md sections 5.4 and 10)."""

from __future__ import annotations

from chatml.builtins.checks import expected, is_some, read_field
from chatml.builtins.expressions import expression
from chatml.builtins.json import find_field, payload_of
from chatml.builtins.schemes import JSON, option, record
from chatml.surfaces.model import Builtin, Host, Module
from chatml.types.model import Array, Bool, Fun, Int, String
from chatml.values.arithmetic import int_argument
from chatml.values.model import Machine, Value
from chatml.values.paths import path_argument


def find_argument(call: Value, key: Value) -> Value | None:
    if type(key) is not str:
        raise expected("tool_call", "string")
    return find_field(read_field(call, "tool_call", "args", tuple), key)


def argument(call: Value, key: Value) -> Value:
    found = find_argument(call, key)
    return ("None",) if found is None else ("Some", found)


def argument_of(kind: str) -> Host:
    """A function that reads an argument with one of the tags of `json`."""

    def argument_of_kind(call: Value, key: Value) -> Value:
        found = find_argument(call, key)
        return ("None",) if found is None else payload_of(found, kind)

    return argument_of_kind


def data_of(python: str, content: str = "t") -> str:
    """The same for plain JSON data, which are of a Python class for each tag."""
    return f"('Some', {content}) if type(a['args']) is dict and type(t := a['args'].get(b)) is {python} else ('None',)"


def path(machine: Machine, call: Value, key: Value) -> Value:
    text = argument_with(call, key, "String")
    if type(text) is str:
        machine.charge(len(text))
    return path_argument(text)


def argument_with(call: Value, key: Value, kind: str) -> Value | None:
    """What an argument with this tag of `json` holds; None for any other argument."""
    found = find_argument(call, key)
    payload: Value = ("None",) if found is None else payload_of(found, kind)
    return payload[1] if is_some(payload) else None


def whole(call: Value, key: Value) -> Value:
    return int_argument(argument_with(call, key, "Number"))


TOOL_CALL_TYPE = record(id=String, name=String, args=JSON)

TOOL_CALL = Module(
    "Tool_call",
    (
        Builtin(
            "arg",
            Fun([TOOL_CALL_TYPE, String], option(JSON)),
            argument,
            on_data="('Some', from_json(a['args'][b])) if type(a['args']) is dict and b in a['args'] else ('None',)",
        ),
        Builtin(
            "arg_string",
            Fun([TOOL_CALL_TYPE, String], option(String)),
            argument_of("String"),
            on_data=data_of("str"),
        ),
        Builtin(
            "arg_bool",
            Fun([TOOL_CALL_TYPE, String], option(Bool)),
            argument_of("Bool"),
            on_data=data_of("bool"),
        ),
        Builtin(
            "arg_array",
            Fun([TOOL_CALL_TYPE, String], option(Array(JSON))),
            argument_of("Array"),
            on_data=data_of("list", "from_json(t)[1]"),
        ),
        Builtin("path", Fun([TOOL_CALL_TYPE, String], option(String)), path, machine=True),
        Builtin(
            "arg_int",
            Fun([TOOL_CALL_TYPE, String], option(Int)),
            whole,
            on_data="int_argument(a['args'].get(b)) if type(a['args']) is dict else ('None',)",
        ),
        expression("is_named", Fun([TOOL_CALL_TYPE, String], Bool), "a['name'] == b"),
        expression("is_one_of", Fun([TOOL_CALL_TYPE, Array(String)], Bool), "a['name'] in b"),
    ),
)
