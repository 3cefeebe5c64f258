"""Whether a value that was stored is of the type that the script gives it (X-56).

The checker vouches for what a script makes. What comes back from a store may have been written by anybody: before it
goes to the script, it is held against the static type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chatml.border.python import short
from chatml.builtins.schemes import task
from chatml.functions.typed import KINDS, labels, payload
from chatml.types.checked import Checked
from chatml.types.guided import Entrypoints
from chatml.types.model import Array, Con, Empty, Fun, Record, Ref, Scalar, Type, Unknown, Var, Variant
from chatml.types.show import flatten
from chatml.types.variables import resolved, unfolded
from chatml.values.failures import describe
from chatml.values.model import Value
from chatml.values.walk import Path, show_path

NOUNS = {"int": "an int", "float": "a float", "bool": "a bool", "string": "a string", "unit": "unit"}


def misfit(value: Value, type: Type) -> str | None:
    """The path to the first part of some data that is not of its type, and what is wrong there; None if all fits.

    A variable stands for any type, and a record may hold fields that its type does not name. Time is proportional to
    the parts that exist and their types, however deep they are and however often they are shared.

    >>> from chatml.types.model import Int
    >>> misfit([1, "x"], Array(Int))
    "root[1]: expected an int, not a string: 'x'"
    >>> misfit([1, 2], Array(Int))
    """
    return _Fitting().run(value, type)


def state_type(checked: Checked, names: Entrypoints) -> Type:
    """The type of a moderator's state: what `initial_state` is, and `on_event` takes and leaves.

    Of a script that does not keep the contract nothing is known, so its state may be anything.
    """
    contract = checked.contract()
    if names.on_event not in contract.types or names.initial_state not in contract.types:
        return Unknown(0)
    context, state, event = Var("context"), Var("state"), Var("event")
    handler = Fun([context, state, event], task(state))
    if contract.fit(names.on_event, handler) or contract.fit(names.initial_state, state):
        return Unknown(0)
    return contract.expected(state)


class _Fitting:
    """One comparison: the parts that are still to be looked at, last first, and those that were."""

    def __init__(self) -> None:
        self.todo: list[tuple[Value, Type, Path]] = []
        self.seen: set[tuple[int, int]] = set()
        self.rows: dict[Type, tuple[dict[str, Type], bool]] = {}
        """The fields or cases of a record or variant, and whether there are others."""

    def run(self, value: Value, type: Type) -> str | None:
        self.todo.append((value, type, None))
        while self.todo:
            value, type, path = self.todo.pop()
            known = self.known(type)
            kind = KINDS.get(known)
            if kind is not None:
                if value.__class__ is not kind:
                    return wrong(path, NOUNS[known.name], value)  # type: ignore[attr-defined]
                continue
            look = LOOKS.get(known.__class__)
            if look is None:
                continue
            pair = (id(value), id(known))
            if pair in self.seen:
                continue
            self.seen.add(pair)
            size = len(self.todo)
            wanted = look(self, value, known, path)
            if wanted is not None:
                return wrong(path, wanted, value)
            self.todo[size:] = self.todo[: size - 1 if size else None : -1]
        return None

    def known(self, type: Type) -> Type:
        """A type without the links and the binders in front of it."""
        return unfolded(resolved(type)) if type.__class__ is not Scalar else type

    def row(self, type: Any) -> tuple[dict[str, Type], bool]:
        found = self.rows.get(type)
        if found is None:
            fields, tail = flatten(type.row)
            found = self.rows[type] = {label: self.known(part) for label, part in fields.items()}, tail is not Empty
        return found

    def add(self, value: Value, type: Type, path: Path, pattern: str, name: object) -> None:
        """Look at a part later, unless it is a scalar of its type."""
        if KINDS.get(type) is not value.__class__:
            self.todo.append((value, type, (path, pattern, name)))

    def array(self, value: Value, type: Array, path: Path) -> str | None:
        if value.__class__ is not list:
            return "an array"
        element = self.known(type.element)
        if set(map(_class, value)) <= {KINDS.get(element)}:
            return None
        for index, item in enumerate(value):
            self.add(item, element, path, "[{}]", index)
        return None

    def record(self, value: Value, type: Record, path: Path) -> str | None:
        fields, _ = self.row(type)
        if value.__class__ is not dict or not fields.keys() <= value.keys():
            return f"a record with {labels(fields)}"
        for label, part in fields.items():
            self.add(value[label], part, path, ".{}", label)
        return None

    def variant(self, value: Value, type: Variant, path: Path) -> str | None:
        cases, is_open = self.row(type)
        if value.__class__ is not tuple or not (is_open or value[0] in cases):
            return f"a variant, one of {labels(cases)}"
        if value[0] not in cases:
            return None
        types: Sequence[Type] = payload(cases[value[0]])
        if len(types) != len(value) - 1:
            return f"`{value[0]}` with {len(types)} argument{'s' * (len(types) != 1)}"
        for index, (argument, part) in enumerate(zip(value[1:], types, strict=True)):
            self.add(argument, self.known(part), path, f"<{value[0]}>[{{}}]", index)
        return None

    def opaque(self, value: Value, type: Type, path: Path) -> str | None:
        """No data are of such a type."""
        return {Fun: "a function", Ref: "a ref", Con: "a task"}[type.__class__]


def _class(value: Value) -> type:
    return value.__class__  # type: ignore[no-any-return]


def wrong(path: Path, wanted: str, value: Value) -> str:
    detail = f": {short(value)}" if value.__class__ in (int, float, str) else ""
    return f"{show_path(path)}: expected {wanted}, not {describe(value)}{detail}"


LOOKS: dict[type, Callable[[_Fitting, Value, Any, Path], str | None]] = {
    Array: _Fitting.array,
    Record: _Fitting.record,
    Variant: _Fitting.variant,
    Fun: _Fitting.opaque,
    Ref: _Fitting.opaque,
    Con: _Fitting.opaque,
}
