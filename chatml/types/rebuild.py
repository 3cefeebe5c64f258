"""Copies of types, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from chatml.types.model import (
    CLOSED,
    Array,
    Con,
    Extend,
    Fun,
    Record,
    Ref,
    Row,
    Tuple,
    Type,
    Variant,
)

Visit = Callable[[Type], Type]


def rebuild(type: Type, visit: Visit) -> Type:
    """A composite type over again, each part replaced by what `visit` makes of it."""
    return BUILDERS[type.__class__](type, visit)


def level_of(parts: Iterable[Type]) -> int:
    """The level of a type by the levels of its parts."""
    level = CLOSED
    for part in parts:
        if part.level > level:
            level = part.level
    return level


def row_of(fields: dict[str, Type], tail: Row) -> Row:
    """The row of these labels and what follows them: no row has a piece without labels.

    Such a piece would stand for what follows it, `tail` for `{ ...tail }`, and a variable must not be bound to itself.
    """
    return Extend(fields, tail, level_of([*fields.values(), tail])) if fields else tail


def rebuild_array(type: Array, visit: Visit) -> Array:
    element = visit(type.element)
    return Array(element, element.level)


def rebuild_ref(type: Ref, visit: Visit) -> Ref:
    content = visit(type.content)
    return Ref(content, content.level)


def rebuild_tuple(type: Tuple, visit: Visit) -> Tuple:
    parts = [visit(part) for part in type.parts]
    return Tuple(parts, level_of(parts))


def rebuild_con(type: Con, visit: Visit) -> Con:
    args = [visit(arg) for arg in type.args]
    return Con(type.name, args, level_of(args))


def rebuild_record(type: Record, visit: Visit) -> Record:
    row = joined(visit(type.row))
    return Record(row, row.level)


def rebuild_variant(type: Variant, visit: Visit) -> Variant:
    row = joined(visit(type.row))
    return Variant(row, row.level)


def rebuild_function(type: Fun, visit: Visit) -> Fun:
    params = [visit(param) for param in type.params]
    result = visit(type.result)
    return Fun(params, result, level_of([*params, result]))


def rebuild_extend(type: Extend, visit: Visit) -> Row:
    fields = {label: visit(part) for label, part in type.fields.items()}
    return row_of(fields, visit(type.tail))


def joined(row: Type) -> Type:
    """A row with all its labels in one piece. Rows grow label by label, so this is done once, for the whole row."""
    links: list[Extend] = []
    tail = row
    while isinstance(tail, Extend):
        links.append(tail)
        tail = tail.tail
    if len(links) < 2:
        return row
    fields: dict[str, Type] = {}
    for link in reversed(links):
        fields.update(link.fields)
    return row_of(fields, tail)


BUILDERS: dict[type, Callable[[Any, Visit], Type]] = {
    Array: rebuild_array,
    Ref: rebuild_ref,
    Tuple: rebuild_tuple,
    Con: rebuild_con,
    Record: rebuild_record,
    Variant: rebuild_variant,
    Fun: rebuild_function,
    Extend: rebuild_extend,
}
