"""The fields of a host's records on their way into a script: Unicode text, and integers of 63 bits (X-01, X-02)."""

from __future__ import annotations

from chatml.diagnostics.errors import BoundaryError
from chatml.values.model import INT_MAX, INT_MIN
from chatml.values.surrogates import surrogate_problem


def text_field(name: str, value: str) -> str:
    """The text of a field. `BoundaryError` if it is not a string, or one that holds a lone surrogate.

    >>> text_field("tool_call.name", "read_file")
    'read_file'
    """
    if not isinstance(value, str):
        raise BoundaryError(f"{name}: expected a string, got a Python `{type(value).__name__}`")
    problem = surrogate_problem(value)
    if problem is not None:
        raise BoundaryError(f"{name}: {problem}")
    return str.__str__(value)


def int_field(name: str, value: int) -> int:
    """The integer of a field. `BoundaryError` if it is none that a script can hold.

    >>> int_field("context.now_ms", 7)
    7
    """
    if type(value) is not int:
        raise BoundaryError(f"{name}: expected an integer, got a Python `{type(value).__name__}`")
    if not INT_MIN <= value <= INT_MAX:
        raise BoundaryError(f"{name}: integers lie between {INT_MIN} and {INT_MAX}")
    return value


def check_kind(what: str, value: object, kind: type, *, help: str = "") -> None:
    """Refuse, with a `TypeError` that says what to hand in, an argument of a host of another kind."""
    if not isinstance(value, kind):
        raise TypeError(f"{what} is a `{kind.__name__}`, and the host gave a `{type(value).__name__}`{help}")
