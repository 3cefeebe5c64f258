"""`String`: strings are sequences of code points (builtins.md section 3.4, X-01)."""

from __future__ import annotations

from chatml.builtins.checks import check_range, expected
from chatml.builtins.expressions import expression
from chatml.builtins.schemes import option
from chatml.surfaces.model import Builtin, Module
from chatml.types.model import Array, Bool, Fun, Int, String
from chatml.values.model import BuiltinFailure, Machine, Value

WHITE_SPACE = " \t\n\r\v\f"
UPPER = {ord(letter): letter.upper() for letter in "abcdefghijklmnopqrstuvwxyz"}
LOWER = {ord(letter.upper()): letter for letter in "abcdefghijklmnopqrstuvwxyz"}


def concat(machine: Machine, left: Value, right: Value) -> str:
    if not (type(left) is str and type(right) is str):
        raise expected("string", "string")
    machine.check_size(len(left) + len(right))
    return left + right


def trim(machine: Machine, text: Value) -> str:
    if type(text) is not str:
        raise expected("string")
    machine.charge(len(text))
    trimmed = text.strip(WHITE_SPACE)
    machine.check_size(len(trimmed))
    return trimmed


def cut(machine: Machine, text: Value, start: Value, length: Value) -> str:
    if not (type(text) is str and type(start) is int and type(length) is int):
        raise expected("string", "int", "int")
    check_range(start, length, len(text))
    machine.check_size(length)
    return text[start : start + length]


def equal(machine: Machine, left: Value, right: Value) -> bool:
    if not (type(left) is str and type(right) is str):
        raise expected("string", "string")
    machine.charge(min(len(left), len(right)))
    return left == right


def contains(machine: Machine, text: Value, needle: Value) -> bool:
    if not (type(text) is str and type(needle) is str):
        raise expected("string", "string")
    machine.charge(len(text) + len(needle))
    return needle in text


def starts_with(machine: Machine, text: Value, prefix: Value) -> bool:
    if not (type(text) is str and type(prefix) is str):
        raise expected("string", "string")
    machine.charge(min(len(text), len(prefix)))
    return text.startswith(prefix)


def ends_with(machine: Machine, text: Value, suffix: Value) -> bool:
    if not (type(text) is str and type(suffix) is str):
        raise expected("string", "string")
    machine.charge(min(len(text), len(suffix)))
    return text.endswith(suffix)


def find(machine: Machine, text: Value, needle: Value) -> Value:
    if not (type(text) is str and type(needle) is str):
        raise expected("string", "string")
    machine.charge(len(text) + len(needle))
    index = text.find(needle)
    return ("None",) if index < 0 else ("Some", index)


def split(machine: Machine, text: Value, separator: Value) -> list[Value]:
    if not (type(text) is str and type(separator) is str):
        raise expected("string", "string")
    if not separator:
        raise BuiltinFailure("the separator must not be empty")
    machine.charge(len(text))
    machine.check_size(text.count(separator) + 1)
    pieces: list[Value] = text.split(separator)
    return pieces


def to_upper(machine: Machine, text: Value) -> str:
    if type(text) is not str:
        raise expected("string")
    machine.check_size(len(text))
    return text.upper() if text.isascii() else text.translate(UPPER)


def to_lower(machine: Machine, text: Value) -> str:
    if type(text) is not str:
        raise expected("string")
    machine.check_size(len(text))
    return text.lower() if text.isascii() else text.translate(LOWER)


def replace_all(machine: Machine, text: Value, pattern: Value, replacement: Value) -> str:
    if not (type(text) is str and type(pattern) is str and type(replacement) is str):
        raise expected("string", "string", "string")
    if not pattern:
        raise BuiltinFailure("the pattern must not be empty")
    machine.charge(len(text))
    growth = len(replacement) - len(pattern)
    machine.check_size(len(text) + growth * text.count(pattern))
    return text.replace(pattern, replacement)


STRING = Module(
    "String",
    (
        expression("length", Fun([String], Int), "len(a)"),
        expression("is_empty", Fun([String], Bool), "not a"),
        Builtin("concat", Fun([String, String], String), concat, machine=True),
        Builtin("equal", Fun([String, String], Bool), equal, machine=True),
        Builtin("contains", Fun([String, String], Bool), contains, machine=True),
        Builtin("starts_with", Fun([String, String], Bool), starts_with, machine=True),
        Builtin("ends_with", Fun([String, String], Bool), ends_with, machine=True),
        Builtin("trim", Fun([String], String), trim, machine=True),
        Builtin("slice", Fun([String, Int, Int], String), cut, machine=True),
        Builtin("find", Fun([String, String], option(Int)), find, machine=True),
        Builtin("split", Fun([String, String], Array(String)), split, machine=True),
        Builtin("to_upper", Fun([String], String), to_upper, machine=True),
        Builtin("to_lower", Fun([String], String), to_lower, machine=True),
        Builtin("replace_all", Fun([String, String, String], String), replace_all, machine=True),
    ),
)
