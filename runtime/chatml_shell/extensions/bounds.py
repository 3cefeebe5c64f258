"""How large a value may be that crosses the border between the shell and a script (section 8.2)."""

from __future__ import annotations

from chatmd.elements.script import ScriptLimits
from chatml.values.model import Ref, Value

CELL = 8
"""The bytes that a value counts for beside the bytes of its text."""


class TooLargeError(Exception):
    """A value beyond a bound; the message names the bound."""


def check_value(value: Value, limits: ScriptLimits, *, texts: bool) -> None:
    """Raise `TooLargeError` for a value beyond the bounds of a script; `texts` also bounds each text.

    >>> check_value(["ab"], ScriptLimits(), texts=True)
    >>> check_value("ab", ScriptLimits(max_output=1), texts=True)
    Traceback (most recent call last):
    chatml_shell.extensions.bounds.TooLargeError: a text has more than max_output bytes (1)
    """
    total = 0
    waiting: list[tuple[Value, int]] = [(value, 1)]
    while waiting:
        part, depth = waiting.pop()
        total += CELL
        if depth > limits.max_depth:
            raise TooLargeError(f"a value nests deeper than max_depth ({limits.max_depth})")
        held: list[Value] = []
        if isinstance(part, str):
            size = len(part.encode("utf-8", "surrogatepass"))
            total += size
            if texts and size > limits.max_output:
                raise TooLargeError(f"a text has more than max_output bytes ({limits.max_output})")
        elif isinstance(part, dict):
            held = list(part.values())
            total += sum(len(name) for name in part)
        elif isinstance(part, list):
            held = part
        elif isinstance(part, tuple):
            held = list(part[1:])
        elif isinstance(part, Ref):
            held = [part.content]
        if len(held) > limits.max_array_items:
            raise TooLargeError(f"an array or a record has more than max_array_items parts ({limits.max_array_items})")
        if total > limits.max_value:
            raise TooLargeError(f"a value has more than max_value bytes ({limits.max_value})")
        waiting += ((one, depth + 1) for one in held)
