"""`Task`: descriptions of effects, which only a host interprets (builtins.md section 3.3)."""

from __future__ import annotations

from chatml.builtins.checks import expected
from chatml.builtins.schemes import A, B, task
from chatml.surfaces.model import Builtin, Module
from chatml.types.model import Fun, String
from chatml.values.model import Bind, Catch, Fail, Map, Pure, Task, Value, is_function


def bind(first: Value, function: Value) -> Task:
    if not (isinstance(first, Task) and is_function(function)):
        raise expected("task", "function")
    return Bind(first, function)


def map_result(first: Value, function: Value) -> Task:
    if not (isinstance(first, Task) and is_function(function)):
        raise expected("task", "function")
    return Map(first, function)


def fail(message: Value) -> Task:
    if type(message) is not str:
        raise expected("string")
    return Fail(message)


def catch(first: Value, handler: Value) -> Task:
    if not (isinstance(first, Task) and is_function(handler)):
        raise expected("task", "function")
    return Catch(first, handler)


TASK = Module(
    "Task",
    (
        Builtin("pure", Fun([A], task(A)), Pure),
        Builtin("bind", Fun([task(A), Fun([A], task(B))], task(B)), bind),
        Builtin("map", Fun([task(A), Fun([A], B)], task(B)), map_result),
        Builtin("fail", Fun([String], task(A)), fail),
        Builtin("catch", Fun([task(A), Fun([String], task(A))], task(A)), catch),
    ),
)
