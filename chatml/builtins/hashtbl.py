"""`Hashtbl`: a table is a ref to an array of entries (builtins.md section 3.7).

`create` makes a ref that keeps an index from key to entry, and builds the array only when someone reads it. From then
on the array is what counts, as a script may write to it; the next `set` or `remove` makes a new index from it. So an
array that was read never changes through the table.
"""

from __future__ import annotations

from chatml.builtins.checks import entry_key, expected
from chatml.builtins.schemes import A, option, record
from chatml.surfaces.model import Builtin, Module
from chatml.types.model import Array, Bool, Fun, Ref, String, Unit
from chatml.values.model import Machine, Value
from chatml.values.model import Ref as Cell

Entry = dict[str, Value]


class Table(Cell):
    """A ref to an array of entries that is quick to search and to change while nobody has read the array."""

    __slots__ = ("array", "index")

    def __init__(self) -> None:
        self.array: list[Value] = []
        self.index: dict[str, Entry] | None = {}
        """The entries by key, in order; None while `array` counts."""

    @property
    def content(self) -> Value:
        if self.index is not None:
            self.array = list(self.index.values())
            self.index = None
        return self.array

    @content.setter
    def content(self, content: Value) -> None:
        self.array = content
        self.index = None

    def indexed(self) -> dict[str, Entry] | None:
        """The index, for a change; None if the array holds a key twice, which no index can."""
        if self.index is None:
            index = {entry_key(entry): entry for entry in self.array}
            if len(index) < len(self.array):
                return None
            self.index = index
        return self.index


def entries_of(table: Cell) -> list[Value]:
    content = table.content
    if type(content) is not list:
        raise expected("table")
    return content


def find_entry(machine: Machine, table: Value, key: Value) -> Entry | None:
    """The first entry with a key."""
    if not (isinstance(table, Cell) and type(key) is str):
        raise expected("table", "string")
    if type(table) is Table and table.index is not None:
        return table.index.get(key)
    entries = entries_of(table)
    machine.charge(len(entries))
    for entry in entries:
        if entry_key(entry) == key:
            found: Entry = entry
            return found
    return None


def create() -> Cell:
    return Table()


def set_entry(machine: Machine, table: Value, key: Value, value: Value) -> None:
    if not (isinstance(table, Cell) and type(key) is str):
        raise expected("table", "string", "'a")
    machine.touch(table)
    new = {"key": key, "value": value}
    index = table.indexed() if type(table) is Table else None
    if index is not None:
        if key not in index:
            machine.check_size(len(index) + 1)
        index[key] = new
        return
    entries = entries_of(table)[:]
    for position, entry in enumerate(entries):
        if entry_key(entry) == key:
            entries[position] = new
            break
    else:
        entries.append(new)
    machine.check_size(len(entries))
    table.content = entries


def get(machine: Machine, table: Value, key: Value) -> Value:
    entry = find_entry(machine, table, key)
    return ("None",) if entry is None else ("Some", entry["value"])


def mem(machine: Machine, table: Value, key: Value) -> bool:
    return find_entry(machine, table, key) is not None


def remove(machine: Machine, table: Value, key: Value) -> None:
    if find_entry(machine, table, key) is None:
        return
    machine.touch(table)
    index = table.indexed() if type(table) is Table else None
    if index is not None:
        del index[key]
    else:
        table.content = [entry for entry in entries_of(table) if entry_key(entry) != key]


TABLE = Ref(Array(record(key=String, value=A)))

HASHTBL = Module(
    "Hashtbl",
    (
        Builtin("create", Fun([], TABLE), create),
        Builtin("set", Fun([TABLE, String, A], Unit), set_entry, machine=True),
        Builtin("get", Fun([TABLE, String], option(A)), get, machine=True),
        Builtin("mem", Fun([TABLE, String], Bool), mem, machine=True),
        Builtin("remove", Fun([TABLE, String], Unit), remove, machine=True),
    ),
)
