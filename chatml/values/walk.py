"""Walks over values that any depth, any sharing and any cycle leave unharmed (X-04).

A value can contain itself (through an array or a ref), can be deeper than any stack, and can share its parts so that
written out it would be larger than any memory. The walks of this package keep their own stack, and look up
from their work when it has become long: `Watch` then refuses what would not end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from chatml.values.model import Bind, Catch, Fail, Map, Perform, Pure, Ref, Spawn, Value

MANY_PARTS = 2**16
"""A walk that has come so far makes sure that it will end."""

VERY_MANY_PARTS = 2**20
MOST_PARTS = 10_000_000
ENDLESS = 2**62
CYCLIC = "the value contains itself"


def holds_twice(open: Iterable[Value]) -> bool:
    """Whether one container occurs twice among those that a walk is in: then it contains itself.

    A walk that asks this whenever it has become twice as long asks soon enough, and spends next to nothing on it.
    """
    identities = list(map(id, open))
    return len(set(identities)) < len(identities)


def check_extent(root: Value, error: Callable[[str], Exception], most: int = MOST_PARTS) -> None:
    """Raise the error for a value that contains itself, or would be too large with its shared parts written out."""
    size = unfolded_size(root)
    if size is None:
        raise error(CYCLIC)
    if size > most:
        raise error(f"the value has more than {most:,} parts")


class Watch:
    """Makes sure that a long walk ends, whose stack of pending parts holds those of the innermost container on top.

    A cycle is found where the walk stands. The size is what was walked; a walk of very many parts looks once whether
    it is worth going on, since a value that shares its parts may be larger than any memory.
    """

    def __init__(self, root: Value, error: Callable[[str], Exception], most: int = MOST_PARTS) -> None:
        self.root = root
        self.error = error
        self.most = most
        self.open: list[Value] = []
        self.marks: list[int] = []
        """How many parts were pending when each of the open containers was entered."""
        self.next = MANY_PARTS
        self.is_measured = False

    def enter(self, value: Value, pending: int, count: int) -> None:
        """Note that the walk comes to a value, with so many parts pending and so many behind it."""
        while self.marks and self.marks[-1] > pending:
            self.marks.pop()
            self.open.pop()
        self.open.append(value)
        self.marks.append(pending)
        if count < self.next:
            return
        self.next = 2 * count
        if holds_twice(self.open):
            raise self.error(CYCLIC)
        if count > VERY_MANY_PARTS and not self.is_measured:
            self.is_measured = True
            check_extent(self.root, self.error, self.most)
        if count > self.most:
            raise self.error(f"the value has more than {self.most:,} parts")


PARTS: dict[type, Callable[[Value], Iterable[Value]]] = {
    list: lambda value: value,
    dict: lambda value: value.values(),
    tuple: lambda value: value,
    Pure: lambda task: (task.value,),
    Bind: lambda task: (task.task,),
    Map: lambda task: (task.task,),
    Catch: lambda task: (task.task,),
    Fail: lambda task: (),
    Perform: lambda task: task.args,
    Spawn: lambda task: task.args,
}
"""The parts of a value that its text shows. Refs, which may be of a subclass, are handled apart."""


def parts(value: Value) -> Iterable[Value]:
    """The values that a value is made of; none for a scalar or an opaque value."""
    take = PARTS.get(type(value))
    if take is not None:
        return take(value)
    return (value.content,) if isinstance(value, Ref) else ()


def unfolded_size(root: Value) -> int | None:
    """How many parts a value has when shared ones count each time, at most `ENDLESS`; None if it contains itself.

    Takes time and memory in proportion to the parts that exist, however often they are shared.

    >>> pair = [1, 2]
    >>> unfolded_size([pair, pair])
    7
    >>> pair.append(pair)
    >>> unfolded_size(pair)
    """
    sizes: dict[int, int] = {}
    entered: set[int] = set()
    todo: list[tuple[Value, bool]] = [(root, False)]
    while todo:
        value, leaving = todo.pop()
        identity = id(value)
        if leaving:
            entered.remove(identity)
            sizes[identity] = min(ENDLESS, 1 + sum([sizes.get(id(part), 1) for part in parts(value)]))
        elif identity in entered:
            return None
        elif identity not in sizes and (type(value) in PARTS or isinstance(value, Ref)):
            entered.add(identity)
            todo.append((value, True))
            todo += [(part, False) for part in parts(value)]
    return sizes.get(id(root), 1)


Path = tuple[Any, str, object] | None
"""Where a part is: the path of the whole, the pattern of the step that leads to the part, and its label or index."""


def show_path(path: Path) -> str:
    """A path as text: `root.on<Evt>[1]`."""
    steps = []
    while path is not None:
        path, pattern, name = path
        steps.append(pattern.format(name))
    return "root" + "".join(reversed(steps))


class Rebuild(ABC):
    """Turns a tree of values into a tree of other data, part by part, in the order in which they are written.

    A subclass converts one value at a time and leaves its parts for `later`; a failure names the path of the part.
    """

    most = MOST_PARTS
    kept: frozenset[type] = frozenset()
    """What is the same converted."""

    def __init__(self, root: Value) -> None:
        self.path: Path = None
        self.result: list[Any] = [None]
        self.target: Any = self.result
        self.key: Any = 0
        self.todo: list[tuple[Value, Any, Any, Path]] = [(root, self.result, 0, None)]
        self.variants: list[tuple[str, list[Any], Any, Any]] = []
        self.root = root
        self.count = 0
        self.watch: Watch | None = None

    @abstractmethod
    def convert(self, value: Value) -> Any:
        """The converted value, whose parts may still be missing."""

    @abstractmethod
    def error(self, message: str) -> Exception:
        """The exception to raise for a value that cannot be converted."""

    def bare(self, value: Value) -> Value:
        """The part of the root that a value to be converted stands for."""
        return value

    def is_kept(self, values: Sequence[Value]) -> bool:
        """Whether values are all the same converted."""
        return set(map(type, values)) <= self.kept

    def failure(self, message: str) -> Exception:
        """The exception for the value being converted, with its path."""
        return self.error(f"{show_path(self.path)}: {message}")

    def later(self, value: Value, target: Any, key: Any, pattern: str, name: object) -> None:
        """Convert a part afterwards and store it as `target[key]`; pattern and name lead to it from the whole."""
        if type(value) in self.kept:
            target[key] = value
        else:
            self.todo.append((value, target, key, (self.path, pattern, name)))

    def items(self, values: Iterable[Value], pattern: str = "[{}]") -> list[Any]:
        """A list that will hold the converted values."""
        target: list[Any] = []
        if isinstance(values, list | tuple) and self.is_kept(values):
            self.count += len(values)
            return list(values)
        for index, value in enumerate(values):
            target.append(None)
            self.later(value, target, index, pattern, index)
        self.count += len(target)
        return target

    def fields(self, pairs: Iterable[tuple[str, Value]]) -> dict[str, Any]:
        """A record that will hold the converted values."""
        target: dict[str, Any] = {}
        for label, value in pairs:
            target[label] = None
            self.later(value, target, label, ".{}", label)
        self.count += len(target)
        return target

    def variant(self, tag: str, args: Iterable[Value]) -> None:
        """Put a variant in the current place once its arguments are converted: a tuple cannot be filled later."""
        self.variants.append((tag, self.arguments(tag, args), self.target, self.key))

    def arguments(self, tag: str, args: Iterable[Value]) -> list[Any]:
        """A list that will hold the converted arguments of a variant."""
        return self.items(args, f"<{tag}>[{{}}]")

    def run(self) -> Any:
        """The converted root."""
        todo = self.todo
        while todo:
            value, self.target, self.key, self.path = todo.pop()
            self.count += 1
            size = len(todo)
            if self.count > MANY_PARTS:
                self.watch = self.watch or Watch(self.root, self.error, self.most)
                self.watch.enter(self.bare(value), size, self.count)
            self.target[self.key] = self.convert(value)
            todo[size:] = todo[: size - 1 if size else None : -1]
        for tag, args, target, key in reversed(self.variants):
            target[key] = (tag, *args)
        return self.result[0]
