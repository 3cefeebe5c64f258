"""Copies of values: other arrays and refs with the same content, shared where they are shared."""

from __future__ import annotations

from copy import copy

from chatml.values.model import Ref, Value


def fresh(value: Value) -> Value:
    """A copy that shares no array and no ref with the value; functions, tasks and modules are the same ones.

    What the value holds twice, the copy holds twice; a value that contains itself has a copy that does.

    >>> row = [1, 2]
    >>> copied = fresh({"a": row, "b": row})
    >>> copied["a"] is copied["b"], copied["a"] is row, copied["a"]
    (True, False, [1, 2])
    """
    copies: dict[int, Value] = {}
    waiting: list[tuple[Value, bool]] = [(value, False)]
    while waiting:
        part, inside_done = waiting.pop()
        kind = type(part)
        if inside_done:
            finish(part, copies)
        elif id(part) not in copies and (kind is list or kind is dict or kind is tuple or isinstance(part, Ref)):
            waiting.append((part, True))
            if kind is list:
                copies[id(part)] = []
            elif isinstance(part, Ref):
                copies[id(part)] = copy(part)
            parts = (part.content,) if isinstance(part, Ref) else part.values() if kind is dict else part
            waiting += [(inner, False) for inner in parts]
    return copies.get(id(value), value)


def finish(part: Value, copies: dict[int, Value]) -> None:
    """Complete the copy of a part whose own parts have theirs; arrays and refs had theirs before, empty."""
    if id(part) in copies and not isinstance(part, (list, Ref)):
        return
    if isinstance(part, list):
        if not copies[id(part)]:
            copies[id(part)].extend(copies.get(id(inner), inner) for inner in part)
    elif isinstance(part, Ref):
        copies[id(part)].content = copies.get(id(part.content), part.content)
    elif isinstance(part, dict):
        copies[id(part)] = {label: copies.get(id(inner), inner) for label, inner in part.items()}
    else:
        copies[id(part)] = tuple(copies.get(id(inner), inner) for inner in part)
