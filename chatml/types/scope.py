"""The names that are in scope while a script is read in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

T = TypeVar("T")


class Scope(Generic[T]):
    """One map for all scopes, and a log of what inner ones hide, so that entering and leaving cost nothing."""

    def __init__(self, entries: Mapping[str, T]) -> None:
        self.entries: dict[str, T] = dict(entries)
        self.log: list[tuple[str, T | None]] = []
        self.incomplete = False
        """Whether an `open` failed, so that an unknown name may be one that it would have brought."""

    def define(self, name: str, entry: T) -> None:
        """Let a name stand for something from here on."""
        self.log.append((name, self.entries.get(name)))
        self.entries[name] = entry

    def mark(self) -> int:
        """Where we are, for `leave`."""
        return len(self.log)

    def leave(self, mark: int) -> None:
        """Forget every name that was defined since the mark."""
        while len(self.log) > mark:
            name, hidden = self.log.pop()
            if hidden is None:
                del self.entries[name]
            else:
                self.entries[name] = hidden
