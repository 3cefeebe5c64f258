"""Sessions whose handler is a Python function, for tests of the runtime that need no script."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from chatml.engines.engine import Engine
from chatml.values.limits import Limits
from chatml.values.model import Bind, BuiltinFunction, Ref, Task, Value
from chatml_runtime.script.operations import OpDef
from chatml_runtime.script.registry import OpRegistry
from chatml_runtime.script.session import Session
from chatml_runtime.script.standard import Handlers

TURN_START = {"phase": "turn_start"}
TICK = ("Tick",)


def function(call: Callable[..., Value], arity: int = 1) -> BuiltinFunction:
    """A Python function as a function of a script."""
    return BuiltinFunction(call.__name__, arity, call, uses_machine=False)


def then(task: Task, *continuations: Callable[[Value], Value]) -> Task:
    """A task and its continuations, each given what came before it."""
    for continuation in continuations:
        task = Bind(task, function(continuation))
    return task


class PuppetEngine(Engine):
    """Calls Python functions, and announces the writes that they make through `set_item` and `set_ref`."""

    def run(self) -> None:
        """There is no top level."""

    def read(self, cell: int) -> Value:
        raise KeyError(cell)

    def protect(self, action: Callable[[], Value]) -> Value:
        return action()

    def call(self, function: Value, args: list[Value]) -> Value:
        return function.function(*args)

    def function(self, function: Value, arity: int) -> Callable[..., Value]:
        return lambda *args: self.call(function, list(args))

    def set_item(self, array: list[Value], index: int, value: Value) -> None:
        self.touch(array)
        array[index] = value

    def set_ref(self, ref: Ref, value: Value) -> None:
        self.touch(ref)
        ref.content = value


class PuppetInstance:
    """What a session needs of an instance of a script."""

    def __init__(self) -> None:
        self.machine = PuppetEngine(print, Limits())


def session(
    handler: Callable[[Value, Value], Value],
    state: Value = 0,
    *,
    handlers: Handlers | None = None,
    ops: Iterable[OpDef] = (),
    instance: Any = None,
) -> Session:
    """A session over the standard operations and some more; the handler takes state and event."""
    registry = OpRegistry.standard(handlers).replacing(*ops)
    on_event = function(lambda context, state, event: handler(state, event), 3)
    return Session(instance or PuppetInstance(), {op.name: op for op in registry}, state, on_event)
