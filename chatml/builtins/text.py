"""`Text`: words and lines, patterns, numbers in texts (builtins.md section 10).

A pattern is searched for in time that grows with the text times the parts of the pattern (`chatml.text_match`), and
each search charges steps for what it does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chatml.builtins.checks import expected
from chatml.builtins.schemes import option
from chatml.builtins.string import WHITE_SPACE
from chatml.builtins.string import replace_all as replace_in_string
from chatml.lazy import lazy
from chatml.surfaces.model import Builtin, Module
from chatml.types.model import Array, Bool, Float, Fun, Int, String
from chatml.values.model import INT_MAX, INT_MIN, BuiltinFailure, Machine, Value

if TYPE_CHECKING:
    from chatml import text_match
else:
    text_match = lazy("chatml.text_match")

WORD = f"[^{WHITE_SPACE}]+"
WHOLE = "([+-]?)0*([0-9]+)"
DECIMAL = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
LONGEST_INT = 19


def words(machine: Machine, text: Value) -> list[Value]:
    if type(text) is not str:
        raise expected("string")
    machine.charge(len(text))
    found: list[Value] = re.findall(WORD, text)
    machine.check_size(len(found))
    return found


def lines(machine: Machine, text: Value) -> list[Value]:
    if type(text) is not str:
        raise expected("string")
    machine.charge(len(text))
    machine.check_size(text.count("\n") + 1)
    *ended, last = text.split("\n")
    found: list[Value] = [line.removesuffix("\r") for line in ended]
    return [*found, last] if last else found


def join(machine: Machine, parts: Value, separator: Value) -> str:
    if not (type(parts) is list and type(separator) is str and all(type(part) is str for part in parts)):
        raise expected("string array", "string")
    size = sum([len(part) for part in parts]) + len(separator) * max(0, len(parts) - 1)
    machine.charge(len(parts) + size)
    machine.check_size(size)
    return separator.join(parts)


def replace(machine: Machine, text: Value, old: Value, new: Value) -> str:
    if type(text) is str:
        machine.charge(len(text))
    return str(replace_in_string(machine, text, old, new))


def matcher_of(machine: Machine, pattern: str) -> text_match.Matcher:
    """The matcher of a pattern. Its cost is charged also when it was kept: what a run uses depends on nothing else."""
    machine.charge(len(pattern))
    try:
        matcher = text_match.compile(pattern)
    except text_match.PatternError as error:
        raise BuiltinFailure(str(error)) from None
    machine.charge(matcher.cost)
    return matcher


def matches(machine: Machine, text: Value, pattern: Value) -> bool:
    if not (type(text) is str and type(pattern) is str):
        raise expected("string", "string")
    return matcher_of(machine, pattern).matches(text, machine.charge)


def find_all(machine: Machine, text: Value, pattern: Value) -> list[Value]:
    if not (type(text) is str and type(pattern) is str):
        raise expected("string", "string")
    found: list[Value] = []
    for start, end in matcher_of(machine, pattern).find_all(text, machine.charge):
        found.append(text[start:end])
    machine.check_size(len(found))
    return found


def replace_matches(machine: Machine, text: Value, pattern: Value, new: Value) -> str:
    if not (type(text) is str and type(pattern) is str and type(new) is str):
        raise expected("string", "string", "string")
    pieces: list[str] = []
    size = place = 0
    for start, end in matcher_of(machine, pattern).find_all(text, machine.charge):
        pieces.append(text[place:start])
        size += start - place + len(new)
        place = end
    pieces.append(text[place:])
    size += len(text) - place
    machine.charge(size)
    machine.check_size(size)
    return new.join(pieces)


def parse_int(machine: Machine, text: Value) -> Value:
    if type(text) is not str:
        raise expected("string")
    machine.charge(len(text))
    match = re.fullmatch(WHOLE, text)
    if match is None or len(match[2]) > LONGEST_INT:
        return ("None",)
    number = int(match[1] + match[2])
    return ("Some", number) if INT_MIN <= number <= INT_MAX else ("None",)


def parse_float(machine: Machine, text: Value) -> Value:
    if type(text) is not str:
        raise expected("string")
    machine.charge(len(text))
    number = float(text) if re.fullmatch(DECIMAL, text) else float("inf")
    return ("None",) if abs(number) == float("inf") else ("Some", number)


TEXT = Module(
    "Text",
    (
        Builtin("words", Fun([String], Array(String)), words, machine=True),
        Builtin("lines", Fun([String], Array(String)), lines, machine=True),
        Builtin("join", Fun([Array(String), String], String), join, machine=True),
        Builtin("replace", Fun([String, String, String], String), replace, machine=True),
        Builtin("matches", Fun([String, String], Bool), matches, machine=True, pattern=True),
        Builtin("find_all", Fun([String, String], Array(String)), find_all, machine=True, pattern=True),
        Builtin("replace_matches", Fun([String, String, String], String), replace_matches, machine=True, pattern=True),
        Builtin("parse_int", Fun([String], option(Int)), parse_int, machine=True),
        Builtin("parse_float", Fun([String], option(Float)), parse_float, machine=True),
    ),
)
