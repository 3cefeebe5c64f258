"""The types that the schemes of builtins are made of (builtins.md section 1.4)."""

from __future__ import annotations

from chatml.types.model import (
    Array,
    Bool,
    Con,
    Empty,
    Extend,
    Float,
    Mu,
    Record,
    RecVar,
    String,
    Type,
    Unit,
    Var,
    Variant,
)

A, B = Var("a"), Var("b")


def record(**fields: Type) -> Type:
    """The closed record type of these fields."""
    return Record(Extend(fields, Empty) if fields else Empty)


def variant(**cases: Type) -> Type:
    """The closed variant type of these tags; `Unit` stands for no payload."""
    return Variant(Extend(cases, Empty) if cases else Empty)


def option(content: Type) -> Type:
    """``[ `None | `Some(content) ]``."""
    return Variant(Extend({"None": Unit, "Some": content}, Empty))


def task(result: Type) -> Type:
    """`result task`."""
    return Con("task", [result])


def _json() -> Type:
    this = RecVar("__builtin_json")
    entry = record(key=String, value=this)
    cases = {
        "Null": Unit,
        "Bool": Bool,
        "Number": Float,
        "String": String,
        "Array": Array(this),
        "Object": Array(entry),
    }
    return Mu("__builtin_json", variant(**cases))


JSON = _json()
"""The alias `json` (section 3.2)."""

ENTRY = record(key=String, value=JSON)
