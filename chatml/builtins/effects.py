"""Builtins that build effects: a task whose leaf is an operation and its arguments (builtins.md section 4)."""

from __future__ import annotations

from collections.abc import Sequence

from chatml.builtins.checks import expected
from chatml.builtins.schemes import task
from chatml.records import frozen
from chatml.surfaces.model import Builtin, Module
from chatml.types.model import Array, Fun, Int, String, Type, Unit
from chatml.values.model import Perform, Spawn, Task, Value


@frozen(eq=False)
class Effect:
    """A row of a module of effects: an export, its parameters, and the value that the operation gives.

    The operation is named like the export, unless `operation` says otherwise. `spawned` ones run on their own.
    """

    name: str
    params: Sequence[Type] = ()
    value: Type = Unit
    spawned: bool = False
    operation: str | None = None


def perform(operation: str, *args: Value) -> Task:
    """A task that performs an operation."""
    return Perform(operation, args)


def effect_builtin(module: str, effect: Effect) -> Builtin:
    """The builtin of a row. Strings, ints and string arrays are checked; other arguments pass as they are."""
    node = Spawn if effect.spawned else Perform
    operation = f"{module}.{effect.operation or effect.name}"
    kinds = [python_type(param) for param in effect.params]

    def build(*args: Value) -> Task:
        for kind, arg in zip(kinds, args, strict=True):
            if kind is not None and type(arg) is not kind:
                raise expected(*[NAMES[known] for known in kinds])
        return node(operation, args)

    return Builtin(effect.name, Fun(effect.params, task(effect.value)), build)


def python_type(param: Type) -> type | None:
    """The Python type of an argument that is checked."""
    if param is String:
        return str
    if param is Int:
        return int
    return list if isinstance(param, Array) else None


NAMES: dict[type | None, str] = {str: "string", int: "int", list: "array", None: "value"}


def effect_module(name: str, effects: Sequence[Effect], more: Sequence[Builtin] = ()) -> Module:
    """A module of effects, and of more builtins that need code of their own."""
    return Module(name, (*[effect_builtin(name, effect) for effect in effects], *more))
