"""Types as text (language.md section 3.1, builtins.md section 1.5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from chatml.types.model import (
    Array,
    Con,
    Empty,
    Extend,
    Fun,
    Mu,
    Record,
    RecVar,
    Ref,
    Scalar,
    Tuple,
    Type,
    Unknown,
    Var,
    Variant,
)
from chatml.types.variables import resolved, unfolded

MOST_PARTS = 20_000
"""How many parts of a type are shown; a type of a few lines can unfold to more than any memory holds."""


def show(type: Type) -> str:
    """The text of a type.

    >>> from chatml.types.model import Int, String
    >>> show(Fun([Array(Var("x")), Fun([Var("x")], String)], Record(Extend({"n": Int}, Empty))))
    '(a array, (a -> string) -> {n: int})'
    """
    return Shower().show(type)


class Naming(Protocol):
    """Gives types names: `chatml.types.names.TypeNames`."""

    def name_of(self, type: Type) -> str | None:
        """The name of a type, if it has one."""


class Shower:
    """Shows the types of one report: a variable has one name in all of them.

    With `naming`, for people: a type that has a name shows as that, and one that contains itself ends in `…`.
    """

    def __init__(self, most: int = MOST_PARTS, naming: Naming | None = None) -> None:
        self.most = most
        self.naming = naming
        self.names: dict[object, str] = {}
        self.out: list[str] = []
        self.left = most
        self.inside: set[int] = set()
        """The types that are being shown, and which of them are `Mu`s."""
        self.binders: set[int] = set()
        self.handlers: dict[type, Callable[[Any], None]] = {
            Scalar: lambda type: self.out.append(type.name),
            RecVar: lambda type: self.out.append(type.binder),
            Var: lambda type: self.out.append(self.name("", (Var, type.name))),
            Unknown: lambda type: self.out.append(self.name("'", type)),
            Mu: self.mu,
            Array: self.array,
            Ref: self.ref,
            Tuple: self.tuple,
            Con: self.con,
            Fun: self.function,
            Record: self.record,
            Variant: self.variant,
        }

    def show(self, type: Type) -> str:
        """The text of one type."""
        self.out = []
        self.left = self.most
        self.visit(type)
        return "".join(self.out)

    def declaration(self, type: Type) -> str:
        """The text of what a name stands for: of the type itself, in which names may stand."""
        known = unfolded(resolved(type))
        self.out = []
        self.left = self.most
        self.handlers[known.__class__](known)
        return "".join(self.out)

    def visit(self, type: Type) -> None:
        type = resolved(type)
        name = None if self.naming is None else self.naming.name_of(type)
        if name is not None:
            self.left -= 1
            self.out.append(name)
            return
        if id(type) in self.inside:
            endless = "'rec" if self.naming is None else "…"
            self.out.append(type.binder if isinstance(type, Mu) else endless)
            return
        self.left -= 1
        if self.left < 0:
            self.out.append("…")
            return
        if type.__class__ in LEAVES:
            self.handlers[type.__class__](type)
            return
        self.inside.add(id(type))
        self.handlers[type.__class__](type)
        self.inside.discard(id(type))

    def name(self, mark: str, variable: object) -> str:
        """The letter of a variable: `a` to `z`, then `a1` and so on, in order of appearance."""
        if variable not in self.names:
            round, letter = divmod(sum(name.startswith("'") == bool(mark) for name in self.names.values()), 26)
            self.names[variable] = f"{mark}{chr(ord('a') + letter)}{round or ''}"
        return self.names[variable]

    def listed(self, types: Sequence[Type], separator: str) -> None:
        for index, type in enumerate(types):
            if index:
                self.out.append(separator)
            if self.left <= 0:
                self.out.append("…")
                return
            self.visit(type)

    def mu(self, type: Mu) -> None:
        """Inside a `mu` its binder shows every repetition, so what led to it is forgotten."""
        self.out.append(f"mu {type.binder}. ")
        outside, self.inside = self.inside, self.binders | {id(type)}
        self.binders, binders = self.inside, self.binders
        self.visit(type.body)
        self.inside, self.binders = outside, binders

    def array(self, type: Array) -> None:
        self.applied("array", type.element)

    def applied(self, constructor: str, argument: Type) -> None:
        """A constructor after its argument; `mu` reaches as far to the right as it can, so it stands in parentheses."""
        known = resolved(argument)
        enclosed = isinstance(known, Mu) and id(known) not in self.inside
        self.out.append("(" if enclosed else "")
        self.visit(argument)
        self.out.append(f") {constructor}" if enclosed else f" {constructor}")

    def ref(self, type: Ref) -> None:
        self.out.append("ref(")
        self.visit(type.content)
        self.out.append(")")

    def tuple(self, type: Tuple) -> None:
        self.out.append("(")
        self.listed(type.parts, " * ")
        self.out.append(")")

    def con(self, type: Con) -> None:
        if len(type.args) == 1:
            self.applied(type.name, type.args[0])
        else:
            self.out.append(f"{type.name}(")
            self.listed(type.args, ", ")
            self.out.append(")")

    def function(self, type: Fun) -> None:
        self.out.append("(")
        self.listed(type.params, ", ")
        self.out.append(" -> ")
        self.visit(type.result)
        self.out.append(")")

    def record(self, type: Record) -> None:
        fields, tail = flatten(type.row)
        self.out.append("{")
        for index, label in enumerate(sorted(fields)):
            separator = "; " if index else ""
            if self.left <= 0:
                self.out.append(f"{separator}…")
                break
            self.out.append(f"{separator}{label}: ")
            self.visit(fields[label])
        self.out.append("}" if tail is Empty else "; ...}" if fields else "...}")

    def variant(self, type: Variant) -> None:
        fields, tail = flatten(type.row)
        self.out.append("[")
        for index, label in enumerate(sorted(fields)):
            separator = " | " if index else ""
            if self.left <= 0:
                self.out.append(f"{separator}…")
                break
            self.out.append(f"{separator}`{label}")
            self.payload(fields[label])
        self.out.append("]" if tail is Empty else " | ...]" if fields else "...]")

    def payload(self, type: Type) -> None:
        known = resolved(type)
        if isinstance(known, Scalar) and known.name == "unit":
            return
        self.out.append("(")
        if isinstance(known, Tuple) and id(known) not in self.inside:
            self.listed(known.parts, ", ")
        else:
            self.visit(known)
        self.out.append(")")


LEAVES = frozenset({Scalar, Var, Unknown, RecVar})


def flatten(row: Type) -> tuple[dict[str, Type], Type]:
    """A row as one map, and what ends it."""
    fields: dict[str, Type] = {}
    while True:
        if isinstance(row, Unknown) and row.link is not None:
            row = row.link
        elif isinstance(row, Extend):
            for label, type in row.fields.items():
                fields.setdefault(label, type)
            row = row.tail
        else:
            return fields, row
