"""What a run has written outside of its state: it lasts as long as this instance does (live.md section D.6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import FunctionType
from typing import Any

from chatml.pipeline import Instance
from chatml.values.journal import Container
from chatml.values.model import Bind, Catch, Function, Map, ModuleValue, Ref, is_builtin, is_function
from chatml.values.walk import parts
from chatml_runtime.script import problems
from chatml_runtime.script.errors import ModuleStateError


def refuse_module_state(instance: Instance, written: Sequence[Container]) -> None:
    """`ModuleStateError` if something that was written can be reached from a definition of the top level.

    The state of a session is a copy of `initial_state`, so that what belongs to it cannot be.
    """
    if not written:
        return
    found = {id(container) for container in written}
    for name in instance.program.core.definitions:
        if reaches(instance[name], found):
            raise ModuleStateError(problems.module_state(name))


def reaches(root: Any, found: set[int]) -> bool:
    """Whether one of some containers is part of a value, or of what its functions have captured."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if id(value) in found:
            return True
        waiting += parts(value)
        waiting += hidden(value)
    return False


def hidden(value: Any) -> Iterable[Any]:
    """What a function has captured, be it a closure of the evaluator or generated code, and what a module exports."""
    if isinstance(value, ModuleValue):
        return value.exports.values()
    if not is_function(value) or is_builtin(value):
        return (value.function,) if isinstance(value, (Bind, Map, Catch)) else ()
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or () if not is_empty(cell)]
        return [*cells, *(value.__defaults__ or ())]
    slots = [slot for kind in type(value).__mro__ for slot in getattr(kind, "__slots__", ())]
    return [part for slot in slots for part in held(getattr(value, slot, None))]


def held(attribute: Any) -> Iterable[Any]:
    """The values in an attribute of a function: values themselves, or a list of captured ones."""
    if isinstance(attribute, (list, dict, tuple, Ref, Function, FunctionType, ModuleValue)):
        return (attribute,)
    return ()


def is_empty(cell: Any) -> bool:
    """Whether a cell of a closure has no content yet."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return True
    return False
