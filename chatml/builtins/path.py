"""`Path`: paths as text (builtins.md section 10)."""

from __future__ import annotations

from chatml.builtins.checks import expected
from chatml.surfaces.model import Builtin, Module
from chatml.types.model import Bool, Fun, String
from chatml.values import paths
from chatml.values.model import Machine, Value


def normalise(machine: Machine, path: Value) -> str:
    if type(path) is not str:
        raise expected("string")
    machine.charge(len(path))
    return bounded(machine, paths.normalise(path))


def bounded(machine: Machine, text: str) -> str:
    """A text that a builtin gives, held against the limit on texts."""
    machine.check_size(len(text))
    return text


def is_below(machine: Machine, path: Value, root: Value) -> bool:
    if not (type(path) is str and type(root) is str):
        raise expected("string", "string")
    machine.charge(len(path) + len(root))
    return paths.is_below(path, root)


def join(machine: Machine, first: Value, second: Value) -> str:
    if not (type(first) is str and type(second) is str):
        raise expected("string", "string")
    machine.charge(len(first) + len(second))
    return bounded(machine, paths.join(first, second))


def basename(machine: Machine, path: Value) -> str:
    if type(path) is not str:
        raise expected("string")
    machine.charge(len(path))
    return bounded(machine, paths.split_last(path)[1])


def dirname(machine: Machine, path: Value) -> str:
    if type(path) is not str:
        raise expected("string")
    machine.charge(len(path))
    return bounded(machine, paths.split_last(path)[0])


PATH = Module(
    "Path",
    (
        Builtin("normalise", Fun([String], String), normalise, machine=True),
        Builtin("is_below", Fun([String, String], Bool), is_below, machine=True),
        Builtin("join", Fun([String, String], String), join, machine=True),
        Builtin("basename", Fun([String], String), basename, machine=True),
        Builtin("dirname", Fun([String], String), dirname, machine=True),
    ),
)
