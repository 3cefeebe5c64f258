"""Snapshots: values reduced to plain JSON data, for storage and replay (language.md section 5.10, X-56; format 2).

A snapshot is flat, however deep its value is, and what occurs twice is written once. Arrays, records, variants and long
strings are *parts*, numbered from 0; a part stands behind those it refers to, so no snapshot can contain itself.

```text
{"parts": [part, ..], "value": slot}

slot   null   true   3   "x"       unit, bool, int, string
       {"float": 1.5}              float; {"float": "nan"}, "inf", "-inf"
       [7]                         part 7
part   ["array", slot, ..]         ["record", "a", slot, "b", slot, ..], ascending labels
       ["floats", 1.5, ..]         ["variant", "Tag", slot, ..]
       ["string", "x"]             ["table", "a", [slot, ..], "b", [slot, ..], ..]: an array of records, by columns
```

So ``[`Some(1); `Some(1)]``, with one value twice, is

```text
{"parts": [["variant", "Some", 1], ["array", [0], [0]]], "value": [1]}
```
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from chatml.border.nested_snapshot import read_float
from chatml.diagnostics.errors import SnapshotError
from chatml.values.model import INT_MAX, INT_MIN, ModuleValue, Ref, Task, Value, is_builtin, is_function
from chatml.values.surrogates import surrogate_problem
from chatml.values.walk import CYCLIC

Snapshot = dict[str, Any]
"""A value as JSON data."""

BARE = frozenset({int, str, bool, type(None)})
"""What stands in a slot as it is."""

FEW = 8
"""Members that are looked at one by one; of more, first all types at once."""

LONG = 64
"""A longer string is a part: written out in each place, one that is shared could outgrow any memory."""

KINDS: tuple[tuple[Callable[[Value], bool], str], ...] = (
    (lambda value: isinstance(value, Ref), "refs"),
    (is_builtin, "builtins"),
    (is_function, "closures"),
    (lambda value: isinstance(value, ModuleValue), "modules"),
    (lambda value: isinstance(value, Task), "tasks"),
)


def encode(value: Value) -> Snapshot:
    """The snapshot of a value, as JSON data, in time proportional to the parts that exist.

    Raises `SnapshotError` with the path of the first thing that has no data form, and for a value that contains itself.

    >>> encode({"b": ("Tick", 1), "a": [None]})
    {'parts': [['array', None], ['variant', 'Tick', 1], ['record', 'a', [0], 'b', [1]]], 'value': [2]}
    """
    encoder = _Encoder()
    slot = encoder.run(value)
    return {"parts": encoder.parts, "value": slot}


def decode(snapshot: Any) -> Value:
    """The value of a snapshot, with fresh arrays; parts that were shared are shared again.

    Raises `SnapshotError` with the place in the snapshot of what is wrong: another shape, a part that does not
    stand before, a record with a label twice, an int beyond 63 bits, a string with a lone surrogate.

    >>> decode({"parts": [["record", "n", 3], ["variant", "Some", [0]]], "value": [1]})
    ('Some', {'n': 3})
    """
    return _Decoder().run(snapshot)


Frame = tuple[Value, list[Any], Iterator[Value]]
"""A container that is being written: itself, its slots so far, and its members that are left."""


class _Encoder:
    """Writes parts, innermost first, with its own stack of open containers."""

    def __init__(self) -> None:
        self.parts: list[list[Any]] = []
        self.numbers: dict[Any, int | None] = {}
        """The numbers of parts by the identity of their values, and of variants without arguments by the variant; None
        for a container that is open."""
        self.orders: dict[tuple[str, ...], tuple[str, ...]] = {}
        """The labels of records in ascending order, by the labels as they come."""

    def run(self, root: Value) -> Any:
        """The slot of a value, whose parts are in `parts`."""
        open: list[Frame] = []
        value: Value = None
        slots: list[Any] = []
        members: Iterator[Value] = iter((root,))
        while True:
            for member in members:
                if member.__class__ in BARE and (member.__class__ is not str or len(member) <= LONG):
                    slots.append(member)
                    continue
                try:
                    slot = self.slot(member)
                except SnapshotError as error:
                    raise SnapshotError(f"{path_of([*open, (value, slots, members)])}: {error}") from None
                if slot is None:
                    open.append((value, slots, members))
                    value, slots, members = member, [], iter(self.members(member))
                    break
                slots.append(slot)
            else:
                if not open:
                    return slots[0]
                slot = self.append(id(value), self.part(value, slots))
                value, slots, members = open.pop()
                slots.append(slot)

    def slot(self, value: Value) -> Any:
        """What stands for a value; None for a container that has to be opened first."""
        kind = type(value)
        if kind is float:
            return {"float": finite(value)}
        key = value if kind is tuple and len(value) == 1 else id(value)
        if key in self.numbers:
            number = self.numbers[key]
            if number is None:
                raise SnapshotError(CYCLIC)
            return [number]
        if kind is str:
            return self.append(key, ["string", value])
        if kind is not list and kind is not dict and kind is not tuple:
            raise SnapshotError(unserializable(value))
        members = self.members(value)
        if is_bare(members):
            return self.append(key, self.part(value, members))
        if kind is list and set(map(type, value)) == {float}:
            return self.append(key, ["floats", *map(finite, value)])
        table = self.table(value) if kind is list else None
        if table is not None:
            return self.append(key, table)
        self.numbers[key] = None
        return None

    def table(self, rows: list[Value]) -> list[Any] | None:
        """The part of an array of small records that have the same labels and nothing but bare members."""
        first = rows[0]
        if type(first) is not dict or not 0 < len(first) <= FEW or set(map(type, rows)) != {dict}:
            return None
        if set(map(tuple, rows)) != {tuple(first)}:
            return None
        part: list[Any] = ["table"]
        for label in self.labels(first):
            column = [row[label] for row in rows]
            if not is_bare(column):
                return None
            part += (label, column)
        return part

    def members(self, value: Value) -> list[Any]:
        """The values in a container, in the order in which they are written."""
        kind = type(value)
        if kind is list:
            return value  # type: ignore[no-any-return]
        return list(value[1:]) if kind is tuple else [value[label] for label in self.labels(value)]

    def labels(self, record: dict[str, Value]) -> tuple[str, ...]:
        written = tuple(record)
        labels = self.orders.get(written)
        if labels is None:
            labels = self.orders[written] = tuple(sorted(written))
        return labels

    def part(self, value: Value, slots: list[Any]) -> list[Any]:
        """The part of a container with these slots."""
        kind = type(value)
        if kind is list:
            return ["array", *slots]
        if kind is tuple:
            return ["variant", value[0], *slots]
        part: list[Any] = ["record"]
        for pair in zip(self.labels(value), slots, strict=True):
            part += pair
        return part

    def append(self, key: Any, part: list[Any]) -> list[int]:
        number = self.numbers[key] = len(self.parts)
        self.parts.append(part)
        return [number]


def is_bare(values: list[Any]) -> bool:
    """Whether values stand in slots as they are."""
    for value in values[:FEW]:
        kind = value.__class__
        if kind not in BARE or (kind is str and len(value) > LONG):
            return False
    if len(values) <= FEW:
        return True
    kinds = set(map(type, values))
    return kinds <= BARE and (str not in kinds or not any(type(one) is str and len(one) > LONG for one in values))


def finite(number: float) -> float | str:
    """A float as JSON has it: those that are no numbers by name."""
    return number if math.isfinite(number) else f"{number}"


def unserializable(value: Value) -> str:
    for is_kind, plural in KINDS:
        if is_kind(value):
            return f"{plural} are not serializable in ChatML snapshots"
    return f"Python `{type(value).__name__}` objects are not serializable in ChatML snapshots"


def path_of(open: Iterable[Frame]) -> str:
    """The path of the next member of the innermost container: `root.on<Evt>[1]`."""
    steps = ["root"]
    for value, slots, _ in open:
        index = len(slots)
        if type(value) is dict:
            steps.append(f".{sorted(value)[index]}")
        elif value is not None:
            steps.append(f"[{index}]" if type(value) is list else f"<{value[0]}>[{index}]")
    return "".join(steps)


class _Decoder:
    """Reads parts in their order, so that whatever one refers to is there."""

    def __init__(self) -> None:
        self.values: list[Value] = []

    def run(self, snapshot: Any) -> Value:
        if type(snapshot) is not dict or snapshot.keys() != {"parts", "value"} or type(snapshot["parts"]) is not list:
            raise SnapshotError("expected an object with an array `parts` and a `value` in ChatML snapshot")
        for number, part in enumerate(snapshot["parts"]):
            try:
                self.values.append(self.part(part))
            except _Wrong as wrong:
                raise SnapshotError(f"parts[{number}]{wrong.place}: {wrong.reason} in ChatML snapshot") from None
        try:
            return self.slot(snapshot["value"])
        except _Wrong as wrong:
            raise SnapshotError(f"value{wrong.place}: {wrong.reason} in ChatML snapshot") from None

    def part(self, part: Any) -> Value:
        if type(part) is not list or not part:
            raise _Wrong("expected an array that begins with the kind of the part")
        kind = part[0]
        if kind == "record":
            return self.record(part[1::2], part[2::2])
        if kind == "array":
            return self.slots(part[1:], 1)
        if kind == "variant" and len(part) > 1:
            return (text(part[1], 1), *self.slots(part[2:], 2))
        if kind == "floats":
            return [number(content, index) for index, content in enumerate(part[1:], 1)]
        if kind == "string" and len(part) == 2:
            return text(part[1], 1)
        if kind == "table" and len(part) > 2:
            return self.table(part[1::2], part[2::2])
        raise _Wrong("expected an `array`, `floats`, a `record`, a `string`, a `table` or a `variant`")

    def table(self, labels: list[Any], columns: list[Any]) -> list[Value]:
        length = len(columns[0]) if type(columns[0]) is list else 0
        values = []
        for index, column in enumerate(columns, 1):
            if type(column) is not list or len(column) != length:
                raise _Wrong("expected a column of as many values as the first has", f"[{2 * index}]")
            try:
                values.append(self.slots(column, 0))
            except _Wrong as wrong:
                raise _Wrong(wrong.reason, f"[{2 * index}]{wrong.place}") from None
        self.record(labels, [None] * len(columns))
        return [dict(zip(labels, row, strict=True)) for row in zip(*values, strict=True)]

    def record(self, labels: list[Any], slots: list[Any]) -> Value:
        if len(labels) != len(slots):
            raise _Wrong("a label of the record has no value")
        values = self.slots(slots, 2, 2)
        record: dict[str, Value] = {}
        for index, label in enumerate(labels):
            if label.__class__ is not str or not label.isascii():
                label = text(label, 2 * index + 1)
            if label in record:
                raise _Wrong(f'duplicate record field "{label}"')
            record[label] = values[index]
        return record

    def slots(self, slots: list[Any], first: int, step: int = 1) -> list[Value]:
        """The values of the slots of a part, the first of which stands at an index."""
        if is_sound(slots):
            return slots
        values = []
        for index, slot in enumerate(slots):
            try:
                values.append(self.slot(slot))
            except _Wrong as wrong:
                raise _Wrong(wrong.reason, f"[{first + step * index}]{wrong.place}") from None
        return values

    def slot(self, slot: Any) -> Value:
        kind = type(slot)
        if kind is list and len(slot) == 1 and type(slot[0]) is int:
            if not 0 <= slot[0] < len(self.values):
                raise _Wrong(f"part {slot[0]} does not stand before this one")
            return self.values[slot[0]]
        if kind is str:
            return text(slot)
        if kind is int and not INT_MIN <= slot <= INT_MAX:
            raise _Wrong(f"an int must be between {INT_MIN} and {INT_MAX}")
        if kind in BARE:
            return slot
        if kind is dict and slot.keys() == {"float"}:
            return number(slot["float"])
        raise _Wrong('expected null, true, false, an integer, a string, {"float": number} or [part]')


class _Wrong(Exception):
    """What is wrong with a part, and where in it."""

    def __init__(self, reason: str, place: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.place = place


def is_sound(slots: list[Any]) -> bool:
    """Whether slots are values as they are."""
    for slot in slots[:FEW]:
        if slot.__class__ not in BARE or not is_sound_atom(slot):
            return False
    if len(slots) <= FEW:
        return True
    kinds = set(map(type, slots))
    if kinds == {int}:
        return all(INT_MIN <= bound <= INT_MAX for bound in (min(slots), max(slots)))
    if kinds == {str}:
        return all(map(str.isascii, slots))
    return kinds <= BARE and all(map(is_sound_atom, slots))


def is_sound_atom(slot: Any) -> bool:
    if slot.__class__ is str:
        return bool(slot.isascii())
    return slot.__class__ is not int or INT_MIN <= slot <= INT_MAX


def text(content: Any, index: int | None = None) -> str:
    """A string of a snapshot."""
    problem = surrogate_problem(content) if type(content) is str else "expected a string"
    if problem is not None:
        raise _Wrong(problem, "" if index is None else f"[{index}]")
    return content  # type: ignore[no-any-return]


def number(content: Any, index: int | None = None) -> float:
    """A float of a snapshot."""
    read = read_float(content)
    if read is None:
        raise _Wrong('expected a number, "nan", "inf" or "-inf"', "" if index is None else f"[{index}]")
    return read
