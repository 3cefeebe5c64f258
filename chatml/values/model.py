"""The values of the language, one representation for every engine (language.md section 5.1).

| kind | Python |
| --- | --- |
| int, float, bool, string | `int` (63-bit), `float`, `bool`, `str` (no lone surrogates) |
| unit | `None` |
| variant | `tuple`: the tag, then the arguments: `("Some", 1)` |
| record | `dict` from label to value, never mutated once built |
| array | `list` |
| ref | `Ref` |
| function | a Python function, or an engine's own subclass of `Function`; `is_function` knows them |
| module | `ModuleValue` |
| task | `Task`: `Pure Bind Map Fail Catch Perform Spawn` |

Whoever writes to an array or a ref calls `Machine.touch(container)` first, so that a host can take the write back.
docs/decisions.md says why these and not others.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import maxsize
from types import FunctionType
from typing import Any, Protocol, TypeAlias

from chatml.diagnostics.errors import ChatmlError
from chatml.records import mutable
from chatml.source import Span
from chatml.values.limits import Limits

Value: TypeAlias = Any
"""A value of the language; the table above says which Python objects these are."""

INT_MIN, INT_MAX = -(2**62), 2**62 - 1
INT_MASK = 2**63 - 1


def wrap(number: int) -> int:
    """An integer brought into the 63-bit range, modulo 2^63.

    >>> wrap(2**62)
    -4611686018427387904
    """
    if INT_MIN <= number <= INT_MAX:
        return number
    return ((number - INT_MIN) & INT_MASK) + INT_MIN


class Ref:
    """A mutable cell; two refs are equal only when they are the same object."""

    __slots__ = ("content",)

    def __init__(self, content: Value) -> None:
        self.content = content


class Function:
    """A value that can be called. `arity` is its exact number of arguments, `name` is for messages."""

    __slots__ = ("arity", "name")

    def __init__(self, name: str, arity: int) -> None:
        self.name = name
        self.arity = arity


class BuiltinFunction(Function):
    """A host function as a value; `name` is qualified (`Array.map`)."""

    __slots__ = ("function", "uses_machine")

    def __init__(
        self,
        name: str,
        arity: int,
        function: Callable[..., Value],
        uses_machine: bool,
    ) -> None:
        super().__init__(name, arity)
        self.function = function
        self.uses_machine = uses_machine


GENERATED = "<chatml>"
"""The file name of generated code, by which the functions of a compiled script are known."""
PASSED = "<builtin>"
"""The file name of the functions by which a compiled script passes builtins on."""


def is_function(value: Value) -> bool:
    """Whether a value is a function of the language."""
    if isinstance(value, FunctionType):
        return value.__code__.co_filename in (GENERATED, PASSED)
    return isinstance(value, Function)


def is_builtin(value: Value) -> bool:
    """Whether a value is a function of the surface."""
    return isinstance(value, BuiltinFunction) or (
        isinstance(value, FunctionType) and value.__code__.co_filename == PASSED
    )


class ModuleValue:
    """A map from export to value; filled once its body has run."""

    __slots__ = ("exports", "name")

    def __init__(self, name: str, exports: dict[str, Value] | None = None) -> None:
        self.name = name
        self.exports: dict[str, Value] = {} if exports is None else exports

    def __getitem__(self, label: str) -> Value:
        return self.exports[label]

    def __contains__(self, label: object) -> bool:
        """Never: the type of a module is a record's, but no record pattern fits it (section 5.5)."""
        return False

    def __len__(self) -> int:
        """More than any closed record pattern has fields."""
        return maxsize


class Task:
    """A description of an effect. Building one does nothing; only a host interprets it (section 5.8)."""

    __slots__ = ()


@mutable
class Pure(Task):
    value: Value


@mutable
class Bind(Task):
    task: Task
    function: Function


@mutable
class Map(Task):
    task: Task
    function: Function


@mutable
class Fail(Task):
    message: str


@mutable
class Catch(Task):
    task: Task
    function: Function


@mutable
class Perform(Task):
    """An operation that a host carries out when the task reaches it; `site` is the place that asked, if known."""

    op: str
    args: tuple[Value, ...]
    site: Span | None = None


@mutable
class Spawn(Task):
    """An operation that a host starts, and that completes later; `site` as of `Perform`."""

    op: str
    args: tuple[Value, ...]
    site: Span | None = None


class BuiltinFailure(ChatmlError):
    """Raised by a builtin, or by an operation on values such as showing one: the facts of the failure.

    An engine turns it into a `RuntimeFailure` with the builtin's name and the place.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Machine(Protocol):
    """What a builtin may ask of the engine that runs it."""

    limits: Limits

    def call(self, function: Value, args: list[Value]) -> Value:
        """Apply a function value of the script to arguments and return its value."""

    def function(self, function: Value, arity: int) -> Callable[..., Value]:
        """A function value as a Python function of so many arguments, to be called many times by one builtin."""

    def print(self, text: str) -> None:
        """Hand a line of output to the host's sink."""

    def touch(self, container: list[Value] | Ref) -> None:
        """Announce that a container is about to be written."""

    def check_size(self, size: int) -> None:
        """Refuse to build a string or an array of more than `Limits.text` elements."""

    def charge(self, size: int) -> None:
        """Use up steps for so many elements or characters that a builtin looks at: one for each 64 of them (X-52)."""
