"""The history that a moderator saw last, and what scripts see of it: made once per entry, not once per event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chatml.border.python import from_json
from chatml.values.journal import Container
from chatml.values.model import Value
from chatml_runtime.moderation.fields import check_kind
from chatml_runtime.moderation.identities import EntryId, HistoryEntry
from chatml_runtime.moderation.vocabulary import ToolDesc


class SeenHistory:
    """Keeps the values of entries and tools from one event to the next.

    Histories grow at their end, so what is new is found by comparing the part known before, which costs a few
    nanoseconds an entry. A script may write to the arrays inside a value; such values are made anew for the next
    event, because the canonical history is not a script's to rewrite.
    """

    __slots__ = ("_arrays", "_indexed", "_known", "_listed", "_tools", "_tools_values", "_values", "entries")

    def __init__(self) -> None:
        self.entries: tuple[HistoryEntry, ...] = ()
        self._values: list[Value] = []
        self._tools: tuple[ToolDesc, ...] = ()
        self._tools_values: list[Value] = []
        self._known: set[EntryId] = set()
        self._listed = 0
        self._arrays: set[int] = set()
        self._indexed = 0

    def see(self, history: Sequence[HistoryEntry]) -> None:
        """Take note of the history of an event."""
        entries = tuple(history)
        if entries is self.entries:
            return
        shared = shared_length(self.entries, entries)
        fresh = [item_value(entry) for entry in entries[shared:]]
        if shared < len(self.entries):
            del self._values[shared:]
            self._known.clear()
            self._listed = 0
            self._indexed = min(self._indexed, shared)
        self._values += fresh
        self.entries = entries

    def items(self) -> list[Value]:
        """The history as an array of items: a new array of shared items."""
        return self._values.copy()

    def tools(self, available: Sequence[ToolDesc]) -> list[Value]:
        """The tools as an array of descriptions: a new array of shared descriptions."""
        tools = tuple(available)
        if len(tools) != len(self._tools) or any(one is not two for one, two in zip(tools, self._tools, strict=True)):
            self._tools_values = [tool.to_value() for tool in tools]
            self._tools = tools
            self._forget_arrays()
        return self._tools_values.copy()

    def knows(self, entry_id: EntryId) -> bool:
        """Whether an entry with this identity is in the history."""
        self._known.update(entry.id for entry in self.entries[self._listed :])
        self._listed = len(self.entries)
        return entry_id in self._known

    def forget_written(self, written: Iterable[Container]) -> None:
        """Drop the values if a script has written to an array inside one of them."""
        arrays = [id(container) for container in written if type(container) is list]
        if not arrays or not (self._values or self._tools_values):
            return
        if not self._arrays:
            self._arrays = arrays_in(self._tools_values)
        self._arrays |= arrays_in(self._values[self._indexed :])
        self._indexed = len(self._values)
        if not self._arrays.isdisjoint(arrays):
            self._values, self._tools, self._tools_values = [], (), []
            self._forget_arrays()
            self._values = [item_value(entry) for entry in self.entries]

    def _forget_arrays(self) -> None:
        self._arrays = set()
        self._indexed = 0


def item_value(entry: HistoryEntry) -> Value:
    check_kind("an entry of the history", entry, HistoryEntry, help=": give each item an identity from the allocator")
    return {"id": entry.id.encode(), "value": from_json(entry.item)}


def shared_length(before: tuple[HistoryEntry, ...], now: tuple[HistoryEntry, ...]) -> int:
    """How many entries at the start of two histories are the same."""
    if now[: len(before)] == before:
        return len(before)
    for index, (one, two) in enumerate(zip(before, now, strict=False)):
        if one != two:
            return index
    return min(len(before), len(now))


def arrays_in(values: list[Value]) -> set[int]:
    """The ids of all arrays inside some values."""
    found: set[int] = set()
    pending: list[Value] = list(values)
    while pending:
        value = pending.pop()
        kind = type(value)
        if kind is list:
            if id(value) in found:
                continue
            found.add(id(value))
            pending += value
        elif kind is dict:
            pending += value.values()
        elif kind is tuple:
            pending += value[1:]
    return found
