"""The text of a value in a trace: that of `chatml.values.text`, but with strings in quotes, and never long.

Functions have their names, a task is `<task>`, JSON objects are JSON. The time it takes is bounded by the length of the
text, however large the value is, also if it contains itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from json import dumps

from chatml.builtins.hashtbl import Table
from chatml.values.model import Function, ModuleValue, Ref, Task, Value
from chatml.values.text import ATOMS


class Mark(str):
    """Punctuation, which is not a string of the script."""


class Member:
    """A value inside of JSON."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


Todo = list[Value]
"""What is left to write, last first: values, marks, and members."""


def brief(value: Value, length: int) -> str:
    """The text of a value, in at most so many characters.

    >>> brief({"b": "s", "a": [1.5, True, None]}, 40), brief(("Pair", 1, list(range(1000))), 20)
    ('{ a = [|1.5, true, ()|]; b = "s" }', '`Pair(1, [|0, 1, 2,…')
    """
    atom = ATOMS.get(type(value))
    if atom is not None:
        return atom(value)
    pieces: list[str] = []
    room = length
    todo: Todo = [value]
    while todo and room >= 0:
        part = todo.pop()
        kind = type(part)
        if kind is Mark:
            text = part
        elif kind is str:
            text = quoted(part, length)
        elif kind in ATOMS:
            text = ATOMS[kind](part)
        else:
            write = WRITERS.get(kind, write_other)
            write(part, todo, room)
            continue
        pieces.append(text)
        room -= len(text)
    line = "".join(pieces)
    return line if len(line) <= length else f"{line[: length - 1]}…"


def quoted(text: str, length: int) -> str:
    """A string in quotes, cut where nobody will see it."""
    return dumps(text[: length + 1], ensure_ascii=False)


def join(todo: Todo, values: Sequence[Value], before: str, after: str, room: int, between: str = ", ") -> None:
    """Put values on the list between two marks, as many as there is room for."""
    todo.append(Mark(after))
    for index in range(min(len(values), room) - 1, -1, -1):
        todo.append(values[index])
        if index:
            todo.append(Mark(between))
    todo.append(Mark(before))


def write_array(array: list[Value], todo: Todo, room: int) -> None:
    join(todo, array, "[|", "|]", room)


def write_record(record: dict[str, Value], todo: Todo, room: int) -> None:
    todo.append(Mark(" }"))
    labels = sorted(record)[: max(room, 1)]
    for label in labels[:0:-1]:
        todo += (record[label], Mark(f"; {label} = "))
    todo += (record[labels[0]], Mark(f"{{ {labels[0]} = ")) if labels else (Mark("{ "),)


def write_variant(variant: tuple[Value, ...], todo: Todo, room: int) -> None:
    tag = variant[0] if variant else ""
    if tag == "Object" and is_object(variant):
        write_members(variant[1], todo, room)
    elif len(variant) == 1:
        todo.append(Mark(f"`{tag}"))
    else:
        join(todo, variant[1:], f"`{tag}(", ")", room)


def is_object(variant: tuple[Value, ...]) -> bool:
    """Whether a variant is a JSON object; its first members speak for all."""
    if len(variant) != 2 or type(variant[1]) is not list:
        return False
    return all(
        type(entry) is dict and entry.keys() == {"key", "value"} and type(entry["key"]) is str
        for entry in variant[1][:SAMPLE]
    )


SAMPLE = 8


def write_members(entries: list[Value], todo: Todo, room: int) -> None:
    todo.append(Mark("}"))
    shown = entries[: max(room, 1)]
    for index in range(len(shown) - 1, -1, -1):
        entry = shown[index]
        if type(entry) is dict and entry.keys() == {"key", "value"}:
            todo += (Member(entry["value"]), Mark(":"), entry["key"])
        else:
            todo.append(entry)
        if index:
            todo.append(Mark(","))
    todo.append(Mark("{"))


def write_member(member: Member, todo: Todo, room: int) -> None:
    """A value of type `json` as JSON, any other one as it is."""
    match member.value:
        case ("Null",):
            todo.append(Mark("null"))
        case ("String", str(text)):
            todo.append(text)
        case ("Bool", bool(truth)):
            todo.append(truth)
        case ("Number", float(number)):
            todo.append(Mark(repr(number).removesuffix(".0")))
        case ("Array", list(items)):
            join(todo, [Member(item) for item in items[:room]], "[", "]", room, ",")
        case other:
            todo.append(other)


def write_other(value: Value, todo: Todo, room: int) -> None:
    """The kinds that have subclasses."""
    if isinstance(value, Table):
        items = value.array if value.index is None else list(islice(value.index.values(), room))
        todo += (Mark(")"), items, Mark("ref("))
    elif isinstance(value, Ref):
        todo += (Mark(")"), value.content, Mark("ref("))
    elif isinstance(value, Function | ModuleValue):
        todo.append(Mark(value.name))
    elif isinstance(value, Task):
        todo.append(Mark("<task>"))
    else:
        todo.append(Mark(f"<{type(value).__name__}>"))


WRITERS: dict[type, Callable[[Value, Todo, int], None]] = {
    list: write_array,
    dict: write_record,
    tuple: write_variant,
    Member: write_member,
}
