"""Builtins as values: what generated code stores, passes on, and calls without knowing what it calls."""

from __future__ import annotations

from types import FrameType

from chatml.engines.callers import caller, gatherer
from chatml.engines.engine import Engine
from chatml.values.model import PASSED, BuiltinFunction, ModuleValue, Value


def as_value(engine: Engine, builtin: Value) -> Value:
    """A builtin, or a module of them, as the code passes it on: Python functions."""
    if isinstance(builtin, ModuleValue):
        return ModuleValue(builtin.name, {label: as_value(engine, value) for label, value in builtin.exports.items()})
    return as_function(engine, builtin)


def as_function(engine: Engine, builtin: BuiltinFunction) -> Value:
    arity = builtin.arity
    apply = caller(arity + builtin.uses_machine)

    def run(args: tuple[Value, ...]) -> Value:
        return apply(builtin.function, (engine, *args) if builtin.uses_machine else args)

    return gatherer(arity, PASSED)(run)


def carried_out(frame: FrameType, engine: object) -> str | None:
    """The name of the builtin that a Python frame carries out for an engine; None for any other frame."""
    if frame.f_globals is not globals() or frame.f_code.co_name != "run" or frame.f_locals["engine"] is not engine:
        return None
    name: str = frame.f_locals["builtin"].name
    return name
