"""The columns: what runs a task. Each makes a callable from a text; a peer that is not installed has no column."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from types import ModuleType
from typing import Any

import chatml
from benchmarks.engines.tasks import POLICY, Task

Main = Callable[[int], Any]
Decide = Callable[[dict[str, Any]], Any]

STEPS = chatml.Limits(steps=10**12)


class CannotExpressError(Exception):
    """The language has no way to write the task."""


def text_of(task: Task, *suffixes: str) -> str:
    text = task.text(*suffixes)
    if text is None:
        raise CannotExpressError
    return text


def optional(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


starlark, lupa, celpy = optional("starlark"), optional("lupa"), optional("celpy")
asteval, restricted = optional("asteval"), optional("RestrictedPython")


# Tasks


def python_main(task: Task) -> Main:
    namespace: dict[str, Any] = {}
    exec(text_of(task, "py"), namespace)
    main: Main = namespace["main"]
    return main


def chatml_main(task: Task, **options: Any) -> Main:
    instance = chatml.compile(text_of(task, "chatml")).run(**options)
    return lambda n: instance.call("main", n)


def lua_main(task: Task) -> Main:
    runtime = lupa.LuaRuntime()
    runtime.execute(text_of(task, "lua"))
    main: Main = runtime.globals().main
    return main


def starlark_main(task: Task) -> Main:
    module = starlark.Module()
    globals_ = starlark.Globals.extended_by([starlark.LibraryExtension.Json])
    dialect = starlark.Dialect.extended()
    try:
        tree = starlark.parse("task.star", text_of(task, "star", "py"), dialect)
        starlark.eval(module, tree, globals_)
        frozen = module.freeze()
        frozen.call("main", 3)
    except starlark.StarlarkError:
        raise CannotExpressError from None
    return lambda n: frozen.call("main", n)


def asteval_main(task: Task) -> Main:
    interpreter = asteval.Interpreter()
    interpreter(text_of(task, "py"))
    main: Main = interpreter.symtable["main"]
    if interpreter.error:
        raise CannotExpressError
    return main


def restricted_namespace(text: str) -> dict[str, Any]:
    guards = importlib.import_module("RestrictedPython.Guards")
    code = restricted.compile_restricted(text, "<task>", "exec")
    builtins = {**guards.safe_builtins, "list": list, "range": range, "dict": dict, "__import__": __import__}
    namespace: dict[str, Any] = {
        "__builtins__": builtins,
        "_getitem_": lambda value, key: value[key],
        "_getattr_": guards.safer_getattr,
        "_getiter_": iter,
        "_write_": lambda value: value,
    }
    exec(code, namespace)
    return namespace


def restricted_main(task: Task) -> Main:
    main: Main = restricted_namespace(text_of(task, "py"))["main"]
    return main


COLUMNS: dict[str, Callable[[Task], Main]] = {
    "Python": python_main,
    "compiled": chatml_main,
    "compiled, steps": lambda task: chatml_main(task, limits=STEPS),
    "walk": lambda task: chatml_main(task, engine="walk"),
}
PEERS: dict[str, tuple[ModuleType | None, Callable[[Task], Main]]] = {
    "starlark-pyo3": (starlark, starlark_main),
    "lupa": (lupa, lua_main),
    "asteval": (asteval, asteval_main),
    "RestrictedPython": (restricted, restricted_main),
}
COLUMNS |= {name: make for name, (module, make) in PEERS.items() if module is not None}


# The policy: a provider's call in, a decision out, conversions included


def python_policy() -> Decide:
    namespace: dict[str, Any] = {}
    exec(text_of(POLICY, "py"), namespace)
    decide: Decide = namespace["decide"]
    return decide


def chatml_policy(**options: Any) -> Decide:
    instance = chatml.compile(text_of(POLICY, "chatml"), surface=chatml.MODERATOR).run(**options)
    decide: Decide = instance.function("decide")
    return decide


def lua_policy() -> Decide:
    runtime = lupa.LuaRuntime()
    runtime.execute(text_of(POLICY, "lua"))
    function, to_table = runtime.globals().decide, runtime.table_from
    return lambda call: dict(function(to_table(call, recursive=True)))


def starlark_policy() -> Decide:
    module = starlark.Module()
    starlark.eval(module, starlark.parse("policy.star", text_of(POLICY, "star")), starlark.Globals.standard())
    frozen = module.freeze()
    return lambda call: frozen.call("decide", call)


def cel_policy() -> Decide:
    environment = celpy.Environment()
    program = environment.program(environment.compile(text_of(POLICY, "cel")))
    convert = celpy.json_to_cel
    return lambda call: bool(program.evaluate({"call": convert(call)}))


def asteval_policy() -> Decide:
    interpreter = asteval.Interpreter()
    interpreter(text_of(POLICY, "py"))
    decide: Decide = interpreter.symtable["decide"]
    return decide


def restricted_policy() -> Decide:
    decide: Decide = restricted_namespace(text_of(POLICY, "py"))["decide"]
    return decide


POLICIES: dict[str, tuple[ModuleType | None, Callable[[], Decide]]] = {
    "Python": (json, python_policy),
    "compiled": (json, chatml_policy),
    "compiled, moderator's limits": (
        json,
        lambda: chatml_policy(limits=chatml.Limits(steps=10_000_000, depth=20_000, text=10_000_000), journaled=True),
    ),
    "walk": (json, lambda: chatml_policy(engine="walk")),
    "starlark-pyo3": (starlark, starlark_policy),
    "lupa": (lupa, lua_policy),
    "cel-python": (celpy, cel_policy),
    "asteval": (asteval, asteval_policy),
    "RestrictedPython": (restricted, restricted_policy),
}
