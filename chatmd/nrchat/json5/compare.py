"""Equality of JSON5 values: what reads back the same is the same (nrchat.md section 15)."""

from __future__ import annotations

import math
from typing import Any

from chatmd.nrchat.json5.numbers import nearest


def same_value(left: Any, right: Any) -> bool:
    """Whether two values mean the same JSON5 value.

    Numbers compare as doubles with the sign of zero, NaN equals NaN, `True` is not `1`, a tuple is a list,
    and the order of keys does not count. Safe for values of any depth.

    >>> same_value({"a": [1, float("nan")]}, {"a": (1.0, float("nan"))}), same_value([True], [1])
    (True, False)
    """
    todo = [(left, right)]
    seen: set[tuple[int, int]] = set()
    while todo:
        one, other = todo.pop()
        if one is other or (id(one), id(other)) in seen:
            continue
        if isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            seen.add((id(one), id(other)))
            todo.extend((value, other[key]) for key, value in one.items())
        elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
            if len(one) != len(other):
                return False
            seen.add((id(one), id(other)))
            todo.extend(zip(one, other, strict=True))
        elif not _same_scalar(one, other):
            return False
    return True


def _same_scalar(one: Any, other: Any) -> bool:
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    if not numbers or isinstance(one, bool) or isinstance(other, bool):
        return type(one) is type(other) and bool(one == other)
    one, other = _double(one), _double(other)
    return (one == other and math.copysign(1, one) == math.copysign(1, other)) or (one != one and other != other)


def _double(number: int | float) -> float:
    return float(nearest(number)) if isinstance(number, int) else number
