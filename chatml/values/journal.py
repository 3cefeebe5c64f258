"""The journal of a run: the old contents of what it has overwritten, so that it can be undone (X-20)."""

from __future__ import annotations

from typing import TypeAlias

from chatml.values.model import Ref, Value

Container: TypeAlias = "list[Value] | Ref"


class Journal:
    """Remembers each array and ref as it was before the run's first write to it.

    The engine calls `record` before every write. Cost and memory are proportional to the containers written.

    >>> numbers, journal = [1, 2], Journal()
    >>> journal.record(numbers); numbers[0] = 9
    >>> journal.undo(); numbers
    [1, 2]
    """

    __slots__ = ("_new", "_old")

    def __init__(self) -> None:
        self._old: dict[int, tuple[Container, Value]] = {}
        self._new: list[tuple[Container, Value]] = []

    def record(self, container: Container) -> None:
        """Note that a container is about to be written."""
        key = id(container)  # the entry keeps the container alive, so that no other can take its id
        if key not in self._old:
            self._old[key] = (container, _content(container))

    def undo(self) -> None:
        """Give every container its old content again."""
        for container, content in self._old.values():
            _restore(container, content)

    def put_away(self) -> None:
        """Show the old contents while the run is suspended, and keep the new ones."""
        self._new = [(container, _content(container)) for container, _ in self._old.values()]
        self.undo()

    def bring_back(self) -> None:
        """Show the run's own contents again."""
        for container, content in self._new:
            _restore(container, content)
        self._new = []

    @property
    def containers(self) -> tuple[Container, ...]:
        """The containers that the run has written."""
        return tuple(container for container, _ in self._old.values())

    def __len__(self) -> int:
        """How many containers the run has written."""
        return len(self._old)


def _content(container: Container) -> Value:
    return container.content if isinstance(container, Ref) else container.copy()


def _restore(container: Container, content: Value) -> None:
    if isinstance(container, Ref):
        container.content = content
    else:
        container[:] = content
