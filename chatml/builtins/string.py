"""`String`: strings are sequences of code points (builtins.md section 3.4, X-01)."""

from __future__ import annotations

from chatml.builtins.checks import check_range, expected
from chatml.builtins.globals import string_is_empty, string_length
from chatml.builtins.schemes import option
from chatml.surfaces.model import Builtin, Module, inline, uses_machine
from chatml.types.model import Array, Bool, Fun, Int, String
from chatml.values.model import BuiltinFailure, Machine, Value

WHITE_SPACE = " \t\n\r\v\f"
UPPER = {ord(letter): letter.upper() for letter in "abcdefghijklmnopqrstuvwxyz"}
LOWER = {ord(letter.upper()): letter for letter in "abcdefghijklmnopqrstuvwxyz"}


@uses_machine
def concat(machine: Machine, left: Value, right: Value) -> str:
    if not (type(left) is str and type(right) is str):
        raise expected("string", "string")
    machine.check_size(len(left) + len(right))
    return left + right


@inline("a == b")
def equal(left: Value, right: Value) -> bool:
    if not (type(left) is str and type(right) is str):
        raise expected("string", "string")
    return left == right


@inline("b in a")
def contains(text: Value, needle: Value) -> bool:
    if not (type(text) is str and type(needle) is str):
        raise expected("string", "string")
    return needle in text


@inline("a.startswith(b)")
def starts_with(text: Value, prefix: Value) -> bool:
    if not (type(text) is str and type(prefix) is str):
        raise expected("string", "string")
    return text.startswith(prefix)


@inline("a.endswith(b)")
def ends_with(text: Value, suffix: Value) -> bool:
    if not (type(text) is str and type(suffix) is str):
        raise expected("string", "string")
    return text.endswith(suffix)


@uses_machine
def trim(machine: Machine, text: Value) -> str:
    if type(text) is not str:
        raise expected("string")
    trimmed = text.strip(WHITE_SPACE)
    machine.check_size(len(trimmed))
    return trimmed


@uses_machine
def cut(machine: Machine, text: Value, start: Value, length: Value) -> str:
    if not (type(text) is str and type(start) is int and type(length) is int):
        raise expected("string", "int", "int")
    check_range(start, length, len(text))
    machine.check_size(length)
    return text[start : start + length]


def find(text: Value, needle: Value) -> Value:
    if not (type(text) is str and type(needle) is str):
        raise expected("string", "string")
    index = text.find(needle)
    return ("None",) if index < 0 else ("Some", index)


@uses_machine
def split(machine: Machine, text: Value, separator: Value) -> list[Value]:
    if not (type(text) is str and type(separator) is str):
        raise expected("string", "string")
    if not separator:
        raise BuiltinFailure("the separator must not be empty")
    machine.check_size(text.count(separator) + 1)
    pieces: list[Value] = text.split(separator)
    return pieces


@uses_machine
def to_upper(machine: Machine, text: Value) -> str:
    if type(text) is not str:
        raise expected("string")
    machine.check_size(len(text))
    return text.upper() if text.isascii() else text.translate(UPPER)


@uses_machine
def to_lower(machine: Machine, text: Value) -> str:
    if type(text) is not str:
        raise expected("string")
    machine.check_size(len(text))
    return text.lower() if text.isascii() else text.translate(LOWER)


@uses_machine
def replace_all(machine: Machine, text: Value, pattern: Value, replacement: Value) -> str:
    if not (type(text) is str and type(pattern) is str and type(replacement) is str):
        raise expected("string", "string", "string")
    if not pattern:
        raise BuiltinFailure("the pattern must not be empty")
    growth = len(replacement) - len(pattern)
    machine.check_size(len(text) + growth * text.count(pattern))
    return text.replace(pattern, replacement)


STRING = Module(
    "String",
    (
        Builtin("length", Fun([String], Int), string_length),
        Builtin("is_empty", Fun([String], Bool), string_is_empty),
        Builtin("concat", Fun([String, String], String), concat),
        Builtin("equal", Fun([String, String], Bool), equal),
        Builtin("contains", Fun([String, String], Bool), contains),
        Builtin("starts_with", Fun([String, String], Bool), starts_with),
        Builtin("ends_with", Fun([String, String], Bool), ends_with),
        Builtin("trim", Fun([String], String), trim),
        Builtin("slice", Fun([String, Int, Int], String), cut),
        Builtin("find", Fun([String, String], option(Int)), find),
        Builtin("split", Fun([String, String], Array(String)), split),
        Builtin("to_upper", Fun([String], String), to_upper),
        Builtin("to_lower", Fun([String], String), to_lower),
        Builtin("replace_all", Fun([String, String, String], String), replace_all),
    ),
)
