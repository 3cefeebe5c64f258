"""The types of the language (language.md section 3.1), one set of classes for everyone.

Hosts write the schemes of their builtins with them (builtins.md section 1.4):

>>> option = Variant(Extend({"None": Unit, "Some": Var("a")}, Empty))
>>> find = Fun([Array(Var("a")), Fun([Var("a")], Bool)], option)
>>> name = Fun([Record(Extend({"name": String}, RowVar("r")))], String)
>>> json = Mu("json", Variant(Extend({"Null": Unit, "Array": Array(RecVar("json"))}, Empty)))

The checker adds one class of its own, `Unknown`: a variable that inference still looks for. Inside the
checker a recursive type is a cycle: what a `RecVar` names is the `Mu` itself (`scheme.adopt` ties the knot).

Types compare by identity, and only an `Unknown` changes, when it is bound. They are not frozen all the same: that costs
twice as much to make, and a checker makes little else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from chatml.records import mutable

OPEN = 2**30
CLOSED, RECURSIVE = -2, -1
"""Levels of types without variables: without and with a `Mu` in them."""


class Type:
    """A type. No variable in it has a higher level than its own `level`, so that passes can skip what is below theirs.

    `OPEN` promises nothing, and a negative level says that no variable exists at all.
    """

    __slots__ = ("level",)
    level: int


Row: TypeAlias = Type
"""What a record or a variant holds: labels and their types, closed (`Empty`), open (`RowVar`) or unknown."""


@mutable
class Scalar(Type):
    """`int`, `float`, `bool`, `string` or `unit`."""

    name: str
    level: int = CLOSED


Int = Scalar("int")
Float = Scalar("float")
Bool = Scalar("bool")
String = Scalar("string")
Unit = Scalar("unit")


@mutable
class Var(Type):
    """A quantified type variable. In a host's scheme the same name is the same variable."""

    name: str
    level: int = OPEN


@mutable
class Array(Type):
    """A mutable array of one type of elements."""

    element: Type
    level: int = OPEN


@mutable
class Ref(Type):
    """A mutable cell."""

    content: Type
    level: int = OPEN


@mutable
class Tuple(Type):
    """The payload of a tag with two or more arguments."""

    parts: Sequence[Type]
    level: int = OPEN


@mutable
class Con(Type):
    """A type constructor that the host owns; `task` with one argument is the only one in use."""

    name: str
    args: Sequence[Type]
    level: int = OPEN


@mutable
class Record(Type):
    """Its row gives each label the type of the field."""

    row: Row
    level: int = OPEN


@mutable
class Variant(Type):
    """Its row gives a tag `Unit` for no argument, the argument's type for one, a `Tuple` for several."""

    row: Row
    level: int = OPEN


@mutable
class Fun(Type):
    """A function of exactly so many parameters, none included."""

    params: Sequence[Type]
    result: Type
    level: int = OPEN


@mutable
class Mu(Type):
    """A recursive type: it equals its body with itself in place of the binder."""

    binder: str
    body: Type
    level: int = OPEN


@mutable
class RecVar(Type):
    """The binder of an enclosing `Mu`."""

    binder: str
    level: int = OPEN


@mutable
class _Empty(Type):
    """The class of `Empty`."""

    level: int = CLOSED


Empty = _Empty()
"""The row without labels: it closes a row."""


@mutable
class RowVar(Type):
    """A quantified row variable, in a namespace apart from that of `Var`."""

    name: str
    level: int = OPEN


@mutable
class Extend(Type):
    """Labels, and the row that follows them. Of equal labels along a row the leftmost counts."""

    fields: dict[str, Type]
    tail: Row
    level: int = OPEN


class Unknown(Type):
    """A type or row that inference still looks for.

    `link` is what it was found to be, `level` the depth of the binding that may generalise it, and `site` the
    expression that determined it. Of a row, `promised` is an open row with the types of labels that it may not have
    but must not have at another type: where `{ r with on = true }` joins `r`, `on` is dropped, and whatever `r` turns
    out to be, an `on` in it is a bool. `loose`: an update kept it as the rest of a record with known fields.
    """

    __slots__ = ("link", "loose", "promised", "site")

    def __init__(self, level: int) -> None:
        self.level = level
        self.link: Type | None = None
        self.promised: Row | None = None
        self.loose = False
        self.site: object = None
