"""A machine for tests that runs no script: its functions are functions of Python."""

from __future__ import annotations

from collections.abc import Callable

from chatml.diagnostics.errors import RuntimeFailure
from chatml.surfaces.model import Module
from chatml.surfaces.ui import UI_MODERATOR
from chatml.values.limits import Limits
from chatml.values.model import Function, Ref, Value


class HostFunction(Function):
    """A function value that a Python function stands behind."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Value], arity: int = 1) -> None:
        super().__init__("host", arity)
        self.function = function


class FakeMachine:
    """Calls host functions, collects what is printed, and keeps the old content of what is written, as a host does."""

    def __init__(self, text: int | None = None) -> None:
        self.limits = Limits(text=text)
        self.printed: list[str] = []
        self.charged = 0
        self.saved: list[tuple[list[Value] | Ref, Value]] = []

    def call(self, function: Value, args: list[Value]) -> Value:
        if not isinstance(function, HostFunction):
            raise RuntimeFailure("a value that is called must be a function")
        return function.function(*args)

    def function(self, function: Value, arity: int) -> Callable[..., Value]:
        return lambda *args: self.call(function, list(args))

    def print(self, text: str) -> None:
        self.printed.append(text)

    def touch(self, container: list[Value] | Ref) -> None:
        if all(container is not touched for touched, _ in self.saved):
            old = container.content if isinstance(container, Ref) else container[:]
            self.saved.append((container, old))

    def roll_back(self) -> None:
        for container, old in self.saved:
            if isinstance(container, Ref):
                container.content = old
            else:
                container[:] = old
        self.saved.clear()

    def check_size(self, size: int) -> None:
        if self.limits.text is not None and size > self.limits.text:
            raise RuntimeFailure("limit `text` exceeded")

    def charge(self, size: int) -> None:
        self.charged += size


def caller(module: str, machine: FakeMachine | None = None) -> Callable[..., Value]:
    """A function that calls an export of a builtin module, or a global if the module is empty, by its name."""
    machine = machine or FakeMachine()
    if module:
        definition = next(found for found in UI_MODERATOR.modules if found.name == module)
    else:
        definition = Module("", UI_MODERATOR.globals)
    builtins = {builtin.name: builtin for builtin in definition.exports}

    def call(name: str, *args: Value) -> Value:
        row = builtins[name]
        return row.function(machine, *args) if row.machine else row.function(*args)

    return call
