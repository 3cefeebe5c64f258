"""The global builtins (builtins.md section 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatml.builtins.checks import expected
from chatml.builtins.expressions import expression
from chatml.builtins.schemes import A
from chatml.diagnostics.errors import RuntimeFailure
from chatml.lazy import lazy
from chatml.surfaces.model import Builtin
from chatml.types.model import Array, Bool, Fun, Int, Record, Ref, RowVar, String, Unit, Variant
from chatml.values.model import Machine, ModuleValue, Value
from chatml.values.model import Ref as Cell
from chatml.values.text import show

if TYPE_CHECKING:
    import hashlib
else:
    hashlib = lazy("hashlib")


def print_value(machine: Machine, value: Value) -> None:
    machine.print(show(value, machine))


def to_string(machine: Machine, value: Value) -> str:
    return show(value, machine)


def array_copy(machine: Machine, array: Value) -> list[Value]:
    if type(array) is not list:
        raise expected("array")
    machine.check_size(len(array))
    return array[:]


def record_keys(machine: Machine, record: Value) -> list[Value]:
    labels = record.exports if isinstance(record, ModuleValue) else record
    if type(labels) is not dict:
        raise expected("record")
    machine.check_size(len(labels))
    return sorted(labels)


def variant_tag(variant: Value) -> str:
    if type(variant) is not tuple:
        raise expected("variant")
    tag: str = variant[0]
    return tag


def swap_ref(machine: Machine, ref: Value, value: Value) -> Value:
    if not isinstance(ref, Cell):
        raise expected("ref", "'a")
    machine.touch(ref)
    previous = ref.content
    ref.content = value
    return previous


def fail(message: Value) -> Value:
    if type(message) is not str:
        raise expected("string")
    raise RuntimeFailure(message)


def hash_md5(machine: Machine, text: Value) -> str:
    if type(text) is not str:
        raise expected("string")
    machine.charge(len(text))
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


GLOBALS = (
    Builtin("print", Fun([A], Unit), print_value, machine=True),
    Builtin("to_string", Fun([A], String), to_string, machine=True),
    expression("length", Fun([Array(A)], Int), "len(a)"),
    expression("string_length", Fun([String], Int), "len(a)"),
    expression("string_is_empty", Fun([String], Bool), "not a"),
    expression("not", Fun([Bool], Bool), "not a"),
    Builtin("array_copy", Fun([Array(A)], Array(A)), array_copy, machine=True),
    Builtin("record_keys", Fun([Record(RowVar("r"))], Array(String)), record_keys, machine=True),
    Builtin("variant_tag", Fun([Variant(RowVar("r"))], String), variant_tag),
    Builtin("swap_ref", Fun([Ref(A), A], A), swap_ref, machine=True),
    Builtin("fail", Fun([String], A), fail),
    Builtin("hash_md5", Fun([String], String), hash_md5, machine=True),
)
