"""Last calls that take no room on the stack."""

from __future__ import annotations

from typing import Any

from chatml.engines.callers import caller
from chatml.values.model import Value


class Bounce:
    """The last call of a bouncing function: what to call, with what, and the line of the call."""

    __slots__ = ("args", "function", "line")

    def __init__(self, function: Any, args: tuple[Value, ...], line: int) -> None:
        self.function = function
        self.args = args
        self.line = line


def finish(result: Any) -> Value:
    """Carry out last calls until there is a value. A traceback finds the call at hand in `result`."""
    while type(result) is Bounce:
        function, args = result.function, result.args
        result = caller(len(args))(getattr(function, "step", function), args)
    return result
