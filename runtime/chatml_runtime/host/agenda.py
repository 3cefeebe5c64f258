"""What is due when: things by time, and among those of one time by the order in which they were put down."""

from __future__ import annotations

import heapq
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


class Agenda(Generic[Thing]):
    """Things under names, each with the time when it is due. Knows no clock.

    >>> agenda = Agenda()
    >>> agenda.add(5, "tea", "T")
    >>> agenda.add(3, "coffee", "C")
    >>> agenda.add(3, "cake", "K")
    >>> agenda.remove("coffee"), agenda.next_at
    ('C', 3)
    >>> agenda.due(10)
    [('cake', 'K'), ('tea', 'T')]
    """

    __slots__ = ("_added", "_heap", "_things")

    def __init__(self) -> None:
        self._added = 0
        self._heap: list[tuple[float, int, str]] = []
        self._things: dict[str, tuple[int, Thing]] = {}

    def __len__(self) -> int:
        return len(self._things)

    def __contains__(self, name: str) -> bool:
        return name in self._things

    def add(self, at: float, name: str, thing: Thing) -> None:
        """Put a thing down under a name of its own."""
        self._added += 1
        self._things[name] = self._added, thing
        heapq.heappush(self._heap, (at, self._added, name))

    def remove(self, name: str) -> Thing | None:
        """Take a thing away before it is due; None if no such thing exists."""
        found = self._things.pop(name, None)
        if found is None:
            return None
        if len(self._heap) > 2 * len(self._things) + 64:
            self._heap = [entry for entry in self._heap if self._is_there(entry)]
            heapq.heapify(self._heap)
        return found[1]

    def due(self, now: float) -> list[tuple[str, Thing]]:
        """Take what is due by now, in order."""
        taken = []
        while self._heap and (self._heap[0][0] <= now or not self._is_there(self._heap[0])):
            entry = heapq.heappop(self._heap)
            if self._is_there(entry):
                taken.append((entry[2], self._things.pop(entry[2])[1]))
        return taken

    @property
    def next_at(self) -> float | None:
        """When the next thing is due."""
        while self._heap and not self._is_there(self._heap[0]):
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def _is_there(self, entry: tuple[float, int, str]) -> bool:
        """Whether what an entry of the heap speaks of has not been taken away."""
        found = self._things.get(entry[2])
        return found is not None and found[0] == entry[1]
