"""Where the choices of a written program come from, and the types that it chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Protocol, TypeVar

import attrs
from hypothesis import strategies as st

from tests.chatml.program_types import (
    BOOL,
    COMPARABLE_SCALARS,
    FLOAT,
    INT,
    JSON,
    STRING,
    UNIT,
    Array,
    Function,
    Record,
    Ref,
    Task,
    Type,
    Variant,
    is_comparable,
    option,
)

T = TypeVar("T")

LABELS = ("a", "b", "c", "n")
TAGS = ("A", "B", "C")

Scope = dict[str, Type]
"""The variables in scope, by the text that names them, with their types."""


class Chooser(Protocol):
    """A source of choices."""

    def below(self, bound: int) -> int:
        """A number from 0 to `bound - 1`; smaller ones stand for simpler choices."""


@attrs.frozen
class RandomChooser:
    """Choices from a random generator, for use outside Hypothesis."""

    random: Random

    def below(self, bound: int) -> int:
        return self.random.randrange(bound)


@attrs.frozen
class DrawnChooser:
    """Choices that Hypothesis makes, and shrinks."""

    draw: Callable[[st.SearchStrategy[int]], int]

    def below(self, bound: int) -> int:
        return self.draw(st.integers(0, bound - 1))


class Choices:
    """Takes choices from a chooser: things from lists, names, types."""

    def __init__(self, chooser: Chooser) -> None:
        self.chooser = chooser
        self.names = 0

    def flip(self, one_in: int) -> bool:
        return self.chooser.below(one_in) == one_in - 1

    def pick(self, choices: Sequence[T]) -> T:
        return choices[self.chooser.below(len(choices))]

    def some(self, choices: Sequence[T]) -> list[T]:
        return [choice for choice in choices if self.flip(2)]

    def fresh(self, scope: Scope) -> str:
        """A new name, or now and then one that is shadowed from here on."""
        plain = [name for name in scope if name.isidentifier()]
        if plain and self.flip(8):
            return self.pick(plain)
        self.names += 1
        return f"v{self.names}"

    # Types

    def type(self, depth: int, *, data: bool = False) -> Type:
        """A type; `data` keeps functions and tasks out, so that no cell can hold a way to loop."""
        if depth <= 0:
            return self.pick((INT, STRING, BOOL, FLOAT, UNIT))
        kinds = ["scalar", "record", "variant", "option", "array", "ref", "json"]
        kind = self.pick(kinds if data else [*kinds, "function", "function", "task"])
        match kind:
            case "record":
                return Record(tuple((label, self.type(depth - 1, data=data)) for label in self.some(LABELS)))
            case "variant":
                tags = self.some(TAGS[:3]) or ["A"]
                counts = [self.chooser.below(3) for _ in tags]
                return Variant(
                    tuple(
                        (tag, tuple(self.payload_type(depth - 2, data=data, alone=count == 1) for _ in range(count)))
                        for tag, count in zip(tags, counts, strict=True)
                    )
                )
            case "option":
                return option(self.payload_type(depth - 1, data=data))
            case "array":
                return Array(self.type(depth - 1, data=True))
            case "ref":
                return Ref(self.type(depth - 1, data=True))
            case "json":
                return JSON
            case "function":
                params = tuple(self.type(depth - 1, data=True) for _ in range(self.chooser.below(3)))
                return Function(params, self.type(depth - 1))
            case "task":
                return Task(self.type(depth - 1, data=True))
            case _:
                return self.type(0)

    def payload_type(self, depth: int, *, data: bool, alone: bool = True) -> Type:
        """A type for a part of a tag. Unit alone counts as no part at all, so a pattern could not name it."""
        found = self.type(depth, data=data)
        return INT if alone and found == UNIT else found

    def comparable(self, depth: int) -> Type:
        found = self.type(depth, data=True)
        return found if is_comparable(found) else self.pick(COMPARABLE_SCALARS)
