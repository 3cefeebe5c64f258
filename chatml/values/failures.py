"""Run-time failures that every engine words alike (language.md section 5.7)."""

from __future__ import annotations

from chatml.diagnostics.errors import RuntimeFailure
from chatml.source import Span
from chatml.values.model import ModuleValue, Ref, Task, Value, is_builtin, is_function

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
    if isinstance(value, Ref):
        return "a ref"
    if isinstance(value, Task):
        return "a task"
    if is_function(value):
        return "a builtin" if is_builtin(value) else "a function"
    if isinstance(value, ModuleValue):
        return f"the module {value.name}"
    return KINDS.get(type(value), f"a Python `{type(value).__name__}`")


def confusion(span: Span | None, wanted: str, got: Value) -> RuntimeFailure:
    """A value of another kind than the types promised: a host's value, or the gap of language.md section 3.7."""
    message = f"this needs {wanted} and got {describe(got)}, against what its type says"
    return RuntimeFailure(message, span, code="runtime.type_confusion", help=CONFUSION_HELP)


def confused(span: Span | None) -> RuntimeFailure:
    """The same, where the value is no longer at hand."""
    message = "a value here is of another kind than its type says"
    return RuntimeFailure(message, span, code="runtime.type_confusion", help=CONFUSION_HELP)


CONFUSION_HELP = (
    "a record that a function updates may hold fields that its type does not know; "
    "annotate the function, or check what the host passes in"
)


def wrong_arity(wanted: int, given: int, span: Span | None) -> RuntimeFailure:
    """A call with another number of arguments than the function has parameters."""
    message = f"wrong arity: the function takes {wanted} argument{'s' * (wanted != 1)} and got {given}"
    return RuntimeFailure(message, span, code="runtime.wrong_arity")


def not_a_function(value: Value, span: Span | None) -> RuntimeFailure:
    """A call of something that cannot be called."""
    return RuntimeFailure(f"cannot call {describe(value)}", span, code="runtime.not_a_function")


def out_of_bounds(position: int, length: int, span: Span | None) -> RuntimeFailure:
    """An access by an index that the array does not have."""
    message = f"index {position} is out of bounds: the array has {length} element{'s' * (length != 1)}"
    return RuntimeFailure(message, span, code="runtime.out_of_bounds")


def division_by_zero(span: Span | None) -> RuntimeFailure:
    """A zero divisor."""
    return RuntimeFailure("division by zero", span, code="runtime.division_by_zero")


def no_match(span: Span | None) -> RuntimeFailure:
    """A `match` without an arm for the value."""
    return RuntimeFailure("no arm matches the value", span, code="runtime.no_match")


def no_field(label: str, span: Span | None) -> RuntimeFailure:
    """A field or an export that is not there."""
    return RuntimeFailure(f"the record has no field `{label}`", span, code="runtime.no_field", help=NO_FIELD_HELP)


NO_FIELD_HELP = (
    "a record may lack what its type promises if a helper that updates it promised more than it keeps, "
    "and a module has nothing to offer while its own body is still running"
)


def not_a_record(base: Value, span: Span | None) -> RuntimeFailure:
    """A copy-update of something that only has the type of a record."""
    message = f"only a record can be copied with changes, and this is {describe(base)}"
    return RuntimeFailure(message, span, code="runtime.not_a_record")


def builtin_failed(name: str, facts: str, span: Span | None) -> RuntimeFailure:
    """A builtin that refused its arguments or could not do its work."""
    return RuntimeFailure(f"{name}: {facts}", span, code="runtime.builtin")


def host_failed(name: str, error: Exception, span: Span | None) -> RuntimeFailure:
    """A host function that raised what it should not."""
    return RuntimeFailure(f"{name}: {error or type(error).__name__}", span, code="runtime.host")


TOO_LARGE = "the result is too large to build"
