"""Classes of tree nodes: frozen records with slots that compare by identity.

`attrs.frozen(eq=False)` makes the same, at ten times the cost of defining a class: for the hundred classes of the two
trees that is longer than most scripts take to check and run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")
Setter = Callable[[Any, Any], None]


@dataclass_transform(frozen_default=True, eq_default=False)
def node(cls: type[T]) -> type[T]:
    """Make a class of nodes of one that only annotates its fields. Instances are made with all fields, in order.

    >>> @node
    ... class Pair:
    ...     left: int
    ...     right: int
    >>> Pair(1, 2).right, Pair(1, 2) == Pair(1, 2), Pair.__match_args__
    (2, False, ('left', 'right'))
    """
    names = tuple(cls.__annotations__)
    namespace = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
    namespace |= {"__slots__": names, "__match_args__": names, "__setattr__": refuse, "__delattr__": refuse}
    made = type(cls.__name__, cls.__bases__, namespace)
    made.__init__ = constructor(len(names))(*[getattr(made, name).__set__ for name in names])  # type: ignore[misc]
    return made


def refuse(node: object, name: str, *value: object) -> NoReturn:
    raise AttributeError(f"a {type(node).__name__} is frozen: its {name} cannot change")


@cache
def constructor(count: int) -> Callable[..., Callable[..., None]]:
    """Makes `__init__` for so many fields of the setters of their slots: the class itself refuses to be written."""
    numbers = range(count)
    body = [f"  s{number}(self, a{number})" for number in numbers]
    lines = [
        f"def make({', '.join(f's{number}' for number in numbers)}):",
        f" def init({', '.join(['self', *(f'a{number}' for number in numbers)])}):",
        *(body or ["  pass"]),
        " return init",
    ]
    namespace: dict[str, Any] = {}
    exec("\n".join(lines), namespace)
    made: Callable[..., Callable[..., None]] = namespace["make"]
    return made
