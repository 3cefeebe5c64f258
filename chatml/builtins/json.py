"""`Json`: reading, writing and taking apart values of the type `json` (builtins.md sections 3.8 and 10)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chatml.builtins.checks import entry_key, expected, is_json
from chatml.builtins.schemes import ENTRY, JSON, option
from chatml.lazy import lazy
from chatml.surfaces.model import Builtin, Host, Module
from chatml.types.model import Array, Bool, Float, Fun, String
from chatml.values.model import BuiltinFailure, Machine, Value

if TYPE_CHECKING:
    from chatml.builtins import json_reader, json_writer
else:
    json_reader, json_writer = lazy("chatml.builtins.json_reader"), lazy("chatml.builtins.json_writer")

INDEX = r"([+-]?)0*([0-9]+)"
LONGEST_SHOWN = 200
LONGEST_INDEX = 18


def read_within_limits(machine: Machine, text: Value) -> Value:
    """The value of a JSON text, whose parts are held against the limit if the text is longer than it."""
    if type(text) is not str:
        raise expected("string")
    machine.charge(len(text))
    bound = machine.limits.text
    return json_reader.read(text, machine.check_size if bound is not None and len(text) > bound else None)


def parse(machine: Machine, text: Value) -> Value:
    try:
        return read_within_limits(machine, text)
    except json_reader.JsonError as error:
        shown = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
        raise BuiltinFailure(f"not JSON at {error.reason}; the text is `{shown}`") from None


def parse_opt(machine: Machine, text: Value) -> Value:
    try:
        return ("Some", read_within_limits(machine, text))
    except json_reader.JsonError:
        return ("None",)


def validate(machine: Machine, text: Value) -> bool:
    try:
        read_within_limits(machine, text)
    except json_reader.JsonError:
        return False
    return True


def stringify(machine: Machine, value: Value) -> str:
    return json_writer.write(value, machine)


def pretty(machine: Machine, value: Value) -> str:
    return json_writer.write(value, machine, pretty=True)


def canonical(machine: Machine, value: Value) -> str:
    def in_order(entries: list[Value]) -> list[Value]:
        machine.charge(len(entries))
        first: dict[str, Value] = {}
        for entry in entries:
            first.setdefault(entry_key(entry), entry)
        return [first[key] for key in sorted(first)]

    return json_writer.write(value, machine, arrange=in_order)


def tag(value: Value) -> str:
    if not is_json(value):
        raise expected("json")
    name: str = value[0]
    return name


def payload_of(value: Value, wanted: str) -> Value:
    """The payload of a value with the wanted tag, as an option."""
    if tag(value) != wanted:
        return ("None",)
    if len(value) != 2:
        raise expected("json")
    return ("Some", value[1])


def reader(wanted: str) -> Host:
    def read_payload(value: Value) -> Value:
        return payload_of(value, wanted)

    return read_payload


def items_of(value: Value, kind: str) -> list[Value] | None:
    """The elements of an `Array or the entries of an `Object; None for other values."""
    if tag(value) != kind:
        return None
    if len(value) != 2 or type(value[1]) is not list:
        raise expected("json")
    return value[1]


def find_field(value: Value, key: str) -> Value | None:
    """The value of the first entry with a key; None if there is none, or the value is not an object."""
    for entry in items_of(value, "Object") or ():
        if entry_key(entry) == key:
            return entry["value"]
    return None


def object_keys(machine: Machine, value: Value) -> list[Value]:
    entries = items_of(value, "Object") or []
    machine.check_size(len(entries))
    return [entry_key(entry) for entry in entries]


def get_field(machine: Machine, value: Value, key: Value) -> Value:
    if type(key) is not str:
        raise expected("json", "string")
    machine.charge(len(items_of(value, "Object") or ()))
    found = find_field(value, key)
    return ("None",) if found is None else ("Some", found)


def get_path(machine: Machine, value: Value, path: Value) -> Value:
    if type(path) is not list:
        raise expected("json", "string array")
    found: Value | None = value
    for segment in path:
        if type(segment) is not str:
            raise expected("json", "string array")
        elements = items_of(found, "Array")
        machine.charge(len(elements or items_of(found, "Object") or ()))
        found = find_field(found, segment) if elements is None else find_element(elements, segment)
        if found is None:
            return ("None",)
    return ("Some", found)


def find_element(elements: list[Value], segment: str) -> Value | None:
    """The element at an index written in decimal."""
    match = re.fullmatch(INDEX, segment)
    if match is None or len(match[2]) > LONGEST_INDEX:
        return None
    index = int(match[1] + match[2])
    return elements[index] if 0 <= index < len(elements) else None


def object_entries(value: Value) -> list[Value]:
    entries = items_of(value, "Object")
    if entries is None:
        raise BuiltinFailure(f"expected an `Object, not a `{value[0]}")
    return entries


def set_field(machine: Machine, value: Value, key: Value, field: Value) -> Value:
    if type(key) is not str:
        raise expected("json", "string", "json")
    new = {"key": key, "value": field}
    entries: list[Value] = []
    missing = True
    for entry in object_entries(value):
        if entry_key(entry) != key:
            entries.append(entry)
        elif missing:
            entries.append(new)
            missing = False
    if missing:
        entries.append(new)
    machine.check_size(len(entries))
    return ("Object", entries)


def remove_field(machine: Machine, value: Value, key: Value) -> Value:
    if type(key) is not str:
        raise expected("json", "string")
    entries = [entry for entry in object_entries(value) if entry_key(entry) != key]
    machine.check_size(len(entries))
    return ("Object", entries)


MODULE = Module(
    "Json",
    (
        Builtin("parse", Fun([String], JSON), parse, machine=True),
        Builtin("parse_opt", Fun([String], option(JSON)), parse_opt, machine=True),
        Builtin("validate", Fun([String], Bool), validate, machine=True),
        Builtin("stringify", Fun([JSON], String), stringify, machine=True),
        Builtin("pretty", Fun([JSON], String), pretty, machine=True),
        Builtin("canonical", Fun([JSON], String), canonical, machine=True),
        Builtin("tag", Fun([JSON], String), tag),
        Builtin("as_bool", Fun([JSON], option(Bool)), reader("Bool")),
        Builtin("as_number", Fun([JSON], option(Float)), reader("Number")),
        Builtin("as_string", Fun([JSON], option(String)), reader("String")),
        Builtin("as_array", Fun([JSON], option(Array(JSON))), reader("Array")),
        Builtin("as_object", Fun([JSON], option(Array(ENTRY))), reader("Object")),
        Builtin("object_keys", Fun([JSON], Array(String)), object_keys, machine=True),
        Builtin("get_field", Fun([JSON, String], option(JSON)), get_field, machine=True),
        Builtin("get_path", Fun([JSON, Array(String)], option(JSON)), get_path, machine=True),
        Builtin("set_field", Fun([JSON, String, JSON], JSON), set_field, machine=True),
        Builtin("remove_field", Fun([JSON, String], JSON), remove_field, machine=True),
    ),
)
