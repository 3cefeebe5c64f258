"""The kinds of argument that operations take, and the check of an argument list (builtins.md section 4.5)."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence

from chatml.values.model import Value
from chatml_runtime.script import problems
from chatml_runtime.script.errors import OperationFailed


class Kind(enum.StrEnum):
    """What an argument or a result has to be; the name in messages is the value."""

    STRING = "string"
    INT = "int"
    STRINGS = "string array"
    VALUE = "value"
    UNIT = "unit"


FITS: Mapping[Kind, Callable[[Value], bool]] = {
    Kind.STRING: lambda value: type(value) is str,
    Kind.INT: lambda value: type(value) is int,
    Kind.STRINGS: lambda value: type(value) is list and all(type(element) is str for element in value),
    Kind.VALUE: lambda value: True,
    Kind.UNIT: lambda value: value is None,
}


def check_arguments(op: str, kinds: Sequence[Kind], args: Sequence[Value]) -> None:
    """`OperationFailed`, with the facts, unless there is one argument of each kind.

    >>> check_arguments("Turn.halt", [Kind.STRING], ("enough",))
    """
    if len(args) != len(kinds):
        raise OperationFailed(problems.wrong_argument_count(op, len(kinds), len(args)))
    for position, (kind, argument) in enumerate(zip(kinds, args, strict=True), start=1):
        if not FITS[kind](argument):
            raise OperationFailed(problems.wrong_argument(op, position, kind.value))
