"""`Option`: plain closed variants (builtins.md section 3.6)."""

from __future__ import annotations

from chatml.builtins.checks import is_some
from chatml.builtins.schemes import A, option
from chatml.surfaces.model import Builtin, Module, inline
from chatml.types.model import Bool, Fun
from chatml.values.model import Value


@inline("('None',)")
def none() -> Value:
    return ("None",)


@inline("('Some', a)")
def some(value: Value) -> Value:
    return ("Some", value)


def is_none(value: Value) -> bool:
    return not is_some(value)


def get_or(value: Value, default: Value) -> Value:
    return value[1] if is_some(value) else default


OPTION = Module(
    "Option",
    (
        Builtin("none", Fun([], option(A)), none),
        Builtin("some", Fun([A], option(A)), some),
        Builtin("is_none", Fun([option(A)], Bool), is_none),
        Builtin("is_some", Fun([option(A)], Bool), is_some),
        Builtin("get_or", Fun([option(A), A], A), get_or),
    ),
)
