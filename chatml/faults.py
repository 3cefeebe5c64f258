"""Run-time failures that every engine words alike (language.md section 5.7)."""

from __future__ import annotations

from chatml.errors import RuntimeFailure
from chatml.source import Span
from chatml.values import BuiltinFunction, Function, Module, Ref, Task, Value

KINDS: dict[type, str] = {
    bool: "a bool",
    int: "an int",
    float: "a float",
    str: "a string",
    type(None): "unit",
    tuple: "a variant",
    dict: "a record",
    list: "an array",
}


def describe(value: Value) -> str:
    """What kind of value this is, with its article."""
    for kind, name in (
        (Ref, "a ref"),
        (BuiltinFunction, "a builtin"),
        (Function, "a function"),
        (Task, "a task"),
    ):
        if isinstance(value, kind):
            return name
    if isinstance(value, Module):
        return f"the module {value.name}"
    return KINDS.get(type(value), "a foreign value")


def confusion(span: Span | None, wanted: str, got: Value) -> RuntimeFailure:
    """A value of another kind than the types promised: a host's value, or the gap of language.md section 3.7."""
    message = f"this needs {wanted} and got {describe(got)}, against what its type says"
    return RuntimeFailure(message, span, code="runtime.type_confusion", help=CONFUSION_HELP)


CONFUSION_HELP = (
    "a record that a function updates may hold fields that its type does not know; "
    "annotate the function, or check what the host passes in"
)


def wrong_arity(function: Function, given: int, span: Span | None) -> RuntimeFailure:
    """A call with another number of arguments than the function has parameters."""
    wanted = f"{function.arity} argument{'s' * (function.arity != 1)}"
    message = f"wrong arity: `{function.name}` takes {wanted} and got {given}"
    return RuntimeFailure(message, span, code="runtime.wrong_arity")


def not_a_function(value: Value, span: Span | None) -> RuntimeFailure:
    """A call of something that cannot be called."""
    return RuntimeFailure(f"cannot call {describe(value)}", span, code="runtime.not_a_function")
