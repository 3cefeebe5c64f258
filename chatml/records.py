"""Records: classes that only annotate their fields, with slots, and with the methods that a record has.

The language defines some two hundred of them, and a process that runs one script needs most. `attrs` and `dataclasses`
write and compile the methods of each class, and import `inspect` to do so: that takes longer than most scripts take to
check and run. Here the methods are written once, and a class gets them under the names of its own fields.

A value in the class is the default of its field; the fields of a base come first. The class is made anew, so that
`super()` needs its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import CellType, CodeType, FunctionType
from typing import Any, NoReturn, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
def frozen(cls: type[T], /) -> type[T]: ...
@overload
def frozen(*, eq: bool = True) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True)
def frozen(cls: type[T] | None = None, /, *, eq: bool = True) -> Any:
    """Make a class of records that cannot change.

    They compare by their fields and show them, unless `eq` is false: what is large, deep or a host's compares by
    identity.

    >>> @frozen
    ... class Pair:
    ...     left: int
    ...     right: int = 0
    >>> Pair(1), Pair(1, right=2) == Pair(1, 2), Pair.__match_args__
    (Pair(left=1, right=0), True, ('left', 'right'))
    """
    methods = FROZEN | VALUE if eq else FROZEN
    return (lambda cls: make(cls, methods, WEAK)) if cls is None else make(cls, methods, WEAK)


@dataclass_transform(frozen_default=True, eq_default=False)
def node(cls: type[T]) -> type[T]:
    """Make a class of the nodes of a tree: records that cannot change and compare by identity."""
    return make(cls, FROZEN)


@dataclass_transform(eq_default=False)
def mutable(cls: type[T]) -> type[T]:
    """Make a class of records that can change; they compare by identity. To make one costs half of a frozen one."""
    return make(cls, {})


def evolve(record: T, **changes: Any) -> T:
    """A copy of a record with other values in some fields.

    >>> from chatml.values.limits import Limits
    >>> evolve(Limits(steps=10, depth=2000), steps=20)
    Limits(steps=20, depth=2000, text=None, tasks=None)
    """
    return record.__class__(**dict(zip(fields(record), contents(record), strict=True)) | changes)


def fields(record: Any) -> tuple[str, ...]:
    """The names of the fields of a record, in order."""
    names: tuple[str, ...] = record.__class__.__match_args__
    return names


def contents(record: object) -> tuple[Any, ...]:
    """What the fields of a record hold, in order."""
    return tuple([getattr(record, name) for name in fields(record)])


def make(cls: type[T], methods: dict[str, Any], more: tuple[str, ...] = ()) -> type[T]:
    """The class of records that a class describes.

    `methods` are those that it does not write itself, `more` the slots beside those of its fields.
    """
    base: Any = cls.__base__
    own, inherited = tuple(cls.__annotations__), getattr(base, "__match_args__", ())
    names = inherited + own
    namespace = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
    defaults = tuple([namespace.pop(name) for name in own if name in namespace])
    if inherited:
        defaults = (base.__init__.__defaults__ or ()) + defaults
    slots = vars(base).get("__slots__", ())
    namespace["__slots__"] = tuple([name for name in own + more if name not in slots])
    namespace["__match_args__"] = names
    namespace["__reduce__"] = reduce
    made: Any = type(cls.__name__, cls.__bases__, methods | namespace)
    if "__setattr__" in methods:
        code, setters = setting(len(names)), [getattr(made, name).__set__ for name in names]
    else:
        code, setters = assigning(len(names)).replace(co_names=names), []
    code = code.replace(co_varnames=("self", *names), co_name="__init__", co_qualname=f"{cls.__name__}.__init__")
    made.__init__ = FunctionType(code, {}, None, defaults, tuple(map(CellType, setters)))
    finished: type[T] = made
    return finished


@cache
def setting(count: int) -> CodeType:
    """The code of an `__init__` that calls the setter of each slot: the class itself refuses to be written.

    The setters are its free variables, which Python keeps in the order of their names.
    """
    numbers = range(count)
    outside = f"def outside({', '.join([f's{number:03}=None' for number in numbers])}):"
    return template(count, outside, [f"  s{number:03}(self, a{number})" for number in numbers])


@cache
def assigning(count: int) -> CodeType:
    """The code of an `__init__` that assigns to each field."""
    return template(count, "def outside():", [f"  self.a{number} = a{number}" for number in range(count)])


def template(count: int, outside: str, body: list[str]) -> CodeType:
    """The code of an `__init__` of so many fields, under names that those of a class's fields replace."""
    head = f" def init({', '.join(['self', *[f'a{number}' for number in range(count)]])}):"
    namespace: dict[str, Any] = {}
    exec("\n".join([outside, head, *(body or ["  pass"]), " return init"]), namespace)
    init: FunctionType = namespace["outside"]()
    return init.__code__


def refuse(record: object, name: str, *value: object) -> NoReturn:
    raise AttributeError(f"a {type(record).__name__} is frozen: its {name} cannot change")


def equal(record: object, other: object) -> bool:
    return contents(record) == contents(other) if other.__class__ is record.__class__ else NotImplemented


def digest(record: object) -> int:
    return hash(contents(record))


def show(record: object) -> str:
    shown = [f"{name}={value!r}" for name, value in zip(fields(record), contents(record), strict=True)]
    return f"{type(record).__name__}({', '.join(shown)})"


def reduce(record: object) -> tuple[type, tuple[Any, ...]]:
    """How to copy or pickle a record: by making one of the same contents."""
    return record.__class__, contents(record)


FROZEN: dict[str, Any] = {"__setattr__": refuse, "__delattr__": refuse}
VALUE: dict[str, Any] = {"__eq__": equal, "__hash__": digest, "__repr__": show}
WEAK = ("__weakref__",)
"""What a host may hold can be held weakly, which nodes of trees have no room for."""
