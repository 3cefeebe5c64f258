"""Crossing between Python and the language by a static type: what a function of a script takes and returns.

`chatml.border.python` converts data by what they are; here the type of the function says what they are to be. Data that
do not fit the type are refused with the path of the part, and what has the type `json` is plain JSON data on the Python
side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chatml.border.python import FromPython, ToPython, from_json, short, to_json, to_python
from chatml.builtins.checks import TAGS
from chatml.builtins.schemes import JSON
from chatml.diagnostics.errors import BoundaryError
from chatml.records import frozen
from chatml.stack import deep
from chatml.types.environment import Environment
from chatml.types.freeze import Freezer
from chatml.types.model import (
    Array,
    Bool,
    Con,
    Empty,
    Float,
    Fun,
    Int,
    Mu,
    Record,
    Ref,
    Scalar,
    String,
    Tuple,
    Type,
    Unit,
    Unknown,
    Variant,
)
from chatml.types.rebuild import BUILDERS, rebuild
from chatml.types.show import flatten, show
from chatml.types.unify import Failure, Unifier
from chatml.types.variables import resolved, unfolded
from chatml.values.failures import describe
from chatml.values.model import Ref as Cell
from chatml.values.model import Task, Value, is_function

JSON_TYPE = Environment({}, {}, [("json", JSON)]).aliases["json"]


@frozen(eq=False)
class Signature:
    """The types of a function's parameters and of its result, with `JSON_TYPE` for every type that is equal to it."""

    name: str
    params: tuple[Type, ...]
    result: Type
    has_json: bool
    """Whether there is a `json` in the result."""

    def to_values(self, args: Sequence[Any]) -> list[Value]:
        """The values that a host's arguments stand for. Raises `BoundaryError`."""
        return [
            Incoming(f"{self.name}, argument {number}", data, type).run()
            for number, (data, type) in enumerate(zip(args, self.params, strict=True), 1)
        ]

    def to_data(self, result: Value) -> Any:
        """What a result is on the Python side. Raises `BoundaryError`."""
        return Outgoing(f"{self.name}, result", result, self.result).run() if self.has_json else to_python(result)


def signature(name: str, type: Type) -> Signature:
    """The signature of a definition. Raises `BoundaryError` if it is not a function."""
    with deep():
        known = resolved(type)
        if not isinstance(known, Fun):
            raise BoundaryError(f"`{name}` is not a function: its type is {show(type)}")
        params = tuple(Plain().visit(param) for param in known.params)
        plain = Plain()
        result = plain.visit(known.result)
        return Signature(name, params, result, JSON_TYPE in plain.copies.values())


class Plain:
    """A copy of a type without links, each `Mu` as a cycle, and `JSON_TYPE` for all that equals it."""

    def __init__(self) -> None:
        self.copies: dict[Type, Type] = {}

    def visit(self, type: Type) -> Type:
        known = resolved(type)
        if known in self.copies:
            return self.copies[known]
        if known.__class__ is not Mu and known.__class__ not in BUILDERS:
            return known
        if is_json(known):
            self.copies[known] = JSON_TYPE
            return JSON_TYPE
        hole = self.copies[known] = Unknown(0)
        hole.link = self.visit(known.body) if isinstance(known, Mu) else rebuild(known, self.visit)
        self.copies[known] = hole.link
        return hole.link


def is_json(type: Type) -> bool:
    """Whether a type is equal to the alias `json`."""
    known = unfolded(type)
    if not isinstance(known, Variant):
        return False
    cases, tail = flatten(known.row)
    if tail is not Empty or cases.keys() != TAGS:
        return False
    try:
        Unifier().unify(Freezer().freeze(type), JSON_TYPE)
    except Failure:
        return False
    return True


@frozen(eq=False)
class Typed:
    """A part that is still to be converted, and its type. Parts that stand alone have no type that is known."""

    part: Any
    type: Type


KINDS: dict[Type, type] = {Unit: type(None), Bool: bool, Int: int, Float: float, String: str}


def typed(part: Any, type: Type) -> Any:
    """A part and its type; a scalar that is of its type is converted like one that stands alone."""
    return part if KINDS.get(type) is part.__class__ else Typed(part, type)


def _class(part: Any) -> type:
    return part.__class__  # type: ignore[no-any-return]


def payload(type: Type) -> Sequence[Type]:
    """The types of the arguments of a tag."""
    known = resolved(type)
    if known is Unit:
        return ()
    return known.parts if isinstance(known, Tuple) else (known,)


class Incoming(FromPython):
    """Data of a host to a value of a type."""

    def __init__(self, subject: str, data: Any, type: Type) -> None:
        super().__init__(Typed(data, type))
        self.root = data
        self.subject = subject

    def error(self, message: str) -> Exception:
        return BoundaryError(f"{self.subject}: {message}")

    def bare(self, value: Any) -> Any:
        return value.part if value.__class__ is Typed else value

    def convert(self, value: Any) -> Value:
        if value.__class__ is not Typed:
            return super().convert(value)
        data, type = value.part, resolved(value.type)
        if type is JSON_TYPE:
            return self.json(data)
        convert = INCOMING.get(type.__class__)
        return super().convert(data) if convert is None else convert(self, data, type)

    def expected(self, wanted: str, data: Any) -> Exception:
        got = describe(data) if is_function(data) or isinstance(data, Cell | Task) else short(data)
        return self.failure(f"expected {wanted}, not {got}")

    def json(self, data: Any) -> Value:
        try:
            return from_json(data)
        except BoundaryError as error:
            raise self.failure(str(error)) from None

    def scalar(self, data: Any, type: Scalar) -> Value:
        kind, wanted = SCALARS[type.name]
        if not isinstance(data, kind) or (isinstance(data, bool) and kind is not bool):
            raise self.expected(wanted, data)
        if type.name != "float":
            return super().convert(data)
        try:
            return float(data)
        except OverflowError:
            raise self.expected(wanted, data) from None

    def array(self, data: Any, type: Array) -> Value:
        if not isinstance(data, list):
            raise self.expected("a list", data)
        if set(map(_class, data)) == {KINDS.get(type.element)}:
            return self.items(data)
        return self.items([typed(item, type.element) for item in data])

    def record(self, data: Any, type: Record) -> Value:
        fields, tail = flatten(type.row)
        if not isinstance(data, dict):
            raise self.expected(f"a dict with {labels(fields)}", data)
        missing = fields.keys() - data.keys()
        if missing:
            raise self.failure(f"{labels(missing)} {'is' if len(missing) == 1 else 'are'} missing")
        pairs: list[tuple[str, Any]] = [(label, typed(data[label], type)) for label, type in fields.items()]
        if tail is not Empty:  # Else no script can name what else there is, and it stays outside.
            pairs += [(self.label(key), item) for key, item in data.items() if key not in fields]
        return self.fields(pairs)

    def variant_of(self, data: Any, type: Variant) -> Value:
        cases, tail = flatten(type.row)
        tag = data[0] if isinstance(data, tuple) and data else None
        if not isinstance(tag, str) or (tag not in cases and tail is Empty):
            raise self.expected(f"a tuple that begins with {labels(cases)}", data)
        if tag not in cases:
            return self.tuple(data)
        types = payload(cases[tag])
        if len(data) - 1 != len(types):
            raise self.failure(f"`{tag}` takes {len(types)} argument{'s' * (len(types) != 1)}, not {len(data) - 1}")
        return self.variant(str.__str__(tag), [typed(arg, type) for arg, type in zip(data[1:], types, strict=True)])

    def function(self, data: Any, type: Fun) -> Value:
        return self.opaque(data, is_function(data), "a function of a script")

    def cell(self, data: Any, type: Ref) -> Value:
        return self.opaque(data, isinstance(data, Cell), "a ref")

    def task(self, data: Any, type: Con) -> Value:
        return self.opaque(data, isinstance(data, Task), "a task")

    def opaque(self, data: Any, fits: bool, wanted: str) -> Value:
        if not fits:
            raise self.expected(wanted, data)
        return data


SCALARS: dict[str, tuple[Any, str]] = {
    "int": (int, "an int"),
    "float": ((float, int), "a float"),
    "bool": (bool, "a bool"),
    "string": (str, "a string"),
    "unit": (type(None), "None"),
}
INCOMING: dict[type, Callable[[Incoming, Any, Any], Value]] = {
    Scalar: Incoming.scalar,
    Array: Incoming.array,
    Record: Incoming.record,
    Variant: Incoming.variant_of,
    Fun: Incoming.function,
    Ref: Incoming.cell,
    Con: Incoming.task,
}


def labels(names: Any) -> str:
    """The names of fields or tags, for a message."""
    return ", ".join(f"`{name}`" for name in sorted(names)) or "no fields"


class Outgoing(ToPython):
    """A value to data, by a type that has `json` in it. A value of another kind than its type converts as it is."""

    def __init__(self, subject: str, value: Value, type: Type) -> None:
        super().__init__(Typed(value, type))
        self.root = value
        self.subject = subject

    def error(self, message: str) -> Exception:
        return BoundaryError(f"{self.subject}: {message}")

    def bare(self, value: Any) -> Any:
        return value.part if value.__class__ is Typed else value

    def convert(self, value: Value) -> Any:
        if value.__class__ is not Typed:
            return super().convert(value)
        part, type = value.part, resolved(value.type)
        if type is JSON_TYPE:
            return self.json(part)
        match type, part:
            case Array(element), list():
                return self.items([Typed(item, element) for item in part])
            case Record(row), dict():
                fields = flatten(row)[0]
                return self.fields(
                    (label, Typed(item, fields[label]) if label in fields else item) for label, item in part.items()
                )
            case Variant(row), tuple():
                types = payload(flatten(row)[0].get(part[0], Unit))
                if len(types) == len(part) - 1:
                    return self.variant(part[0], [Typed(arg, type) for arg, type in zip(part[1:], types, strict=True)])
        return super().convert(part)

    def json(self, value: Value) -> Any:
        try:
            return to_json(value)
        except BoundaryError as error:
            raise self.failure(str(error)) from None
