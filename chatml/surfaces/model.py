"""The surface model: what a host gives a script to name (builtins.md section 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from chatml.records import frozen
from chatml.types.model import Fun, Type
from chatml.values.model import Value

Host = Callable[..., Value]


def uses_machine(function: Host) -> Host:
    """Mark a host function that takes the running `Machine` before its arguments."""
    return mark("uses_machine", True)(function)


def inline(expression: str) -> Callable[[Host], Host]:
    """Mark a host function with a Python expression that does the same with arguments of the kinds that its type says.

    `a`, `b`, `c` in it are the arguments; it evaluates all of them. Generated code then needs no call and no check;
    where the types let a value of another kind through, Python refuses it or computes with what is there
    (docs/decisions.md).
    """
    return mark("inline", expression)


def on_data(expression: str) -> Callable[[Host], Host]:
    """Mark a host function with a Python expression as `inline` takes, for arguments in which all that has the type
    `json` is plain JSON data: what a host hands to an entry need not become a value to be read.
    """
    return mark("on_data", expression)


def traversal(name: str) -> Callable[[Host], Host]:
    """Mark a host function that calls its last argument for each element of an array, as the builtin of this name does.

    Generated code writes the loop where it is called (`chatml.engines.compile.traversals`).
    """
    return mark("traversal", name)


def mark(name: str, content: object) -> Callable[[Host], Host]:
    """Tell the engines something about a host function, as an attribute of it."""

    def marked(function: Host) -> Host:
        setattr(function, name, content)
        return function

    return marked


@frozen(eq=False)
class Builtin:
    """A host function with its type scheme. `function` gets the evaluated arguments and returns a value.

    It raises `BuiltinFailure` with the facts of a failure; the engine adds the qualified name and the place.
    """

    name: str
    scheme: Fun
    function: Host


@frozen(eq=False)
class Module:
    """A builtin module: a name and its exports."""

    name: str
    exports: tuple[Builtin, ...]


@frozen(eq=False)
class Alias:
    """A type that scripts can name."""

    name: str
    type: Type


@frozen(eq=False)
class Surface:
    """Everything that a script can name besides syntax and its own definitions. Immutable."""

    globals: tuple[Builtin, ...] = ()
    modules: tuple[Module, ...] = ()
    aliases: tuple[Alias, ...] = ()

    def combine(self, other: Surface) -> Surface:
        """Both surfaces; where both define a name, this one's definition counts."""
        return Surface(
            _first_of_each(self.globals + other.globals),
            _first_of_each(self.modules + other.modules),
            _first_of_each(self.aliases + other.aliases),
        )


Named = TypeVar("Named", Builtin, Module, Alias)


def _first_of_each(definitions: Iterable[Named]) -> tuple[Named, ...]:
    by_name: dict[str, Named] = {}
    for definition in definitions:
        by_name.setdefault(definition.name, definition)
    return tuple(by_name.values())
