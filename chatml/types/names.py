"""The names that types have: those of the surface, such as `json` and `tool_call`, and those that a script declares.

A person reads `tool_call`, not the record that it stands for. A type has a name if it is equal to what the name was
given to, however it came about: `{ a = 1 }` shows as `pair` after `type pair = { a : int }`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from chatml.types.model import Empty, Record, RecVar, Scalar, Type, Unknown, Var, Variant
from chatml.types.show import flatten
from chatml.types.variables import CHILDREN, resolved, unfolded

MOST_PAIRS = 2_000
"""How many parts of two types are compared before they count as different."""


class TypeNames:
    """Finds the names of closed records and variants. Of two names of one type the later one counts.

    `aliases` are the types by their names in the order of their declarations, None for one that is at fault.

    >>> from chatml.types.model import Extend, Int
    >>> pair = Record(Extend({"a": Int}, Empty))
    >>> TypeNames({"pair": pair}).name_of(Record(Extend({"a": Int}, Empty)))
    'pair'
    """

    def __init__(self, aliases: Mapping[str, Type | None] = MappingProxyType({})) -> None:
        self.named: dict[tuple[type, frozenset[str]], list[tuple[str, Type]]] = {}
        for name, type in reversed(list(aliases.items())):
            key = None if type is None else key_of(type)
            if key is not None and type is not None:
                self.named.setdefault(key, []).append((name, type))

    def name_of(self, type: Type) -> str | None:
        """The name of a type, if it has one."""
        key = key_of(type) if self.named else None
        if key is None:
            return None
        return next((name for name, known in self.named.get(key, ()) if is_same(type, known)), None)


NO_NAMES = TypeNames()


def key_of(type: Type) -> tuple[type, frozenset[str]] | None:
    """What two equal types agree in at first sight: the kind and the labels; None for what shows as it is."""
    known = unfolded(resolved(type))
    if not isinstance(known, Record | Variant):
        return None
    fields, tail = flatten(known.row)
    return (known.__class__, frozenset(fields)) if fields and tail is Empty else None


def is_same(one: Type, other: Type) -> bool:
    """Whether two types are equal as they stand. Recursive ones are taken to be until they are found to differ."""
    seen: set[tuple[int, int]] = set()
    waiting = [(one, other)]
    while waiting:
        left, right = (unfolded(resolved(type)) for type in waiting.pop())
        if left is right or (id(left), id(right)) in seen:
            continue
        seen.add((id(left), id(right)))
        if left.__class__ is not right.__class__ or len(seen) > MOST_PAIRS:
            return False
        match left, right:
            case (Scalar(name), Scalar(same)) | (RecVar(name), RecVar(same)):
                if name != same:
                    return False
                continue
            case (Unknown() | Var(), _):
                return False
            case (Record(row), Record(other_row)) | (Variant(row), Variant(other_row)):
                fields, tail = flatten(row)
                others, other_tail = flatten(other_row)
                if fields.keys() != others.keys() or tail is not other_tail:
                    return False
                waiting += [(fields[label], others[label]) for label in fields]
                continue
        parts, other_parts = (CHILDREN[type.__class__](type) for type in (left, right))
        if len(parts) != len(other_parts) or getattr(left, "name", None) != getattr(right, "name", None):
            return False
        waiting += zip(parts, other_parts, strict=True)
    return True
