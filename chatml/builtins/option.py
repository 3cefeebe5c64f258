"""`Option`: plain closed variants (builtins.md section 3.6)."""

from __future__ import annotations

from chatml.builtins.checks import is_some
from chatml.builtins.expressions import expression
from chatml.builtins.schemes import A, option
from chatml.surfaces.model import Builtin, Module
from chatml.types.model import Bool, Fun
from chatml.values.model import Value


def is_none(value: Value) -> bool:
    return not is_some(value)


def get_or(value: Value, default: Value) -> Value:
    return value[1] if is_some(value) else default


OPTION = Module(
    "Option",
    (
        expression("none", Fun([], option(A)), "('None',)"),
        expression("some", Fun([A], option(A)), "('Some', a)"),
        Builtin("is_none", Fun([option(A)], Bool), is_none),
        Builtin("is_some", Fun([option(A)], Bool), is_some),
        Builtin("get_or", Fun([option(A), A], A), get_or),
    ),
)
